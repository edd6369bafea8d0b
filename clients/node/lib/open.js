// From a path of Node's file system to the parts of a filter or of a whole set.
import path from 'node:path'
import { BloomFilterError, InvalidSetError, inFile } from './errors.js'
import { fill, withFile } from './files.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { readPart } from './info.js'
import { checked, wholeSet } from './load.js'
import { valuesOf } from './status.js'
import { openWorking, stampOfWorking } from './working.js'

const MANIFEST_WORD = 'bloomfilter-set '
const MANIFEST_LINE = `${MANIFEST_WORD}1`
const MANIFEST_NAME = 'manifest'
const MAX_PARTS = 65535

/** Where a header has the checksum of all: its last bytes. */
const AT_CHECKSUM = 56

// A name that promises what is in its file, which a part of another build is not.
const NAME_WITH_CHECKSUM = /\.([0-9a-f]{16})\.bloom$/

// Room for all parts' names of the longest kind.
const MAX_MANIFEST = (MAX_PARTS + 1) * 256

/** How often a set may be replaced while it is being opened. */
const MOST_ATTEMPTS = 8

/**
 * Returns parts in their order, one filter or all of a set, and what their files were
 * before. Between the reading of a manifest and of its parts, a writer may put a new
 * one in its place and delete the old parts: then it is read again.
 */
export function * openPath (io, file, options) {
  for (let attempt = 1; ; attempt++) {
    const source = yield * findSource(io, file)
    try {
      return yield * openSource(io, source, options)
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !(yield * wasReplaced(io, file, source))) {
        throw error
      }
    }
  }
}

/** The working copy, where there is one in use, or else the files themselves. */
function * openSource (io, source, options) {
  if (source.working !== undefined && source.starts.every((start) => start?.length === HEADER_BYTES)) {
    const checksums = source.starts.map((start) => Buffer.from(start.slice(AT_CHECKSUM), 'latin1'))
    const working = yield * openWorking(io, source.path, checksums)
    if (working !== undefined) {
      return { parts: working.parts, source, working }
    }
    // None is in use; or the follower has just changed both.
    if (yield * wasReplaced(io, source.path, source)) {
      throw new InvalidSetError('was replaced while it was opened')
    }
  }
  return { parts: yield * readSource(io, source, options), source }
}

/**
 * What a path names: a filter, or a manifest and its files. Sources of equal identity
 * name the same bytes: device, inode, size, time and header of all files are in it.
 */
export function * findSource (io, file) {
  const stat = yield io.stat(file)
  const at = stat?.isDirectory() ? yield * manifestOf(io, file) : file
  const { stamp, start, text } = yield * look(io, at)
  if (!start.startsWith(MANIFEST_WORD) && at === file) {
    const working = yield * stampOfWorking(io, at)
    return { path: at, starts: [start], working, identity: [stamp, working].join('\n') }
  }
  const names = parseManifest(text, at)
  const stamps = [stamp]
  const starts = []
  for (const [number, name] of names.entries()) {
    const part = yield * lookAtPart(io, path.join(path.dirname(at), name))
    if (number === 0) {
      checkCount(part, names.length, at)
    }
    stamps.push(part.stamp)
    starts.push(part.start)
  }
  const working = yield * stampOfWorking(io, at)
  const notes = valuesOf(text.split('\n'), '# ')
  return { path: at, names, notes, starts, working, identity: [...stamps, ...names, working].join('\n') }
}

function * manifestOf (io, folder) {
  const manifest = path.join(folder, MANIFEST_NAME)
  if ((yield io.stat(manifest)) === undefined) {
    throw inFile(new InvalidSetError('a folder is opened by its file "manifest", and it has none'), folder)
  }
  return manifest
}

/** A file's stamp, its first bytes, and all of it if it is a manifest. */
function * look (io, file) {
  return yield * withFile(io, file, function * (handle, stat) {
    const bytes = Buffer.alloc(HEADER_BYTES)
    const start = bytes.toString('latin1', 0, yield * fill(io, handle, bytes))
    const stamp = [stat.dev, stat.ino, stat.size, stat.mtimeNs, bytes.toString('hex')].join(' ')
    if (!start.startsWith(MANIFEST_WORD)) {
      return { stamp, start, size: Number(stat.size), text: start }
    }
    if (stat.size > MAX_MANIFEST) {
      throw inFile(new InvalidSetError('manifest is too long'), file)
    }
    const whole = Buffer.alloc(Number(stat.size))
    return { stamp, start, text: whole.toString('utf8', 0, yield * fill(io, handle, whole)) }
  })
}

function * lookAtPart (io, file) {
  try {
    return yield * look(io, file)
  } catch {
    return { stamp: 'missing' }
  }
}

/**
 * A manifest of many lines is believed when the first part's header says the same,
 * before the other files are looked at. What else is the matter with that file shows
 * when it is opened.
 */
function checkCount ({ start, size }, count, manifest) {
  let parts = count
  try {
    const instance = new Instance()
    instance.bytes.set(Buffer.from(start ?? '', 'latin1'), instance.start)
    instance.checkHeader(size ?? 0)
    parts = readPart(instance).parts
  } catch {}
  if (parts !== count) {
    throw inFile(new InvalidSetError(`${count} files, but the set has ${parts} parts`), manifest)
  }
}

function * wasReplaced (io, file, source) {
  try {
    return (yield * findSource(io, file)).identity !== source.identity
  } catch {
    return false
  }
}

function * readSource (io, source, options) {
  if (source.names === undefined) {
    return [yield * readFile(io, source.path, options)]
  }
  const parts = []
  for (const name of source.names) {
    const file = path.join(path.dirname(source.path), name)
    const part = yield * readFile(io, file, options)
    checkName(file, part)
    parts.push(part)
  }
  try {
    return wholeSet(parts)
  } catch (error) {
    throw inFile(error, source.path)
  }
}

function checkName (file, part) {
  const promised = NAME_WITH_CHECKSUM.exec(file)
  if (promised !== null && promised[1] !== part.checksum) {
    throw inFile(new InvalidSetError('is another filter than its name says'), file)
  }
}

function * readFile (io, file, { verify = true } = {}) {
  try {
    return yield * withFile(io, file, function * (handle, stat) {
      const size = Number(stat.size)
      const instance = new Instance()
      const start = instance.bytes.subarray(instance.start, instance.start + HEADER_BYTES)
      // Nothing is allocated before the header fits the file's size.
      const headerLength = yield * fill(io, handle, start)
      instance.checkHeader(headerLength < HEADER_BYTES ? headerLength : size)
      const room = instance.room(size)
      // So much memory at once may make the garbage collector work: that is its turn.
      yield io.pause()
      if ((yield * fill(io, handle, room)) !== size) {
        throw new BloomFilterError('file was cut short while it was read')
      }
      return yield * checked(instance, verify, io.pause)
    })
  } catch (error) {
    throw inFile(error, file)
  }
}

function parseManifest (text, file) {
  const fail = (reason) => inFile(new InvalidSetError(reason), file)
  const [first, ...lines] = text.replace(/\n$/, '').split('\n')
  if (first !== MANIFEST_LINE) {
    throw fail(`manifest does not begin with "${MANIFEST_LINE}"`)
  }
  const names = lines.filter((line) => !line.startsWith('#'))
  if (names.length < 1 || names.length > MAX_PARTS) {
    throw fail(`manifest names ${names.length} files, which are not the parts of a set`)
  }
  for (const name of names) {
    if (['', '.', '..'].includes(name) || /[/\0]/.test(name)) {
      throw fail(`manifest names ${JSON.stringify(name.slice(0, 80))}, which is no file name`)
    }
  }
  return names
}
