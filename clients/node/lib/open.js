// From a path of Node's file system to the parts of a filter or of a list, with waiting and without.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ChangedFileError, InvalidFilterError, inFile } from './errors.js'
import { load, readStart } from './load.js'
import { LOST, PAGE, WHO_BYTES, isPage, readPage } from './status.js'
import { noPause, pause } from './steps.js'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const BOOT_BYTES = 16

const exact = { bigint: true }

/** call(name, ...) is what fs has by that name, with waiting or without. */
const ioOf = (pause, call) => ({
  pause,
  stat: (file) => call('stat', file, exact),
  open: (file) => call('open', file, 'r'),
  fstat: (handle) => call('fstat', handle, exact),
  read: (handle, bytes, from) => call('read', handle, bytes, 0, bytes.length, from),
  close: (handle) => call('close', handle)
})

export const syncIo = ioOf(noPause, (name, ...rest) => fs[`${name}Sync`](...rest))

export const asyncIo = ioOf(pause, (name, ...rest) => new Promise((resolve, reject) =>
  fs[name](...rest, (error, result) => error ? reject(error) : resolve(result))))

/**
 * The path as it stays right when the program changes its folder. It is not normalised,
 * as a folder in it may be a link.
 */
export function absolute (file) {
  return typeof file !== 'string' || path.isAbsolute(file) ? file : `${process.cwd()}${path.sep}${file}`
}

/** This boot's id; zeros where the system has none. */
function thisBoot () {
  try {
    return Uint8Array.from(Buffer.from(fs.readFileSync(BOOT_ID, 'latin1').replace(/[-\n]/g, ''), 'hex'))
  } catch {
    return new Uint8Array(BOOT_BYTES)
  }
}

/** Seconds since this boot. */
export const { uptime } = os

/** Where a page has its file's place, which is all zeros of one that nobody follows. */
const [BOOT, BORN] = [48, 80]

/** Files that are asked where they are: each is closed when nobody holds it any more. */
const openFiles = new FinalizationRegistry((handle) => fs.closeSync(handle))

/** A followed file that stays open. who is the beginning of its page, which never changes. */
class OpenFile {
  #file
  #handle
  #who
  #size
  #isOther = false

  constructor (file, handle, who, size) {
    this.#file = file
    this.#handle = handle
    this.#who = Buffer.from(who)
    this.#size = size
  }

  #refuse (what) { throw inFile(new ChangedFileError(`file was ${what}`), this.#file) }

  /** Reads so many bytes to a place in others, or throws: what is not there is never taken for zeros. */
  readInto (bytes, at, length, from) {
    if (this.#isOther) {
      this.#refuse('overwritten, or found damaged by its follower')
    }
    if (fs.readSync(this.#handle, bytes, at, length, from) !== length) {
      this.#refuse('cut short')
    }
  }

  /** The page of facts as it is now. Once another one was seen there, nothing is read any more. */
  page () {
    const page = new Uint8Array(PAGE)
    this.readInto(page, 0, PAGE, 0)
    this.#isOther = !this.#who.equals(page.subarray(0, WHO_BYTES)) || readPage(page, this.#size).exports.superseded() === LOST
    return this.#isOther ? this.#refuse('overwritten, or found damaged by its follower') : page
  }

  /** Whether another file took its place, or it can't be read any more. */
  isSuperseded () {
    try {
      return readPage(this.page(), this.#size).exports.superseded() !== 0
    } catch {
      return true
    }
  }

  /** Steps that copy all of it: see load. */
  * copy (io) {
    try {
      const stat = yield io.fstat(this.#handle)
      return yield * load(io, this.#handle, Number(stat.size), {}, placeOfFile(stat))
    } catch (error) {
      throw inFile(error, this.#file)
    }
  }
}

/** Steps that open what is at a path: see load; stamp is what it was. */
export function * openPath (io, file, options) {
  return yield * withFile(io, file, function * (handle, stat, keep) {
    const stamp = yield * stampOf(io, handle, stat)
    return { stamp, ...yield * load(io, handle, Number(stat.size), options, placeOfFile(stat), keep) }
  })
}

/** What is at a path now. */
export function * stampOfPath (io, file) {
  return yield * withFile(io, file, (handle, stat) => stampOf(io, handle, stat))
}

/**
 * Opens a file of which the size means something and lets use read it. It asks before it
 * opens, as opening a pipe would wait for a writer. It stays open if the result keeps it.
 */
function * withFile (io, file, use) {
  if (!(yield io.stat(file)).isFile()) {
    throw inFile(new InvalidFilterError('short', 'not a regular file'), file)
  }
  const handle = yield io.open(file)
  let result
  try {
    const stat = yield io.fstat(handle)
    result = yield * use(handle, stat, (who) => new OpenFile(file, handle, who, Number(stat.size)))
    return result
  } catch (error) {
    throw inFile(error, file)
  } finally {
    const kept = result?.parts?.file
    kept === undefined ? yield io.close(handle) : openFiles.register(kept, handle)
  }
}

const unsigned = (number) => BigInt.asUintN(64, number)

const placeOfFile = (stat) => ({ boot: thisBoot(), device: unsigned(stat.dev), inode: unsigned(stat.ino) })

/**
 * Stamps of equal inode and content are of the same bytes, or of the same followed file, whose bits and time
 * change; its content is who it is, as somebody may have copied another one over it.
 */
function * stampOf (io, handle, { dev, ino, size, mtimeNs }) {
  const start = yield * readStart(io, handle)
  const isFollowed = isPage(start) && start.subarray(BOOT, BORN).some((byte) => byte !== 0)
  return { inode: `${dev} ${ino}`, content: [Buffer.from(start).toString('hex'), ...isFollowed ? [] : [size, mtimeNs]].join(' '), isFollowed }
}
