// The commonest spelling of the second commonest key.

const LENGTH = 36
const HYPHEN = 45

// The value of each hex digit by its code; other characters have more than a digit has.
const digits = new Uint16Array(128).fill(0x1000)
for (const [value, character] of [...'0123456789abcdef'].entries()) {
  digits[character.charCodeAt(0)] = value
  digits[character.toUpperCase().charCodeAt(0)] = value
}

/** 16 bytes of 8-4-4-4-12 digits; undefined for all other spellings. */
export function uuidBytes (text) {
  if (typeof text !== 'string' || text.length !== LENGTH) {
    return undefined
  }
  const bytes = new Uint8Array(16)
  let wrong = 0
  for (let from = 0, to = 0; from < LENGTH; to++) {
    if (from === 8 || from === 13 || from === 18 || from === 23) {
      wrong |= text.charCodeAt(from++) ^ HYPHEN
    }
    const high = text.charCodeAt(from++)
    const low = text.charCodeAt(from++)
    const value = digits[high & 127] << 4 | digits[low & 127]
    // Above 255: one of them is no digit, or no ASCII.
    wrong |= value & ~255 | (high | low) & ~127
    bytes[to] = value
  }
  return wrong === 0 ? bytes : undefined
}
