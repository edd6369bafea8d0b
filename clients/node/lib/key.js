// Keys whose type is said by the caller, and those that JavaScript's type says. What users call
// is described in index.d.ts.
import { KeyTypeError, KeyValueError, otherType, show } from './errors.js'
import {
  BYTEA, DATE, FLOAT, INTEGER, MAX_COLUMNS, NONE, ROW, TEXT, TIMESTAMPTZ, columnsOf, kindName, rowKind, typeName
} from './key-types.js'
import { checkText, hexOf, parseText, rawKey, withoutBlanks } from './text.js'

const encoder = new TextEncoder()

const MILLIS_PER_DAY = 86400000

/** 4714-11-24 BC, with which PostgreSQL's dates and timestamps begin. */
const FIRST_DAY = -2440588

export class Key {
  #type
  #bytes

  constructor (type, bytes) {
    this.#type = type
    this.#bytes = bytes
  }

  get type () { return kindName(this.#type) }

  get bytes () { return this.#bytes.slice() }

  describe () { return `${typeName(this.#type & 0xff)} ${hexOf(this.#bytes) || '-'}` }

  // Without the copy and the check that this is a Key come for free.
  static typeOf (key) { return key.#type }
  static bytesOf (key) { return key.#bytes }

  static parse (type, text) { return new Key(...parseText(type, text)) }

  static raw (type, bytes) { return new Key(...rawKey(type, bytes)) }

  static integer (value) { return new Key(INTEGER, integerBytes(int64(value))) }
  static text (value) { return new Key(TEXT, encoder.encode(withoutBlanks(checkText(value)))) }
  static bytea (value) { return Key.raw('bytea', value) }
  static numeric (value) { return Key.parse('numeric', typeof value === 'bigint' ? String(value) : value) }
  static float (value) { return new Key(FLOAT, floatBytes(value)) }
  static real (value) { return new Key(FLOAT, floatBytes(nearestReal(value))) }
  static date (value) { return value instanceof Date ? dayKey(value) : Key.parse('date', value) }
  static timestamp (value) { return Key.parse('timestamp', value) }
  static timestamptz (value, { milliseconds = false } = {}) {
    return value instanceof Date ? momentKey(value, milliseconds) : Key.parse('timestamptz', value)
  }

  static inet (value) { return Key.parse('inet', value) }
  static row (...columns) { return rowKey(columns, ROW) }

  static uuid (value) { return value instanceof Uint8Array ? Key.raw('uuid', value) : Key.parse('uuid', value) }

  /** Eight bytes with ff fe in the middle equal, in SQL, the six without them. */
  static mac (value) {
    if (!(value instanceof Uint8Array)) {
      return Key.parse('macaddr', value)
    }
    const widened = value.length === 8 && value[3] === 0xff && value[4] === 0xfe
    return Key.raw('macaddr', widened ? Uint8Array.from([...value.slice(0, 3), ...value.slice(5)]) : value)
  }
}

/** A number beyond real's range has no nearest one, and infinity is not it, nor zero. */
function nearestReal (value) {
  const nearest = Math.fround(checkNumber(value))
  if (Number.isFinite(nearest) !== Number.isFinite(value) || (nearest === 0) !== (value === 0)) {
    throw new KeyValueError(`${show(value)} is out of real's range`)
  }
  return nearest
}

/** A Date with a clock is refused: which day it is depends on the time zone. */
function dayKey (value) {
  const days = value.getTime() / MILLIS_PER_DAY
  if (!Number.isInteger(days)) {
    throw new KeyValueError(`${show(value)} is not midnight in UTC`)
  }
  if (days < FIRST_DAY) {
    throw new KeyValueError(`${show(value)} is out of PostgreSQL's range`)
  }
  return new Key(DATE, integerBytes(BigInt(days)))
}

/** All Dates are within PostgreSQL's range, but before its first day. */
function momentKey (value, milliseconds) {
  const millis = value.getTime()
  if (milliseconds !== true) {
    throw new KeyTypeError('a Date has no microseconds, which a timestamptz may have: take the timestamp as text, ' +
      'or say { milliseconds: true } where all are whole milliseconds')
  }
  if (Number.isNaN(millis)) {
    throw new KeyValueError('the Date is invalid')
  }
  if (millis < FIRST_DAY * MILLIS_PER_DAY) {
    throw new KeyValueError(`${show(value)} is out of PostgreSQL's range`)
  }
  return new Key(TIMESTAMPTZ, integerBytes(BigInt(millis) * 1000n))
}

/** The key that a value is for a filter of this kind, which tells what a number is. */
export function keyOf (value, kind) {
  if (value instanceof Key) {
    return value
  }
  if (value instanceof Uint8Array) {
    return new Key(BYTEA, value)
  }
  if (Array.isArray(value)) {
    return rowKey(value, kind)
  }
  switch (typeof value) {
    case 'string':
      return Key.text(value)
    case 'bigint':
      return Key.integer(value)
    case 'number':
      return kind === FLOAT || (kind !== INTEGER && !Number.isSafeInteger(value))
        ? Key.float(value)
        : Key.integer(value)
    default:
      throw new KeyTypeError(`${show(value)} is no key of an SQL type; see Key`)
  }
}

/** The bytes of the key that a value is; a filter without keys takes those of all kinds. */
export function bytesFor (value, kind) {
  const key = keyOf(value, kind)
  const own = Key.typeOf(key)
  if (own !== kind && kind !== NONE) {
    throw otherType(kind, own)
  }
  return Key.bytesOf(key)
}

/**
 * A key of several columns for a filter of this kind, which tells whether a number
 * is an integer or a float, where the filter holds rows.
 */
function rowKey (columns, kind) {
  const wanted = columnsOf(kind)
  if (columns.length < 1 || columns.length > MAX_COLUMNS) {
    throw new KeyTypeError(`a row has 1 to ${MAX_COLUMNS} columns, not ${columns.length}`)
  }
  const keys = columns.map((value, i) => columnKey(value, wanted[i]))
  const bytes = new Uint8Array(keys.reduce((sum, key) => sum + 5 + Key.bytesOf(key).length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const key of keys) {
    const own = Key.bytesOf(key)
    bytes[at] = Key.typeOf(key)
    view.setUint32(at + 1, own.length, true)
    bytes.set(own, at + 5)
    at += 5 + own.length
  }
  return new Key(rowKind(keys.map(Key.typeOf)), bytes)
}

function columnKey (value, wanted) {
  const isRow = Array.isArray(value) || (value instanceof Key && (Key.typeOf(value) & 0xff) === ROW)
  if (isRow) {
    throw new KeyTypeError('a column of a row can\'t be a row')
  }
  return keyOf(value, wanted ?? INTEGER)
}

/** An integer of 64 bits as a bigint. */
function int64 (value) {
  if (typeof value === 'number') {
    // Numbers beyond 2^53 may have been rounded already: nobody knows which is meant.
    if (!Number.isSafeInteger(value)) {
      throw new KeyValueError(`${show(value)} is not a safe integer`)
    }
    return BigInt(value)
  }
  if (typeof value !== 'bigint') {
    throw new KeyTypeError(`${show(value)} is neither a number nor a bigint`)
  }
  if (BigInt.asIntN(64, value) !== value) {
    throw new KeyValueError(`${show(value)} has more than 64 bits`)
  }
  return value
}

function checkNumber (value) {
  if (typeof value !== 'number') {
    throw new KeyTypeError(`${show(value)} is not a number`)
  }
  return value
}

function integerBytes (value) {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, BigInt.asIntN(64, value), true)
  return bytes
}

function floatBytes (value) {
  const bytes = new Uint8Array(8)
  writeFloat(new DataView(bytes.buffer), 0, checkNumber(value))
  return bytes
}

/** Equal floats have equal bytes: there is one zero and one NaN. */
export function writeFloat (view, at, value) {
  if (Number.isNaN(value)) {
    view.setBigUint64(at, 0x7ff8000000000000n, true)
  } else {
    view.setFloat64(at, value === 0 ? 0 : value, true)
  }
}
