// Steps: which bits to set to come from one serial to another. Section 17 of doc/FORMAT.md.
// The C code that reads them is in the module; it has an instance of its own, as look-ups
// use the room behind a filter while a long step is applied.
import { ListError } from './errors.js'
import { Instance, KEY_ROOM } from './instance.js'

const [AT_EPOCH, AT_IDENTITY, AT_FROM, AT_TO, HEADER_BYTES] = [8, 16, 32, 40, 64]

/** Positions that are set in one go, and how many more a piece may have: those of one block. */
const AT_ONCE = 32768
const MOST_IN_BLOCK = 65536
const POSITION_BYTES = 4 * (AT_ONCE + MOST_IN_BLOCK)

/** A larger memory is not kept for the next step. */
const KEPT_BYTES = 4 << 20

export class StepReader {
  #instance
  #positionsAt

  /**
   * Checks a whole step for these parts and returns what it says of itself; throws ListError.
   * Nothing else may be read before its bits are set.
   */
  read (bytes, parts) {
    if (this.#instance === undefined || this.#instance.bytes.length > KEPT_BYTES) {
      this.#instance = new Instance()
    }
    const { exports } = this.#instance
    const headers = parts.length * exports.step_header_bytes()
    const at = this.#instance.needScratch(headers + POSITION_BYTES + bytes.length)
    for (const [i, { instance }] of parts.entries()) {
      exports.step_geometry(at, i, instance.header.getUint8(6), instance.header.getUint32(8, true))
    }
    this.#positionsAt = at + headers
    const bytesAt = this.#positionsAt + POSITION_BYTES
    this.#instance.bytes.set(bytes, bytesAt)
    const word = this.#instance.string(exports.step_word(exports.step_read(at, parts.length, bytesAt, bytes.length)))
    if (word !== '-') {
      throw new ListError('step', `a step is not valid: ${word}`)
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
    return {
      epoch: view.getBigUint64(AT_EPOCH, true),
      identity: uuid(bytes.subarray(AT_IDENTITY, AT_IDENTITY + 16)),
      from: view.getBigUint64(AT_FROM, true),
      to: view.getBigUint64(AT_TO, true)
    }
  }

  /**
   * Steps (see steps.js) that go through the positions of the step that was read: take gets
   * a part's number, some of its positions, and how many bits the part then has in all.
   */
  * each (take, pause) {
    const { exports } = this.#instance
    for (;;) {
      const count = exports.step_positions(this.#positionsAt, AT_ONCE)
      if (count === 0) {
        return
      }
      take(exports.step_part(), new Uint32Array(exports.memory.buffer, this.#positionsAt, count), exports.step_bits_set())
      if (count >= AT_ONCE) {
        yield pause()
      }
    }
  }
}

/** Sets bits of a part; returns how many of them were 0. */
export function setPositions (instance, positions) {
  let fresh = 0
  for (let from = 0; from < positions.length; from += KEY_ROOM / 4) {
    const some = positions.subarray(from, from + KEY_ROOM / 4)
    new Uint32Array(instance.exports.memory.buffer, instance.scratch, some.length).set(some)
    fresh += instance.exports.set_positions(instance.scratch, some.length)
  }
  instance.isSealed = false
  return fresh
}

/** 16 bytes as a UUID is written. */
export function uuid (bytes) {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
