// Asking for many keys with one call into WebAssembly for each few thousand.
//
// Keys are written into the first part's memory: integers and floats as words of
// 8 bytes, all others one after the other with the place where each ends. A whole
// filter hashes and answers them in one call. A set hashes them in its first
// part, and then asks each part for its own.
import { KeyError, PartError, checkType, show } from './errors.js'
import { Key, checkSafe, int64, rowKey, writeFloat } from './key.js'
import { BYTEA, FLOAT, INTEGER, TEXT } from './key-types.js'
import { encodeInto, writeShort } from './text.js'

/** Keys of one call into WebAssembly. */
const CALL_KEYS = 4096

/** Bytes of keys of one call; a longer key has a call of its own. */
const CALL_BYTES = 1 << 20

const TWO_32 = 2 ** 32

// The layout of the scratch: words or hashes, ends of keys or numbers of parts,
// answers, and the bytes of keys.
const ENDS = CALL_KEYS * 8
const FOUND = ENDS + CALL_KEYS * 4
const BYTES = FOUND + CALL_KEYS

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

export class Batch {
  #parts
  #first
  #keyType

  constructor (parts, keyType) {
    this.#parts = parts
    this.#first = parts[0].instance
    this.#keyType = keyType
  }

  ask (keys) {
    if (!Array.isArray(keys) && !(ArrayBuffer.isView(keys) && !(keys instanceof DataView))) {
      throw new TypeError('keys are an array or a typed array')
    }
    const found = new Uint8Array(keys.length)
    const isWords = this.#isWords(keys)
    for (let from = 0; from < keys.length;) {
      from += isWords ? this.#askWords(keys, from, found) : this.#askStrings(keys, from, found)
    }
    return found
  }

  /** Whether all keys are 8 bytes long; another type is found when it is written. */
  #isWords (keys) {
    const type = typeof keys[0]
    return (type === 'number' || type === 'bigint') && [INTEGER, FLOAT].includes(this.#keyType)
  }

  #askWords (keys, from, found) {
    const count = Math.min(CALL_KEYS, keys.length - from)
    const scratch = this.#first.needScratch(BYTES)
    this.#writeWords(keys, from, count, scratch)
    this.#answer(count, from, found, this.#parts.length > 1
      ? () => this.#first.exports.hash_words(scratch, count)
      : () => this.#first.exports.contains_words(scratch, count, scratch + FOUND))
    return count
  }

  #writeWords (keys, from, count, scratch) {
    if (keys instanceof BigInt64Array && isLittleEndian && this.#keyType === INTEGER) {
      const words = keys.subarray(from, from + count)
      this.#first.bytes.set(new Uint8Array(words.buffer, words.byteOffset, count * 8), scratch)
      return
    }
    const { view } = this.#first
    for (let i = 0; i < count; i++) {
      this.#writeWord(view, scratch + 8 * i, keys[from + i], from + i)
    }
  }

  #writeWord (view, at, key, index) {
    if (typeof key === 'number' && this.#keyType === FLOAT) {
      writeFloat(view, at, key)
    } else if (typeof key === 'number' && Number.isSafeInteger(key)) {
      view.setUint32(at, key >>> 0, true)
      view.setInt32(at + 4, Math.floor(key / TWO_32), true)
    } else {
      view.setBigInt64(at, this.#rareWord(key, index), true)
    }
  }

  /** All that is not a safe integer or a float where floats are held. */
  #rareWord (key, index) {
    try {
      if (typeof key === 'bigint') {
        checkType(this.#keyType, INTEGER)
        return int64(key)
      }
      if (typeof key === 'number') {
        checkSafe(key)
      }
      const { type, bytes } = this.#typed(key)
      checkType(this.#keyType, type)
      return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true)
    } catch (error) {
      throw at(error, index)
    }
  }

  #askStrings (keys, from, found) {
    const scratch = this.#first.needScratch(BYTES + CALL_BYTES)
    const count = this.#writeStrings(keys, from, Math.min(CALL_KEYS, keys.length - from))
    const { exports } = this.#first
    this.#answer(count, from, found, this.#parts.length > 1
      ? () => exports.hash_strings(scratch + BYTES, scratch + ENDS, count, scratch)
      : () => exports.contains_strings(
        scratch + BYTES, scratch + ENDS, count, scratch, scratch + FOUND))
    return count
  }

  /** Writes as many of the keys as fit, but at least one. */
  #writeStrings (keys, from, most) {
    let end = 0
    for (let i = 0; i < most; i++) {
      const key = keys[from + i]
      const length = this.#writeAny(key, end, from + i, i === 0)
      if (length < 0) {
        return i
      }
      end += length
      this.#first.view.setUint32(this.#first.scratch + ENDS + 4 * i, end, true)
    }
    return most
  }

  /** Returns the number of bytes written, or -1 if there is no room any more. */
  #writeAny (key, end, index, isFirst) {
    let bytes
    try {
      if (typeof key === 'string' && this.#keyType === TEXT && end + key.length * 3 <= CALL_BYTES) {
        return this.#writeText(key, this.#first.scratch + BYTES + end)
      }
      bytes = this.#bytesOf(key)
    } catch (error) {
      throw at(error, index)
    }
    if (end + bytes.length > CALL_BYTES && !isFirst) {
      return -1
    }
    const to = this.#first.needScratch(BYTES + Math.max(CALL_BYTES, bytes.length)) + BYTES
    this.#first.bytes.set(bytes, to + end)
    return bytes.length
  }

  /** The common case: a string, and room for it however long its UTF-8 is. */
  #writeText (key, to) {
    const { bytes } = this.#first
    const length = writeShort(bytes, to, key)
    return length >= 0 ? length : encodeInto(bytes, to, key)
  }

  #bytesOf (key) {
    const { type, bytes } = this.#typed(key)
    checkType(this.#keyType, type)
    return bytes
  }

  /** The type of any key, and its bytes. */
  #typed (key) {
    if (key instanceof Key) {
      return { type: Key.typeOf(key), bytes: Key.bytesOf(key) }
    }
    if (key instanceof Uint8Array) {
      return { type: BYTEA, bytes: key }
    }
    if (Array.isArray(key)) {
      const row = rowKey(key, this.#keyType)
      return { type: Key.typeOf(row), bytes: Key.bytesOf(row) }
    }
    switch (typeof key) {
      case 'string':
        checkType(this.#keyType, TEXT)
        return { type: TEXT, bytes: Key.bytesOf(Key.text(key)) }
      case 'bigint':
        checkType(this.#keyType, INTEGER)
        return { type: INTEGER, bytes: Key.bytesOf(Key.integer(key)) }
      case 'number':
        return this.#typedNumber(key)
      default:
        throw new KeyError(this.#keyType, `${show(key)} has no type of SQL; see Key`)
    }
  }

  #typedNumber (key) {
    const isFloat = this.#keyType === FLOAT ||
      (this.#keyType !== INTEGER && !Number.isSafeInteger(key))
    checkType(this.#keyType, isFloat ? FLOAT : INTEGER)
    return { type: this.#keyType, bytes: Key.bytesOf(isFloat ? Key.float(key) : Key.integer(key)) }
  }

  /** call hashes the keys, or for a whole filter hashes and answers them. */
  #answer (count, from, found, call) {
    const done = call()
    if (this.#parts.length > 1) {
      this.#askParts(count, from, found)
      return
    }
    const { bytes, scratch } = this.#first
    if (done >>> 0 !== count) {
      throw at(this.#otherPart(done >>> 0), from + (done >>> 0))
    }
    found.set(bytes.subarray(scratch + FOUND, scratch + FOUND + count), from)
  }

  /** Hashes are in the scratch of the first part. */
  #otherPart (number) {
    const { exports, scratch, view } = this.#first
    exports.parts_of_hashes(scratch + 8 * number, 1, scratch + ENDS)
    const { part, parts } = this.#parts[0].header
    return new PartError(part, parts, view.getUint32(scratch + ENDS, true))
  }

  /** Sends the hashes to their parts, and the answers back to their places. */
  #askParts (count, from, found) {
    const { exports, scratch, view } = this.#first
    exports.parts_of_hashes(scratch, count, scratch + ENDS)
    const groups = new Map()
    for (let i = 0; i < count; i++) {
      const part = view.getUint32(scratch + ENDS + 4 * i, true)
      const group = groups.get(part) ?? groups.set(part, { places: [], hashes: [] }).get(part)
      group.places.push(from + i)
      group.hashes.push(view.getBigUint64(scratch + 8 * i, true))
    }
    for (const [part, group] of groups) {
      askPart(this.#parts[part].instance, group, found)
    }
  }
}

function askPart (instance, { places, hashes }, found) {
  const scratch = instance.needScratch(BYTES)
  for (const [i, hash] of hashes.entries()) {
    instance.view.setBigUint64(scratch + 8 * i, hash, true)
  }
  instance.exports.ask_hashes(scratch, hashes.length, scratch + FOUND)
  for (const [i, place] of places.entries()) {
    found[place] = instance.bytes[scratch + FOUND + i]
  }
}

/** Says which key of a batch an error is about. */
function at (error, index) {
  error.message = `key ${index}: ${error.message}`
  error.index = index
  return error
}
