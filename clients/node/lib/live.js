// A filter that is replaced while it is in use.
import { open } from './filter.js'

export class Live {
  #path
  #options
  #filter
  #last = Promise.resolve()

  constructor (path, options, filter) {
    this.#path = path
    this.#options = options
    this.#filter = filter
  }

  static async open (path, options) {
    return new Live(path, options, await open(path, options))
  }

  /** The present filter. Keep it for one piece of work: its answers then agree. */
  get filter () { return this.#filter }

  contains (key) { return this.#filter.contains(key) }

  containsMany (keys) { return this.#filter.containsMany(keys) }

  /**
   * Opens the path again and swaps the filters at once. On any error the old one
   * stays and the promise is rejected. Reloads run one after the other, so that
   * an older file never comes last.
   */
  reload () {
    const reloading = this.#last.then(async () => {
      this.#filter = await open(this.#path, this.#options)
    })
    this.#last = reloading.catch(() => {})
    return reloading
  }
}
