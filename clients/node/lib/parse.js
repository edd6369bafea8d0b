// Keys from text as PostgreSQL prints values, for programs that read lines.
import { fromHex } from './addresses.js'
import { KeyError, show } from './errors.js'
import { Key } from './key.js'
import { BYTEA, FLOAT, INTEGER } from './key-types.js'

const integerForm = /^[+-]?\d+$/
const floatForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const floatSpecials = { NaN, Infinity, '-Infinity': -Infinity }

function parseInteger (text) {
  if (!integerForm.test(text)) {
    throw new KeyError(INTEGER, `${show(text)} is not an integer`)
  }
  return Key.integer(BigInt(text.replace(/^\+/, '')))
}

function parseBytea (text) {
  const digits = text.replace(/^\\x/, '')
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) {
    throw new KeyError(BYTEA, `${show(text)} is not hex`)
  }
  return Key.bytea(fromHex(digits))
}

function parseFloat64 (text) {
  if (Object.hasOwn(floatSpecials, text)) {
    return Key.float(floatSpecials[text])
  }
  const value = floatForm.test(text) ? Number(text) : NaN
  if (!Number.isFinite(value)) {
    throw new KeyError(FLOAT, `${show(text)} is not a float`)
  }
  return Key.float(value)
}

const parsers = {
  integer: parseInteger,
  text: Key.text,
  bytea: parseBytea,
  uuid: Key.uuid,
  numeric: Key.numeric,
  float: parseFloat64,
  date: Key.date,
  timestamp: Key.timestamp,
  timestamptz: Key.timestamptz,
  inet: Key.inet,
  macaddr: Key.mac
}

/** The key of this type's name that text spells. */
export function parseKey (type, text) {
  if (!Object.hasOwn(parsers, type)) {
    throw new TypeError(`unknown key type ${show(type)}`)
  }
  return parsers[type](text)
}
