// Building a filter from keys, by the C core: the same bytes as SQL's.
import { Writer, checkList } from './batch.js'
import { BloomFilterError, atIndex } from './errors.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { Key, bytesFor, keyOf } from './key.js'
import { NONE } from './key-types.js'
import { hashBytePieces } from './text.js'

/** Hashes that are added, or counted, with one call. */
const CALL_HASHES = 1 << 16

const UNREACHABLE = 1
const TOO_LARGE = 2

/** The instance of a filter of these keys; model is the instance of another to be like. */
export function buildInstance (keys, { n, p = 0.01, seed = 0n }, model) {
  const list = ArrayBuffer.isView(keys) || Array.isArray(keys) ? keys : [...keys]
  checkList(list)
  const kind = list.length === 0 ? NONE : kindOf(list)
  const instance = new Instance()
  // The seed is in the header; n may follow from the hashes.
  startEmpty(instance, model, { n: n ?? 1, p, seed })
  const hashes = hashKeys(instance, list, kind)
  if (n === undefined && model === undefined) {
    startEmpty(instance, undefined, { n: different(hashes), p, seed })
  }
  instance.room(instance.exports.total_bytes() >>> 0).fill(0, HEADER_BYTES)
  addHashes(instance, hashes, kind)
  instance.exports.finish()
  return instance
}

/** Of the first key, which the others must have. */
function kindOf (keys) {
  try {
    return Key.typeOf(keyOf(keys[0], NONE))
  } catch (error) {
    throw atIndex(error, 0)
  }
}

/** Makes the header of an empty filter. */
function startEmpty (instance, model, { n, p, seed }) {
  if (model !== undefined) {
    instance.bytes.set(new Uint8Array(model.header.buffer, model.start, HEADER_BYTES), instance.start)
    instance.exports.check_header(model.length)
    instance.exports.empty()
    return
  }
  const count = BigInt(n)
  if (count < 1n || count >= 1n << 63n) {
    throw new RangeError(`n is from 1 to 2^63 - 1 keys, not ${n}`)
  }
  if (!(p > 0 && p < 1)) {
    throw new RangeError(`p is between 0 and 1, not ${p}`)
  }
  const status = instance.exports.size_for(count, p, BigInt.asUintN(64, BigInt(seed)))
  if (status === UNREACHABLE) {
    throw new BloomFilterError(`no size reaches this rate for ${n} keys`)
  }
  if (status === TOO_LARGE) {
    throw new BloomFilterError(`${n} keys at this rate don't fit one filter; the command line ` +
      'builds a set of parts: bloomfilter build --parts')
  }
}

/** The hashes of all keys, 8 bytes each, in their order. */
function hashKeys (instance, keys, kind) {
  const hashes = new Uint8Array(keys.length * 8)
  instance.room(HEADER_BYTES)
  const writer = new Writer(instance, kind)
  const isWords = keys.length > 0 && writer.isWords(keys)
  for (let from = 0; from < keys.length;) {
    let count = isWords ? writer.writeWords(keys, from) : writer.writeStrings(keys, from)
    if (count === 0) {
      hashLong(instance, keys[from], kind)
      count = 1
    } else {
      writer.hash(count, isWords)
    }
    const { bytes, scratch } = instance
    hashes.set(bytes.subarray(scratch, scratch + 8 * count), 8 * from)
    from += count
  }
  return hashes
}

/** A key that is too long for the room of a batch. */
function hashLong (instance, key, kind) {
  hashBytePieces(instance, bytesFor(key, kind))
  instance.exports.long_end_key(instance.scratch)
}

/** How many different ones there are, at least 1. */
function different (hashes) {
  const counter = new Instance()
  const room = counter.room(hashes.length)
  room.set(hashes)
  return Math.max(1, counter.exports.count_different(counter.start, hashes.length / 8) >>> 0)
}

function addHashes (instance, hashes, kind) {
  const scratch = instance.needScratch(8 * CALL_HASHES)
  for (let from = 0; from < hashes.length; from += 8 * CALL_HASHES) {
    const some = hashes.subarray(from, from + 8 * CALL_HASHES)
    instance.bytes.set(some, scratch)
    const count = some.length / 8
    const added = instance.exports.add_hashes(scratch, count, kind) >>> 0
    if (added !== count) {
      throw atIndex(new BloomFilterError('the key belongs to another part of the set'), from / 8 + added)
    }
  }
}
