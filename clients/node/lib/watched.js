// A filter that is replaced while it is in use.
import { BloomFilter } from './filter.js'
import { Follower } from './follower.js'

/** Between two looks of wait. */
const WAIT_MILLISECONDS = 100

export class WatchedBloomFilter {
  #path
  #options
  #current
  #identity
  #last = Promise.resolve()
  #follower

  constructor (path, options, { filter, identity }) {
    this.#path = path
    this.#options = options
    this.#current = filter
    this.#identity = identity
  }

  static async open (path, options) {
    const stays = BloomFilter.absolute(path)
    return new WatchedBloomFilter(stays, options, await BloomFilter.openSource(stays, options))
  }

  /**
   * The same as soon as there is a file, for a service that starts before the first one
   * has come; after so many milliseconds rejected with the last error.
   */
  static async wait (path, timeout, options) {
    const stays = BloomFilter.absolute(path)
    for (const end = performance.now() + timeout; ;) {
      try {
        return await WatchedBloomFilter.open(stays, options)
      } catch (error) {
        if (performance.now() >= end) {
          throw error
        }
      }
      await new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS))
    }
  }

  /** Which content of which list it is, and how fresh. */
  status () { return this.#current.status() }

  /** The present filter. Keep it for one piece of work: its answers then agree. */
  get current () { return this.#current }

  get info () { return this.#current.info }

  contains (key) { return this.#current.contains(key) }

  /** As explain of the filter that is current. */
  explain (key) { return this.#current.explain(key) }

  containsMany (keys) { return this.#current.containsMany(keys) }

  /**
   * Takes what is at the path now; resolves to whether that is another filter. Where no
   * file was replaced (device, inode, size, time and header are the same) nothing is
   * read. On any error the old filter stays and the promise is rejected. Reloads run
   * one after the other, so that an older file never comes last.
   */
  reload () {
    const reloading = this.#last.then(() => this.#reload())
    this.#last = reloading.catch(() => {})
    return reloading
  }

  async #reload () {
    if (await BloomFilter.identify(this.#path) === this.#identity) {
      await this.#current.refresh()
      return false
    }
    const { filter, identity } = await BloomFilter.openSource(this.#path, this.#options)
    this.#identity = identity
    if (!filter.isOrWasWorking(this.#current) && filter.info.checksum === this.#current.info.checksum) {
      return false
    }
    this.#current = filter
    return true
  }

  /**
   * Reloads every so many milliseconds, until close. onChange is told of each new
   * filter, onError of each error; without it there is a warning where the error is
   * another one than the time before, and for a lasting one again each minute. The timer doesn't keep a process alive.
   */
  follow (every = 1000, { onChange, onError } = {}) {
    if (!(every > 0)) {
      throw new RangeError('milliseconds between two looks are more than 0')
    }
    this.close()
    this.#follower = new Follower(this, () => every, onChange, onError)
  }

  /** Ends following. The present filter stays and answers. */
  close () {
    this.#follower?.stop()
    this.#follower = undefined
  }
}
