// The parts of a filter or of a set, asked for one key: in memory, or in a followed file where they are, of
// which a look-up reads the block of its key. And the table behind the parts of a tracked list's file, section
// 7 of doc/FEED.md, which is read by the C code that all readers share.
import { ChangesError, PartError } from './errors.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { encodeInto, withoutBlanks } from './text.js'

export class Parts {
  /** Parts in their order: all of a set, or one; a whole filter in memory is asked directly. */
  constructor (parts, isInMemory = true) {
    this.parts = parts
    this.first = parts[0].instance
    this.isWhole = isInMemory && parts[0].parts === 1
  }

  /** Keys that were changed by day come before the filter's own. */
  withChanges (changes) {
    this.changes = changes
    this.isWhole &&= changes === undefined
    return this
  }

  /** A key of 8 bytes, as two halves. */
  askWord (low, high) {
    const { exports, scratch, view } = this.first
    if (this.changes !== undefined) {
      view.setUint32(scratch, low, true)
      view.setInt32(scratch + 4, high, true)
      return this.askScratch(8)
    }
    return this.isWhole ? exports.contains_word(low, high) === 1 : this.#askPart(exports.part_of_word(low, high))
  }

  askText (text) { return this.askScratch(encodeInto(this.first, withoutBlanks(text))) }

  askBytes (bytes) {
    this.first.putKey(bytes)
    return this.askScratch(bytes.length)
  }

  /** The key is in the first instance's scratch. */
  askScratch (length) {
    const { exports, scratch } = this.first
    if (this.changes !== undefined) {
      const number = exports.part_of_bytes(scratch, length)
      return this.changes.ask(this.first, length) ?? this.#askPart(number)
    }
    return this.isWhole ? exports.contains_bytes(scratch, length) === 1 : this.#askPart(exports.part_of_bytes(scratch, length))
  }

  /** The hash of the key is where the first instance has left it. */
  #askPart (number) {
    const { exports, view } = this.first
    const at = exports.hash_at() >>> 0
    const low = view.getUint32(at, true)
    const high = view.getUint32(at + 4, true)
    return this.instanceFor(number).exports.contains_hash(low, high) === 1
  }

  /** The instance of a part, which has the block of the key that was hashed last. */
  instanceFor (number) {
    const { part, parts } = this.parts[0]
    if (this.parts.length === parts) {
      return this.parts[number].instance
    }
    if (part !== number) {
      throw new PartError(`key belongs to part ${number} of ${parts}, and only part ${part} is open`)
    }
    return this.first
  }
}

const AT_LOG2_BLOCK = 6

export class FollowedParts extends Parts {
  #number

  /** file.readInto(bytes, at, length, from) reads so many bytes or throws. */
  constructor (parts, file) {
    const instance = new Instance()
    const own = parts.map((part) => ({ ...part, instance, blockBytes: 2 ** part.header[AT_LOG2_BLOCK] / 8 }))
    instance.room(HEADER_BYTES + own.reduce((most, { blockBytes }) => Math.max(most, blockBytes), 0))
    super(own, false)
    this.file = file
    this.#take(0)
  }

  /** The one instance, with a part's header. */
  #take (number) {
    const { header, length } = this.parts[number]
    this.first.bytes.set(header, this.first.start)
    this.first.exports.check_header(length)
    this.#number = number
  }

  instanceFor (number) {
    if (number !== this.#number) {
      this.#take(number)
    }
    const { bytes, exports, start } = this.first
    const { at, blockBytes } = this.parts[number]
    this.file.readInto(bytes, start + HEADER_BYTES, blockBytes, at + HEADER_BYTES + (exports.block_at() >>> 0))
    return this.first
  }
}

const SLOT_BYTES = 32
const SLOTS_AT_ONCE = 64

/** In the page: how many keys were changed. */
const COUNT = 608
const COUNT_BYTES = 8

/** What ask_slots says where it isn't false or true. */
const UNCHANGED = 0
const GOES_ON = 1
const TRUE = 3

/** Keys that were changed by day since their list was published. */
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
    const high = view.getUint32((exports.hash_at() >>> 0) + 4, true)
    const first = high >>> (32 - this.#log2)
    if (slots > 0) {
      // where the bit of a hash is 0, no entry has this hash
      this.#read(bytes, at, 1, this.#at + slots * SLOT_BYTES + first)
      if ((bytes[at] >>> (high >>> (29 - this.#log2) & 7) & 1) === 0) {
        return undefined
      }
    }
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
