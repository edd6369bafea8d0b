// The parts of a filter or of a set, asked for one key.
import { PartError } from './errors.js'
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

  /** Whether it is a part of a set without the others. */
  get #isAlone () { return this.parts.length !== this.parts[0].parts }

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
    if (!this.#isAlone) {
      return this.parts[number].instance
    }
    if (part !== number) {
      throw new PartError(`key belongs to part ${number} of ${parts}, and only part ${part} is open`)
    }
    return this.first
  }
}
