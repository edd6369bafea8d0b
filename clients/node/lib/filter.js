// A filter that is open, or a set of parts asked as one.
import { Batch } from './batch.js'
import { buildInstance } from './build.js'
import { webDigests } from './digests.js'
import { BloomFilterError, inFile } from './errors.js'
import { FollowedBloomFilter } from './followed.js'
import { describe, readPart } from './info.js'
import { Key, bytesFor, keyOf, writeFloat } from './key.js'
import { FLOAT, INTEGER, TEXT, kindName } from './key-types.js'
import { Instance } from './instance.js'
import { loadBytes, loadChunks, wholeSet } from './load.js'
import { Parts } from './parts.js'
import { RemoteBloomFilter } from './remote.js'
import { statusOf } from './status.js'
import { noPause, pause, runAsync, runSync } from './steps.js'

const TWO_32 = 2 ** 32

/** What only Node has: its files. index.js puts them here, browser.js doesn't. */
const platform = {}

export function useFiles (files) {
  Object.assign(platform, files)
}

function files () {
  if (platform.openPath === undefined) {
    throw new BloomFilterError('there are no files here: use BloomFilter.fetch or fromBytes')
  }
  return platform
}

/** What came from the web, as it came: one array of all would be copied in one go. */
async function chunksOf (response) {
  const chunks = []
  const reader = response.body?.getReader()
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader.read()) {
    chunks.push(read.value)
  }
  return chunks
}

const PRIVATE = Symbol('a filter that was checked')

export class BloomFilter {
  #parts
  #kind
  #batch
  #source
  #working

  constructor (token, parts, source, working) {
    if (token !== PRIVATE) {
      throw new TypeError('a BloomFilter is opened and then asked: BloomFilter.open(path), or fromBytes; ' +
        'BloomFilter.build(keys, { n, p }) makes one of keys')
    }
    this.#source = source
    this.#working = working
    this.#parts = new Parts(parts)
    this.#kind = Math.max(...new Set(parts.map(({ kind }) => kind)))
  }

  /** Opens a file, a set's manifest, or a folder with a file "manifest". */
  static async open (path, options) {
    return (await BloomFilter.openSource(path, options)).filter
  }

  /** A path that stays right: for WatchedBloomFilter. */
  static absolute (path) {
    return files().absolute(path)
  }

  /** The filter, and what its files were: for WatchedBloomFilter. */
  static async openSource (path, options) {
    const { asyncIo, openPath } = files()
    const { parts, source, working } = await runAsync(openPath(asyncIo, path, options))
    return { filter: new BloomFilter(PRIVATE, parts, source, working), identity: source.identity }
  }

  /** The identity of what is at a path now. */
  static async identify (path) {
    const { asyncIo, findSource } = files()
    return (await runAsync(findSource(asyncIo, path))).identity
  }

  /** The same as open, waiting for the disk. */
  static openSync (path, options) {
    const { syncIo, openPath } = files()
    const { parts, source, working } = runSync(openPath(syncIo, path, options))
    return new BloomFilter(PRIVATE, parts, source, working)
  }

  /** A filter of bytes in memory. They are copied. */
  static fromBytes (bytes, options) {
    return new BloomFilter(PRIVATE, [runSync(loadBytes(bytes, options, noPause))])
  }

  /** A whole set from the bytes of its parts, in their order. */
  static fromParts (list, options) {
    const parts = Array.from(list, (bytes) => runSync(loadBytes(bytes, options, noPause)))
    return new BloomFilter(PRIVATE, wholeSet(parts))
  }

  /** A filter from the web, with pauses while it is checked. */
  static async fetch (url, { verify, ...request } = {}) {
    const response = await fetch(url, request)
    if (!response.ok) {
      throw new BloomFilterError(`${url}: ${response.status} ${response.statusText}`)
    }
    const chunks = await chunksOf(response)
    try {
      const steps = loadChunks(chunks, { verify }, pause, await Instance.create())
      return new BloomFilter(PRIVATE, [await runAsync(steps)])
    } catch (error) {
      throw inFile(error, String(url))
    }
  }

  /**
   * Resolves to a filter on a web server that is asked by ranges: contains fetches one
   * block. request is what the global fetch takes.
   */
  static openUrl (url, request) {
    return RemoteBloomFilter.open(url, request)
  }

  /**
   * Resolves to a list that "bloomfilter export" keeps in a folder of a web server, once it is here: it is followed until close.
   */
  static followUrl (url, options = {}) {
    return FollowedBloomFilter.open(url, options, {
      make: (parts, state) => new BloomFilter(PRIVATE, parts, { state }),
      digests: platform.digests ?? webDigests,
      cached: platform.openPath === undefined
    })
  }

  /**
   * A filter of these keys, for n keys (or as many different ones as there are) at a
   * rate of at most p, or like another. The bytes are those that SQL makes.
   */
  static build (keys, { like, ...options } = {}) {
    const instance = buildInstance(keys, options, like?.#one('built like').instance)
    return new BloomFilter(PRIVATE, [readPart(instance)])
  }

  /** The name of the type of the keys that the filter holds, of rows with their columns. */
  get keyType () { return kindName(this.#kind) }

  /** Describes the filter. */
  get info () { return describe(this.#sealed(), this.#kind) }

  /** The parts; where bits came in, what their headers say of the bits is counted first. */
  #sealed () {
    return this.#parts.parts.map(({ instance }) => {
      instance.seal()
      return readPart(instance)
    })
  }

  /** Takes the bits that a follower has set in the working copy since: for WatchedBloomFilter. */
  async refresh () {
    const { asyncIo, refreshWorking } = files()
    if (this.#working !== undefined) {
      await runAsync(refreshWorking(asyncIo, this.#working))
    }
  }

  /** Whether it is a copy of a working copy, or the other one is. */
  isOrWasWorking (other) { return this.#working !== undefined || other.#working !== undefined }

  /**
   * Resolves to which content of which list it is, and how fresh: what bloomfilter pull
   * wrote beside its file, which is read each time.
   */
  async status () {
    if (this.#source?.state !== undefined) {
      return { ...this.#source.state }
    }
    const text = this.#source === undefined ? undefined : await files().readText(`${this.#source.path}.status`)
    return statusOf(text, this.#source?.notes, this.#working ?? this.info.checksum)
  }

  /** false: surely not in. true: perhaps in. */
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

  /**
   * What a look-up of the key computes and sees, in lines that SQL's bloom_explain, the
   * command line and the readers in other languages write alike.
   */
  explain (key) {
    const bytes = bytesFor(key, this.#kind)
    return this.#parts.explain(Key.typeOf(keyOf(key, this.#kind)), bytes)
  }

  /** Answers for many keys: element i of the result is 1 (perhaps) or 0 (no). */
  containsMany (keys) {
    this.#batch ??= new Batch(this.#parts, this.#kind)
    return this.#batch.ask(keys)
  }

  /** The bytes of a filter, as its file has them. */
  toBytes () {
    const { start, length, bytes } = this.#one('made into bytes').instance
    return bytes.slice(start, start + length)
  }

  /** Writes its file: beside the path first, then renamed over it. */
  async write (path) {
    const { start, length, bytes } = this.#one('written').instance
    await files().writeFile(path, bytes.subarray(start, start + length))
  }

  /** In a log a filter is what it says about itself. */
  toJSON () { return this.info }

  toString () {
    const { n, p, cardinality, parts } = this.info
    return `BloomFilter of about ${Math.round(cardinality)} ${this.keyType} keys, sized for ${n} at ${p}` +
      (parts > 1 ? `, ${this.#parts.parts.length} of ${parts} parts` : '')
  }

  [Symbol.for('nodejs.util.inspect.custom')] () { return this.toString() }

  #one (done) {
    const { parts } = this.#parts
    if (parts.length > 1) {
      throw new BloomFilterError(`one filter can be ${done} here, and this is a set of ${parts.length}`)
    }
    parts[0].instance.seal()
    return parts[0]
  }
}
