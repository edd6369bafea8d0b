// One filter in one instance of the WebAssembly module.
//
// Each filter has an instance, and so a memory, of its own: memory of WebAssembly
// never shrinks, but all of it goes when nobody holds the instance any more. It
// also lets a set of parts be larger than the 4 GiB that one memory can have.
//
// Addresses come from WebAssembly as signed numbers: >>> 0 makes them unsigned.
import { readFileSync } from 'node:fs'
import { BloomfilterError, FormatError } from './errors.js'

const PAGE = 65536
export const HEADER_BYTES = 64

/** Room for keys and answers that is always there. */
const LEAST_ROOM = 4 * PAGE

const AT_VERSION = 4

let compiled

/** Compiled once, at the first use; each instance then takes a fraction of a millisecond. */
function wasmModule () {
  compiled ??= new WebAssembly.Module(
    readFileSync(new URL('../build/bloomfilter.wasm', import.meta.url)))
  return compiled
}

export class Instance {
  constructor () {
    this.exports = new WebAssembly.Instance(wasmModule()).exports
    this.start = this.exports.filter_at() >>> 0
    this.#grow(this.start + HEADER_BYTES)
  }

  /** Makes room for a filter of this length and returns it, for the caller to fill. */
  room (length) {
    this.length = length
    // Keys of 8 bytes need to lie on multiples of 8.
    this.scratch = Math.ceil((this.start + length) / 8) * 8
    this.scratchLength = LEAST_ROOM
    this.#grow(this.scratch + LEAST_ROOM)
    return this.bytes.subarray(this.start, this.start + length)
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
        throw new BloomfilterError(`no memory for ${end} bytes`, { cause: error })
      }
    }
    this.bytes = new Uint8Array(memory.buffer)
    this.view = new DataView(memory.buffer)
  }

  get header () {
    return new DataView(this.exports.memory.buffer, this.start, HEADER_BYTES)
  }

  /**
   * Throws for the first broken rule among those that need only the header, which
   * lies at the start, of a filter of this length.
   */
  checkHeader (length) {
    const [rule, text] = this.#check(length, false)
    // Whether this rule is the first that is broken depends on the blocks.
    if (rule !== 'empty_key_type') {
      throwBroken(rule, text)
    }
  }

  /** Throws for the first broken rule; without thorough the blocks are trusted. */
  check (thorough) {
    throwBroken(...this.#check(this.length, thorough))
  }

  /** The word of the first broken rule and its text, or nothing. */
  #check (length, thorough) {
    // No valid filter is near 2^32 bytes; that many are as wrong as more are.
    const status = this.exports.check(Math.min(length, 0xffffffff), thorough)
    if (status === 0) {
      return []
    }
    const rule = this.#string(this.exports.rule_word(status))
    return [rule, rule === 'version'
      ? `unsupported format version ${this.header.getUint8(AT_VERSION)}`
      : this.#string(this.exports.rule_text(status))]
  }

  #string (address) {
    const from = address >>> 0
    return Buffer.from(this.bytes.subarray(from, this.bytes.indexOf(0, from))).toString()
  }
}

function throwBroken (rule, text) {
  if (rule !== undefined) {
    throw new FormatError(rule, text)
  }
}
