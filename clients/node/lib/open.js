// From a path of Node's file system to the parts of a filter or of a list.
import fs from 'node:fs'
import { BloomFilterError, InvalidFilterError, inFile } from './errors.js'
import { thisBoot } from './files.js'
import { load, readStart } from './load.js'
import { PAGE, SUPERSEDED, isNobodys, isPage } from './page.js'

const WORD_BYTES = 8

/** Files that are asked where they are: each is closed when nobody holds it any more. */
const openFiles = new FinalizationRegistry((handle) => fs.closeSync(handle))

/** A followed file that stays open. */
class OpenFile {
  #path
  #handle

  constructor (path, handle) {
    this.#path = path
    this.#handle = handle
  }

  /** Reads so many bytes to a place in others, or throws: what is not there is never taken for zeros. */
  readInto (bytes, at, length, from) {
    if (fs.readSync(this.#handle, bytes, at, length, from) !== length) {
      throw inFile(new BloomFilterError('file was cut short'), this.#path)
    }
  }

  #read (length, from) {
    const bytes = new Uint8Array(length)
    this.readInto(bytes, 0, length, from)
    return bytes
  }

  /** The page of facts as it is now. */
  page () { return this.#read(PAGE, 0) }

  /** Whether another file took its place, or it can't be read any more. */
  isSuperseded () {
    try {
      return this.#read(WORD_BYTES, SUPERSEDED).some((byte) => byte !== 0)
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
    result = yield * use(handle, yield io.fstat(handle), () => new OpenFile(path, handle))
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
 * Stamps that are equal are of the same bytes, or of the same followed file, whose bits and time change. Who a
 * file is counts also there, as somebody may have copied another one over it.
 */
function * stampOf (io, handle, { dev, ino, size, mtimeNs }) {
  const start = yield * readStart(io, handle)
  const more = isPage(start) && !isNobodys(start) ? [] : [size, mtimeNs]
  return [dev, ino, Buffer.from(start).toString('hex'), ...more].join(' ')
}
