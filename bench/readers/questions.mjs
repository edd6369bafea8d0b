// What look-ups cost in Node.js, the contenders in turns in one process.
//
//   questions.mjs KEYS ROUNDS CONTENDER...
//
// A contender is a file that holds 1 to KEYS; or Set, or npm's bloom-filters or bloomfilter,
// which are filled with them. npm's know strings only: they, and files of texts, have the
// numbers as text. Prints contender, operation and ns per look-up of each round.
import { createRequire } from 'node:module'
import { BloomFilter } from '../../clients/node/lib/index.js'

const ASKED = 100_000

// Rounds before those that count, for the compiler.
const WARM_UP = 5

// import doesn't look into NODE_PATH.
const require = createRequire(import.meta.url)

const KEY_OF = { '': (number) => number, 'text ': (number) => `user-${number}@example.com` }

const [count, rounds] = process.argv.slice(2, 4).map(Number)

function fill (kind, add) {
  for (let number = 1; number <= count; number++) {
    add(KEY_OF[kind](number))
  }
}

async function create (name) {
  let filter
  switch (name) {
    case 'Set':
      filter = new Set()
      fill('', (key) => filter.add(key))
      return { name, kind: '', contains: (key) => filter.has(key) }
    case 'bloom-filters':
      filter = require('bloom-filters').BloomFilter.create(count, 0.01)
      fill('text ', (key) => filter.add(key))
      return { name, kind: 'text ', contains: (key) => filter.has(key) }
    case 'npm bloomfilter':
      filter = new (require('bloomfilter').BloomFilter)(Math.ceil(count * 9.6 / 32) * 32, 7)
      fill('text ', (key) => filter.add(key))
      return { name, kind: 'text ', contains: (key) => filter.test(key) }
    default:
      filter = await BloomFilter.open(name)
      return {
        name,
        kind: filter.keyType === 'text' ? 'text ' : '',
        contains: (key) => filter.contains(key),
        containsMany: (keys) => filter.containsMany(keys)
      }
  }
}

function askSingly (keys, contains) {
  let found = 0
  for (const key of keys) {
    found += contains(key) ? 1 : 0
  }
  return found
}

function measure (name, told, run) {
  const start = process.hrtime.bigint()
  run()
  const ns = Number(process.hrtime.bigint() - start) / ASKED
  if (told) {
    console.log(`${name}\t${ns.toFixed(2)}`)
  }
}

const sample = (from, limit) => Array.from({ length: ASKED }, () => from + Math.floor(Math.random() * limit))

const asked = { there: sample(1, count), absent: sample(count + 1, 2 ** 52) }
const contenders = await Promise.all(process.argv.slice(4).map(create))
for (let i = -WARM_UP; i < rounds; i++) {
  for (const [operation, numbers] of Object.entries(asked)) {
    for (const { name, kind, contains, containsMany } of contenders) {
      const keys = numbers.map(KEY_OF[kind])
      measure(`${name}\t${kind}${operation}`, i >= 0, () => askSingly(keys, contains))
      if (containsMany) {
        measure(`${name}\tbatch ${kind}${operation}`, i >= 0, () => containsMany(keys))
      }
    }
  }
}
