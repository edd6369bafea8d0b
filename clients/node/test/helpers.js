// Builds filters for tests: the probes in plain JavaScript, hashes and checksums
// by the module under test, which the golden vectors hold to the format.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Key } from '../lib/index.js'
import { Instance } from '../lib/instance.js'
import { runSync } from '../lib/steps.js'

const MASK = 2n ** 64n - 1n
let hashUnseeded

const PROBE_MULTIPLIER = 0x9e3779b97f4a7c15n

const vectors = new URL('../../../test/vectors/filters.tsv', import.meta.url)

/** A filter whose seed is 0: the first of the golden ones. */
const unseeded = Buffer.from(
  fs.readFileSync(vectors, 'utf8').split('\n')[1].split('\t').find((field) => field.startsWith('424c4d46')), 'hex')

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
  hashUnseeded ??= hasherOf(unseeded)
  bytes.writeUInt32LE(Number(hashUnseeded(bytes.subarray(0, 52)) & 0xffffffffn), 52)
  return bytes
}

/** An instance that hashes with the seed of any header. */
export function hasher (bytes) {
  return hasherOf(Buffer.concat([header({ blocks: 1, seed: bytes.readBigUInt64LE(16) }), Buffer.alloc(64)]))
}

function hasherOf (filter) {
  const instance = new Instance()
  instance.room(filter.length).set(filter)
  runSync(instance.check(false))
  return (key) => {
    const scratch = instance.needScratch(64 + key.length)
    instance.bytes.set(key, scratch + 64)
    instance.view.setUint32(scratch, key.length, true)
    instance.exports.hash_strings(scratch + 64, scratch, 1, scratch + 8)
    return instance.view.getBigUint64(scratch + 8, true)
  }
}

/** Makes the counted fields right again. */
export function seal (filter) {
  let bits = 0
  for (const byte of filter.subarray(64)) {
    for (let rest = byte; rest !== 0; rest &= rest - 1) {
      bits++
    }
  }
  filter.writeBigUInt64LE(BigInt(bits), 40)
  sealHeader(filter)
  filter.writeBigUInt64LE(hashUnseeded(Buffer.concat([filter.subarray(0, 56), filter.subarray(64)])), 56)
  return filter
}

function partOf (hash, parts) {
  let mixed = hash ^ (hash >> 32n)
  mixed = (mixed * 0xd6e8feb86659fd93n) & MASK
  mixed ^= mixed >> 32n
  return Number((mixed * BigInt(parts)) >> 64n)
}

/** The positions of a hash's bits, in bits from the first block. */
export function positions (hash, { k = 7, log2 = 9, blocks = 20 }) {
  const block = Number((hash * BigInt(blocks)) >> 64n)
  const bits = []
  for (let probe = hash, i = 0; i < k; i++) {
    probe = (probe * PROBE_MULTIPLIER) & MASK
    bits.push(block * 2 ** log2 + Number(probe >> BigInt(64 - log2)))
  }
  return bits
}

/** A filter of the keys (Key) that belong to its part. */
export function build (shape, keys = []) {
  const { log2 = 9, blocks = 20, part = 0, parts = 1 } = shape
  const start = header(shape)
  const hash = hasher(start)
  const filter = Buffer.concat([start, Buffer.alloc(blocks * 2 ** log2 / 8)])
  for (const key of keys) {
    const hashed = hash(Key.bytesOf(key))
    if (partOf(hashed, parts) === part) {
      for (const bit of positions(hashed, shape)) {
        filter[64 + Math.floor(bit / 8)] |= 1 << (bit % 8)
      }
    }
  }
  return seal(filter)
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

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'bloomfilter-'))
process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))
let folders = 0

export function tempFolder () {
  const folder = path.join(root, String(folders++))
  fs.mkdirSync(folder)
  return folder
}

export function tempFile (bytes, name = 'x.bloom') {
  const file = path.join(tempFolder(), name)
  fs.writeFileSync(file, bytes)
  return file
}

/** Pseudo-random numbers below limit, the same in every run. */
export function randomizer (seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * limit)
  }
}
