// SHA-256 and Ed25519 of node:crypto.
import { createHash, createPublicKey, verify } from 'node:crypto'

/** What stands before the 32 bytes of a public key (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

export const nodeDigests = {
  sha256 () {
    const hash = createHash('sha256')
    return { add: (bytes) => hash.update(bytes), end: async () => hash.digest('hex') }
  },

  verify: async (key, signature, message) =>
    verify(null, message, createPublicKey({ key: Buffer.concat([SPKI, key]), format: 'der', type: 'spki' }), signature)
}
