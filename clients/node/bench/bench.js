// Nanoseconds per look-up in a filter of 124 MB, the size of 100 million keys at
// 1 %, beside Set, which holds at most 2^24 keys.
//
//   node bench/bench.js [BLOCKS]
//
// The filter's bits are random, half of them set. That is what a full filter
// looks like, and its keys are found by asking for many.
import { BloomFilter } from '../lib/index.js'
import { header, randomizer, seal, tempFile } from '../test/helpers.js'

const BLOCKS = Number(process.argv[2] ?? 1937500)
const SET_KEYS = 16_000_000
const ASKED = 1 << 17
const ROUNDS = 20

const random = randomizer(1)

function randomFilter (keyType) {
  const start = header({ keyType, blocks: BLOCKS, k: 6, n: 100_000_000n })
  const bytes = Buffer.alloc(64 + 64 * BLOCKS)
  const noise = Buffer.from(Uint32Array.from({ length: 1 << 20 }, () => random(2 ** 32)).buffer)
  for (let at = 64; at < bytes.length; at += noise.length - 4) {
    noise.copy(bytes, at)
  }
  bytes.set(start)
  return tempFile(seal(bytes))
}

const sample = (from, limit, make) => Array.from({ length: ASKED }, () => make(from + random(limit)))

/** Keys that the filter answers "perhaps" for, in place of members. */
function findMembers (filter, make) {
  const members = []
  while (members.length < ASKED) {
    const keys = sample(0, 2 ** 40, make)
    const found = filter.containsMany(keys)
    members.push(...keys.filter((_, i) => found[i] === 1))
  }
  return members.slice(0, ASKED)
}

/** The best of a few rounds, in nanoseconds per key. */
function measure (name, run) {
  let best = Infinity
  for (let i = 0; i < ROUNDS; i++) {
    const start = process.hrtime.bigint()
    run()
    best = Math.min(best, Number(process.hrtime.bigint() - start) / ASKED)
  }
  console.log(`${name.padEnd(40)}${best.toFixed(1).padStart(8)} ns`)
}

function askAll (keys, ask) {
  let found = 0
  for (const key of keys) {
    if (ask(key)) {
      found++
    }
  }
  return found
}

function compare (kind, filter, keys, set, setKeys) {
  measure(`${kind}: contains`, () => askAll(keys, (key) => filter.contains(key)))
  measure(`${kind}: containsMany`, () => filter.containsMany(keys))
  measure(`${kind}: Set.has`, () => askAll(setKeys, (key) => set.has(key)))
}

async function timeOpen (file, options) {
  const start = performance.now()
  const filter = await BloomFilter.open(file, options)
  console.log(`open ${options.verify ? 'with' : 'without'} the check: ${(performance.now() - start).toFixed(0)} ms`)
  return filter
}

function setOf (count, make) {
  const set = new Set()
  for (let i = 0; i < count; i++) {
    set.add(make(i))
  }
  return set
}

async function benchIntegers () {
  const file = randomFilter(1)
  await timeOpen(file, { verify: false })
  const filter = await timeOpen(file, { verify: true })
  const same = (key) => key
  const set = setOf(SET_KEYS, same)
  compare('integers, members', filter, findMembers(filter, same), set, sample(0, SET_KEYS, same))
  const others = sample(0, 2 ** 40, same)
  compare('integers, others', filter, others, set, others)
}

async function benchTexts () {
  const filter = await BloomFilter.open(randomFilter(2))
  const make = (key) => `user-${key}@example.com`
  // Strings take much memory: fewer are enough to leave the caches.
  const count = SET_KEYS / 16
  compare('texts, members', filter, findMembers(filter, make), setOf(count, make), sample(0, count, make))
}

await benchIntegers()
await benchTexts()
