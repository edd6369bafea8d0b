// Keys from the text that PostgreSQL prints and reads, by the grammar of doc/KEYS.md, and
// from their bytes: by the same C as in the command line, in an instance of its own.
import { KeyTypeError, KeyValueError, show } from './errors.js'
import { Instance } from './instance.js'
import { keyTypeNames } from './key-types.js'
import { encodeInto, writeShort } from './text.js'

/** Longer texts get an instance that goes when they are read: memory never shrinks. */
const SHORT_TEXT = 20000

/** Bytes that the key of a text may need besides the text's own. */
const KEY_BYTES = 4

let reader

function newReader () {
  const instance = new Instance()
  instance.room(0)
  return instance
}

/** The kind of a key and its bytes, from the name of a type and a text. */
export function parseText (type, text) {
  if (typeof text !== 'string') {
    throw new KeyTypeError(`${show(text)} is not the text of a key of type ${type}`)
  }
  const instance = readerFor(text)
  return read(instance, typeNumber(reader, type), type, text)
}

function readerFor ({ length }) {
  reader ??= newReader()
  return length > SHORT_TEXT ? newReader() : reader
}

/** The kind of the key of this type's name that has these bytes; throws if there is none. */
export function rawKind (type, bytes) {
  const number = keyTypeNames.indexOf(type)
  if (number < 1) {
    throw new KeyTypeError(`unknown key type ${show(type)}`)
  }
  if (!(bytes instanceof Uint8Array)) {
    throw new KeyTypeError(`${show(bytes)} is not a Uint8Array`)
  }
  const instance = readerFor(bytes)
  const kind = instance.exports.key_kind(number, instance.putKey(bytes), bytes.length) >>> 0
  if (kind === 0) {
    const shown = Array.from(bytes.subarray(0, 20), (byte) => byte.toString(16).padStart(2, '0'))
    throw new KeyValueError(`no key of type ${type} has the bytes ${shown.join(' ')}`)
  }
  return kind
}

const numbers = new Map()

function typeNumber (instance, type) {
  let number = numbers.get(type)
  if (number === undefined) {
    number = askTypeNumber(instance, type)
    numbers.set(type, number)
  }
  return number
}

function askTypeNumber (instance, type) {
  const { bytes, exports, scratch } = instance
  if (typeof type === 'string' && type.length < 100) {
    bytes[scratch + encodeInto(instance, type)] = 0
    const number = exports.text_type(scratch)
    if (number > 0) {
      return number
    }
  }
  throw new KeyTypeError(`unknown key type ${show(type)}`)
}

function read (instance, number, type, text) {
  const { exports } = instance
  const short = writeShort(instance, instance.scratch, text)
  const length = short >= 0 ? short : encodeInto(instance, text)
  const room = exports.text_room(number, instance.scratch, length) >>> 0
  const at = instance.needScratch(length + room + KEY_BYTES)
  const reason = exports.text_key(number, at, length, at + length) >>> 0
  if (reason !== 0) {
    throw new KeyValueError(`${show(text)} is not a key of type ${type}: ${instance.string(reason)}`)
  }
  const from = exports.text_at() >>> 0
  const bytes = instance.bytes.slice(from, from + (exports.text_length() >>> 0))
  return { kind: exports.text_key_type(number), bytes }
}
