// Working copies: taken, refused, and bits that are set while they are open.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, WatchedBloomFilter } from '../lib/index.js'
import { asyncIo, thisBoot } from '../lib/files.js'
import { Instance } from '../lib/instance.js'
import { runAsync } from '../lib/steps.js'
import { openWorking, refreshWorking } from '../lib/working.js'
import { tempFolder } from './helpers.js'

const [first, ...lines] = fs.readFileSync(new URL('../../../test/vectors/working.tsv', import.meta.url), 'utf8')
  .trimEnd().split('\n')
const names = first.slice(1).split('\t')
const rows = lines.map((line) => Object.fromEntries(line.split('\t').map((field, i) => [names[i], field])))
const row = (name) => rows.find((one) => one.name === name)
const numbers = (text) => text === '-' ? [] : text.split(',').map(Number)

function hashOf (bytes) {
  const instance = new Instance()
  const at = instance.needScratch(bytes.length)
  instance.bytes.set(bytes, at)
  instance.exports.hash_in_place(at, bytes.length)
  return instance.view.getBigUint64(at, true)
}

function workingOf ({ working_hex: hex, boot, word }) {
  const bytes = Buffer.from(hex === '-' ? '' : hex, 'hex')
  if (boot === 'this' && bytes.length >= 128) {
    thisBoot().copy(bytes, 48)
    if (word !== 'header_checksum') {
      bytes.writeBigUInt64LE(hashOf(bytes.subarray(0, 120)), 120)
    }
  }
  return bytes
}

/** Files and working copy of a row; returns the path that is opened. */
function write (one) {
  const folder = tempFolder()
  const files = one.base_hex.split(',')
  const names = files.map((_, i) => files.length === 1 ? 'f' : `p${i}`)
  files.forEach((hex, i) => fs.writeFileSync(path.join(folder, names[i]), Buffer.from(hex, 'hex')))
  const file = path.join(folder, 'f')
  if (files.length > 1) {
    fs.writeFileSync(file, ['bloomfilter-set 1', ...names, ''].join('\n'))
  }
  fs.writeFileSync(`${file}.working`, workingOf(one))
  return file
}

for (const one of rows) {
  test(`working copy: ${one.name}`, async () => {
    const file = write(one)
    if (!['-', 'file'].includes(one.word)) {
      assert.throws(() => BloomFilter.openSync(file), { name: 'InvalidFilterError', rule: one.word })
      await assert.rejects(BloomFilter.open(file), { rule: one.word })
      return
    }
    const filter = await BloomFilter.open(file)
    const taken = one.word === '-'
    assert.deepEqual(numbers(one.new_keys).map((key) => filter.contains(key)), numbers(one.new_keys).map(() => taken))
    if (one.name !== 'no_bits') {
      assert.ok(numbers(one.keys).every((key) => filter.contains(key)))
      assert.ok(filter.info.bitsSet > 0)
    }
    assert.equal((await filter.status()).identity, taken ? '0f8fad5b-d9cb-469f-a165-70867728950e' : undefined)
    if (filter.info.parts === 1) {
      assert.equal(BloomFilter.fromBytes(filter.toBytes()).info.bitsSet, filter.info.bitsSet)
    }
  })
}

test('what a follower sets is there after a reload, and the serial with it', async () => {
  const file = write(row('no_bits'))
  const full = workingOf(row('one'))
  const keys = numbers(row('one').new_keys)
  const watched = await WatchedBloomFilter.open(file)
  const before = BigInt((await watched.status()).serial)
  const filter = watched.current
  assert.ok(keys.every((key) => !watched.contains(key)))
  const handle = fs.openSync(`${file}.working`, 'r+')
  const word = Buffer.alloc(8)
  fs.writeSync(handle, full, 4160, full.length - 4160, 4160)
  word.writeBigUInt64LE(before + 1n)
  fs.writeSync(handle, word, 0, 8, 128)
  assert.equal(await watched.reload(), false)
  assert.equal(watched.current, filter)
  assert.ok(keys.every((key) => watched.contains(key)))
  assert.equal(BigInt((await watched.status()).serial), before + 1n)
  word.writeBigUInt64LE(1n)
  fs.writeSync(handle, word, 0, 8, 176)
  fs.closeSync(handle)
  assert.equal(await watched.reload(), true)
  assert.ok(numbers(row('one').keys).every((key) => watched.contains(key)))
  assert.equal((await watched.status()).identity, undefined)
})

test('memory that grows while bits are copied', async () => {
  const file = write(row('no_bits'))
  const full = workingOf(row('one'))
  const keys = numbers(row('one').new_keys)
  const { parts, path: working } = await (async () => {
    const checksums = [fs.readFileSync(file).subarray(56, 64)]
    return { ...await runAsync(openWorking(asyncIo, file, checksums)) }
  })()
  const state = { parts, path: working, stamp: (({ dev, ino }) => `${dev} ${ino}`)(fs.statSync(working, { bigint: true })), serial: 0n }
  const handle = fs.openSync(working, 'r+')
  fs.writeSync(handle, full, 4160, full.length - 4160, 4160)
  fs.closeSync(handle)
  const [{ instance }] = parts
  let grown = false
  const io = {
    ...asyncIo,
    read: async (from, bytes, at) => {
      const count = await asyncIo.read(from, Buffer.alloc(bytes.length), at)
      if (!grown && at >= 4096) {
        grown = true
        instance.needScratch(1 << 24)
        return count
      }
      return asyncIo.read(from, bytes, at)
    }
  }
  await runAsync(refreshWorking(io, state))
  assert.ok(grown && instance.bytes.length > 1 << 24)
  assert.ok(Buffer.from(instance.bytes.subarray(instance.start + 64, instance.start + instance.length)).equals(full.subarray(4160)))
  assert.ok(keys.length > 0)
})

test('what another user put where a link leads is not taken', { skip: process.geteuid?.() !== 0 }, async () => {
  const file = write(row('no_bits'))
  const planted = `${file}.planted`
  fs.renameSync(`${file}.working`, planted)
  fs.symlinkSync(planted, `${file}.working`)
  assert.notEqual((await (await BloomFilter.open(file)).status()).identity, undefined)
  fs.chownSync(planted, 65534, 0)
  for (const filter of [await BloomFilter.open(file), BloomFilter.openSync(file)]) {
    assert.equal((await filter.status()).identity, undefined)
    assert.ok(numbers(row('one').keys).every((key) => filter.contains(key)))
  }
})
