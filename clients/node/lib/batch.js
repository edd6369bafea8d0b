// Asking for many keys with one call into WebAssembly for each few thousand.
//
// Keys are written into the first part's memory: integers and floats as words of
// 8 bytes, all others one after the other with the place where each ends. A whole
// filter hashes and answers them in one call. A set hashes them in its first part,
// which also sorts the hashes by their parts; each part gets its own in one piece.
import { atIndex } from './errors.js'
import { bytesFor, writeFloat } from './key.js'
import { FLOAT, INTEGER, TEXT } from './key-types.js'
import { SHORT_OF_BATCH, encodeInto, withoutBlanks, writeShort } from './text.js'

/** Keys of one call into WebAssembly. */
const CALL_KEYS = 4096

/** Bytes of keys of one call. */
const CALL_BYTES = 1 << 20

/** A key that may be longer is asked alone. */
const LONGEST = CALL_BYTES / 4

const MAX_PARTS = 65535
const TWO_32 = 2 ** 32

// The layout of the scratch: words or hashes, ends of keys, answers; for sets the
// hashes by their parts, their order, where each part's begin, their answers; and
// the bytes of keys.
const ENDS = CALL_KEYS * 8
const FOUND = ENDS + CALL_KEYS * 4
const SORTED = FOUND + CALL_KEYS
const ORDER = SORTED + CALL_KEYS * 8
const STARTS = ORDER + CALL_KEYS * 4
const ANSWERS = STARTS + (MAX_PARTS + 2) * 4
const BYTES = Math.ceil((ANSWERS + CALL_KEYS) / 8) * 8

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Throws unless keys are a list of keys. */
export function checkList (keys) {
  if (!Array.isArray(keys) && !(ArrayBuffer.isView(keys) && !(keys instanceof DataView))) {
    throw new TypeError('keys are an array or a typed array')
  }
}

/** Writes keys of one kind into an instance, and hashes them there. */
export class Writer {
  #instance
  #kind

  constructor (instance, kind) {
    this.#instance = instance
    this.#kind = kind
    instance.needScratch(BYTES + CALL_BYTES)
  }

  /** Whether all keys are 8 bytes long; another type is found when it is written. */
  isWords (keys) {
    const type = typeof keys[0]
    return (type === 'number' || type === 'bigint') && [INTEGER, FLOAT].includes(this.#kind)
  }

  /** Writes words from a place on, and returns how many. */
  writeWords (keys, from) {
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
  writeStrings (keys, from) {
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

  /** Replaces what was written by hashes, at the beginning of the scratch. */
  hash (count, isWords) {
    const { exports, scratch } = this.#instance
    if (isWords) {
      exports.hash_words(scratch, count)
    } else {
      exports.hash_strings(scratch + BYTES, scratch + ENDS, count, scratch)
    }
    return scratch
  }
}

function writeText (instance, to, text) {
  const length = writeShort(instance, to, text, SHORT_OF_BATCH)
  return length >= 0 ? length : encodeInto(instance.bytes, to, text)
}

export class Batch {
  #parts
  #kind
  #writer

  constructor (parts, kind) {
    this.#parts = parts
    this.#kind = kind
    this.#writer = new Writer(parts.first, kind)
  }

  /** Element i is 1 (perhaps) or 0 (no). */
  ask (keys) {
    checkList(keys)
    const found = new Uint8Array(keys.length)
    const isWords = this.#writer.isWords(keys)
    for (let from = 0; from < keys.length;) {
      const count = isWords
        ? this.#writer.writeWords(keys, from)
        : this.#writer.writeStrings(keys, from)
      if (count === 0) {
        found[from] = this.#askAlone(keys[from], from)
        from++
      } else {
        this.#writer.hash(count, isWords)
        this.#answer(count, from, found)
        from += count
      }
    }
    return found
  }

  #askAlone (key, index) {
    try {
      return typeof key === 'string' && this.#kind === TEXT
        ? this.#parts.askText(key)
        : this.#parts.askBytes(bytesFor(key, this.#kind))
    } catch (error) {
      throw atIndex(error, index)
    }
  }

  /** The hashes are at the beginning of the first part's scratch. */
  #answer (count, from, found) {
    const { bytes, exports, scratch } = this.#parts.first
    if (this.#parts.isSet) {
      this.#askParts(count)
    } else {
      const done = exports.ask_hashes(scratch, count, scratch + FOUND) >>> 0
      if (done !== count) {
        const wanted = exports.part_of_hash(scratch + 8 * done)
        throw atIndex(this.#parts.otherPart(wanted), from + done)
      }
    }
    found.set(bytes.subarray(scratch + FOUND, scratch + FOUND + count), from)
  }

  /** Sends the hashes to their parts, and the answers back to their places. */
  #askParts (count) {
    const { bytes, exports, scratch } = this.#parts.first
    exports.group_by_part(scratch, count, scratch + SORTED, scratch + ORDER, scratch + STARTS)
    const starts = new Uint32Array(bytes.buffer, scratch + STARTS, this.#parts.parts.length + 1)
    for (const [number, { instance }] of this.#parts.parts.entries()) {
      const [start, end] = [starts[number], starts[number + 1]]
      if (start !== end && number === 0) {
        exports.ask_hashes(scratch + SORTED, end, scratch + ANSWERS)
      } else if (start !== end) {
        const hashes = bytes.subarray(scratch + SORTED + 8 * start, scratch + SORTED + 8 * end)
        bytes.set(askPart(instance, hashes, end - start), scratch + ANSWERS + start)
      }
    }
    exports.scatter(scratch + ANSWERS, scratch + ORDER, count, scratch + FOUND)
  }
}

/** The answers to hashes that belong to another part than the first. */
function askPart ({ bytes, exports, scratch }, hashes, count) {
  const answers = scratch + 8 * CALL_KEYS
  bytes.set(hashes, scratch)
  exports.ask_hashes(scratch, count, answers)
  return bytes.subarray(answers, answers + count)
}
