// A filter that is replaced while it is in use. What users call is described in index.d.ts.
import { ChangedFileError, inFile } from './errors.js'
import { BloomFilter, files } from './filter.js'
import { runAsync } from './steps.js'

/** Between two looks at whether another file took the place of a followed one. */
const TICK_MILLISECONDS = 100

/** Of so many one looks at the path. */
const TICKS_OF_LOOK = 10

/** Between two looks of wait. */
const WAIT_MILLISECONDS = 100

/** Between two tellings of a lasting error; tests shorten it. */
export const limits = { repeatMilliseconds: 60000 }

export class WatchedBloomFilter {
  #path
  #options
  #onError
  #current
  #stamp
  #ticks = 0
  #last = Promise.resolve()
  #isLooking = false
  #said
  #saidAt = 0

  constructor (path, { onError = warn, ...options }, { filter, stamp }) {
    this.#path = path
    this.#options = options
    this.#onError = onError
    this.#current = filter
    this.#stamp = stamp
    tickWhileHeld(new WeakRef(this))
  }

  static async open (path, options = {}) {
    const stays = files().absolute(path)
    return new WatchedBloomFilter(stays, options, await BloomFilter.openStamped(stays, options))
  }

  static async wait (path, timeout, options) {
    const stays = files().absolute(path)
    for (const end = performance.now() + timeout; ;) {
      try {
        return await WatchedBloomFilter.open(stays, options)
      } catch (error) {
        if (!(performance.now() < end)) { // without a timeout end is NaN: one try
          throw error
        }
      }
      await new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS))
    }
  }

  status () { return this.#current.status() }

  get current () { return this.#current }

  get info () { return this.#current.info }

  contains (key) { return this.#current.contains(key) }

  containsMany (keys) { return this.#current.containsMany(keys) }

  /** Reloads run one after the other, so that an older file never comes last. */
  reload () {
    const reloading = this.#last.then(() => this.#reload())
    this.#last = reloading.catch(() => {})
    return reloading
  }

  async #reload () {
    const { asyncIo, stampOfPath } = files()
    if (this.#isSame(await runAsync(stampOfPath(asyncIo, this.#path)))) {
      this.#current.status()
      return false
    }
    const { filter, stamp } = await BloomFilter.openStamped(this.#path, this.#options)
    this.#isSame(stamp)
    this.#stamp = stamp
    this.#current = filter
    return true
  }

  /** A followed file gets no other content but by another file that takes its place. */
  #isSame ({ inode, content }) {
    const isContent = content === this.#stamp.content
    if (inode === this.#stamp.inode && !isContent && this.#stamp.isFollowed) {
      this.#current.status() // which notes it: each question is an error from now on
      throw inFile(new ChangedFileError('file was overwritten, or found damaged by its follower'), this.#path)
    }
    return isContent && inode === this.#stamp.inode
  }

  /** Looks at the path once a second, and at once where the file says that another one took its place. */
  async tick () {
    this.#ticks++
    if (this.#isLooking || (this.#ticks % TICKS_OF_LOOK !== 0 && !this.#current.isSuperseded())) {
      return
    }
    this.#isLooking = true
    try {
      await this.reload()
      this.#said = undefined
    } catch (error) {
      this.#report(error)
    } finally {
      this.#isLooking = false
    }
  }

  /** An error is told if it is another one than the last; a lasting one again after a while. */
  #report (error) {
    if (error.message !== this.#said || performance.now() - this.#saidAt >= limits.repeatMilliseconds) {
      this.#said = error.message
      this.#saidAt = performance.now()
      this.#onError(error)
    }
  }
}

/** The timer ends when nobody holds the filter any more, and keeps no process alive. */
function tickWhileHeld (held) {
  const timer = setInterval(() => {
    const watched = held.deref()
    watched === undefined ? clearInterval(timer) : watched.tick()
  }, TICK_MILLISECONDS)
  timer.unref?.()
}

function warn ({ message }) {
  process.emitWarning(`bloomfilter: the filter stays the old one: ${message}`)
}
