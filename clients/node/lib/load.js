// From bytes or an open file to the parts of a filter or of a list.
//
// An io reads: of a file of Node's, or of bytes in memory.
import { BloomFilterError, InvalidFilterError } from './errors.js'
import { FRONT_BYTES, HEADER_BYTES, Instance } from './instance.js'
import { readPart } from './info.js'
import { Changes, FollowedParts, Parts } from './parts.js'
import { LOST, PAGE, WHO_BYTES, identityOf, isPage, placeOf, readPage, refuseUnless } from './status.js'
import { noPause } from './steps.js'

/** The first bytes of a filter's text in base64, as a driver gives it. */
const BASE64_START = 'QkxNR'

/** Bytes as a file. */
export const memoryIo = {
  pause: noPause,
  read (bytes, room, from) {
    const some = bytes.subarray(from, from + room.length)
    room.set(some)
    return some.length
  }
}

/** Reads until bytes are full or the file ends; returns how many it read. */
export function * fill (io, file, bytes, start = 0) {
  let from = 0
  while (from < bytes.length) {
    const count = yield io.read(file, bytes.subarray(from), start + from)
    if (count === 0) {
      break
    }
    from += count
  }
  return from
}

/** The first bytes of a file, by which it is known. */
export function * readStart (io, file, most = WHO_BYTES) {
  const start = new Uint8Array(most)
  return start.subarray(0, yield * fill(io, file, start))
}

/**
 * Steps from a file of so many bytes to { parts, page, size, place }. Of a file that is followed, the
 * parts are asked where they are; without keep they are copied, as exact ones are, which never
 * change. here is the file's place.
 */
export function * load (io, file, size, { verify = true, identity } = {}, here, keep) {
  const start = yield * readStart(io, file)
  if (!isPage(start)) {
    refuseUnless(identity === undefined, 'identity', 'it is of no list')
    return { parts: new Parts([yield * readFilter(io, file, start, size, verify)]) }
  }
  // The page first: the parts have everything of its serial then.
  const page = yield * readStart(io, file, PAGE)
  const list = readPage(page, size, new Instance())
  refuseUnless(identity === undefined || identityOf(list) === String(identity).toLowerCase(), 'identity',
    `it is of list ${list.string(list.exports.list_name())}, ${identityOf(list)}, and not ${identity}`)
  const place = placeOf(list, here)
  refuseUnless(place === 'none' || list.exports.superseded() !== LOST, 'lost', 'its follower found it damaged')
  const parts = yield * readHeaders(io, file, list)
  const kept = place === 'none' ? undefined : keep?.(start)
  const isTracked = list.exports.is_tracked() !== 0
  const changes = isTracked && kept && new Changes(list, (...some) => kept.readInto(...some))
  if (kept !== undefined && !parts[0].exact) {
    return { parts: new FollowedParts(parts, kept).withChanges(changes || undefined), page, size, place }
  }
  for (const [number, part] of parts.entries()) {
    parts[number] = yield * readBlocks(io, file, part, verify)
  }
  if (verify && place === 'none') {
    refuseUnless(BigInt.asUintN(64, list.exports.born_sum()) === (yield * sumOf(parts, io.pause)), 'sum', 'its parts are not those that its first page was written for')
  }
  const copied = isTracked && !kept ? yield * copyChanges(io, file, page, list, size) : changes
  return { parts: Object.assign(new Parts(parts).withChanges(copied || undefined), { file: kept }), page, size, place }
}

function * readFilter (io, file, start, size, verify) {
  const instance = new Instance()
  // Nothing is allocated before the header fits the file's size.
  takeHeader(instance, start, size)
  const room = instance.room(size)
  // So much memory at once may make the garbage collector work: that is its turn.
  yield io.pause()
  yield * readAll(io, file, room, 0)
  yield * instance.check(verify, io.pause)
  return readPart(instance)
}

/** Puts the header that a filter begins with, of so many bytes or as many as it says, into its instance, and checks it. */
export function takeHeader (instance, start, size) {
  if (String.fromCharCode(...start.subarray(0, BASE64_START.length)) === BASE64_START) {
    throw new InvalidFilterError('magic', 'this is base64 text of one; select filter::bytea')
  }
  instance.bytes.set(start.subarray(0, FRONT_BYTES), instance.start)
  instance.checkHeader(start.length < FRONT_BYTES ? start.length : size ?? instance.exports.filter_length())
}

function * readAll (io, file, bytes, from) {
  if ((yield * fill(io, file, bytes, from)) !== bytes.length) {
    throw new BloomFilterError('file was cut short while it was read')
  }
}

/** What the headers of a list's parts say, and where each part lies; instance has read the page. */
function * readHeaders (io, file, instance) {
  const parts = []
  for (let number = 0, at = PAGE; number < instance.exports.list_parts(); number++) {
    const header = new Uint8Array(FRONT_BYTES)
    refuseUnless((yield * fill(io, file, header, at)) === FRONT_BYTES, 'part', 'a part is missing')
    instance.bytes.set(header, instance.start)
    instance.length = instance.exports.filter_length()
    yield * asPart(instance.check(false))
    const behind = instance.exports.behind_part(number, at)
    refuseUnless(behind > 0, 'part', 'its parts are not those that it says')
    parts.push({ ...readPart(instance), header, at, length: instance.length })
    at = behind
  }
  refuseMixed(parts)
  return parts
}

/** The table as it is now, which has all that the page has. */
function * copyChanges (io, file, page, list, size) {
  const at = list.exports.table_at()
  const table = new Uint8Array(size - at)
  yield * readAll(io, file, table, at)
  return new Changes(list, (bytes, to, length, from) =>
    bytes.set(from < PAGE ? page.subarray(from, from + length) : table.subarray(from - at, from - at + length), to))
}

/** What is wrong with a part is a broken rule of the file. */
function * asPart (check) {
  try {
    yield * check
  } catch (error) {
    throw new InvalidFilterError('part', error.message.replace('not a valid filter: ', ''))
  }
}

function * readBlocks (io, file, { header, at, length }, verify) {
  const instance = new Instance()
  const room = instance.room(length)
  room.set(header)
  instance.checkSound()
  yield * readAll(io, file, room.subarray(HEADER_BYTES), at + HEADER_BYTES)
  instance.isSealed = instance.isExact
  if (instance.isExact) {
    yield * asPart(instance.check(verify, io.pause))
  }
  return readPart(instance)
}

function * sumOf (parts, pause) {
  let sum = 0n
  for (const { instance, part } of parts) {
    sum += yield * instance.sum(part, pause)
  }
  return BigInt.asUintN(64, sum)
}

export function refuseText (bytes) {
  if (typeof bytes === 'string') {
    throw new TypeError('a filter comes as bytes, and this is a string: a driver gives base64 ' +
      'text for a bloomfilter column, and bytes for filter::bytea')
  }
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError('a filter comes as a Uint8Array')
  }
}

/** Refuses what is not all parts of one set, in their order. */
function refuseMixed (parts) {
  const { parts: total, seed, exact } = parts[0]
  refuseUnless(parts.length === total, 'part', `${parts.length} parts are there, but the set has ${total}`)
  let kind = 0
  for (const [number, part] of parts.entries()) {
    refuseUnless(part.parts === total, 'part', `part ${number} is of a set of ${part.parts} parts, not ${total}`)
    refuseUnless(part.part === number, 'part', `part ${part.part} is where part ${number} should be`)
    refuseUnless(part.exact === exact, 'part', 'some parts are exact and some are not')
    refuseUnless(part.seed === seed, 'part', `part ${number} has another seed than part 0`)
    refuseUnless(part.kind === 0 || kind === 0 || part.kind === kind, 'part', `part ${number} holds keys of another type than those before it`)
    kind ||= part.kind
  }
}
