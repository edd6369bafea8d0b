// Files of Node, with and without waiting: the steps of load.js and watched.js.
import fs from 'node:fs'
import path from 'node:path'
import { InvalidFilterError, inFile } from './errors.js'
import { noPause, pause } from './steps.js'

export const syncIo = {
  pause: noPause,
  stat: (file) => fs.statSync(file, { bigint: true, throwIfNoEntry: false }),
  lstat: (file) => fs.lstatSync(file, { bigint: true }),
  open: (file) => fs.openSync(file, 'r'),
  fstat: (handle) => fs.fstatSync(handle, { bigint: true }),
  read: (handle, bytes, from) => fs.readSync(handle, bytes, 0, bytes.length, from),
  close: (handle) => fs.closeSync(handle)
}

export const asyncIo = {
  pause,
  stat: (file) => fs.promises.stat(file, { bigint: true }).catch((error) => {
    if (error.code !== 'ENOENT') {
      throw error
    }
  }),
  lstat: (file) => fs.promises.lstat(file, { bigint: true }),
  open: (file) => fs.promises.open(file, 'r'),
  fstat: (handle) => handle.stat({ bigint: true }),
  read: (handle, bytes, from) =>
    handle.read(bytes, 0, bytes.length, from).then((result) => result.bytesRead),
  close: (handle) => handle.close()
}

/** Reads until bytes are full or the file ends; returns how many it read. */
export function * fill (io, handle, bytes, start = 0) {
  let from = 0
  while (from < bytes.length) {
    const count = yield io.read(handle, bytes.subarray(from), start + from)
    if (count === 0) {
      break
    }
    from += count
  }
  return from
}

/**
 * Opens a file of which the size means something and lets use read it. It asks
 * before it opens, as opening a pipe would wait for a writer.
 */
export function * withFile (io, file, use) {
  const before = yield io.stat(file)
  if (before !== undefined && !before.isFile()) {
    throw inFile(new InvalidFilterError('short', 'not a regular file'), file)
  }
  const handle = yield io.open(file)
  try {
    return yield * use(handle, yield io.fstat(handle))
  } finally {
    yield io.close(handle)
  }
}

/**
 * The path as it stays right when the program changes its folder. It is not normalised,
 * as a folder in it may be a link.
 */
export function absolute (file) {
  return typeof file !== 'string' || path.isAbsolute(file) ? file : `${process.cwd()}${path.sep}${file}`
}

/** This boot's id; zeros where the system has none. */
export function thisBoot () {
  try {
    return Buffer.from(fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').replace(/[-\n]/g, ''), 'hex')
  } catch {
    return Buffer.alloc(16)
  }
}

/** The text of a small file; undefined where it can't be read. */
export function readText (file) {
  return fs.promises.readFile(file, 'utf8').catch(() => undefined)
}

/** Writes a file beside the path, and renames it over. */
export async function writeFile (file, bytes) {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${Date.now()}`)
  try {
    const handle = await fs.promises.open(beside, 'wx')
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await fs.promises.rename(beside, file)
  } catch (error) {
    await fs.promises.rm(beside, { force: true })
    throw error
  }
}
