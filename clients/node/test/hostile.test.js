import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, BloomFilterError, Key } from '../lib/index.js'
import { build, integers, sealHeader, sound, tempFile, tempFolder } from './helpers.js'

test('a header that promises much costs nothing', () => {
  const bytes = sound()
  bytes.writeUInt32LE(8388543, 8)
  sealHeader(bytes)
  const file = tempFile(bytes)
  const before = process.memoryUsage().external
  assert.throws(() => BloomFilter.openSync(file), { rule: 'size' })
  assert.ok(process.memoryUsage().external - before < 4 << 20)
})

test('a file of 17 GiB', () => {
  const file = tempFile(sound().subarray(0, 64))
  fs.truncateSync(file, 17 * 2 ** 30)
  assert.throws(() => BloomFilter.openSync(file), { rule: 'size' })
})

test('what is no file', async () => {
  const folder = tempFolder()
  const pipe = path.join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const name of [pipe, path.join(folder, 'missing'), folder, '/dev/null', '', 'a\0b']) {
    assert.throws(() => BloomFilter.openSync(name), Error, name)
    await assert.rejects(BloomFilter.open(name), Error, name)
  }
  assert.throws(() => BloomFilter.openSync(pipe), BloomFilterError)
})

test('what is no bytes', () => {
  assert.throws(() => BloomFilter.fromBytes('QkxNRgE='), { name: 'TypeError', message: /filter::bytea/ })
  assert.throws(() => BloomFilter.fromBytes(Buffer.from('QkxNRgE=')), { rule: 'magic', message: /filter::bytea/ })
  for (const bytes of [undefined, null, [1, 2], new ArrayBuffer(64), new DataView(new ArrayBuffer(64))]) {
    assert.throws(() => BloomFilter.fromBytes(bytes), TypeError)
  }
})

test('without verification only the blocks are trusted', () => {
  const bytes = sound()
  bytes[bytes.length - 1] ^= 1
  assert.ok(BloomFilter.fromBytes(bytes, { verify: false }).contains(5))
  bytes.writeBigUInt64LE(1n << 40n, 40)
  assert.throws(() => BloomFilter.fromBytes(sealHeader(bytes), { verify: false }), { rule: 'bits_set' })
})

test('a file cut short or replaced while it is open', async () => {
  const file = tempFile(sound())
  const filter = await BloomFilter.open(file)
  fs.truncateSync(file, 0)
  assert.equal(filter.containsMany(integers(0, 200)).indexOf(0), -1)
  fs.writeFileSync(file, build({}, integers(900, 901)))
  assert.equal(filter.containsMany(integers(0, 200)).indexOf(0), -1)
})

test('bytes that change after they were taken', () => {
  const bytes = sound()
  const filter = BloomFilter.fromBytes(bytes)
  bytes.fill(0)
  assert.equal(filter.contains(5), true)
})

test('a filter of the largest size', () => {
  const keys = integers(0, 50)
  const filter = BloomFilter.fromBytes(build({ log2: 16, blocks: 65535, k: 32, sealed: false }, keys), { verify: false })
  assert.equal(filter.info.bytes, 536862784)
  assert.ok(keys.every((key) => filter.contains(key)))
  assert.equal(filter.containsMany(keys).indexOf(0), -1)
  assert.equal(filter.contains(123456789), false)
})

test('keys of any length', () => {
  const long = Key.bytea(new Uint8Array(2e6))
  const filter = BloomFilter.fromBytes(build({ keyType: 3 }, [long]))
  assert.deepEqual([...filter.containsMany([long, Buffer.from('a'), long])], [1, 0, 1])
})
