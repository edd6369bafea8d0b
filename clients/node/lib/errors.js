import { NONE, kindName } from './key-types.js'

// The parent of all errors that this package makes.
export class BloomfilterError extends Error {
  get name () { return this.constructor.name }
}

// Bytes are not a valid filter. rule is the word of the first broken rule in the
// format's description, such as 'checksum'.
export class FormatError extends BloomfilterError {
  constructor (rule, reason) {
    super(`invalid bloomfilter: ${reason}`)
    this.rule = rule
  }
}

// Valid filters are not one whole set, or a manifest is not one.
export class SetError extends BloomfilterError {
  constructor (reason) {
    super(`invalid bloomfilter set: ${reason}`)
  }
}

// The filter was asked for a key of a type that it does not hold.
export class KeyTypeError extends BloomfilterError {
  constructor (holds, asked) {
    super(`bloomfilter holds ${kindName(holds)} keys, not ${kindName(asked)}`)
    this.holds = kindName(holds)
    this.asked = kindName(asked)
  }
}

// The key belongs to a part of the set that was not opened.
export class PartError extends BloomfilterError {
  constructor (part, parts, wanted) {
    super(`key belongs to part ${wanted} of ${parts}, and only part ${part} is open`)
    this.part = part
    this.parts = parts
    this.wanted = wanted
  }
}

// A value has no key bytes, such as a number that is not an integer.
export class KeyError extends BloomfilterError {
  constructor (type, reason) {
    super(`no ${type === NONE ? '' : `${kindName(type)} `}key: ${reason}`)
    this.type = kindName(type)
  }
}

// A filter without keys answers for keys of all types.
export function checkType (holds, asked) {
  if (holds !== asked && holds !== NONE) {
    throw new KeyTypeError(holds, asked)
  }
}

// A value for messages, never so long that it fills a log.
export function show (value) {
  let text
  try {
    text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  } catch {
    text = 'a value that cannot be shown'
  }
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}
