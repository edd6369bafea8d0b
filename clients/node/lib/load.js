// From a path to the instances of a filter or of a whole set.
import path from 'node:path'
import { BloomfilterError, SetError } from './errors.js'
import { fill, withFile } from './files.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { PartHeader } from './header.js'

const MANIFEST_WORD = 'bloomfilter-set '
const MANIFEST_LINE = `${MANIFEST_WORD}1`
const MANIFEST_NAME = 'manifest'
const FILTER_SUFFIX = '.bloom'
const MAX_PARTS = 65535

// A name that promises what is in its file, which a part of another build is not.
const NAME_WITH_CHECKSUM = /\.([0-9a-f]{16})\.bloom$/

// Room for all parts' names of the longest kind.
const MAX_MANIFEST = (MAX_PARTS + 1) * 256

/** Returns parts in their order: one filter, or all of a set. */
export function * loadPath (io, file, options) {
  const stat = yield io.stat(file)
  if (stat.isDirectory()) {
    return yield * loadFolder(io, file, options)
  }
  if (yield * isManifest(io, file)) {
    return yield * loadManifest(io, file, options)
  }
  return [yield * loadFile(io, file, options)]
}

export function loadBytes (bytes, options) {
  const instance = new Instance()
  const start = Math.min(bytes.length, HEADER_BYTES)
  instance.bytes.set(bytes.subarray(0, start), instance.start)
  instance.checkHeader(bytes.length)
  instance.room(bytes.length).set(bytes)
  return checked(instance, options)
}

function checked (instance, { verify = true } = {}) {
  instance.check(verify)
  return { instance, header: new PartHeader(instance.header, instance.length) }
}

function * loadFile (io, file, options) {
  return yield * withFile(io, file, function * (handle, size) {
    const instance = new Instance()
    const start = instance.bytes.subarray(instance.start, instance.start + HEADER_BYTES)
    // Nothing is allocated before the header fits the file's size.
    const headerLength = yield * fill(io, handle, start)
    instance.checkHeader(headerLength < HEADER_BYTES ? headerLength : size)
    const room = instance.room(size)
    if ((yield * fill(io, handle, room)) !== size) {
      throw new BloomfilterError('file was cut short while it was read')
    }
    return checked(instance, options)
  })
}

function * isManifest (io, file) {
  return yield * withFile(io, file, function * (handle) {
    const start = Buffer.alloc(MANIFEST_WORD.length)
    yield * fill(io, handle, start)
    return start.toString('latin1') === MANIFEST_WORD
  })
}

function * loadFolder (io, folder, options) {
  const names = yield io.list(folder)
  if (names.includes(MANIFEST_NAME)) {
    return yield * loadManifest(io, path.join(folder, MANIFEST_NAME), options)
  }
  // As a shell does: names that begin with a point are of files in the making.
  const filters = names.filter((name) => name.endsWith(FILTER_SUFFIX) && !name.startsWith('.'))
  const parts = yield * loadFiles(io, folder, filters, options)
  return wholeSet(parts.sort((a, b) => a.header.part - b.header.part))
}

function * loadManifest (io, file, options) {
  const names = parseManifest(yield * readManifest(io, file))
  return wholeSet(yield * loadFiles(io, path.dirname(file), names, options))
}

function * readManifest (io, file) {
  return yield * withFile(io, file, function * (handle, size) {
    if (size > MAX_MANIFEST) {
      throw new SetError('manifest is too long')
    }
    const bytes = Buffer.alloc(size)
    return bytes.toString('utf8', 0, yield * fill(io, handle, bytes))
  })
}

function parseManifest (text) {
  const [first, ...lines] = text.replace(/\n$/, '').split('\n')
  if (first !== MANIFEST_LINE) {
    throw new SetError(`manifest does not begin with "${MANIFEST_LINE}"`)
  }
  const names = lines.filter((line) => !line.startsWith('#'))
  for (const name of names) {
    if (['', '.', '..'].includes(name) || /[/\0]/.test(name)) {
      throw new SetError(`manifest names ${JSON.stringify(name.slice(0, 80))}, which is no file name`)
    }
  }
  return names
}

function * loadFiles (io, folder, names, options) {
  if (names.length < 1 || names.length > MAX_PARTS) {
    throw new SetError(`${names.length} files are not the parts of a set`)
  }
  const parts = []
  for (const name of names) {
    try {
      const part = yield * loadFile(io, path.join(folder, name), options)
      checkName(name, part.header)
      parts.push(part)
    } catch (error) {
      throw named(error, name)
    }
  }
  return parts
}

function checkName (name, header) {
  const promised = NAME_WITH_CHECKSUM.exec(name)
  if (promised !== null && BigInt(`0x${promised[1]}`) !== header.checksum) {
    throw new SetError('is another filter than its name says')
  }
}

/** Puts a file's name before an error's message. */
export function named (error, name) {
  if (error instanceof BloomfilterError) {
    error.message = `${name}: ${error.message}`
  }
  return error
}

/** Throws unless these are all parts of one set, in their order. */
function wholeSet (parts) {
  const { parts: total, seed } = parts[0].header
  if (parts.length !== total) {
    throw new SetError(`${parts.length} files, but the set has ${total} parts`)
  }
  let keyType = ''
  for (const [number, { header }] of parts.entries()) {
    if (header.parts !== total) {
      throw new SetError(`file ${number} is of a set of ${header.parts} parts, not ${total}`)
    }
    if (header.part !== number) {
      throw new SetError(`part ${header.part} is where part ${number} should be`)
    }
    if (header.seed !== seed) {
      throw new SetError(`part ${number} has another seed than part 0`)
    }
    if (header.keyType !== 'none' && keyType !== '' && header.keyType !== keyType) {
      throw new SetError(`part ${number} holds ${header.keyType} keys, not ${keyType}`)
    }
    keyType = header.keyType === 'none' ? keyType : header.keyType
  }
  return parts
}
