// From a path of Node's file system to the parts of a filter or of a list.
import fs from 'node:fs'
import { ChangedFileError, InvalidFilterError, inFile } from './errors.js'
import { thisBoot } from './files.js'
import { load, readStart } from './load.js'
import { LOST, PAGE, WHO_BYTES, isPage, readPage } from './status.js'

/** Where a page has its file's place, which is all zeros of one that nobody follows. */
const [BOOT, BORN] = [48, 80]

/** Files that are asked where they are: each is closed when nobody holds it any more. */
const openFiles = new FinalizationRegistry((handle) => fs.closeSync(handle))

/** A followed file that stays open. who is the beginning of its page, which never changes. */
class OpenFile {
  #path
  #handle
  #who
  #size
  #isOther = false

  constructor (path, handle, who, size) {
    this.#path = path
    this.#handle = handle
    this.#who = Buffer.from(who)
    this.#size = size
  }

  #refuse (what) { throw inFile(new ChangedFileError(`file was ${what}`), this.#path) }

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
      throw inFile(error, this.#path)
    }
  }
}

/** Steps that open what is at a path: see load; stamp is what it was. */
export function * openPath (io, path, options) {
  return yield * withFile(io, path, function * (handle, stat, keep) {
    const stamp = yield * stampOf(io, handle, stat)
    return { stamp, ...yield * load(io, handle, Number(stat.size), options, placeOfFile(stat), keep) }
  })
}

/** What is at a path now. */
export function * stampOfPath (io, path) {
  return yield * withFile(io, path, (handle, stat) => stampOf(io, handle, stat))
}

/**
 * Opens a file of which the size means something and lets use read it. It asks before it
 * opens, as opening a pipe would wait for a writer. It stays open if the result keeps it.
 */
function * withFile (io, path, use) {
  if (!(yield io.stat(path)).isFile()) {
    throw inFile(new InvalidFilterError('short', 'not a regular file'), path)
  }
  const handle = yield io.open(path)
  let result
  try {
    const stat = yield io.fstat(handle)
    result = yield * use(handle, stat, (who) => new OpenFile(path, handle, who, Number(stat.size)))
    return result
  } catch (error) {
    throw inFile(error, path)
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
