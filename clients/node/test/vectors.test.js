// The golden vectors, as far as this module is other code than the C library: WebAssembly multiplies in halves, has
// its own memory and mathematics, and JavaScript reads headers. All rows are for the library's own tests.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BloomFilter, InvalidFilterError, Key, KeyValueError } from '../lib/index.js'
import { hashOf } from '../lib/instance.js'
import { ROW, kindName, rowKind } from '../lib/key-types.js'
import { rowsOf } from './helpers.js'

const keysOf = (list) => list === '-' ? [] : list.split(',').map((hex) => Buffer.from(hex, 'hex'))

/** What keys a filter holds. */
function kindOf (row) {
  const type = Number(row.key_type)
  return type === ROW ? rowKind(row.columns.split(',').map(Number)) : type
}

function checkAnswers (filter, kind, lists) {
  for (const [list, wanted] of lists) {
    const keys = keysOf(list).map((bytes) => new Key(kind || 1, bytes))
    assert.deepEqual(keys.map((key) => filter.contains(key)), keys.map(() => wanted))
    assert.deepEqual([...filter.containsMany(keys)], keys.map(() => Number(wanted)))
  }
}

test('filters.tsv', () => {
  for (const row of rowsOf('filters.tsv')) {
    const filter = BloomFilter.fromBytes(Buffer.from(row.filter_hex, 'hex'))
    const { filters: [part] } = filter.info
    const told = [part.n, part.p, BigInt.asUintN(64, BigInt(part.seed)), part.hashes, Math.log2(part.blockBits), part.blocks,
      part.part, part.parts, part.keyType, part.bitsSet, part.checksum].map(String)
    assert.deepEqual(told, [Number(row.n), Number(row.p), row.seed, row.k, row.log2_block_bits, row.blocks,
      row.part, row.parts, kindName(kindOf(row)), row.bits_set, row.checksum_hex].map(String), row.name)
    checkAnswers(filter, kindOf(row), [[row.keys, true], [row.absent, false], [row.false_positives, true]])
  }
})

test('exact.tsv', () => {
  for (const row of rowsOf('exact.tsv').filter(({ word }) => word === '-')) {
    const filter = BloomFilter.fromBytes(Buffer.from(row.filter_hex, 'hex'))
    assert.deepEqual([filter.info.formatVersion, filter.info.exact], [2, true], row.name)
    checkAnswers(filter, Number(row.key_type), [[row.members_hex, true], [row.others_hex, false], [row.strangers_hex, false]])
  }
})

test('invalid.tsv and exact.tsv: the first broken rule', () => {
  for (const row of [...rowsOf('invalid.tsv'), ...rowsOf('exact.tsv').filter(({ word }) => word !== '-')]) {
    const bytes = Buffer.from(row.filter_hex, 'hex')
    const wanted = row.rule ?? row.word
    const isRule = (error) => error instanceof InvalidFilterError && error.rule === wanted &&
      (wanted !== 'version' || error.message.endsWith(`unsupported format version ${bytes[4]}`))
    assert.throws(() => BloomFilter.fromBytes(bytes), isRule, row.name)
    if (row.word === undefined && !['bits_set', 'checksum'].includes(wanted)) {
      assert.throws(() => BloomFilter.fromBytes(bytes, { verify: false }), isRule, row.name)
    }
  }
})

test('texts.tsv', () => {
  let read = 0
  for (const { type, text, key_hex: wanted } of rowsOf('texts.tsv')) {
    const bytes = text.startsWith('hex:') ? Buffer.from(text.slice(4), 'hex') : Buffer.from(text)
    const shown = `${type} ${text.slice(0, 60)}`
    if (!Buffer.from(bytes.toString()).equals(bytes)) {
      continue // not UTF-8, which no string of JavaScript is
    }
    read++
    if (wanted === '-') {
      assert.throws(() => Key.parse(type, bytes.toString()), KeyValueError, shown)
      continue
    }
    const key = Key.parse(type, bytes.toString()).bytes
    assert.equal(wanted.startsWith('xxh64:') ? `xxh64:${hashOf(key).toString(16).padStart(16, '0')}` : Buffer.from(key).toString('hex'), wanted, shown)
  }
  assert.ok(read > 750, `only ${read} rows were read`)
})
