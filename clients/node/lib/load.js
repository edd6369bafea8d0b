// From bytes or a path to the instances of a filter or of a whole set.
import { InvalidFilterError, InvalidSetError } from './errors.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { readPart } from './info.js'

/** The first bytes of a filter's text in base64, as a driver gives it. */
const BASE64_START = 'QkxNR'

/** Bytes that are copied in one go: 1 ms, as they go where no memory was used before. */
const COPIED_AT_ONCE = 2 << 20

/** Steps that check a filter in memory; bytes are copied. */
export function loadBytes (bytes, options, pause) {
  refuseText(bytes)
  return loadChunks([bytes], options, pause)
}

/** The same of a filter that came in chunks. */
export function * loadChunks (chunks, { verify = true } = {}, pause, instance = new Instance()) {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const start = firstBytes(chunks, HEADER_BYTES)
  refuseBase64(start)
  instance.bytes.set(start, instance.start)
  instance.checkHeader(length)
  yield * copyChunks(instance.room(length), chunks, pause)
  return yield * checked(instance, verify, pause)
}

function firstBytes (chunks, most) {
  const bytes = []
  for (let i = 0; i < chunks.length && bytes.length < most; i++) {
    bytes.push(...chunks[i].subarray(0, most - bytes.length))
  }
  return bytes
}

function * copyChunks (room, chunks, pause) {
  let [at, pauseAt] = [0, COPIED_AT_ONCE]
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += COPIED_AT_ONCE) {
      const piece = chunk.subarray(from, from + COPIED_AT_ONCE)
      room.set(piece, at)
      at += piece.length
      if (at >= pauseAt) {
        pauseAt = at + COPIED_AT_ONCE
        yield pause()
      }
    }
  }
}

/** Steps that check the filter in an instance's room. */
export function * checked (instance, verify, pause) {
  yield * instance.check(verify, pause)
  return readPart(instance)
}

function refuseText (bytes) {
  if (typeof bytes === 'string') {
    throw new TypeError('a filter comes as bytes, and this is a string: a driver gives base64 ' +
      'text for a bloomfilter column, and bytes for filter::bytea')
  }
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError('a filter comes as a Uint8Array')
  }
}

function refuseBase64 (start) {
  if (BASE64_START === String.fromCharCode(...start.slice(0, BASE64_START.length))) {
    throw new InvalidFilterError('magic', 'this is base64 text of one; select filter::bytea')
  }
}

/** Throws unless these are all parts of one set, in their order. */
export function wholeSet (parts) {
  if (parts.length === 0) {
    throw new InvalidSetError('no filter is there')
  }
  const { parts: total, seed } = parts[0]
  if (parts.length !== total) {
    throw new InvalidSetError(`${parts.length} files, but the set has ${total} parts`)
  }
  let kind = 0
  for (const [number, part] of parts.entries()) {
    if (part.parts !== total) {
      throw new InvalidSetError(`file ${number} is of a set of ${part.parts} parts, not ${total}`)
    }
    if (part.part !== number) {
      throw new InvalidSetError(`part ${part.part} is where part ${number} should be`)
    }
    if (part.seed !== seed) {
      throw new InvalidSetError(`part ${number} has another seed than part 0`)
    }
    if (part.kind !== 0 && kind !== 0 && part.kind !== kind) {
      throw new InvalidSetError(`part ${number} holds keys of another type than those before it`)
    }
    kind = part.kind === 0 ? kind : part.kind
  }
  return parts
}
