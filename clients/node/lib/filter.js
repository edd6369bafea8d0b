// A filter that is open: asking it for one key.
import { KeyError, PartError, checkType, show } from './errors.js'
import { Batch } from './batch.js'
import { asyncIo, runAsync, runSync, syncIo } from './files.js'
import { Key, checkSafe, int64, rowKey, writeFloat } from './key.js'
import { BYTEA, FLOAT, INTEGER, NONE, TEXT, kindName } from './key-types.js'
import { loadBytes, loadPath, named } from './load.js'
import { encodeInto, writeShort } from './text.js'

const TWO_32 = 2 ** 32

export class Filter {
  #parts
  #first
  #keyType
  #batch

  /** Use open, openSync or fromBytes. */
  constructor (parts) {
    const kinds = parts.map(({ header }) => header.kind)
    this.#parts = parts
    this.#first = parts[0].instance
    this.#keyType = Math.max(...new Set(kinds))
  }

  /** The name of the type of the keys that the filter holds, of rows with their columns. */
  get keyType () { return kindName(this.#keyType) }

  /** Describes the filter. */
  get info () {
    const headers = this.#parts.map(({ header }) => header)
    const sum = (field) => headers.reduce((total, header) => total + header[field], 0)
    return {
      keyType: this.keyType,
      seed: headers[0].seed,
      parts: headers[0].parts,
      capacity: headers.reduce((total, { capacity }) => total + capacity, 0n),
      bytes: sum('bytes'),
      bitsSet: sum('bitsSet'),
      estimatedKeys: sum('estimatedKeys'),
      open: headers.map((header) => ({ ...header }))
    }
  }

  /** false: surely not in. true: perhaps in. */
  contains (key) {
    switch (typeof key) {
      case 'number':
        return this.#containsNumber(key)
      case 'bigint':
        return this.#containsBigint(key)
      case 'string':
        checkType(this.#keyType, TEXT)
        return this.#containsString(key)
      default:
        return this.#containsObject(key)
    }
  }

  /** Answers for many keys: element i of the result is 1 (perhaps) or 0 (no). */
  containsMany (keys) {
    this.#batch ??= new Batch(this.#parts, this.#keyType)
    return this.#batch.ask(keys)
  }

  /** An integer, or in a filter of floats a float; nothing else is certain. */
  #containsNumber (key) {
    if (this.#keyType === FLOAT || (this.#keyType === NONE && !Number.isSafeInteger(key))) {
      return this.#containsFloat(key)
    }
    checkType(this.#keyType, Number.isInteger(key) || this.#keyType === INTEGER ? INTEGER : FLOAT)
    checkSafe(key)
    return this.#askWord(key >>> 0, Math.floor(key / TWO_32))
  }

  #containsFloat (key) {
    const { view, scratch } = this.#first
    writeFloat(view, scratch, key)
    return this.#askWord(view.getUint32(scratch, true), view.getUint32(scratch + 4, true))
  }

  #containsBigint (key) {
    checkType(this.#keyType, INTEGER)
    const { view, scratch } = this.#first
    view.setBigInt64(scratch, int64(key), true)
    return this.#askWord(view.getUint32(scratch, true), view.getUint32(scratch + 4, true))
  }

  #containsString (key) {
    const { bytes, scratch } = this.#first
    const length = writeShort(bytes, scratch, key)
    return this.#askBytes(length >= 0 ? length : this.#writeLong(key))
  }

  #writeLong (key) {
    const to = this.#first.needScratch(key.length * 3)
    return encodeInto(this.#first.bytes, to, key)
  }

  #containsObject (object) {
    const key = Array.isArray(object) ? rowKey(object, this.#keyType) : object
    const isKey = key instanceof Key
    if (!isKey && !(key instanceof Uint8Array)) {
      throw new KeyError(this.#keyType, `${show(key)} has no type of SQL; see Key`)
    }
    checkType(this.#keyType, isKey ? Key.typeOf(key) : BYTEA)
    const bytes = isKey ? Key.bytesOf(key) : key
    const from = this.#first.needScratch(bytes.length)
    this.#first.bytes.set(bytes, from)
    return this.#askBytes(bytes.length)
  }

  #askWord (low, high) {
    const { exports } = this.#first
    if (this.#parts.length > 1) {
      const { instance } = this.#parts[exports.part_of_word(low, high)]
      return instance.exports.contains_word(low, high) === 1
    }
    const answer = exports.contains_word(low, high)
    return answer >= 0 ? answer === 1 : this.#otherPart(exports.part_of_word(low, high))
  }

  /** The key is in the first instance's scratch. */
  #askBytes (length) {
    const { exports, scratch } = this.#first
    if (this.#parts.length > 1) {
      return this.#askBytesOf(this.#parts[exports.part_of_bytes(scratch, length)].instance, length)
    }
    const answer = exports.contains_bytes(scratch, length)
    return answer >= 0 ? answer === 1 : this.#otherPart(exports.part_of_bytes(scratch, length))
  }

  #askBytesOf (instance, length) {
    const { bytes, scratch } = this.#first
    const to = instance.needScratch(length)
    instance.bytes.set(bytes.subarray(scratch, scratch + length), to)
    return instance.exports.contains_bytes(to, length) === 1
  }

  #otherPart (wanted) {
    const { part, parts } = this.#parts[0].header
    throw new PartError(part, parts, wanted)
  }
}

/** Opens a file, a set's manifest or a folder. */
export async function open (path, options) {
  try {
    return new Filter(await runAsync(loadPath(asyncIo, path, options)))
  } catch (error) {
    throw named(error, path)
  }
}

/** The same, waiting for the disk. */
export function openSync (path, options) {
  try {
    return new Filter(runSync(loadPath(syncIo, path, options)))
  } catch (error) {
    throw named(error, path)
  }
}

/** A filter of bytes in memory. They are copied. */
export function fromBytes (bytes, options) {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError('a filter comes from a Uint8Array')
  }
  return new Filter([loadBytes(bytes, options)])
}
