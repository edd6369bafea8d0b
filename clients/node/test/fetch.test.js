// Filters from the web.
import assert from 'node:assert/strict'
import http from 'node:http'
import { once } from 'node:events'
import test from 'node:test'
import { BloomFilter, BloomFilterError, InvalidFilterError, KeyTypeError } from '../lib/index.js'
import { loadChunks } from '../lib/load.js'
import { build, integers, sound } from './helpers.js'

/** A server that answers each request with these chunks, one after the other. */
async function serve (t, chunks, status = 200) {
  const server = http.createServer(async (request, response) => {
    response.writeHead(status)
    for (const chunk of chunks) {
      await new Promise((resolve) => response.write(chunk, () => setImmediate(resolve)))
    }
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}/x.bloom`
}

function cut (bytes, lengths) {
  let at = 0
  return [...lengths, bytes.length].map((length) => bytes.subarray(at, at += length))
}

test('a filter from the web, in chunks of any size', async (t) => {
  const url = await serve(t, cut(sound(), [1, 4, 58, 2, 500]))
  const filter = await BloomFilter.fetch(url)
  assert.deepEqual(Buffer.from(filter.toBytes()), sound())
  assert.ok([...Array(200).keys()].every((key) => filter.contains(key)))
  assert.throws(() => filter.contains('a'), KeyTypeError)
})

test('what is no filter, with its address', async (t) => {
  const spoiled = sound()
  spoiled[100] ^= 1
  const cases = [[[], 'short'], [[sound().subarray(0, 63)], 'short'], [[sound(), Buffer.of(0)], 'size'],
    [[spoiled], 'bits_set'], [cut(Buffer.from(sound().toString('base64')), [2]), 'magic']]
  for (const [chunks, rule] of cases) {
    const url = await serve(t, chunks)
    await assert.rejects(BloomFilter.fetch(url), (error) =>
      error instanceof InvalidFilterError && error.rule === rule && error.message.startsWith(url))
  }
  await assert.rejects(BloomFilter.fetch(await serve(t, ['no'], 404)), (error) =>
    error instanceof BloomFilterError && /: 404 Not Found$/.test(error.message))
})

test('copying and checking lets others have the thread each 2 MB', () => {
  const bytes = build({ log2: 16, blocks: 1000, n: 10n }, integers(0, 10))
  const chunks = [bytes.subarray(0, 10), bytes.subarray(10, 5 << 20), bytes.subarray(5 << 20)]
  const steps = loadChunks(chunks, {}, () => undefined)
  let pauses = 0
  while (!steps.next().done) {
    pauses++
  }
  // 8 MB are 4 slices each time, of which the last needs no pause behind it.
  assert.ok(pauses >= 6, `${pauses} pauses`)
})
