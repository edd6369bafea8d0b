// Strings as UTF-8 in WebAssembly's memory.
import { checkText } from './key.js'

const encoder = new TextEncoder()

/** Longer strings go to the encoder at once: it is faster from there on. */
const SHORT = 48

/** Units of a string that are hashed in one piece: up to three bytes each. */
export const PIECE = 1 << 16

/** Writes a short ASCII string and returns its length; -1 for all others. */
export function writeShort (bytes, to, text) {
  const length = text.length
  if (length > SHORT) {
    return -1
  }
  // Without a branch for each character.
  let all = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    all |= code
    bytes[to + i] = code
  }
  return all < 128 ? length : -1
}

/** Writes any string, which takes up to three bytes per unit; returns its length. */
export function encodeInto (bytes, to, text) {
  checkText(text)
  return encoder.encodeInto(text, bytes.subarray(to, to + text.length * 3)).written
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
