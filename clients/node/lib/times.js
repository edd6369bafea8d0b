// Dates and times as counts from 1970, as bigints.
import { KeyError, show } from './errors.js'
import { DATE, TIMESTAMP, TIMESTAMPTZ, keyTypeNames } from './key-types.js'

const dateForm = /^(\d{4,7})-(\d\d)-(\d\d)( BC)?$/
const timeForm = /^(\d{4,7})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d(?::\d\d){0,2})?( BC)?$/

const MICROS_PER_DAY = 86400000000n

// What PostgreSQL's types can hold: from 4714-11-24 BC to the end of 5874897, and
// to the end of 294276.
const FIRST_DAY = -2440588
const LAST_DAY = 2145042905
const FIRST_MICRO = BigInt(FIRST_DAY) * MICROS_PER_DAY
const LAST_MICRO = 9224318015999999999n

// In seconds: 24:00:00 is the end of a day, and offsets end before 16:00.
const LONGEST_CLOCK = 86400
const LONGEST_OFFSET = 57599

const infinities = new Map([
  ['infinity', 2n ** 63n - 1n],
  ['-infinity', -(2n ** 63n)]
])

/** Days of a text such as 2024-01-31, or of a Date at midnight in UTC. */
export function dateDays (value) {
  if (infinities.has(value)) {
    return infinities.get(value)
  }
  const days = value instanceof Date ? daysOfDate(value) : daysOfText(value)
  if (days < FIRST_DAY || days > LAST_DAY) {
    throw new KeyError(DATE, `${show(value)} is out of PostgreSQL's range`)
  }
  return BigInt(days)
}

/** A Date with a clock is refused: which day it is depends on the time zone. */
function daysOfDate (value) {
  const days = value.getTime() / 86400000
  if (!Number.isInteger(days)) {
    throw new KeyError(DATE, `${show(value)} is not midnight in UTC`)
  }
  return days
}

function daysOfText (value) {
  const match = typeof value === 'string' ? dateForm.exec(value) : null
  if (match === null) {
    throw new KeyError(DATE, `${show(value)} is not an ISO date`)
  }
  return daysOf(DATE, value, match[1], match[2], match[3], match[4])
}

/** Microseconds of a text without an offset from UTC. */
export function timestampMicros (value) {
  return microsOfText(TIMESTAMP, value)
}

/** Microseconds of a text with an offset from UTC, or of a Date. */
export function timestamptzMicros (value) {
  if (!(value instanceof Date)) {
    return microsOfText(TIMESTAMPTZ, value)
  }
  if (Number.isNaN(value.getTime())) {
    throw new KeyError(TIMESTAMPTZ, 'the Date is invalid')
  }
  return checkMicros(TIMESTAMPTZ, value, BigInt(value.getTime()) * 1000n)
}

function microsOfText (type, value) {
  if (infinities.has(value)) {
    return infinities.get(value)
  }
  const match = typeof value === 'string' ? timeForm.exec(value) : null
  // An offset is never ignored, and never guessed.
  if (match === null || (match[8] !== undefined) !== (type === TIMESTAMPTZ)) {
    throw new KeyError(type, `${show(value)} is not an ISO ${keyTypeNames[type]}`)
  }
  const [, year, month, day, hours, minutes, seconds, fraction = '', offset, bc] = match
  const days = daysOf(type, value, year, month, day, bc)
  const clock = secondsOf(type, value, hours, minutes, seconds, LONGEST_CLOCK)
  const micros = Number(fraction.padEnd(6, '0'))
  if (clock === 86400 && micros !== 0) {
    throw new KeyError(type, `${show(value)} is no time of a day`)
  }
  const before = BigInt(days) * MICROS_PER_DAY + BigInt(clock) * 1000000n + BigInt(micros)
  return checkMicros(type, value, before - BigInt(offsetOf(type, value, offset)) * 1000000n)
}

function checkMicros (type, value, micros) {
  if (micros < FIRST_MICRO || micros > LAST_MICRO) {
    throw new KeyError(type, `${show(value)} is out of PostgreSQL's range`)
  }
  return micros
}

/** Days since 1970-01-01 in the Gregorian calendar, before its introduction too. */
function daysOf (type, value, yearText, monthText, dayText, bc) {
  const month = Number(monthText)
  const day = Number(dayText)
  const year = bc === undefined ? Number(yearText) : 1 - Number(yearText)
  if (Number(yearText) === 0 || month < 1 || month > 12 || day < 1 || day > monthDays(year, month)) {
    throw new KeyError(type, `${show(value)} is no day of the calendar`)
  }
  // Years begin in March, so that the leap day is the last one.
  const shifted = month > 2 ? year : year - 1
  const inYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return shifted * 365 + Math.floor(shifted / 4) - Math.floor(shifted / 100) +
    Math.floor(shifted / 400) + inYear - 719468
}

function monthDays (year, month) {
  if (month === 2) {
    return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  }
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Seconds of a clock or of an offset from UTC. */
function secondsOf (type, value, hours, minutes, seconds, most) {
  const sum = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  if (Number(minutes) > 59 || Number(seconds) > 59 || sum > most) {
    throw new KeyError(type, `${show(value)} is no time of a day`)
  }
  return sum
}

/** Seconds east of UTC of Z, +02, -04:30 and +05:53:28. */
function offsetOf (type, value, offset) {
  if (offset === undefined || offset === 'Z') {
    return 0
  }
  const [hours, minutes = 0, seconds = 0] = offset.slice(1).split(':')
  const sum = secondsOf(type, value, hours, minutes, seconds, LONGEST_OFFSET)
  return offset[0] === '-' ? -sum : sum
}
