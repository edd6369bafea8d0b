// A copy of a list's filters to which steps are applied.
//
// What is told of it is a serial of which it has everything: it is raised when all bits
// of a step are set, never before. Steps only set bits, so look-ups go on meanwhile, and a
// step that was interrupted is applied once more.
import { ListError } from './errors.js'
import { StepReader, setPositions } from './step.js'
import { pause, runAsync } from './steps.js'

const AT_BITS_SET = 40

export class ListCopy {
  #bits
  #isDamaged = false
  #reader = new StepReader()

  /** The parts of a serial's whole files. */
  constructor (parts, { epoch, identity }, serial) {
    this.parts = parts
    this.epoch = epoch
    this.identity = identity
    this.serial = serial
    // Whether it has no other bits than those of its serial.
    this.exact = true
    this.#bits = parts.map(({ instance }) => Number(instance.header.getBigUint64(AT_BITS_SET, true)))
  }

  /** Whether steps of a manifest are steps of this copy. */
  isOf (list) {
    return !this.#isDamaged && list.epoch === this.epoch && list.identity === this.identity && list.parts === this.parts.length
  }

  /** Checks a step and returns its serials; throws unless it leads on from here. */
  read (bytes) {
    const step = this.#reader.read(bytes, this.parts)
    if (step.epoch !== this.epoch || step.identity !== this.identity) {
      throw new ListError('step', 'a step is not valid: it is of another epoch or list')
    }
    return step
  }

  /**
   * Applies the step that was read, whose from is not beyond this serial. Resolves to whether the parts now
   * have as many bits as it says: if not, this copy or the step is damaged, the serial stays, and no step is taken any more.
   */
  async apply ({ from, to }) {
    if (from > this.serial) {
      throw new ListError('step', 'a step begins after what is here')
    }
    const exact = this.exact && from === this.serial
    const wanted = new Map()
    await runAsync(this.#reader.each((part, positions, bitsSet) => {
      this.#bits[part] += setPositions(this.parts[part].instance, positions)
      wanted.set(part, bitsSet)
    }, pause))
    for (const [part, bits] of wanted) {
      if (exact ? this.#bits[part] !== bits : this.#bits[part] < bits) {
        this.#isDamaged = true
        return false
      }
    }
    this.exact = exact
    this.serial = to > this.serial ? to : this.serial
    return true
  }
}
