// The working copy of a host: a file in memory in which a follower sets bits. WebAssembly
// can't map it, so it is copied, and what is new is copied over the old bits, which only
// adds some: look-ups go on meanwhile. Section 18 of doc/FORMAT.md.
import { InvalidFilterError, inFile } from './errors.js'
import { fill, thisBoot, withFile } from './files.js'
import { readPart } from './info.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { wholeSet } from './load.js'

const PAGE = 4096
const CHECKSUM_AT = 120
const WORDS_END = 200
const [SERIAL, BASE, TRUE_AT, LOOKED, FAILURES, SUPERSEDED] = [128, 136, 144, 152, 168, 176]
const MAX_PARTS = 65535

export const workingOf = (file) => `${file}.working`

/**
 * A link may lead to a name that any user can take: what another one put there than the
 * name's owner is none.
 */
function * isOfOwner (io, path, stat) {
  return (yield io.lstat(path)).uid === stat.uid
}

/** What the working copy of a file is now; its bits and its time mean nothing. */
export function * stampOfWorking (io, file) {
  const path = workingOf(file)
  if ((yield io.stat(path)) === undefined) {
    return undefined
  }
  return yield * withFile(io, path, function * (handle, stat) {
    if (!(yield * isOfOwner(io, path, stat))) {
      return undefined
    }
    const start = Buffer.alloc(WORDS_END)
    yield * fill(io, handle, start)
    return [stat.dev, stat.ino, start.readBigUInt64LE(BASE), start.readBigUInt64LE(SUPERSEDED)].join(' ')
  })
}

/**
 * Opens the working copy of a file whose filters have these checksums, as hexadecimal
 * bytes; undefined where there is none in use.
 */
export function * openWorking (io, file, checksums) {
  const path = workingOf(file)
  try {
    return yield * withFile(io, path, function * (handle, stat) {
      if (!(yield * isOfOwner(io, path, stat))) {
        return undefined
      }
      const page = Buffer.alloc(PAGE)
      require((yield * fill(io, handle, page)) === PAGE, 'length', 'is too short')
      checkHeader(page, Number(stat.size))
      const working = { path, stamp: `${stat.dev} ${stat.ino}`, identity: uuidOf(page), ...wordsOf(page), parts: [] }
      yield * readParts(io, handle, page.readUInt32LE(16), Number(stat.size), working.parts)
      const inUse = page.subarray(48, 64).equals(thisBoot()) && page.readBigUInt64LE(SUPERSEDED) === 0n &&
        page.readBigUInt64LE(BASE) === hashOf(Buffer.concat(checksums))
      return inUse ? working : undefined
    })
  } catch (error) {
    throw inFile(error, path)
  }
}

/** Takes what was added since; the serial first, so that the copy has everything of it. */
export function * refreshWorking (io, working) {
  yield * withFile(io, working.path, function * (handle, stat) {
    const words = Buffer.alloc(WORDS_END)
    if (`${stat.dev} ${stat.ino}` !== working.stamp || (yield * fill(io, handle, words)) < WORDS_END) {
      return
    }
    const now = wordsOf(words)
    if (now.serial !== working.serial) {
      let at = PAGE
      for (const { instance } of working.parts) {
        yield * copyBlocks(io, handle, instance, at)
        at = nextPage(at + instance.length)
      }
    }
    Object.assign(working, now)
  })
}

/** All blocks of a part that begins at a place of the file: the serial is told only if none is left out. */
function * copyBlocks (io, handle, instance, at) {
  for (let from = HEADER_BYTES; from < instance.length;) {
    const target = instance.bytes.subarray(instance.start + from, instance.start + instance.length)
    const count = yield io.read(handle, target, at + from)
    if (target.length > 0) {
      require(count > 0, 'length', 'it was cut short while it was read')
      from += count
    }
    // Else a look-up of many keys made the memory grow meanwhile: this piece went to where nothing is any more.
  }
  instance.isSealed = false
}

function require (condition, rule, reason) {
  if (!condition) {
    const error = new InvalidFilterError(rule, reason)
    error.message = `not a valid working copy: ${reason}`
    throw error
  }
}

const nextPage = (at) => Math.ceil(at / PAGE) * PAGE

function wordsOf (bytes) {
  return {
    serial: bytes.readBigUInt64LE(SERIAL),
    trueAt: bytes.readBigUInt64LE(TRUE_AT),
    looked: bytes.readBigUInt64LE(LOOKED),
    failures: bytes.readBigUInt64LE(FAILURES)
  }
}

function uuidOf (page) {
  return page.toString('hex', 32, 48).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function hashOf (bytes) {
  const instance = new Instance()
  const at = instance.needScratch(Math.max(bytes.length, 8))
  instance.bytes.set(bytes, at)
  instance.exports.hash_in_place(at, bytes.length)
  return instance.view.getBigUint64(at, true)
}

function checkHeader (page, length) {
  const parts = page.readUInt32LE(16)
  require(page.toString('latin1', 0, 4) === 'BLML', 'magic', 'does not start with BLML')
  require(page.readUInt32LE(4) === 1, 'version', `unsupported version ${page.readUInt32LE(4)}`)
  require(page.readBigUInt64LE(CHECKSUM_AT) === hashOf(page.subarray(0, CHECKSUM_AT)), 'header_checksum',
    'header checksum does not match')
  require(page.readBigUInt64LE(8) === BigInt(length), 'length', `its length is ${length}, not ${page.readBigUInt64LE(8)}`)
  require(parts >= 1 && parts <= MAX_PARTS && page.readUInt32LE(20) === 0 &&
    page.subarray(64, CHECKSUM_AT).every((byte) => byte === 0), 'header', 'a field of its header is wrong')
}

function * readParts (io, handle, count, length, parts) {
  let at = PAGE
  for (let i = 0; i < count; i++) {
    const part = yield * readOne(io, handle, at, length)
    parts.push(part)
    at += part.instance.length
    at = i + 1 < count ? nextPage(at) : at
  }
  require(at === length, 'part', 'it goes on behind its last part')
  try {
    wholeSet(parts)
  } catch (error) {
    require(false, 'part', error.message)
  }
}

function * readOne (io, handle, at, length) {
  const instance = new Instance()
  const start = instance.bytes.subarray(instance.start, instance.start + HEADER_BYTES)
  require((yield * fill(io, handle, start, at)) === HEADER_BYTES, 'part', 'a part is missing')
  const size = HEADER_BYTES + instance.header.getUint32(8, true) * 2 ** (start[6] - 3)
  require(size <= length - at, 'part', 'a part is longer than the file')
  try {
    instance.checkHeader(size)
  } catch (error) {
    require(false, 'part', error.message)
  }
  instance.room(size)
  yield * copyBlocks(io, handle, instance, at)
  return readPart(instance)
}
