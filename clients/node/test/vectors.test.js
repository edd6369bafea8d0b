import assert from 'node:assert/strict'
import fs from 'node:fs'
import test from 'node:test'
import { BloomFilter, InvalidFilterError, Key, KeyValueError } from '../lib/index.js'
import { Instance, hashOf } from '../lib/instance.js'
import { runSync } from '../lib/steps.js'
import { ROW, keyTypeNames, kindName, rowKind } from '../lib/key-types.js'
import { header, tempFile } from './helpers.js'

const MAX_BYTES = 512 * 1024 * 1024 - 4096

/** Rows of a file of golden vectors, columns by their names. */
function rows (name) {
  const file = new URL(`../../../test/vectors/${name}`, import.meta.url)
  const [first, ...lines] = fs.readFileSync(file, 'utf8').replace(/\n$/, '').split('\n')
  const names = first.slice(1).split('\t')
  return lines.map((line) => Object.fromEntries(line.split('\t').map((field, i) => [names[i], field])))
}

// One instance with room for the largest shape: only touched pages cost memory.
const large = new Instance()
large.room(MAX_BYTES)

/** Puts a header and no bits into the large instance, and the key into its scratch. */
function prepare (row, keyType, key) {
  const [k, log2, blocks, parts, part] = [row.k, row.log2_block_bits, row.blocks, row.parts, row.part].map(Number)
  const bytes = header({ k, log2, keyType, blocks, parts, part, seed: BigInt(row.seed) })
  large.bytes.set(bytes, large.start)
  large.length = 64 + blocks * 2 ** log2 / 8
  runSync(large.check(false))
  large.bytes.set(key, large.needScratch(key.length))
}

function hashInLarge (length) {
  const { exports, scratch, view } = large
  exports.part_of_bytes(scratch, length)
  return view.getBigUint64(exports.hash_at() >>> 0, true)
}

/** The columns of a row, each from its bytes. */
function columnsOf (row) {
  const columns = []
  for (let at = 0; at < row.length;) {
    const end = at + 5 + row.readUInt32LE(at + 1)
    columns.push(Key.raw(keyTypeNames[row[at]], row.subarray(at + 5, end)))
    at = end
  }
  return columns
}

for (const [i, row] of rows('keys.tsv').entries()) {
  test(`keys.tsv ${i}: ${row.sql.slice(0, 40)}`, () => {
    const key = Buffer.from(row.key_hex, 'hex')
    const raw = Key.raw(keyTypeNames[row.key_type], key)
    assert.deepEqual(Buffer.from(raw.bytes), key)
    if (Number(row.key_type) === ROW) {
      assert.deepEqual(Key.row(...columnsOf(key)).bytes, raw.bytes)
    }
    prepare(row, Key.typeOf(raw), key)
    assert.equal(hashInLarge(key.length).toString(16).padStart(16, '0'), row.hash_hex)
    assert.equal(large.exports.part_of_bytes(large.scratch, key.length), Number(row.part))
    checkBits(row, () => large.exports.contains_bytes(large.scratch, key.length))
    if (key.length === 8) {
      const [low, high] = [key.readUInt32LE(0), key.readUInt32LE(4)]
      checkBits(row, () => large.exports.contains_word(low, high))
    }
  })
}

/** With the row's bits the answer is yes; without any one of them it is no. */
function checkBits (row, ask) {
  const block = large.start + 64 + Number(row.block) * 2 ** Number(row.log2_block_bits) / 8
  const bits = [...new Set(row.bits.split(',').map(Number))]
  const flip = (bit) => { large.bytes[block + (bit >> 3)] ^= 1 << (bit & 7) }
  bits.forEach(flip)
  assert.equal(ask(), 1)
  for (const bit of bits) {
    flip(bit)
    assert.equal(ask(), 0, `bit ${bit} is not looked at`)
    flip(bit)
  }
  bits.forEach(flip)
}

/** What keys a filter holds. */
function kindOf (row) {
  const type = Number(row.key_type)
  return type === ROW ? rowKind(row.columns.split(',').map(Number)) : type
}

function keysOf (row, column) {
  const type = kindOf(row) || 1
  return row[column] === '-' ? [] : row[column].split(',').map((hex) => new Key(type, Buffer.from(hex, 'hex')))
}

for (const row of rows('filters.tsv')) {
  test(`filters.tsv: ${row.name}`, () => {
    const filter = BloomFilter.fromBytes(Buffer.from(row.filter_hex, 'hex'))
    checkFields(filter.info, row)
    for (const [column, want] of [['keys', true], ['absent', false], ['false_positives', true]]) {
      const keys = keysOf(row, column)
      assert.deepEqual(keys.map((key) => filter.contains(key)), keys.map(() => want))
      assert.deepEqual([...filter.containsMany(keys)], keys.map(() => Number(want)))
    }
  })
}

function checkFields ({ filters: [part] }, row) {
  const fields = [
    [part.n, Number(row.n)],
    [part.p, Number(row.p)],
    [BigInt.asUintN(64, BigInt(part.seed)), row.seed],
    [part.hashes, row.k],
    [Math.log2(part.blockBits), row.log2_block_bits],
    [part.blocks, row.blocks],
    [part.part, row.part],
    [part.parts, row.parts],
    [part.keyType, kindName(kindOf(row))],
    [part.bitsSet, row.bits_set],
    [part.checksum, row.checksum_hex]
  ]
  assert.deepEqual(fields.map(([told]) => String(told)), fields.map(([, wanted]) => String(wanted)))
}

const bytesOfKeys = (list) => list === '-' ? [] : list.split(',').map((hex) => Buffer.from(hex, 'hex'))

for (const row of rows('exact.tsv').filter(({ word }) => word === '-')) {
  test(`exact.tsv: ${row.name}`, async () => {
    const bytes = Buffer.from(row.filter_hex, 'hex')
    const filter = BloomFilter.fromBytes(bytes)
    assert.deepEqual([filter.info.formatVersion, filter.info.exact, filter.info.bytes], [2, true, bytes.length])
    const wanted = [...bytesOfKeys(row.members_hex).map((key) => [key, true]),
      ...[...bytesOfKeys(row.others_hex), ...bytesOfKeys(row.strangers_hex)].map((key) => [key, false])]
    const keys = wanted.map(([key]) => filter.keyType === 'text' ? key.toString() : key.readBigInt64LE())
    for (const [i, [, isMember]] of wanted.entries()) {
      assert.equal(filter.contains(keys[i]), isMember, `${keys[i]}`)
    }
    assert.deepEqual(filter.containsMany(keys), Uint8Array.from(wanted, ([, isMember]) => Number(isMember)))
  })
}

for (const row of [...rows('invalid.tsv'), ...rows('exact.tsv').filter(({ word }) => word !== '-').map((broken) => ({ ...broken, rule: broken.word }))]) {
  test(`invalid.tsv and exact.tsv: ${row.name}`, async () => {
    const bytes = Buffer.from(row.filter_hex, 'hex')
    const file = tempFile(bytes)
    const isRule = (error) => {
      assert.ok(error instanceof InvalidFilterError, error)
      assert.equal(error.rule, row.rule)
      if (row.rule === 'version') {
        assert.match(error.message, new RegExp(`unsupported format version ${bytes[4]}$`))
      }
      return true
    }
    assert.throws(() => BloomFilter.fromBytes(bytes), isRule)
    if (row.word === undefined && !['bits_set', 'checksum'].includes(row.rule)) {
      assert.throws(() => BloomFilter.fromBytes(bytes, { verify: false }), isRule)
    }
    assert.throws(() => BloomFilter.openSync(file), isRule)
    await assert.rejects(BloomFilter.open(file), isRule)
  })
}

/** The bytes of a text in texts.tsv. */
function bytesOfText (text) {
  return text.startsWith('hex:') ? Buffer.from(text.slice(4), 'hex') : Buffer.from(text)
}

function matches (bytes, keyHex) {
  if (!keyHex.startsWith('xxh64:')) {
    return Buffer.from(bytes).toString('hex') === keyHex
  }
  return hashOf(bytes).toString(16).padStart(16, '0') === keyHex.slice(6)
}

test('texts.tsv', () => {
  let read = 0
  for (const { type, text, key_hex: keyHex } of rows('texts.tsv')) {
    const bytes = bytesOfText(text)
    const string = bytes.toString()
    if (!Buffer.from(string).equals(bytes)) {
      continue // not UTF-8, which no string of JavaScript is
    }
    const shown = `${type} ${text.slice(0, 60)}`
    if (keyHex === '-') {
      assert.throws(() => Key.parse(type, string), KeyValueError, shown)
    } else {
      assert.ok(matches(Key.parse(type, string).bytes, keyHex), shown)
    }
    read++
  }
  assert.ok(read > 750, `only ${read} rows were read`)
})
