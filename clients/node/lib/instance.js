// One filter in one instance of the WebAssembly module.
//
// Each filter has an instance, and so a memory, of its own: memory of WebAssembly
// never shrinks, but all of it goes when nobody holds the instance any more. It
// also lets a set of parts be larger than the 4 GiB that one memory can have.
//
// Addresses come from WebAssembly as signed numbers: >>> 0 makes them unsigned.
import { moduleLater, moduleNow } from '#module'
import { BloomFilterError, InvalidFilterError } from './errors.js'

const PAGE = 65536
export const HEADER_BYTES = 64

/** Header and directory of an exact filter: no filter is shorter. */
export const FRONT_BYTES = 128
const EXACT_VERSION = 2

/** Room for a key and its answer that is always there. */
const KEY_ROOM = PAGE

/** Bytes of blocks that are checked in one go: 1 to 2 ms. */
const CHECKED_AT_ONCE = 2 << 20

const AT_VERSION = 4

/** The format's words for its rules, by the core's numbers from 1 on. */
const RULES = ('short magic version header_checksum hash probes block_bits key_type columns blocks size part capacity ' +
  'rate bits_set empty_key_type checksum directory levels').split(' ')

const decoder = new TextDecoder()

export class Instance {
  constructor (instance = new WebAssembly.Instance(moduleNow())) {
    this.exports = instance.exports
    this.start = this.exports.filter_at() >>> 0
    this.room(0)
  }

  /** Without holding a browser's page up. */
  static async create () {
    return new Instance(await WebAssembly.instantiate(await moduleLater()))
  }

  /** Makes room for a filter of this length and returns it, for the caller to fill. */
  room (length) {
    this.length = length
    // Keys of 8 bytes need to lie on multiples of 8.
    this.scratch = Math.ceil((this.start + length) / 8) * 8
    this.scratchLength = KEY_ROOM
    this.#grow(this.scratch + KEY_ROOM)
    return this.bytes.subarray(this.start, this.start + length)
  }

  /** Writes a key where keys are asked from; returns where that is. */
  putKey (bytes) {
    const at = this.needScratch(bytes.length)
    this.bytes.set(bytes, at)
    return at
  }

  /** Where keys and answers can be written; it may move all views of the memory. */
  needScratch (length) {
    if (length > this.scratchLength) {
      this.#grow(this.scratch + length)
      this.scratchLength = length
    }
    return this.scratch
  }

  #grow (end) {
    const memory = this.exports.memory
    const missing = end - memory.buffer.byteLength
    if (missing > 0) {
      try {
        memory.grow(Math.ceil(missing / PAGE))
      } catch (error) {
        throw new BloomFilterError(`no memory for ${end} bytes`, { cause: error })
      }
    }
    this.bytes = new Uint8Array(memory.buffer)
    this.view = new DataView(memory.buffer)
  }

  /** What the header of a followed file's part leaves out is counted when it is wanted. */
  seal () {
    if (this.isSealed === false) {
      this.exports.seal()
      this.isSealed = true
    }
  }

  get header () {
    return new DataView(this.exports.memory.buffer, this.start, HEADER_BYTES)
  }

  /** Whether it is right for every key of a known universe. */
  get isExact () { return this.header.getUint8(AT_VERSION) === EXACT_VERSION }

  /**
   * Throws for the first broken rule among those that need only the front, which
   * lies at the start, of a filter of this length.
   */
  checkHeader (length) {
    const status = this.exports.check_header(length)
    // Whether this rule is the first that is broken depends on the blocks.
    if (RULES[status - 1] !== 'empty_key_type') {
      this.#throwBroken(status)
    }
  }

  /** Throws for the first broken rule of the header alone. */
  checkSound () {
    this.#throwBroken(this.exports.check_header(this.length))
  }

  /**
   * Throws for the first broken rule; the header has been checked. Without verify
   * the blocks are trusted. Takes steps (see steps.js), with pauses between.
   */
  * check (verify, pause) {
    if (!verify) {
      this.checkSound()
      return
    }
    if (this.isExact) {
      this.#throwBroken(this.exports.check_exact(this.length))
      return
    }
    this.exports.check_begin()
    yield * this.#pieces(pause, (at, length) => this.exports.check_some(at, length))
    this.#throwBroken(this.exports.check_end(this.length))
  }

  /** What this part adds to the sum of a followed file's page; steps, too. */
  * sum (part, pause) {
    let sum = this.exports.sum_header(part)
    yield * this.#pieces(pause, (at, length) => {
      sum += this.exports.sum_some(at, length, part, at - this.#body)
    })
    return sum
  }

  get #body () { return this.start + (this.isExact ? 0 : HEADER_BYTES) }

  * #pieces (pause, use) {
    const end = this.start + this.length
    for (let at = this.#body; at < end; at += CHECKED_AT_ONCE) {
      use(at, Math.min(CHECKED_AT_ONCE, end - at))
      if (end - at > CHECKED_AT_ONCE) {
        yield pause()
      }
    }
  }

  #throwBroken (status) {
    const rule = RULES[status - 1]
    if (rule !== undefined) {
      throw new InvalidFilterError(rule, rule === 'version'
        ? `unsupported format version ${this.header.getUint8(AT_VERSION)}`
        : this.string(this.exports.rule_text(status)))
    }
  }

  /** A string of C. */
  string (address) {
    const from = address >>> 0
    return decoder.decode(this.bytes.subarray(from, this.bytes.indexOf(0, from)))
  }
}

let common

/** The one without a filter, for all that needs none. */
export function commonInstance () {
  common ??= new Instance()
  return common
}

/** XXH64 of bytes, with seed 0. */
export function hashOf (bytes) {
  const { exports } = commonInstance()
  return BigInt.asUintN(64, exports.hash(common.putKey(bytes), bytes.length))
}
