// How large a filter would be, without building it: what SQL's bloom_sizing says. For the page of web/.
import { BloomFilterError } from './errors.js'
import { commonInstance } from './instance.js'

/** Puts what is known of the size for n keys at rate p into the instance's room. */
function size (n, p) {
  const count = BigInt(n)
  if (count < 1n || count >= 1n << 63n) {
    throw new RangeError(`n is from 1 to 2^63 - 1 keys, not ${n}`)
  }
  if (!(p > 0 && p < 1)) {
    throw new RangeError(`p is between 0 and 1, not ${p}`)
  }
  const { exports } = commonInstance()
  if (exports.size_of(count, p) === 0) {
    throw new BloomFilterError(`no size reaches this rate for ${n} keys`)
  }
  return Array.from(new Float64Array(exports.memory.buffer, exports.sizing_at() >>> 0, 7))
}

/**
 * What a filter for n keys at a rate of at most p takes, and what the textbook says. Counts of bits
 * and bytes are exact as long as they are below 2^53.
 */
export function sizing (n, p) {
  const [blocks, logBlockBits, hashes, bytes, expectedFpr, ideal, parts] = size(n, p)
  const blockBits = 2 ** logBlockBits
  const bits = blocks * blockBits
  return {
    bits,
    bytes,
    hashes,
    blockBits,
    blocks,
    bitsPerKey: bits / Number(n),
    expectedFpr,
    classicBits: Math.ceil(Number(n) * ideal),
    classicHashes: Math.max(Math.round(ideal * Math.LN2), 1),
    parts
  }
}

/** The false-positive rates of a filter sized for n keys at rate p, with other numbers of keys in it. */
export function ratesWith (n, p, counts) {
  size(n, p)
  return counts.map((count) => commonInstance().exports.rate_with(count))
}
