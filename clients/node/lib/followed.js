// The parts of a followed file, asked where they are: a look-up reads the block of its key.
import { HEADER_BYTES, Instance } from './instance.js'
import { Parts } from './parts.js'

const AT_LOG2_BLOCK = 6

const bytesOfBlock = (header) => 2 ** header[AT_LOG2_BLOCK] / 8

export class FollowedParts extends Parts {
  #number

  /** file.readInto(bytes, at, length, from) reads so many bytes or throws. */
  constructor (parts, file) {
    const instance = new Instance()
    const own = parts.map((part) => ({ ...part, instance, blockBytes: bytesOfBlock(part.header) }))
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
