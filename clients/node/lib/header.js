// The fields of a header that has been checked.
import { keyTypeNames } from './key-types.js'

export class PartHeader {
  constructor (view, bytes) {
    this.keyType = keyTypeNames[view.getUint8(7)]
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

  /** -ln(1 - fill) * blocks / (1 - (1 - 1/B)^k); nothing counts insertions. */
  #estimate () {
    const fill = this.bitsSet / (this.blocks * this.blockBits)
    const perKey = -Math.expm1(this.probes * Math.log1p(-1 / this.blockBits))
    return -Math.log1p(-fill) * this.blocks / perKey
  }
}
