// Files of Node, with and without waiting: what the steps of open.js take.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { noPause, pause } from './steps.js'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const BOOT_BYTES = 16

const [stat, open, fstat, close, read] = [fs.stat, fs.open, fs.fstat, fs.close, fs.read].map(promisify)
const exact = { bigint: true }

export const syncIo = {
  pause: noPause,
  stat: (file) => fs.statSync(file, exact),
  open: (file) => fs.openSync(file, 'r'),
  fstat: (handle) => fs.fstatSync(handle, exact),
  read: (handle, bytes, from) => fs.readSync(handle, bytes, 0, bytes.length, from),
  close: (handle) => fs.closeSync(handle)
}

export const asyncIo = {
  pause,
  stat: (file) => stat(file, exact),
  open: (file) => open(file, 'r'),
  fstat: (handle) => fstat(handle, exact),
  read: (handle, bytes, from) => read(handle, bytes, 0, bytes.length, from).then((result) => result.bytesRead),
  close: (handle) => close(handle)
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
    return Uint8Array.from(Buffer.from(fs.readFileSync(BOOT_ID, 'latin1').replace(/[-\n]/g, ''), 'hex'))
  } catch {
    return new Uint8Array(BOOT_BYTES)
  }
}

/** Seconds since this boot. */
export const { uptime } = os
