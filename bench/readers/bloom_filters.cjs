// npm's bloom-filters and bloomfilter: bloom_filters.cjs KEYS ROUNDS prints contender,
// operation, ns per look-up of a string, the only kind of key that they take.
const ASKED = 20000

// Each makes an empty filter at 1 % with the methods add and has.
const CONTENDERS = {
  'bloom-filters': (count) => require('bloom-filters').BloomFilter.create(count, 0.01),
  'npm bloomfilter': (count) => {
    const { BloomFilter } = require('bloomfilter')
    const filter = new BloomFilter(Math.ceil(count * 9.6 / 32) * 32, 7)
    filter.has = filter.test
    return filter
  }
}

function sample (from, count) {
  return Array.from({ length: ASKED }, () => `user-${from + Math.floor(Math.random() * count)}@example.com`)
}

function measure (contender, operation, filter, keys) {
  let found = 0
  const start = process.hrtime.bigint()
  for (const key of keys) {
    found += filter.has(key) ? 1 : 0
  }
  const nanoseconds = Number(process.hrtime.bigint() - start) / ASKED
  console.log(`${contender}\t${operation}\t${nanoseconds.toFixed(2)}`)
  return found
}

const [count, rounds] = process.argv.slice(2).map(Number)
const there = sample(0, count)
const absent = sample(count, 2 ** 40)
for (const [contender, create] of Object.entries(CONTENDERS)) {
  const filter = create(count)
  for (let key = 0; key < count; key++) {
    filter.add(`user-${key}@example.com`)
  }
  for (let i = 0; i < rounds; i++) {
    measure(contender, 'text there', filter, there)
    measure(contender, 'text absent', filter, absent)
  }
}
