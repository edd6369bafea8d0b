// A whole filter from the web, of no more bytes than its header says.
import { BloomFilterError, inFile } from './errors.js'
import { readPart } from './info.js'
import { FRONT_BYTES, Instance } from './instance.js'
import { takeHeader } from './load.js'
import { pause, runAsync } from './steps.js'

/** request is what the global fetch takes. */
export async function fetchPart (url, { verify = true, ...request } = {}) {
  const address = String(url)
  try {
    const response = await fetch(address, { ...request, ...forOwnHeaders(request) })
    if (!response.ok) {
      // Of a redirect that isn't followed browsers tell nothing.
      throw new BloomFilterError(`${response.status || 'redirected'} ${response.statusText}`.trim())
    }
    const instance = await Instance.create()
    const reader = response.body?.getReader()
    try {
      await readInto(instance, reader)
    } finally {
      await reader?.cancel()
    }
    await runAsync(instance.check(verify, pause))
    return readPart(instance)
  } catch (error) {
    throw inFile(plain(error), address)
  }
}

/**
 * Headers of the caller's own may be secrets, and go nowhere but to the address that was given. Not
 * "error", which workerd doesn't know.
 */
function forOwnHeaders ({ headers }) {
  return [...new Headers(headers)].length > 0 ? { redirect: 'manual' } : {}
}

/** fetch hides what went wrong in a cause. */
function plain (error) {
  return error instanceof TypeError ? new BloomFilterError(error.cause?.message || error.message, { cause: error }) : error
}

/** The header says how long the filter is: no more is read, and no more room is made. */
async function readInto (instance, reader) {
  const start = new Uint8Array(FRONT_BYTES)
  let room = start
  let came = 0
  const take = (bytes) => {
    if (came + bytes.length > room.length) {
      instance.checkHeader(came + bytes.length)
    }
    room.set(bytes, came)
    came += bytes.length
  }
  for (let read = await reader?.read(); read && !read.done; read = await reader.read()) {
    const rest = Math.max(0, FRONT_BYTES - came)
    if (rest > 0) {
      take(read.value.subarray(0, rest))
      if (came === FRONT_BYTES) {
        room = roomFor(instance, start)
      }
    }
    take(read.value.subarray(rest))
  }
  if (came < FRONT_BYTES) {
    takeHeader(instance, start.subarray(0, came))
  } else {
    instance.checkHeader(came)
  }
}

function roomFor (instance, start) {
  takeHeader(instance, start)
  const room = instance.room(instance.exports.filter_length())
  room.set(start)
  return room
}
