// Reading files, with and without waiting, from one description of the steps.
//
// A generator yields what a step of io returns: a value, or a promise of it. The
// runner hands the value back. So opening is written once for open and openSync.
import fs from 'node:fs'
import { BloomfilterError } from './errors.js'

export function runSync (steps) {
  let step = steps.next()
  while (!step.done) {
    step = steps.next(step.value)
  }
  return step.value
}

export async function runAsync (steps) {
  let step = steps.next()
  while (!step.done) {
    step = await step.value.then((value) => steps.next(value), (error) => steps.throw(error))
  }
  return step.value
}

export const syncIo = {
  stat: (path) => fs.statSync(path),
  list: (path) => fs.readdirSync(path),
  open: (path) => fs.openSync(path, 'r'),
  size: (file) => fs.fstatSync(file).size,
  read: (file, bytes, from) => fs.readSync(file, bytes, 0, bytes.length, from),
  close: (file) => fs.closeSync(file)
}

export const asyncIo = {
  stat: (path) => fs.promises.stat(path),
  list: (path) => fs.promises.readdir(path),
  open: (path) => fs.promises.open(path, 'r'),
  size: (file) => file.stat().then((stat) => stat.size),
  read: (file, bytes, from) => file.read(bytes, 0, bytes.length, from).then((result) => result.bytesRead),
  close: (file) => file.close()
}

/** Reads until bytes are full or the file ends; returns how many it read. */
export function * fill (io, file, bytes) {
  let from = 0
  while (from < bytes.length) {
    const count = yield io.read(file, bytes.subarray(from), from)
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
export function * withFile (io, path, use) {
  const stat = yield io.stat(path)
  if (!stat.isFile()) {
    throw new BloomfilterError('not a regular file')
  }
  const file = yield io.open(path)
  try {
    return yield * use(file, yield io.size(file))
  } finally {
    yield io.close(file)
  }
}
