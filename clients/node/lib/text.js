// Strings as UTF-8 in WebAssembly's memory.
import { checkText } from './key.js'

const encoder = new TextEncoder()

/** Longer strings go to the encoder at once: it is faster from there on. */
const SHORT = 32

const BLANK = 0x20

/**
 * The part of a text that is its key: the blanks at its end, U+0020 and nothing else,
 * are not, as char(n) is compared without them.
 */
export function withoutBlanks (text) {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === BLANK) {
    end--
  }
  return end === text.length ? text : text.slice(0, end)
}

/** With a view of the memory to be made for each string, which batches need, from here on. */
export const SHORT_OF_BATCH = 48

/**
 * Writes a short ASCII string and returns its length; -1 for all others. Four characters
 * go into one store, which WebAssembly then reads back without waiting for many small
 * ones, and there is no branch for each.
 */
export function writeShort ({ bytes, view }, to, text, short = SHORT) {
  const length = text.length
  if (length > short) {
    return -1
  }
  let all = 0
  let i = 0
  for (; i + 4 <= length; i += 4) {
    const a = text.charCodeAt(i)
    const b = text.charCodeAt(i + 1)
    const c = text.charCodeAt(i + 2)
    const d = text.charCodeAt(i + 3)
    all |= a | b | c | d
    view.setInt32(to + i, a | b << 8 | c << 16 | d << 24, true)
  }
  for (; i < length; i++) {
    const code = text.charCodeAt(i)
    all |= code
    bytes[to + i] = code
  }
  return all < 128 ? length : -1
}

/** Writes any string to the scratch; returns its length. */
export function encodeInto (instance, text) {
  const short = writeShort(instance, instance.scratch, text)
  if (short >= 0) {
    return short
  }
  const at = instance.needScratch(text.length * 3)
  return encodeAt(instance.bytes.subarray(at, at + text.length * 3), text)
}

/** Writes any string to room of three bytes a unit; returns its length. */
export function encodeAt (room, text) {
  const { written } = encoder.encodeInto(text, room)
  // As many bytes as units are ASCII; only others can have an unpaired surrogate.
  if (written !== text.length) {
    checkText(text)
  }
  return written
}
