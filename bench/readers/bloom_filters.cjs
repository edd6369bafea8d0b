// npm's bloom-filters: bloom_filters.cjs KEYS ROUNDS prints contender, operation,
// ns per look-up of a string, the only kind of key that it takes.
const { BloomFilter } = require('bloom-filters')

const ASKED = 20000

function sample (from, count) {
  return Array.from({ length: ASKED }, () => `user-${from + Math.floor(Math.random() * count)}@example.com`)
}

function measure (operation, filter, keys) {
  let found = 0
  const start = process.hrtime.bigint()
  for (const key of keys) {
    found += filter.has(key) ? 1 : 0
  }
  const nanoseconds = Number(process.hrtime.bigint() - start) / ASKED
  console.log(`bloom-filters\t${operation}\t${nanoseconds.toFixed(2)}`)
  return found
}

const [count, rounds] = process.argv.slice(2).map(Number)
const filter = BloomFilter.create(count, 0.01)
for (let key = 0; key < count; key++) {
  filter.add(`user-${key}@example.com`)
}
const there = sample(0, count)
const absent = sample(count, 2 ** 40)
for (let i = 0; i < rounds; i++) {
  measure('text there', filter, there)
  measure('text absent', filter, absent)
}
