// One request, of whose answer no more is read than it may have, and which ends when
// next to nothing comes any more.
import { BloomFilterError } from './errors.js'

/** So few bytes in so long are no answer, however long it goes on. */
const SLOW_BYTES = 30000
const SLOW_MILLISECONDS = 30000

/** An address without its query, which may be a secret. */
export const shown = (url) => `${url.origin}${url.pathname}`

/** Whose content nobody on the way can change. */
export function isSafe (url) {
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
}

/**
 * Resolves to the answer, { status, headers }, after all of its bytes were given to take, at most
 * so many. Statuses but 200 and 304 are errors, with status, and retry: milliseconds.
 */
export async function get (url, { most, take, signal, onlySafe, ...request }) {
  const stop = new AbortController()
  const end = () => stop.abort(signal.reason)
  let came = 0
  let before = 0
  const timer = setInterval(() => {
    if (came - before < SLOW_BYTES) {
      stop.abort(new BloomFilterError(`less than ${SLOW_BYTES} bytes came in ${SLOW_MILLISECONDS / 1000} s`))
    }
    before = came
  }, SLOW_MILLISECONDS)
  signal.addEventListener('abort', end)
  try {
    signal.throwIfAborted()
    const response = await fetch(url, { ...request, signal: stop.signal })
    check(response, onlySafe)
    if (response.status === 200) {
      await read(response, most, (chunk, at) => {
        came += chunk.length
        take(chunk, at)
      })
    }
    return response
  } catch (error) {
    stop.abort(error)
    throw told(error, url)
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', end)
  }
}

function check (response, onlySafe) {
  if (response.redirected && onlySafe && !isSafe(new URL(response.url))) {
    throw new BloomFilterError('the server leads to an address that is not https')
  }
  if (response.status !== 200 && response.status !== 304) {
    const error = new BloomFilterError(`the server answered ${response.status}`)
    throw Object.assign(error, { status: response.status, retry: retryAfter(response.headers) })
  }
}

/** Seconds, or a time. */
function retryAfter (headers) {
  const value = headers.get('retry-after') ?? ''
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return wait > 0 ? wait : undefined
}

async function read (response, most, take) {
  const reader = response.body?.getReader()
  let at = 0
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader.read()) {
    if (at + read.value.length > most) {
      throw new BloomFilterError('is longer than it may be')
    }
    take(read.value, at)
    at += read.value.length
  }
}

/** fetch hides what went wrong in a cause. */
function told (error, url) {
  const plain = error instanceof BloomFilterError ? error : new BloomFilterError(error.cause?.message || error.message, { cause: error })
  if (plain.path === undefined) {
    plain.message = `${shown(url)}: ${plain.message}`
    plain.path = shown(url)
  }
  return plain
}
