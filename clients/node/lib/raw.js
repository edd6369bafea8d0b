// Which bytes a key can have: section 3 of FORMAT.md, read the other way round.
import { KeyTypeError, KeyValueError, show } from './errors.js'
import {
  BYTEA, DATE, FLOAT, INET, INTEGER, MACADDR, MAX_COLUMNS, NUMERIC, ROW, TEXT, TIMESTAMP, TIMESTAMPTZ, UUID,
  keyTypeNames, rowKind
} from './key-types.js'

const numericForm = /^(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9]|NaN|-?Infinity)$/
const strictText = new TextDecoder('utf-8', { fatal: true })
const latin1 = new TextDecoder('latin1')

const BLANK = 0x20

const is8 = (bytes) => bytes.length === 8

function isText (bytes) {
  try {
    strictText.decode(bytes)
    return bytes[bytes.length - 1] !== BLANK
  } catch {
    return false
  }
}

/** One zero, and one NaN. */
function isFloat (bytes) {
  if (bytes.length !== 8) {
    return false
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8)
  const value = view.getFloat64(0, true)
  const word = view.getBigUint64(0, true)
  return Number.isNaN(value) ? word === 0x7ff8000000000000n : value !== 0 || word === 0n
}

const checks = {
  [INTEGER]: is8,
  [TEXT]: isText,
  [BYTEA]: () => true,
  [UUID]: (bytes) => bytes.length === 16,
  [NUMERIC]: (bytes) => numericForm.test(latin1.decode(bytes)),
  [FLOAT]: isFloat,
  [DATE]: is8,
  [TIMESTAMP]: is8,
  [TIMESTAMPTZ]: is8,
  [INET]: (bytes) => (bytes.length === 6 && bytes[0] === 4 && bytes[1] <= 32) ||
    (bytes.length === 18 && bytes[0] === 6 && bytes[1] <= 128),
  [MACADDR]: (bytes) => bytes.length === 6 ||
    (bytes.length === 8 && !(bytes[3] === 0xff && bytes[4] === 0xfe))
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
  if (number === ROW) {
    return kindOfRow(bytes)
  }
  check(number, bytes)
  return number
}

function check (number, bytes) {
  if (!checks[number](bytes)) {
    const shown = Array.from(bytes.subarray(0, 20), (byte) => byte.toString(16).padStart(2, '0'))
    throw new KeyValueError(`no key of type ${keyTypeNames[number]} has the bytes ${shown.join(' ')}`)
  }
}

/** The columns must fill the bytes of a row exactly. */
function kindOfRow (bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const columns = []
  let at = 0
  while (at + 5 <= bytes.length) {
    const type = bytes[at]
    const end = at + 5 + view.getUint32(at + 1, true)
    if (type < 1 || type >= ROW || end > bytes.length) {
      break
    }
    check(type, bytes.subarray(at + 5, end))
    columns.push(type)
    at = end
  }
  if (at !== bytes.length || columns.length < 1 || columns.length > MAX_COLUMNS) {
    throw new KeyValueError('no row has these bytes')
  }
  return rowKind(columns)
}
