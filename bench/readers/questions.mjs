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

const [count, rounds] = process.argv.slice(2, 4).map(Number)

const integer = (number) => number

// In one piece, as texts are that come from elsewhere.
const text = (number) => Buffer.from(`user-${number}@example.com`).toString()

function fill (keyOf, add) {
  for (let number = 1; number <= count; number++) {
    add(keyOf(number))
  }
}

/** A loop over contains(key). */
function singly (contains) {
  return (keys) => {
    let found = 0
    for (const key of keys) {
      found += contains(key) ? 1 : 0
    }
    return found
  }
}

/** The ways to look up keys: a contender and the begin of an operation, what makes a key of a number, and what asks. */
async function create (contender) {
  let filter
  switch (contender) {
    case 'Set':
      filter = new Set()
      fill(integer, (key) => filter.add(key))
      return [['Set\t', integer, singly((key) => filter.has(key))]]
    case 'bloom-filters':
      filter = require('bloom-filters').BloomFilter.create(count, 0.01)
      fill(text, (key) => filter.add(key))
      return [['bloom-filters\ttext ', text, singly((key) => filter.has(key))]]
    case 'npm bloomfilter':
      filter = new (require('bloomfilter').BloomFilter)(Math.ceil(count * 9.6 / 32) * 32, 7)
      fill(text, (key) => filter.add(key))
      return [['npm bloomfilter\ttext ', text, singly((key) => filter.test(key))]]
  }
  filter = await BloomFilter.open(contender)
  const [kind, keyOf] = filter.keyType === 'text' ? ['text ', text] : ['', integer]
  return [[`${contender}\t${kind}`, keyOf, singly((key) => filter.contains(key))],
    [`${contender}\tbatch ${kind}`, keyOf, (keys) => filter.containsMany(keys)]]
}

/** Asks for others each time: what was just asked is in the processor's cache. */
function measure ([name, keyOf, ask], operation, from, limit) {
  const keys = Array.from({ length: ASKED }, () => keyOf(from + Math.floor(Math.random() * limit)))
  const start = process.hrtime.bigint()
  ask(keys)
  const ns = Number(process.hrtime.bigint() - start) / ASKED
  return `${name}${operation}\t${ns.toFixed(2)}`
}

const ways = (await Promise.all(process.argv.slice(4).map(create))).flat()
for (let i = -WARM_UP; i < rounds; i++) {
  const lines = [...ways.map((way) => measure(way, 'there', 1, count)),
    ...ways.map((way) => measure(way, 'absent', count + 1, 2 ** 40))]
  if (i >= 0) {
    console.log(lines.join('\n'))
  }
}
