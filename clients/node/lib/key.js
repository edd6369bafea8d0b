// Keys whose type is said by the caller.
//
// A plain number, bigint, string or Uint8Array is enough where JavaScript's type
// leaves no doubt. All other SQL types go through these functions.
import { KeyError, show } from './errors.js'
import { inetBytes, macBytes, uuidBytes } from './addresses.js'
import {
  BYTEA, DATE, FLOAT, INET, INTEGER, MACADDR, MAX_COLUMNS, NUMERIC, ROW, TEXT, TIMESTAMP, TIMESTAMPTZ, UUID,
  columnsOf, kindName, rowKind
} from './key-types.js'
import { canonicalNumeric } from './numeric.js'
import { dateDays, timestampMicros, timestamptzMicros } from './times.js'

const encoder = new TextEncoder()

export class Key {
  #type
  #bytes

  constructor (type, bytes) {
    this.#type = type
    this.#bytes = bytes
  }

  /** The name of the key's type, of a row with those of its columns. */
  get type () { return kindName(this.#type) }

  /** The bytes that are hashed. */
  get bytes () { return this.#bytes.slice() }

  // Without the copy and the check that this is a Key come for free.
  static typeOf (key) { return key.#type }
  static bytesOf (key) { return key.#bytes }

  static integer (value) { return new Key(INTEGER, integerBytes(INTEGER, int64(value))) }
  static text (value) { return new Key(TEXT, encoder.encode(checkText(value))) }
  static bytea (value) { return new Key(BYTEA, checkBytes(BYTEA, value).slice()) }
  static uuid (value) { return new Key(UUID, uuidBytes(value)) }
  static numeric (value) { return new Key(NUMERIC, encoder.encode(canonicalNumeric(value))) }
  static float (value) { return new Key(FLOAT, floatBytes(value)) }
  static real (value) { return new Key(FLOAT, floatBytes(Math.fround(checkNumber(value)))) }
  static date (value) { return new Key(DATE, integerBytes(DATE, dateDays(value))) }
  static timestamp (value) { return new Key(TIMESTAMP, integerBytes(TIMESTAMP, timestampMicros(value))) }
  static timestamptz (value) { return new Key(TIMESTAMPTZ, integerBytes(TIMESTAMPTZ, timestamptzMicros(value))) }
  static inet (value) { return new Key(INET, inetBytes(value)) }
  static mac (value) { return new Key(MACADDR, macBytes(value)) }
  static row (...columns) { return rowKey(columns, ROW) }
}

/**
 * A key of several columns for a filter of this kind, which tells whether a number
 * is an integer or a float, where the filter holds rows.
 */
export function rowKey (columns, kind) {
  const wanted = columnsOf(kind)
  const keys = columns.map((value, i) => columnKey(value, wanted[i]))
  if (keys.length < 1 || keys.length > MAX_COLUMNS) {
    throw new KeyError(ROW, `a row has 1 to ${MAX_COLUMNS} columns, not ${keys.length}`)
  }
  const bytes = Buffer.concat(keys.flatMap((key) => {
    const own = Key.bytesOf(key)
    const head = Buffer.alloc(5)
    head.writeUInt8(Key.typeOf(key))
    head.writeUInt32LE(own.length, 1)
    return [head, own]
  }))
  return new Key(rowKind(keys.map(Key.typeOf)), new Uint8Array(bytes))
}

function columnKey (value, wanted) {
  if (value instanceof Key) {
    if ((Key.typeOf(value) & 0xff) === ROW) {
      throw new KeyError(ROW, 'a column of a row can\'t be a row')
    }
    return value
  }
  if (value instanceof Uint8Array) {
    return Key.bytea(value)
  }
  switch (typeof value) {
    case 'number':
      return wanted === FLOAT ? Key.float(value) : Key.integer(value)
    case 'bigint':
      return Key.integer(value)
    case 'string':
      return Key.text(value)
    default:
      throw new KeyError(ROW, `${show(value)} has no type of SQL; see Key`)
  }
}

/** An integer of 64 bits as a bigint. */
export function int64 (value) {
  if (typeof value === 'number') {
    checkSafe(value)
    return BigInt(value)
  }
  if (typeof value !== 'bigint') {
    throw new KeyError(INTEGER, `${show(value)} is neither a number nor a bigint`)
  }
  if (BigInt.asIntN(64, value) !== value) {
    throw new KeyError(INTEGER, `${show(value)} has more than 64 bits`)
  }
  return value
}

/** Numbers beyond 2^53 may have been rounded already: nobody knows which is meant. */
export function checkSafe (value) {
  if (!Number.isSafeInteger(value)) {
    throw new KeyError(INTEGER, `${show(value)} is not a safe integer`)
  }
}

/** An unpaired surrogate has no UTF-8, and encoders put another character there. */
export function checkText (value) {
  if (typeof value !== 'string') {
    throw new KeyError(TEXT, `${show(value)} is not a string`)
  }
  if (!value.isWellFormed()) {
    throw new KeyError(TEXT, 'the string has an unpaired surrogate')
  }
  return value
}

export function checkBytes (type, value) {
  if (!(value instanceof Uint8Array)) {
    throw new KeyError(type, `${show(value)} is not a Uint8Array`)
  }
  return value
}

function checkNumber (value) {
  if (typeof value !== 'number') {
    throw new KeyError(FLOAT, `${show(value)} is not a number`)
  }
  return value
}

function integerBytes (type, value) {
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
