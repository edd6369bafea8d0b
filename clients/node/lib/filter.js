// A filter that is open, or a set of parts asked as one. What users call is described in index.d.ts.
import { Batch, checkList } from './batch.js'
import { BloomFilterError, atIndex } from './errors.js'
import { fetchPart } from './fetch.js'
import { describe, readPart } from './info.js'
import { bytesFor, writeFloat } from './key.js'
import { FLOAT, INTEGER, TEXT, kindName } from './key-types.js'
import { load, memoryIo, refuseText } from './load.js'
import { Parts } from './parts.js'
import { statusOf } from './status.js'
import { runAsync, runSync } from './steps.js'

const TWO_32 = 2 ** 32

/** What only Node has: its files. index.js puts them here, which browsers don't load. */
const platform = {}

export function useFiles (files) {
  Object.assign(platform, files)
}

export function files () {
  if (platform.openPath === undefined) {
    throw new BloomFilterError('there are no files here: use BloomFilter.fetch or fromBytes')
  }
  return platform
}

const PRIVATE = Symbol('a filter that was checked')

export class BloomFilter {
  #parts
  #kind
  #batch
  #page
  #size
  #place

  constructor (token, { parts, page, size, place }) {
    if (token !== PRIVATE) {
      throw new TypeError('a BloomFilter is opened and then asked: BloomFilter.open(path), or fromBytes')
    }
    this.#parts = parts
    this.#page = page
    this.#size = size
    this.#place = place
    this.#kind = Math.max(...new Set(parts.parts.map(({ kind }) => kind)))
  }

  static async open (path, options) {
    return (await BloomFilter.openStamped(path, options)).filter
  }

  /** The filter, and what its file was: for WatchedBloomFilter. */
  static async openStamped (path, options) {
    const { asyncIo, openPath } = files()
    const { stamp, ...opened } = await runAsync(openPath(asyncIo, path, options))
    return { filter: new BloomFilter(PRIVATE, opened), stamp }
  }

  static openSync (path, options) {
    const { syncIo, openPath } = files()
    return new BloomFilter(PRIVATE, runSync(openPath(syncIo, path, options)))
  }

  static fromBytes (bytes, options) {
    refuseText(bytes)
    return new BloomFilter(PRIVATE, runSync(load(memoryIo, bytes, bytes.length, options)))
  }

  static async fetch (url, options) {
    return new BloomFilter(PRIVATE, { parts: new Parts([await fetchPart(url, options)]) })
  }

  get keyType () { return kindName(this.#kind) }

  get #file () { return this.#parts.file }

  #copy () { return new BloomFilter(PRIVATE, runSync(this.#file.copy(files().syncIo))) }

  get info () {
    if (this.#file !== undefined) {
      return this.#copy().info
    }
    const parts = this.#parts.parts.map(({ instance }) => {
      instance.seal()
      return readPart(instance)
    })
    return describe(parts, this.#kind)
  }

  status () {
    return statusOf(this.#file?.page() ?? this.#page, this.#size, this.#place, platform.uptime?.())
  }

  async snapshot () {
    return this.#file === undefined ? this : new BloomFilter(PRIVATE, await runAsync(this.#file.copy(files().asyncIo)))
  }

  /** Whether another file took the place of this one: for WatchedBloomFilter. */
  isSuperseded () { return this.#file?.isSuperseded() ?? false }

  contains (key) {
    if (typeof key === 'string' && this.#kind === TEXT) {
      return this.#parts.askText(key)
    }
    if (typeof key === 'number') {
      if (this.#kind === INTEGER && Number.isSafeInteger(key)) {
        return this.#parts.askWord(key >>> 0, Math.floor(key / TWO_32))
      }
      if (this.#kind === FLOAT) {
        const { scratch, view } = this.#parts.first
        writeFloat(view, scratch, key)
        return this.#parts.askScratch(8)
      }
    }
    return this.#parts.askBytes(bytesFor(key, this.#kind))
  }

  containsMany (keys) {
    checkList(keys)
    if (!this.#parts.isWhole) {
      return Uint8Array.from(keys, (key, i) => this.#containsAt(key, i))
    }
    this.#batch ??= new Batch(this.#parts.first, this.#kind, (key, i) => this.#containsAt(key, i))
    return this.#batch.ask(keys)
  }

  #containsAt (key, index) {
    try {
      return this.contains(key)
    } catch (error) {
      throw atIndex(error, index)
    }
  }
}
