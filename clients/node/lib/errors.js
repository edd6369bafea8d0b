// When there is which: clients/README.md.
import { kindName } from './key-types.js'

export class BloomFilterError extends Error {
  get name () { return this.constructor.name }
}

export class InvalidFilterError extends BloomFilterError {
  constructor (rule, reason) {
    super(`not a valid filter: ${reason}`)
    this.rule = rule
  }
}

export class KeyTypeError extends BloomFilterError {}

export class KeyValueError extends BloomFilterError {}

export class PartError extends BloomFilterError {}

export class ChangedFileError extends BloomFilterError {}

export class ChangesError extends BloomFilterError {}

export function otherType (holds, asked) {
  return new KeyTypeError(`bloomfilter holds ${kindName(holds)} keys, not ${kindName(asked)}`)
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
