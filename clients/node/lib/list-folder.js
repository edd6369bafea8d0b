// The folder of a list on a web server: its manifest, and files that are named by their SHA-256.
import { BloomFilterError, ListError } from './errors.js'
import { get, isSafe, shown } from './http.js'
import { MAX_LIST, latin1 } from './list.js'

/** Answers that mean that there is no such file; object stores say 403. */
const MISSING = [403, 404, 410]

export class ListFolder {
  #url
  #request
  #digests
  #cached
  #tag
  #damaged

  /** request is what fetch takes, which may have a cache of its own; signal ends all of it. */
  constructor (address, { allowHttp, request, digests, cached, signal }) {
    this.#url = new URL(String(address), globalThis.location?.href)
    this.#url.hash = ''
    this.#digests = digests
    this.#cached = cached
    this.#request = { ...request, signal, onlySafe: !allowHttp }
    if (!isSafe(this.#url) && !allowHttp) {
      throw new BloomFilterError(`${shown(this.#url)}: http lets others change what comes: use https, or a key`)
    }
  }

  get shown () { return shown(this.#url) }

  #file (name) {
    const url = new URL(this.#url)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${name}`
    return url
  }

  /**
   * Resolves to the manifest, a character for each byte; to undefined if it is the one before. Web servers make an
   * ETag of a time in seconds and a length, so full asks without a condition. Of browsers it is their cache
   * that asks with one: a page's own condition would need the server's leave.
   */
  async manifest (full) {
    const chunks = []
    const headers = new Headers(this.#request.headers)
    if (!full && this.#tag !== undefined && !this.#cached) {
      headers.set('If-None-Match', this.#tag)
    }
    const answer = await get(this.#file('manifest'), {
      ...this.#request, headers, cache: full ? 'reload' : 'no-cache', most: MAX_LIST, take: (chunk) => chunks.push(chunk)
    })
    if (answer.status === 304) {
      return undefined
    }
    this.#tag = answer.headers.get('etag') ?? undefined
    return chunks.map(latin1).join('')
  }

  /** The manifest was not taken: the next one is fetched without a condition. */
  forget () { this.#tag = undefined }

  /**
   * Fetches a file that the manifest names; take gets what comes, and all() is all of it then. Throws unless length
   * and digest are right; error.missed, the serial that it leads to, tells that the
   * file is missing or damaged.
   */
  async fetch ({ length, digest, to }, ending, take, all) {
    const url = this.#file(digest + ending)
    const hash = this.#digests.sha256()
    let came = 0
    try {
      await get(url, {
        ...this.#request,
        // What was damaged once may lie in a cache.
        ...(this.#damaged === digest ? { cache: 'reload' } : {}),
        most: length,
        take: (chunk, at) => {
          hash.add(chunk)
          take(chunk, at)
          came += chunk.length
        }
      })
    } catch (error) {
      throw Object.assign(error, { missed: MISSING.includes(error.status) ? to : undefined })
    }
    if (came !== length || await hash.end(all()) !== digest) {
      this.#damaged = digest
      throw Object.assign(new ListError('file', `${shown(url)}: is not what the manifest says`), { missed: to })
    }
  }

  /** The same of a small file, whose bytes it resolves to. */
  async bytes (file, ending) {
    const chunks = []
    let bytes
    await this.fetch(file, ending, (chunk) => chunks.push(chunk), () => { bytes ??= joined(chunks); return bytes })
    return bytes
  }
}

function joined (chunks) {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
