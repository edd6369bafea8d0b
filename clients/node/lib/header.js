// The fields of a header that has been checked.
import { kindName } from './key-types.js'

export class PartHeader {
  #kind

  constructor (view, bytes) {
    this.#kind = (view.getUint8(7) | view.getUint32(48, true) & ~0xff) >>> 0
    this.keyType = kindName(this.#kind)
    this.part = view.getUint16(12, true)
    this.parts = view.getUint16(14, true)
    this.seed = view.getBigUint64(16, true)
    this.probes = view.getUint8(5)
    this.blockBits = 2 ** view.getUint8(6)
    this.blocks = view.getUint32(8, true)
    this.capacity = view.getBigUint64(24, true)
    this.rate = view.getFloat64(32, true)
    this.bitsSet = Number(view.getBigUint64(40, true))
    this.checksum = view.getBigUint64(56, true)
    this.bytes = bytes
    this.estimatedKeys = this.#estimate()
  }

  /** The keys it holds as a number; see key-types.js. */
  get kind () { return this.#kind }

  /** -ln(1 - fill) * blocks / (1 - (1 - 1/B)^k); nothing counts insertions. */
  #estimate () {
    const fill = this.bitsSet / (this.blocks * this.blockBits)
    const perKey = -Math.expm1(this.probes * Math.log1p(-1 / this.blockBits))
    return -Math.log1p(-fill) * this.blocks / perKey
  }
}
