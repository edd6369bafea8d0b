// Filters from the web.
import assert from 'node:assert/strict'
import test from 'node:test'
import zlib from 'node:zlib'
import { BloomFilter, BloomFilterError, InvalidFilterError, KeyTypeError } from '../lib/index.js'
import { listen, members, reshaped, sound } from './helpers.js'

/** A server that answers each request with these chunks, one after the other. */
const serve = (t, chunks, status = 200) => listen(t, async (request, response) => {
  response.writeHead(status)
  for (const chunk of chunks) {
    await new Promise((resolve) => response.write(chunk, () => setImmediate(resolve)))
  }
  response.end()
})

function cut (bytes, lengths) {
  let at = 0
  return [...lengths, bytes.length].map((length) => bytes.subarray(at, at += length))
}

test('a filter from the web, in chunks of any size', async (t) => {
  const whole = BloomFilter.fromBytes(sound()).info
  for (const lengths of [[], [1, 4, 58, 2, 100], [64], [63, 1, 1]]) {
    const filter = await BloomFilter.fetch(await serve(t, cut(sound(), lengths)))
    assert.deepEqual(filter.info, whole)
    assert.ok(members.every((key) => filter.contains(key)))
    assert.throws(() => filter.contains('a'), KeyTypeError)
  }
})

test('what is no filter, with its address', async (t) => {
  const spoiled = sound()
  spoiled[100] ^= 1
  const cases = [[[], 'short'], [[sound().subarray(0, 63)], 'short'], [[sound(), Buffer.of(0)], 'size'],
    [[sound().subarray(0, -1)], 'size'], [[spoiled], 'bits_set'], [cut(Buffer.from(sound().toString('base64')), [2]), 'magic']]
  for (const [chunks, rule] of cases) {
    const url = await serve(t, chunks)
    await assert.rejects(BloomFilter.fetch(url), (error) =>
      error instanceof InvalidFilterError && error.rule === rule && error.message.startsWith(url))
  }
  await assert.rejects(BloomFilter.fetch(await serve(t, ['no'], 404)), (error) =>
    error instanceof BloomFilterError && /: 404 Not Found$/.test(error.message))
  await assert.rejects(BloomFilter.fetch('http://127.0.0.1:1/'), BloomFilterError)
})

/** A server that sends bytes without end, until nobody takes them; sent counts them. */
async function serveForEver (t, start, headers = {}, pack = (bytes) => bytes) {
  const sent = { bytes: 0, ended: undefined }
  const more = Buffer.alloc(1 << 20)
  const url = await listen(t, (request, response) => {
    response.writeHead(200, headers)
    sent.ended = new Promise((resolve) => response.on('close', resolve))
    response.write(pack(start))
    const next = () => {
      sent.bytes += more.length
      response.write(pack(more), (error) => error || response.destroyed || setImmediate(next))
    }
    next()
  })
  return { url, sent }
}

test('an answer without end ends where the header says', { timeout: 60000 }, async (t) => {
  const { url, sent } = await serveForEver(t, sound())
  await assert.rejects(BloomFilter.fetch(url), { rule: 'size' })
  await sent.ended
  assert.ok(sent.bytes < 64 << 20, `${sent.bytes} bytes were sent`)
})

test('so does one that is small on its way', { timeout: 60000 }, async (t) => {
  const { url, sent } = await serveForEver(t, sound(), { 'Content-Encoding': 'gzip' }, (bytes) => zlib.gzipSync(bytes))
  const before = process.memoryUsage().rss
  await assert.rejects(BloomFilter.fetch(url), { rule: 'size' })
  await sent.ended
  assert.ok(process.memoryUsage().rss - before < 256 << 20)
})

test('nothing is larger than 512 MiB, and a header that says so is refused at once', { timeout: 60000 }, async (t) => {
  for (const blocks of [8388608, 0xffffffff]) {
    const { url, sent } = await serveForEver(t, reshaped(9, blocks))
    await assert.rejects(BloomFilter.fetch(url), InvalidFilterError)
    await sent.ended
    assert.ok(sent.bytes < 64 << 20)
  }
})

test('headers of one\'s own go nowhere else', async (t) => {
  const seen = []
  const target = await listen(t, (request, response) => {
    seen.push(request.headers['x-api-key'])
    response.end(sound())
  })
  const url = await listen(t, (request, response) => response.writeHead(302, { Location: target }).end())
  for (const headers of [{ 'X-Api-Key': 'secret' }, new Headers({ 'X-Api-Key': 'secret' }), [['X-Api-Key', 'secret']]]) {
    await assert.rejects(BloomFilter.fetch(url, { headers, redirect: 'follow' }), BloomFilterError)
  }
  assert.deepEqual(seen, [])
  // Without them a redirect is followed, and they go to the address that was given.
  assert.ok((await BloomFilter.fetch(url)).contains(42))
  assert.ok((await BloomFilter.fetch(target, { headers: { 'X-Api-Key': 'secret' } })).contains(42))
  assert.deepEqual(seen, [undefined, 'secret'])
})
