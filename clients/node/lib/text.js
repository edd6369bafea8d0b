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

/** The same of bytes. */
export function bytesWithoutBlanks (bytes) {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === BLANK) {
    end--
  }
  return bytes.subarray(0, end)
}

/** With a view of the memory to be made for each string, which batches need, from here on. */
export const SHORT_OF_BATCH = 48

/** Units of a string that are hashed in one piece: up to three bytes each. */
export const PIECE = 1 << 16

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

/** Writes any string, which takes up to three bytes per unit; returns its length. */
export function encodeInto (bytes, to, text) {
  return encodeAt(bytes.subarray(to, to + text.length * 3), text)
}

/**
 * Writes any string of up to PIECE units to the beginning of room; returns its length. As
 * many bytes as units are ASCII; only others can have an unpaired surrogate.
 */
export function encodeAt (room, text) {
  const { written } = encoder.encodeInto(text, room)
  if (written !== text.length) {
    checkText(text)
  }
  return written
}

/** Hashes a long string through the room that is there. */
export function hashPieces (instance, text) {
  const { bytes, exports, scratch } = instance
  checkText(text)
  exports.long_begin_key()
  for (let from = 0; from < text.length;) {
    let end = Math.min(from + PIECE, text.length)
    // Both halves of a surrogate pair go into one piece.
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) {
      end--
    }
    const room = bytes.subarray(scratch, scratch + PIECE * 3)
    exports.long_add(scratch, encoder.encodeInto(text.slice(from, end), room).written)
    from = end
  }
}

/** The same of bytes. */
export function hashBytePieces (instance, key) {
  const { bytes, exports, scratch } = instance
  exports.long_begin_key()
  for (let from = 0; from < key.length; from += PIECE) {
    const piece = key.subarray(from, from + PIECE)
    bytes.set(piece, scratch)
    exports.long_add(scratch, piece.length)
  }
}
