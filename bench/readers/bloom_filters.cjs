// Strings in Node, all contenders in one process, asked for the same strings in turns:
//
//   node bloom_filters.cjs READER KEYS ROUNDS
//
// prints contender, operation, ns per look-up of each round. READER is our module;
// npm's bloom-filters and bloomfilter are left out where they aren't installed.
const { pathToFileURL } = require('node:url')

const ASKED = 20000

// Rounds before those that count, for the compiler.
const WARM_UP = 5

const keyOf = (number) => `user-${number}@example.com`

// Each takes the keys at 1 % and returns what is asked.
const CREATE = {
  bloomfilter: (keys, { BloomFilter, Key, sizing, build }) => {
    const { hashes: k, blockBits, blocks } = sizing(keys.length, 0.01)
    const shape = { k, log2: Math.log2(blockBits), blocks, keyType: 2 }
    const filter = BloomFilter.fromBytes(build(shape, keys.map((key) => Key.text(key))))
    return { one: (key) => filter.contains(key), many: (asked) => filter.containsMany(asked) }
  },
  Set: (keys) => {
    const set = new Set(keys)
    return { one: (key) => set.has(key) }
  },
  'bloom-filters': (keys) => {
    const filter = require('bloom-filters').BloomFilter.create(keys.length, 0.01)
    keys.forEach((key) => filter.add(key))
    return { one: (key) => filter.has(key) }
  },
  'npm bloomfilter': (keys) => {
    const filter = new (require('bloomfilter').BloomFilter)(Math.ceil(keys.length * 9.6 / 32) * 32, 7)
    keys.forEach((key) => filter.add(key))
    return { one: (key) => filter.test(key) }
  }
}

// A loop of its own for each, which is then compiled for it alone, as in a program that
// uses one.
const newLoop = () => new Function('keys', 'ask', `
  let found = 0
  for (const key of keys) {
    found += ask(key) ? 1 : 0
  }
  return found`)

function create (name, keys, reader) {
  try {
    const { one, many } = CREATE[name](keys, reader)
    const loop = newLoop()
    return { name, batch: many, single: (asked) => loop(asked, one) }
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') {
      throw error
    }
  }
}

function sample (from, count) {
  return Array.from({ length: ASKED }, () => keyOf(from + Math.floor(Math.random() * count)))
}

function measure (run, keys) {
  const start = process.hrtime.bigint()
  run(keys)
  return Number(process.hrtime.bigint() - start) / ASKED
}

async function main () {
  const [path, ...numbers] = process.argv.slice(2)
  const [count, rounds] = numbers.map(Number)
  const keys = Array.from({ length: count }, (_, number) => keyOf(number))
  const helpers = new URL('../test/helpers.js', pathToFileURL(path))
  const reader = { ...await import(pathToFileURL(path)), ...await import(helpers) }
  const contenders = Object.keys(CREATE).map((name) => create(name, keys, reader)).filter(Boolean)
  const asked = { there: sample(0, count), absent: sample(count, 2 ** 40) }
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [kind, list] of Object.entries(asked)) {
      for (const { name, single, batch } of contenders) {
        const found = { [`text ${kind}`]: measure(single, list) }
        if (batch !== undefined) {
          found[`batch text ${kind}`] = measure(batch, list)
        }
        for (const [operation, ns] of Object.entries(found)) {
          if (round >= 0) {
            console.log(`${name}\t${operation}\t${ns.toFixed(2)}`)
          }
        }
      }
    }
  }
}

main()
