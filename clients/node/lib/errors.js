import { kindName } from './key-types.js'

// The parent of all errors that this package makes.
export class BloomFilterError extends Error {
  get name () { return this.constructor.name }

  /** As errors of Node have it: ERR_BLOOMFILTER, or with what it is about. */
  get code () { return 'ERR_BLOOMFILTER' }
}

// Bytes are not a valid filter. rule is the word of the first broken rule in the
// format's description, such as 'checksum'.
export class InvalidFilterError extends BloomFilterError {
  get code () { return 'ERR_BLOOMFILTER_INVALID_FILTER' }

  constructor (rule, reason) {
    super(`not a valid filter: ${reason}`)
    this.rule = rule
  }
}

// Valid filters are not one whole set.
export class InvalidSetError extends BloomFilterError {
  get code () { return 'ERR_BLOOMFILTER_INVALID_SET' }
}

// A key of another type than the filter's, or a value that is no key at all.
export class KeyTypeError extends BloomFilterError {
  get code () { return 'ERR_BLOOMFILTER_KEY_TYPE' }

  constructor (reason, holds, asked) {
    super(reason)
    this.holds = holds
    this.asked = asked
  }
}

// A value that its SQL type can't have, such as an integer of more than 64 bits.
export class KeyValueError extends BloomFilterError {
  get code () { return 'ERR_BLOOMFILTER_KEY_VALUE' }
}

// The key belongs to a part of the set that is not open.
export class PartError extends BloomFilterError {
  get code () { return 'ERR_BLOOMFILTER_PART' }

  constructor (part, parts, wanted) {
    super(`key belongs to part ${wanted} of ${parts}, and only part ${part} is open`)
    this.part = part
    this.parts = parts
    this.wanted = wanted
  }
}

export function otherType (holds, asked) {
  const names = [kindName(holds), kindName(asked)]
  return new KeyTypeError(`bloomfilter holds ${names[0]} keys, not ${names[1]}`, ...names)
}

// Says which key of a batch an error is about.
export function atIndex (error, index) {
  error.message = `key ${index}: ${error.message}`
  error.index = index
  return error
}

// Puts a file's name before an error's message.
export function inFile (error, path) {
  if (error instanceof BloomFilterError && error.path === undefined) {
    error.message = `${path}: ${error.message}`
    error.path = path
  }
  return error
}

// A value for messages, never so long that it fills a log.
export function show (value) {
  let text
  try {
    text = typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value)
  } catch {
    text = 'a value that cannot be shown'
  }
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}
