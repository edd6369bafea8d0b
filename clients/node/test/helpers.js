// Builds filters for tests: the probes in plain JavaScript, hashes, parts and checksums
// by the module under test, which the golden vectors hold to the format.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { Key } from '../lib/index.js'
import { thisBoot } from '../lib/open.js'
import { Instance, hashOf } from '../lib/instance.js'
import { PAGE } from '../lib/status.js'
import { noPause, runSync } from '../lib/steps.js'

const MASK = 2n ** 64n - 1n

const PROBE_MULTIPLIER = 0x9e3779b97f4a7c15n

/** The header of a filter; missing fields take ordinary values. keyType is a kind. */
export function header ({
  k = 7, log2 = 9, keyType = 1, blocks = 20, part = 0, parts = 1, seed = 0n, n = 1000n, p = 0.01
}) {
  const bytes = Buffer.alloc(64)
  bytes.write('BLMF')
  bytes.set([1, k, log2, keyType & 0xff], 4)
  bytes.writeUInt32LE(blocks, 8)
  bytes.writeUInt16LE(part, 12)
  bytes.writeUInt16LE(parts, 14)
  bytes.writeBigUInt64LE(seed, 16)
  bytes.writeBigUInt64LE(n, 24)
  bytes.writeDoubleLE(p, 32)
  bytes.writeUInt32LE((keyType & ~0xff | 1) >>> 0, 48)
  return sealHeader(bytes)
}

/** Makes the header's own checksum right again. */
export function sealHeader (bytes) {
  bytes.writeUInt32LE(Number(hashOf(bytes.subarray(0, 52)) & 0xffffffffn), 52)
  return bytes
}

/** The positions of a hash's bits, in bits from the first block. */
function positions (hash, { k = 7, log2 = 9, blocks = 20 }) {
  const block = Number((hash * BigInt(blocks)) >> 64n)
  const bits = []
  for (let probe = hash, i = 0; i < k; i++) {
    probe = (probe * PROBE_MULTIPLIER) & MASK
    bits.push(block * 2 ** log2 + Number(probe >> BigInt(64 - log2)))
  }
  return bits
}

/** A filter of the keys (Key) that belong to its part; unless it is sealed, its checksums are wrong. */
export function build (shape, keys = []) {
  const { log2 = 9, blocks = 20, part = 0, sealed = true } = shape
  const instance = new Instance()
  const { exports, start } = instance
  instance.room(64 + blocks * 2 ** log2 / 8).set(header(shape))
  runSync(instance.check(false))
  for (const key of keys) {
    const bytes = Key.bytesOf(key)
    if (exports.part_of_bytes(instance.putKey(bytes), bytes.length) === part) {
      for (const bit of positions(instance.view.getBigUint64(exports.hash_at() >>> 0, true), shape)) {
        instance.bytes[start + 64 + Math.floor(bit / 8)] |= 1 << (bit % 8)
      }
    }
  }
  if (sealed) {
    exports.seal()
  }
  return Buffer.from(exports.memory.buffer, start, instance.length)
}

/** Rows of a file of golden vectors, columns by their names. */
export function rowsOf (name) {
  const file = new URL(`../../../test/vectors/${name}`, import.meta.url)
  const [first, ...lines] = fs.readFileSync(file, 'utf8').replace(/\n$/, '').split('\n')
  const names = first.slice(1).split('\t')
  return lines.map((line) => Object.fromEntries(line.split('\t').map((field, i) => [names[i], field])))
}

export function integers (from, to) {
  return Array.from({ length: to - from }, (_, i) => Key.integer(from + i))
}

/** Integer keys 0 to 199. */
export function sound () {
  return build({ seed: 77n }, integers(0, 200))
}

export function buildSet (parts, count) {
  return Array.from({ length: parts }, (_, part) =>
    build({ part, parts, blocks: 20 + part }, integers(0, count)))
}

/** The sum of a part's blocks, by doc/FEED.md. */
function sumOf (filter, part) {
  const instance = new Instance()
  const room = instance.room(filter.length)
  room.set(filter)
  return runSync(instance.sum(part, noPause))
}

/** A followed file of these filters, with serial 20, saved 15 and born 10, that is nowhere yet. */
export function page (filters) {
  const pieces = [Buffer.alloc(PAGE)]
  let length = PAGE
  let sum = 0n
  for (const [number, filter] of filters.entries()) {
    sum += sumOf(filter, number)
    const part = Buffer.from(filter)
    part.fill(0, 40, 48)
    part.fill(0, 56, 64)
    sealHeader(part)
    pieces.push(Buffer.alloc((PAGE - length % PAGE) % PAGE), part)
    length += pieces.at(-2).length + part.length
  }
  const bytes = Buffer.concat(pieces)
  const put = (at, value) => bytes.writeBigUInt64LE(value, at)
  bytes.write('BLML')
  bytes.writeUInt32LE(2, 4)
  put(8, BigInt(length))
  bytes.writeUInt32LE(filters.length, 16)
  put(24, 5n)
  bytes.fill(0xab, 32, 48)
  put(80, 10n)
  put(88, BigInt.asUintN(64, sum))
  bytes.write('public.users', 136)
  put(520, 20n)
  put(536, 1795395655100000n)
  put(1024, 15n)
  put(1080, 1n)
  put(1536, BigInt(Date.now() - 5000) * 1000n)
  put(1552, 3n)
  put(1560, 10000000n)
  bytes.write('no-look', 1592)
  bytes.write('could not connect\x1b[2J', 1608)
  return sealPage(bytes)
}

/** Makes the page's checksums right again, of what is saved if it has one. */
export function sealPage (bytes) {
  bytes.writeBigUInt64LE(hashOf(bytes.subarray(0, 504)), 504)
  if (bytes.readBigUInt64LE(1080) !== 0n) {
    bytes.writeBigUInt64LE(hashOf(Buffer.concat([bytes.subarray(1024, 1080), bytes.subarray(24, 32), bytes.subarray(72, 80)])), 1080)
  }
  return bytes
}

/** Writes a file as its follower does: with its own place, or that of another boot; inode and device may be moved. */
export function keep (file, bytes, { boot = thisBoot(), device = 0n, inode = 0n } = {}) {
  fs.writeFileSync(`${file}.new`, bytes)
  const stat = fs.statSync(`${file}.new`, { bigint: true })
  const own = Buffer.from(bytes)
  own.set(boot, 48)
  own.writeBigUInt64LE(stat.dev + device, 64)
  own.writeBigUInt64LE(stat.ino + inode, 72)
  poke(`${file}.new`, 0, sealPage(own))
  fs.renameSync(`${file}.new`, file)
}

/** Changes a file in place. */
export function poke (file, at, bytes) {
  const handle = fs.openSync(file, 'r+')
  fs.writeSync(handle, bytes, 0, bytes.length, at)
  fs.closeSync(handle)
}

export function pokeNumber (file, at, value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  poke(file, at, bytes)
}

export function replace (file, bytes) {
  fs.writeFileSync(`${file}.next`, bytes)
  fs.renameSync(`${file}.next`, file)
}

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'bloomfilter-'))
process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))
let folders = 0

export function tempFolder () {
  const folder = path.join(root, String(folders++))
  fs.mkdirSync(folder)
  return folder
}

export function tempFile (bytes) {
  const file = path.join(tempFolder(), 'x.bloom')
  fs.writeFileSync(file, bytes)
  return file
}

/** The address of a server that answers so until the test ends. */
export async function listen (t, answer) {
  const server = http.createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}/x.bloom`
}

/** Waits for something, a minute at most. */
export async function until (done) {
  for (const end = Date.now() + 60000; !done(); await new Promise((resolve) => setTimeout(resolve, 5))) {
    assert.ok(Date.now() < end, String(done))
  }
}
