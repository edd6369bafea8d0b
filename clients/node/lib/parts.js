// The parts of a filter or of a set, asked for one key.
import { PartError } from './errors.js'
import { KEY_ROOM } from './instance.js'
import { PIECE, encodeAt, hashBytePieces, hashPieces, withoutBlanks, writeShort } from './text.js'

export class Parts {
  /** Parts in their order: all of a set, or one. */
  constructor (parts) {
    this.parts = parts
    this.first = parts[0].instance
    this.isSet = parts.length > 1
  }

  /** A key of 8 bytes, as two halves. */
  askWord (low, high) {
    const { exports } = this.first
    if (this.isSet) {
      return this.#askPart(exports.part_of_word(low, high))
    }
    const answer = exports.contains_word(low, high)
    return answer >= 0 ? answer === 1 : this.#otherPart(exports.part_of_word(low, high))
  }

  askText (whole) {
    const { first } = this
    const text = withoutBlanks(whole)
    const length = writeShort(first, first.scratch, text)
    if (length >= 0) {
      return this.askScratch(length)
    }
    if (text.length <= PIECE) {
      return this.askScratch(encodeAt(first.keyRoom, text))
    }
    hashPieces(first, text)
    return this.#askPart(first.exports.part_of_long())
  }

  askBytes (bytes) {
    const { first } = this
    if (bytes.length <= KEY_ROOM) {
      first.bytes.set(bytes, first.scratch)
      return this.askScratch(bytes.length)
    }
    hashBytePieces(first, bytes)
    return this.#askPart(first.exports.part_of_long())
  }

  /** The lines of a look-up in the part that a key belongs to, or of the part that is open. */
  explain (kind, key) {
    const { first } = this
    first.bytes.set(key, first.needScratch(key.length))
    const number = this.isSet ? first.exports.part_of_bytes(first.scratch, key.length) : 0
    const { instance } = this.parts[number]
    instance.bytes.set(key, instance.needScratch(key.length))
    return instance.string(instance.exports.explain(kind, instance.scratch, key.length))
  }

  /** The key is in the first instance's scratch. */
  askScratch (length) {
    const { exports, scratch } = this.first
    if (this.isSet) {
      return this.#askPart(exports.part_of_bytes(scratch, length))
    }
    const answer = exports.contains_bytes(scratch, length)
    return answer >= 0 ? answer === 1 : this.#otherPart(exports.part_of_bytes(scratch, length))
  }

  /** The hash of the key is where the first instance has left it. */
  #askPart (part) {
    const { exports, view } = this.first
    const at = exports.hash_at() >>> 0
    const low = view.getUint32(at, true)
    const high = view.getUint32(at + 4, true)
    if (this.isSet) {
      return this.parts[part].instance.exports.contains_hash(low, high) === 1
    }
    const answer = exports.contains_hash(low, high)
    return answer >= 0 ? answer === 1 : this.#otherPart(part)
  }

  #otherPart (wanted) {
    throw this.otherPart(wanted)
  }

  otherPart (wanted) {
    const { part, parts } = this.parts[0]
    return new PartError(part, parts, wanted)
  }
}
