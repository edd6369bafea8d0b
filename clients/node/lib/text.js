// Strings as UTF-8 in WebAssembly's memory.
import { checkText } from './key.js'

const encoder = new TextEncoder()

/** Longer strings go to the encoder at once: it is faster from there on. */
const SHORT = 48

/** Writes a short ASCII string and returns its length; -1 for all others. */
export function writeShort (bytes, to, text) {
  const length = text.length
  if (length > SHORT) {
    return -1
  }
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) {
      return -1
    }
    bytes[to + i] = code
  }
  return length
}

/** Writes any string, which takes up to three bytes per unit; returns its length. */
export function encodeInto (bytes, to, text) {
  checkText(text)
  return encoder.encodeInto(text, bytes.subarray(to, to + text.length * 3)).written
}
