// Who has signed a list's manifest: keys and signatures as minisign writes them.
import { BloomFilterError, ListError } from './errors.js'
import { Instance } from './instance.js'
import { bytesOf, fromBase64, isSignature, latin1, signatureLines, signatureOf, signedLength } from './list.js'

const ID_BYTES = 8
const PUBLIC_BYTES = 2 + ID_BYTES + 32
const SIGNATURE_BYTES = 2 + ID_BYTES + 64
const MOST_SIGNATURES = 8
const HASH_BYTES = 64

/** Bytes behind the two that name the algorithm: an id, and what it belongs to. */
function decode (text, length, algorithm) {
  const bytes = fromBase64(text)
  if (bytes?.length !== length || latin1(bytes.subarray(0, 2)) !== algorithm) {
    return undefined
  }
  return { id: latin1(bytes.subarray(2, 2 + ID_BYTES)), bytes: bytes.subarray(2 + ID_BYTES) }
}

/** A public key of its text, or of all that its file has. */
function parseKey (text) {
  const line = String(text).trimEnd().split(/\r?\n/).at(-1)
  const key = decode(line, PUBLIC_BYTES, 'Ed')
  if (key === undefined) {
    throw new BloomFilterError('key is not a public key of minisign: give its text, which begins with RW, or what its file has')
  }
  return key
}

/** Keys of an option: none, one, or an array. */
export const parseKeys = (option) => option === undefined ? [] : [option].flat().map(parseKey)

/** Throws unless one of the keys has signed a manifest. Without keys there is nothing to check. */
export async function checkSignature (text, keys, verify) {
  if (keys.length === 0) {
    return
  }
  const hash = blake2b(bytesOf(text.slice(0, signedLength(text))))
  for (const line of signatureLines(text).slice(0, MOST_SIGNATURES)) {
    if (!isSignature(line)) {
      break
    }
    const signature = decode(signatureOf(line)[0], SIGNATURE_BYTES, 'ED')
    const key = keys.find(({ id }) => id === signature?.id)
    if (key !== undefined && await verify(key.bytes, signature.bytes, hash)) {
      return
    }
  }
  throw new ListError('signature', 'the manifest has no right signature of a key that was given')
}

export function blake2b (bytes) {
  const instance = new Instance()
  const at = instance.needScratch(HASH_BYTES + bytes.length)
  instance.bytes.set(bytes, at + HASH_BYTES)
  instance.exports.blake2b(at + HASH_BYTES, bytes.length, at)
  return instance.bytes.slice(at, at + HASH_BYTES)
}
