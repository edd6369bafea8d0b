// SHA-256 and Ed25519 of what there is: node:crypto gives its own instead (node-digests.js).
import { BloomFilterError } from './errors.js'

function subtle () {
  if (globalThis.crypto?.subtle === undefined) {
    throw new BloomFilterError('digests can\'t be checked here: a page has WebCrypto only if it came by https or from the machine itself')
  }
  return globalThis.crypto.subtle
}

/** Hexadecimal digits. */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const webDigests = {
  /** add takes what comes, end all of it: here it is hashed at once, beside this thread. */
  sha256: () => ({
    add: () => {},
    end: async (all) => hex(new Uint8Array(await subtle().digest('SHA-256', all)))
  }),

  async verify (key, signature, message) {
    let imported
    try {
      imported = await subtle().importKey('raw', key, { name: 'Ed25519' }, false, ['verify'])
    } catch (error) {
      throw new BloomFilterError(`signatures can't be checked here, as this browser has no Ed25519: ${error.message}`)
    }
    return subtle().verify({ name: 'Ed25519' }, imported, signature, message)
  }
}
