// Keys that were changed by day since their list was published: the table behind the parts of a
// file, section 7 of doc/FEED.md. It is read by the C code that all readers share.
import { ChangesError } from './errors.js'

const SLOT_BYTES = 32
const SLOTS_AT_ONCE = 64

/** In the page: how many keys were changed. */
const COUNT = 608
const COUNT_BYTES = 8

/** What ask_slots says where it isn't false or true. */
const UNCHANGED = 0
const GOES_ON = 1
const TRUE = 3

export class Changes {
  #read
  #at
  #log2
  #count = new DataView(new ArrayBuffer(COUNT_BYTES))

  /** The instance has read the page; read(bytes, to, length, from) reads so many bytes of the file, or throws. */
  constructor ({ exports }, read) {
    this.#read = read
    this.#at = exports.table_at()
    this.#log2 = exports.table_log2()
  }

  #isEmpty () {
    this.#read(new Uint8Array(this.#count.buffer), 0, COUNT_BYTES, COUNT)
    return this.#count.getBigUint64(0, true) === 0n
  }

  /** The answer for the key of so many bytes in the scratch, which was hashed last; undefined if it wasn't changed. */
  ask (instance, length) {
    if (this.#isEmpty()) {
      return undefined
    }
    const at = Math.ceil((instance.needScratch(length + (SLOTS_AT_ONCE + 1) * SLOT_BYTES) + length) / 8) * 8
    const { bytes, exports, scratch, view } = instance
    const slots = this.#log2 === 0 ? 0 : 2 ** this.#log2
    const first = view.getUint32((exports.hash_at() >>> 0) + 4, true) >>> (32 - this.#log2)
    for (let passed = 0; passed < slots;) {
      const from = (first + passed) % slots
      const some = Math.min(SLOTS_AT_ONCE, slots - from, slots - passed)
      this.#read(bytes, at, some * SLOT_BYTES, this.#at + from * SLOT_BYTES)
      const found = exports.ask_slots(at, some, scratch, length)
      if (found !== GOES_ON) {
        return found === UNCHANGED ? undefined : found === TRUE
      }
      passed += some
    }
    throw new ChangesError('table of changes is damaged')
  }
}
