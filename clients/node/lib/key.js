// Keys whose type is said by the caller.
//
// A plain number, bigint, string or Uint8Array is enough where JavaScript's type
// leaves no doubt. All other SQL types go through these functions.
import { KeyError, show } from './errors.js'
import { inetBytes, macBytes, uuidBytes } from './addresses.js'
import {
  BYTEA, DATE, FLOAT, INET, INTEGER, MACADDR, NUMERIC, TEXT, TIMESTAMP, TIMESTAMPTZ, UUID, keyTypeNames
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

  /** The name of the key's type. */
  get type () { return keyTypeNames[this.#type] }

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
