// The canonical spelling of numeric: equal numbers have one.
import { KeyError, show } from './errors.js'
import { NUMERIC } from './key-types.js'

// What PostgreSQL's numeric can hold, in decimal digits. Without these limits a
// short text such as 1e999999999 would be expanded to a gigabyte.
const MAX_INTEGER_DIGITS = 131072
const MAX_FRACTION_DIGITS = 16383

const decimalForm = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i
const specials = new Map([
  ['nan', 'NaN'],
  ['inf', 'Infinity'], ['+inf', 'Infinity'], ['infinity', 'Infinity'], ['+infinity', 'Infinity'],
  ['-inf', '-Infinity'], ['-infinity', '-Infinity']
])

/** A number is refused: 0.1 is not the decimal that it looks like. */
export function canonicalNumeric (value) {
  if (typeof value === 'bigint') {
    return checkedDigits(value, value.toString())
  }
  if (typeof value !== 'string') {
    throw new KeyError(NUMERIC, `${show(value)} is neither a string nor a bigint`)
  }
  return specials.get(value.toLowerCase()) ?? checkedDigits(value, value)
}

function checkedDigits (value, text) {
  const match = decimalForm.exec(text)
  if (match === null || !(match[2] || match[3])) {
    throw new KeyError(NUMERIC, `${show(value)} is not a number`)
  }
  const [, sign, whole, part = '', power = '0'] = match
  const shifted = shiftPoint(whole, part, Number(power))
  const integer = shifted?.integer.replace(/^0+/, '')
  const fraction = shifted && trimZeros(shifted.fraction)
  if (!shifted || integer.length > MAX_INTEGER_DIGITS || fraction.length > MAX_FRACTION_DIGITS) {
    throw new KeyError(NUMERIC, `${show(value)} is out of range`)
  }
  const digits = (integer || '0') + (fraction && `.${fraction}`)
  return sign === '-' && digits !== '0' ? `-${digits}` : digits
}

/** By hand: a pattern for zeros at the end takes quadratic time. */
function trimZeros (digits) {
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') {
    end--
  }
  return digits.slice(0, end)
}

function shiftPoint (integer, fraction, exponent) {
  if (Math.abs(exponent) > MAX_INTEGER_DIGITS + MAX_FRACTION_DIGITS) {
    return undefined
  }
  if (exponent >= 0) {
    const digits = fraction.padEnd(exponent, '0')
    return { integer: integer + digits.slice(0, exponent), fraction: digits.slice(exponent) }
  }
  const digits = integer.padStart(-exponent, '0')
  return { integer: digits.slice(0, exponent), fraction: digits.slice(exponent) + fraction }
}
