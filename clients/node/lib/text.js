// Strings as UTF-8 in WebAssembly's memory, and keys from the text that PostgreSQL prints and reads, by the
// grammar of doc/KEYS.md, and from their bytes: by the same C as in the command line.
import { KeyTypeError, KeyValueError, show } from './errors.js'
import { Instance, commonInstance } from './instance.js'
import { FLOAT, ROW, typeOfName } from './key-types.js'

const encoder = new TextEncoder()

/** Longer strings go to the encoder at once: it is faster from there on. */
const SHORT = 48

const BLANK = 0x20

/**
 * The part of a text that is its key: the blanks at its end, U+0020 and nothing else,
 * are not, as char(n) is compared without them.
 */
export function withoutBlanks (text) {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === BLANK) {
    end--
  }
  return end === text.length ? text : text.slice(0, end)
}

/**
 * Writes a short ASCII string and returns its length; -1 for all others. Four characters
 * go into one store, which WebAssembly then reads back without waiting for many small
 * ones, and there is no branch for each.
 */
export function writeShort ({ bytes, view }, to, text) {
  const length = text.length
  if (length > SHORT) {
    return -1
  }
  let all = 0
  let i = 0
  for (; i + 4 <= length; i += 4) {
    const a = text.charCodeAt(i)
    const b = text.charCodeAt(i + 1)
    const c = text.charCodeAt(i + 2)
    const d = text.charCodeAt(i + 3)
    all |= a | b | c | d
    view.setInt32(to + i, a | b << 8 | c << 16 | d << 24, true)
  }
  for (; i < length; i++) {
    const code = text.charCodeAt(i)
    all |= code
    bytes[to + i] = code
  }
  return all < 128 ? length : -1
}

/** Writes any string to the scratch; returns its length. */
export function encodeInto (instance, text) {
  const short = writeShort(instance, instance.scratch, text)
  if (short >= 0) {
    return short
  }
  const at = instance.needScratch(text.length * 3)
  return encodeAt(instance.bytes.subarray(at, at + text.length * 3), text)
}

/** Writes any string to room of three bytes a unit; returns its length. */
export function encodeAt (room, text) {
  const { written } = encoder.encodeInto(text, room)
  // As many bytes as units are ASCII; only others can have an unpaired surrogate.
  if (written !== text.length) {
    checkText(text)
  }
  return written
}

/** An unpaired surrogate has no UTF-8, and encoders put another character there. */
export function checkText (value) {
  if (typeof value !== 'string') {
    throw new KeyTypeError(`${show(value)} is not a string`)
  }
  if (!value.isWellFormed()) {
    throw new KeyValueError('the string has an unpaired surrogate')
  }
  return value
}

/** The number of the type real, which has texts of its own, and keys of type float. */
const REAL = 100

/** Longer texts get an instance that goes when they are read: memory never shrinks. */
const SHORT_TEXT = 20000

/** Bytes that the key of a text may need besides the text's own. */
const KEY_BYTES = 4

const readerFor = ({ length }) => length > SHORT_TEXT ? new Instance() : commonInstance()

/** The kind of a key and its bytes, as a pair, from the name of a type and a text. */
export function parseText (type, text) {
  if (typeof text !== 'string') {
    throw new KeyTypeError(`${show(text)} is not the text of a key of type ${type}`)
  }
  const number = type === 'real' ? REAL : typeNumber(type, ROW - 1)
  const instance = readerFor(text)
  const { exports } = instance
  const length = encodeInto(instance, text)
  const room = exports.text_room(number, instance.scratch, length) >>> 0
  const at = instance.needScratch(length + room + KEY_BYTES)
  const reason = exports.text_key(number, at, length, at + length) >>> 0
  if (reason !== 0) {
    throw new KeyValueError(`${show(text)} is not a key of type ${type}: ${instance.string(reason)}`)
  }
  return [number === REAL ? FLOAT : number, keyBytes(instance)]
}

/** The same from key bytes, of which a text loses the blanks at its end; throws if no key has them. */
export function rawKey (type, bytes) {
  const number = typeNumber(type, ROW)
  if (!(bytes instanceof Uint8Array)) {
    throw new KeyTypeError(`${show(bytes)} is not a Uint8Array`)
  }
  const instance = readerFor(bytes)
  const kind = instance.exports.key_kind(number, instance.putKey(bytes), bytes.length) >>> 0
  if (kind === 0) {
    throw new KeyValueError(`no key of type ${type} has the bytes ${hexOf(bytes.subarray(0, 20))}`)
  }
  return [kind, keyBytes(instance)]
}

export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

function typeNumber (type, last) {
  const number = typeOfName(type)
  if (number < 1 || number > last) {
    throw new KeyTypeError(`unknown key type ${show(type)}`)
  }
  return number
}

/** A copy of the key that was read last. */
function keyBytes ({ bytes, exports }) {
  const from = exports.key_at() >>> 0
  return bytes.slice(from, from + (exports.key_length() >>> 0))
}
