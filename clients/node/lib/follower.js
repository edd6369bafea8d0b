// What looks again and again for a filter that is watched.

/** Between two warnings of a lasting error. */
const REPEAT_MILLISECONDS = 60000

/** Holds its filter weakly, and ends when nobody else holds it any more. */
export class Follower {
  #watched
  #wait
  #onChange
  #onError
  #timer
  #stopped = false

  /** wait(watched) tells how many milliseconds are between this moment and the next reload. */
  constructor (watched, wait, onChange, onError = warnOnce()) {
    this.#watched = new WeakRef(watched)
    this.#wait = wait
    this.#onChange = onChange
    this.#onError = onError
    this.#next(watched)
  }

  stop () {
    clearTimeout(this.#timer)
    this.#stopped = true
  }

  #next (watched) {
    if (!this.#stopped) {
      this.#timer = setTimeout(() => this.#look(), this.#wait(watched))
      this.#timer.unref?.()
    }
  }

  async #look () {
    const watched = this.#watched.deref()
    if (watched === undefined) {
      return
    }
    try {
      const changed = await watched.reload()
      if (changed && !this.#stopped) {
        tell(this.#onChange, watched.current)
      }
    } catch (error) {
      if (!this.#stopped) {
        tell(this.#onError, error)
      }
    }
    this.#next(watched)
  }
}

/** What a caller's function throws is the caller's, as from any timer. */
function tell (callback, argument) {
  queueMicrotask(() => callback?.(argument))
}

/** Says a lasting error again after so many milliseconds. */
export function warnOnce (pause = REPEAT_MILLISECONDS, now = () => performance.now()) {
  let last
  let again
  return ({ message }) => {
    if (message !== last || now() >= again) {
      again = now() + pause
      const text = `bloomfilter: the filter stays the old one: ${message}`
      globalThis.process?.emitWarning ? process.emitWarning(text) : console.warn(text)
    }
    last = message
  }
}
