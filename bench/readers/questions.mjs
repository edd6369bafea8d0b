// questions.mjs FOLLOWED PLAIN PAIRS: a line for each pair, ns per look-up of random integers in each file.
import { BloomFilter } from '../../clients/node/lib/index.js'

const ASKED = 200_000

// Pairs before those that count, for the compiler.
const WARM_UP = 5

function measure (file, keys) {
  const start = process.hrtime.bigint()
  for (const key of keys) {
    file.contains(key)
  }
  return Number(process.hrtime.bigint() - start) / ASKED
}

const [followed, plain] = await Promise.all(process.argv.slice(2, 4).map((path) => BloomFilter.open(path)))
const keys = Array.from({ length: ASKED }, () => Math.floor(Math.random() * 2 ** 53))
for (let i = -WARM_UP; i < Number(process.argv[4]); i++) {
  const pair = [followed, plain].map((file) => measure(file, keys).toFixed(3))
  if (i >= 0) {
    console.log(pair.join(' '))
  }
}
