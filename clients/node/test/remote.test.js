// Filters that are asked by ranges: from nginx, where it is installed, and from a server
// that can be told to answer wrongly.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { spawn, spawnSync } from 'node:child_process'
import test from 'node:test'
import { BloomFilter, BloomFilterError, InvalidFilterError, KeyTypeError, PartError } from '../lib/index.js'
import { build, buildSet, integers, tempFolder } from './helpers.js'

const COUNT = 3000
const bytes = build({ log2: 12, blocks: 64 }, integers(0, COUNT))

/** What a static server does with a range; change may make it wrong. */
async function serve (t, file, change = (answer) => answer) {
  const requests = []
  const server = http.createServer((request, response) => {
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    const [from, to] = range === null ? [0, file.length - 1] : [Number(range[1]), Number(range[2])]
    const { status, headers, body } = change({
      status: range === null ? 200 : 206,
      headers: { etag: '"1"', 'content-range': `bytes ${from}-${to}/${file.length}` },
      body: file.subarray(from, to + 1)
    }, requests.length)
    requests.push(to - from + 1)
    response.writeHead(status, headers).end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => { server.closeAllConnections(); server.close() })
  return { url: `http://127.0.0.1:${server.address().port}/f.bloom`, requests }
}

test('the header once, then a block for each key', async (t) => {
  const { url, requests } = await serve(t, bytes)
  const local = BloomFilter.fromBytes(bytes)
  const remote = await BloomFilter.openUrl(url)
  assert.deepEqual(requests, [64])
  assert.equal(remote.keyType, 'integer')
  assert.equal(remote.checksum, local.info.checksum)
  for (let key = 0; key < COUNT; key += 100) {
    const keys = Array.from({ length: 100 }, (_, i) => key + i)
    assert.deepEqual(await Promise.all(keys.map((one) => remote.contains(one))), keys.map(() => true))
  }
  for (let key = COUNT; key < COUNT + 300; key++) {
    assert.equal(await remote.contains(key), local.contains(key))
  }
  assert.deepEqual([...new Set(requests)], [64, local.info.blockBits / 8])
  assert.equal(requests.length, 1 + COUNT + 300)
  await assert.rejects(remote.contains('text'), KeyTypeError)
})

test('a part of a set', async (t) => {
  const [part] = buildSet(3, 300)
  const remote = await BloomFilter.openUrl((await serve(t, part)).url)
  const answers = await Promise.allSettled(Array.from({ length: 300 }, (_, key) => remote.contains(key)))
  const others = answers.filter(({ status }) => status === 'rejected')
  assert.ok(others.length > 0 && others.every(({ reason }) => reason instanceof PartError))
  assert.ok(answers.every(({ value }) => value !== false))
})

for (const [name, change, message] of [
  ['no ranges', () => ({ status: 200, headers: {}, body: bytes }), /does not answer ranges.*BloomFilter\.fetch/],
  ['not there', () => ({ status: 404, headers: {}, body: '' }), /404/],
  ['too few bytes', (answer) => ({ ...answer, body: answer.body.subarray(1) }), /sent 63 bytes of 64/],
  ['other bytes', (answer) => ({ ...answer, headers: { 'content-range': 'bytes 64-127/9999' } }), /sent bytes 64 to 127/],
  ['another length', (answer) => ({ ...answer, headers: { 'content-range': 'bytes 0-63/9999' } }), /length does not match/],
  ['no filter', (answer) => ({ ...answer, body: Buffer.alloc(64) }), /does not start with BLMF/],
  ['encoded', (answer) => ({ ...answer, headers: { 'content-encoding': 'x-own' } }), /encodes it as x-own/]
]) {
  test(`a server that is wrong: ${name}`, async (t) => {
    await assert.rejects(BloomFilter.openUrl((await serve(t, bytes, change)).url), (error) =>
      (error instanceof BloomFilterError || error instanceof InvalidFilterError) && message.test(error.message))
  })
}

test('a file that is replaced meanwhile', async (t) => {
  const change = (answer, number) => number < 2 ? answer : { ...answer, headers: { ...answer.headers, etag: '"2"' } }
  const remote = await BloomFilter.openUrl((await serve(t, bytes, change)).url)
  assert.equal(await remote.contains(1), true)
  await assert.rejects(remote.contains(1), /was replaced: open it again/)
})

test('an address that anybody on the way can answer for', async () => {
  await assert.rejects(BloomFilter.openUrl('http://lists.example.com/users.bloom'), /must be https/)
})

async function freePort () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function answering (url) {
  for (let i = 0; i < 600; i++) {
    try {
      return await fetch(url, { method: 'HEAD' })
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error(`${url} does not answer`)
}

const noNginx = spawnSync('nginx', ['-v']).error && 'nginx is not installed'

test('nginx as it comes', { skip: noNginx }, async (t) => {
  const folder = tempFolder()
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  fs.writeFileSync(path.join(folder, 'f.bloom'), bytes)
  fs.writeFileSync(path.join(folder, 'nginx.conf'), `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {} http { access_log off; ${temporary}
    server { listen 127.0.0.1:${port}; root ${folder}; } }`)
  const nginx = spawn('nginx', ['-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`], { stdio: 'ignore' })
  const ended = new Promise((resolve) => nginx.once('exit', resolve))
  t.after(() => { nginx.kill(); return ended })
  const url = `http://127.0.0.1:${port}/f.bloom`
  await answering(url)
  const local = BloomFilter.fromBytes(bytes)
  const remote = await BloomFilter.openUrl(url)
  for (let key = 0; key < COUNT + 300; key++) {
    assert.equal(await remote.contains(key), local.contains(key))
  }
  fs.writeFileSync(path.join(folder, 'new'), build({ blocks: 8 }, integers(0, 9)))
  fs.renameSync(path.join(folder, 'new'), path.join(folder, 'f.bloom'))
  await assert.rejects(remote.contains(1), /was replaced|416/)
})
