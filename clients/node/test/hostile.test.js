import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomfilterError, FormatError, fromBytes, open, openSync } from '../lib/index.js'
import { build, integers, randomizer, sealHeader, sound, tempFile, tempFolder } from './helpers.js'

/** Every door through which bytes come in. */
async function refuse (bytes) {
  const file = tempFile(bytes)
  assert.throws(() => fromBytes(bytes), FormatError)
  assert.throws(() => openSync(file), FormatError)
  await assert.rejects(open(file), FormatError)
}

test('files cut off at each byte of the header', async () => {
  for (let length = 0; length <= 65; length++) {
    await refuse(sound().subarray(0, length))
  }
})

test('bytes after the filter', async () => {
  await refuse(Buffer.concat([sound(), Buffer.alloc(1)]))
  await refuse(Buffer.concat([sound(), Buffer.alloc(64)]))
})

/** Instances come and go by thousands: one is enough to check many bytes. */
function isRefused (bytes) {
  try {
    fromBytes(bytes)
    return false
  } catch (error) {
    assert.ok(error instanceof FormatError, error)
    return true
  }
}

test('each bit of the header flipped', () => {
  for (let bit = 0; bit < 512; bit++) {
    const bytes = sound()
    bytes[bit >> 3] ^= 1 << (bit & 7)
    assert.ok(isRefused(bytes), `bit ${bit}`)
  }
})

test('flipped bits anywhere', () => {
  const random = randomizer(1)
  const bytes = sound()
  for (let i = 0; i < 5000; i++) {
    const bit = random(bytes.length * 8)
    bytes[bit >> 3] ^= 1 << (bit & 7)
    assert.ok(isRefused(bytes), `bit ${bit}`)
    bytes[bit >> 3] ^= 1 << (bit & 7)
  }
  assert.ok(!isRefused(bytes))
})

test('random bytes after the magic', () => {
  const random = randomizer(2)
  for (let i = 0; i < 2000; i++) {
    const bytes = Buffer.from(sound().subarray(0, 64 + random(200)))
    for (let at = 4; at < bytes.length; at++) {
      bytes[at] = random(256)
    }
    assert.ok(isRefused(bytes), bytes.toString('hex'))
  }
})

test('a header that promises much costs nothing', () => {
  const bytes = sound()
  bytes.writeUInt32LE(8388543, 8)
  sealHeader(bytes)
  const file = tempFile(bytes)
  const before = process.memoryUsage().external
  assert.throws(() => openSync(file), { rule: 'size' })
  assert.ok(process.memoryUsage().external - before < 4 << 20)
})

test('a file of 17 GiB', () => {
  const file = tempFile(sound().subarray(0, 64))
  fs.truncateSync(file, 17 * 2 ** 30)
  assert.throws(() => openSync(file), { rule: 'size' })
})

test('what is no file', async () => {
  const folder = tempFolder()
  const pipe = path.join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const name of [pipe, path.join(folder, 'missing'), folder, '/dev/null', '', 'a\0b']) {
    assert.throws(() => openSync(name), Error, name)
    await assert.rejects(open(name), Error, name)
  }
  assert.throws(() => openSync(pipe), BloomfilterError)
})

test('what is no bytes', () => {
  for (const bytes of [undefined, null, 'BLMF', [1, 2], new ArrayBuffer(64), new DataView(new ArrayBuffer(64))]) {
    assert.throws(() => fromBytes(bytes), TypeError)
  }
})

test('without verification only the blocks are trusted', () => {
  const bytes = sound()
  const trusted = (change) => {
    const copy = Buffer.from(bytes)
    change(copy)
    sealHeader(copy)
    return () => fromBytes(copy, { verify: false })
  }
  assert.ok(trusted((copy) => { copy[copy.length - 1] ^= 1 })().contains(5))
  assert.throws(() => fromBytes(bytes.subarray(1), { verify: false }), { rule: 'magic' })
  assert.throws(() => fromBytes(bytes.subarray(0, -1), { verify: false }), { rule: 'size' })
  assert.throws(trusted((copy) => copy.writeBigUInt64LE(1n << 40n, 40)), { rule: 'bits_set' })
  assert.throws(trusted((copy) => { copy[7] = 0 }), { rule: 'empty_key_type' })
})

test('a file cut short or replaced while it is open', async () => {
  const file = tempFile(sound())
  const filter = await open(file)
  fs.truncateSync(file, 0)
  assert.equal(filter.containsMany(integers(0, 200)).indexOf(0), -1)
  fs.writeFileSync(file, build({}, integers(900, 901)))
  assert.equal(filter.containsMany(integers(0, 200)).indexOf(0), -1)
})

test('bytes that change after they were taken', () => {
  const bytes = sound()
  const filter = fromBytes(bytes)
  bytes.fill(0)
  assert.equal(filter.contains(5), true)
})

test('a filter of the largest size', () => {
  const keys = integers(0, 50)
  const filter = fromBytes(build({ log2: 16, blocks: 65535, k: 32 }, keys))
  assert.equal(filter.info.bytes, 536862784)
  assert.ok(keys.every((key) => filter.contains(key)))
  assert.equal(filter.containsMany(keys).indexOf(0), -1)
  assert.equal(filter.contains(123456789), false)
})
