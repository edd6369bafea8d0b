// Asking one whole filter in memory for many keys, with one call into WebAssembly for each
// few thousand.
//
// Keys are written into its memory: integers and floats as words of 8 bytes, all others
// one after the other with the place where each ends.
import { atIndex } from './errors.js'
import { bytesFor, writeFloat } from './key.js'
import { FLOAT, INTEGER, TEXT } from './key-types.js'
import { encodeAt, withoutBlanks, writeShort } from './text.js'

/** Keys of one call into WebAssembly. */
const CALL_KEYS = 4096

/** Bytes of keys of one call. */
const CALL_BYTES = 1 << 20

/** A key that may be longer is asked alone. */
const LONGEST = CALL_BYTES / 4

const TWO_32 = 2 ** 32

// The layout of the scratch: words or hashes, ends of keys, answers, bytes of keys.
const ENDS = CALL_KEYS * 8
const FOUND = ENDS + CALL_KEYS * 4
const BYTES = FOUND + CALL_KEYS

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Throws unless keys are a list of keys. */
export function checkList (keys) {
  if (!Array.isArray(keys) && !(ArrayBuffer.isView(keys) && !(keys instanceof DataView))) {
    throw new TypeError('keys are an array or a typed array')
  }
}

export class Batch {
  #instance
  #kind
  #askAlone

  /** askAlone(key, index) looks up a key that may be too long for a call of many. */
  constructor (instance, kind, askAlone) {
    this.#instance = instance
    this.#kind = kind
    this.#askAlone = askAlone
    instance.needScratch(BYTES + CALL_BYTES)
  }

  /** Element i is 1 (perhaps) or 0 (no). */
  ask (keys) {
    const found = new Uint8Array(keys.length)
    const isWords = this.#isWords(keys)
    for (let from = 0; from < keys.length;) {
      const count = isWords ? this.#writeWords(keys, from) : this.#writeStrings(keys, from)
      if (count === 0) {
        found[from] = this.#askAlone(keys[from], from)
        from++
      } else {
        this.#answer(count, from, found, isWords)
        from += count
      }
    }
    return found
  }

  /** Whether all keys are 8 bytes long; another type is found when it is written. */
  #isWords (keys) {
    const type = typeof keys[0]
    return (type === 'number' || type === 'bigint') && [INTEGER, FLOAT].includes(this.#kind)
  }

  /** Writes words from a place on, and returns how many. */
  #writeWords (keys, from) {
    const { bytes, scratch, view } = this.#instance
    const count = Math.min(CALL_KEYS, keys.length - from)
    if (keys instanceof BigInt64Array && isLittleEndian && this.#kind === INTEGER) {
      const words = keys.subarray(from, from + count)
      bytes.set(new Uint8Array(words.buffer, words.byteOffset, count * 8), scratch)
      return count
    }
    for (let i = 0; i < count; i++) {
      this.#writeWord(view, scratch + 8 * i, keys[from + i], from + i)
    }
    return count
  }

  #writeWord (view, at, key, index) {
    if (typeof key !== 'number') {
      this.#writeRare(view, at, key, index)
    } else if (this.#kind === FLOAT) {
      writeFloat(view, at, key)
    } else if (Number.isSafeInteger(key)) {
      view.setUint32(at, key >>> 0, true)
      view.setInt32(at + 4, Math.floor(key / TWO_32), true)
    } else {
      this.#writeRare(view, at, key, index)
    }
  }

  /** All that is not a safe integer, or a float where floats are held. */
  #writeRare (view, at, key, index) {
    if (typeof key === 'bigint' && this.#kind === INTEGER && BigInt.asIntN(64, key) === key) {
      view.setBigInt64(at, key, true)
      return
    }
    try {
      this.#instance.bytes.set(bytesFor(key, this.#kind), at)
    } catch (error) {
      throw atIndex(error, index)
    }
  }

  /**
   * Writes keys of any length from a place on, as many as fit, and returns how many: 0
   * if the first may be too long.
   */
  #writeStrings (keys, from) {
    const { scratch, view } = this.#instance
    const most = Math.min(CALL_KEYS, keys.length - from)
    let end = 0
    for (let i = 0; i < most; i++) {
      const length = this.#writeAny(keys[from + i], end, from + i)
      if (length < 0) {
        return i
      }
      end += length
      view.setUint32(scratch + ENDS + 4 * i, end, true)
    }
    return most
  }

  /** Returns the number of bytes written, or -1 if there may be no room for them. */
  #writeAny (key, end, index) {
    const { bytes, scratch } = this.#instance
    const to = scratch + BYTES + end
    const room = CALL_BYTES - end
    try {
      if (typeof key === 'string' && this.#kind === TEXT) {
        return key.length > LONGEST || key.length * 3 > room
          ? -1
          : writeText(this.#instance, to, withoutBlanks(key))
      }
      const own = bytesFor(key, this.#kind)
      if (own.length > LONGEST || own.length > room) {
        return -1
      }
      bytes.set(own, to)
      return own.length
    } catch (error) {
      throw atIndex(error, index)
    }
  }

  #answer (count, from, found, isWords) {
    const { bytes, exports, scratch } = this.#instance
    if (isWords) {
      exports.ask_words(scratch, count, scratch + FOUND)
    } else {
      exports.ask_strings(scratch + BYTES, scratch + ENDS, count, scratch, scratch + FOUND)
    }
    found.set(bytes.subarray(scratch + FOUND, scratch + FOUND + count), from)
  }
}

function writeText (instance, to, text) {
  const length = writeShort(instance, to, text)
  return length >= 0 ? length : encodeAt(instance.bytes.subarray(to, to + text.length * 3), text)
}
