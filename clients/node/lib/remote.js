// A filter on a web server that is asked by ranges: its header once, then the one block
// that a key's bits are in. The blocks are not checked: what the server sends is believed.
import { BloomFilterError, PartError } from './errors.js'
import { isSafe } from './http.js'
import { readPart } from './info.js'
import { HEADER_BYTES, Instance } from './instance.js'
import { bytesFor } from './key.js'
import { kindName } from './key-types.js'

const PROBE_MULTIPLIER = 0x9e3779b97f4a7c15n
const AT_PROBES = 5
const AT_LOG2_BLOCK = 6
const AT_BLOCKS = 8

export class RemoteBloomFilter {
  #url
  #request
  #instance
  #header
  #etag
  #total

  constructor (url, request, instance) {
    this.#url = url
    this.#request = request
    this.#instance = instance
  }

  static async open (address, request = {}) {
    const url = new URL(String(address), globalThis.location?.href)
    if (!isSafe(url)) {
      throw new BloomFilterError(`${url}: blocks are not checked, so the address must be https`)
    }
    const filter = new RemoteBloomFilter(url, request, await Instance.create())
    await filter.#readHeader()
    return filter
  }

  async #readHeader () {
    const bytes = await this.#range(0, HEADER_BYTES, true)
    const instance = this.#instance
    instance.bytes.set(bytes, instance.start)
    const log2 = bytes[AT_LOG2_BLOCK]
    const stated = HEADER_BYTES + instance.header.getUint32(AT_BLOCKS, true) * 2 ** (log2 - 3)
    try {
      instance.checkHeader(this.#total ?? stated)
    } catch (error) {
      error.message = `${this.#url}: ${error.message}`
      throw error
    }
    this.#total ??= stated
    this.#header = {
      ...readPart(instance),
      probes: bytes[AT_PROBES],
      blocks: BigInt(instance.header.getUint32(AT_BLOCKS, true)),
      log2
    }
  }

  /** The name of the type of the keys that the filter holds, of rows with their columns. */
  get keyType () { return kindName(this.#header.kind) }

  /** Of the whole filter; where it is the same, so are the bytes. */
  get checksum () { return this.#header.checksum }

  /** Resolves to false: not in; or true: in, or a false positive. Fetches one block. */
  async contains (key) {
    return (await this.look(key)).found
  }

  /** The same, with what was fetched and seen: the block, its place in the file, and each probe's bit. */
  async look (key) {
    const { kind, probes, blocks, log2, parts, part } = this.#header
    const hash = this.#hash(bytesFor(key, kind), part, parts)
    const size = 2 ** (log2 - 3)
    const number = Number(hash * blocks >> 64n)
    const block = await this.#range(HEADER_BYTES + number * size, size)
    const bits = []
    for (let probe = hash, i = 0; i < probes; i++) {
      probe = BigInt.asUintN(64, probe * PROBE_MULTIPLIER)
      const bit = Number(probe >> BigInt(64 - log2))
      bits.push({ bit, set: (block[bit >> 3] >> (bit & 7) & 1) === 1 })
    }
    return {
      found: bits.every(({ set }) => set),
      hash: hash.toString(16).padStart(16, '0'),
      block: number,
      blocks: Number(blocks),
      from: HEADER_BYTES + number * size,
      bytes: size,
      bits
    }
  }

  #hash (bytes, part, parts) {
    const instance = this.#instance
    const at = instance.needScratch(bytes.length)
    instance.bytes.set(bytes, at)
    const wanted = instance.exports.part_of_bytes(at, bytes.length)
    if (wanted !== part) {
      throw new PartError(part, parts, wanted)
    }
    return instance.view.getBigUint64(instance.exports.hash_at() >>> 0, true)
  }

  /** Bytes of the file, all of one version of it. */
  async #range (from, length, first = false) {
    const to = from + length - 1
    const headers = new Headers(this.#request.headers)
    headers.set('Range', `bytes=${from}-${to}`)
    const response = await fetch(this.#url, { ...this.#request, headers })
    if (response.status !== 206) {
      await response.body?.cancel()
      throw this.#refuse(response.status === 200
        ? 'the server does not answer ranges, but with the whole file: use BloomFilter.fetch'
        : `${response.status} ${response.statusText}`, response.status)
    }
    this.#checkAnswer(response.headers, from, to, first)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (bytes.length !== length) {
      throw this.#refuse(`the server sent ${bytes.length} bytes of ${length}`)
    }
    return bytes
  }

  /** A page of another origin sees these headers only where the server exposes them. */
  #checkAnswer (headers, from, to, first) {
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers.get('content-range') ?? '')
    const coding = headers.get('content-encoding') ?? 'identity'
    if (coding !== 'identity') {
      throw this.#refuse(`the server encodes it as ${coding}, and ranges of that are of no use`)
    }
    if (range !== null && (Number(range[1]) !== from || Number(range[2]) !== to)) {
      throw this.#refuse(`the server sent bytes ${range[1]} to ${range[2]}, not ${from} to ${to}`)
    }
    const total = range === null || range[3] === '*' ? undefined : Number(range[3])
    const etag = headers.get('etag') ?? undefined
    if (first) {
      this.#total = total
      this.#etag = etag
    } else if ((total ?? this.#total) !== this.#total || etag !== this.#etag) {
      throw this.#refuse('the file was replaced: open it again')
    }
  }

  #refuse (reason, status) {
    const error = new BloomFilterError(`${this.#url}: ${reason}`)
    error.path = String(this.#url)
    return status === undefined ? error : Object.assign(error, { status })
  }
}
