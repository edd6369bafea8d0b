import assert from 'node:assert/strict'
import test from 'node:test'
import { BloomFilter, Key, KeyTypeError, PartError } from '../lib/index.js'
import { build, buildSet, integers, page, rowsOf } from './helpers.js'

const files = buildSet(3, 500)
const setOf = (filters, options) => BloomFilter.fromBytes(page(filters), options)

function checkWhole (filter) {
  const keys = Array.from({ length: 3000 }, (_, i) => i)
  const found = filter.containsMany(keys)
  assert.deepEqual(keys.map((key) => Number(filter.contains(key))), [...found])
  assert.equal(found.subarray(0, 500).indexOf(0), -1)
  assert.ok(found.subarray(500).reduce((sum, one) => sum + one, 0) < 300)
  assert.deepEqual(filter.containsMany(BigInt64Array.from(keys, BigInt)), found)
  assert.deepEqual(filter.containsMany(keys.map((key) => Key.integer(key))), found)
  assert.equal(filter.contains(Key.integer(7)), true)
  assert.equal(filter.contains(7n), true)
}

test('a set', () => {
  checkWhole(setOf(files))
  checkWhole(setOf(files, { verify: false }))
})

test('an empty part takes the key type of the set', () => {
  const empty = build({ part: 1, parts: 3, keyType: 0 })
  const filter = setOf([files[0], empty, files[2]])
  assert.equal(filter.keyType, 'integer')
  for (let i = 0; i < 100; i++) {
    assert.throws(() => filter.contains(String(i)), KeyTypeError)
  }
})

test('a single part', () => {
  const filter = BloomFilter.fromBytes(files[1])
  let refused = 0
  for (let key = 0; key < 500; key++) {
    try {
      assert.equal(filter.contains(key), true)
    } catch (error) {
      assert.ok(error instanceof PartError, error)
      assert.match(error.message, /^key belongs to part [02] of 3, and only part 1 is open$/)
      refused++
    }
  }
  assert.ok(refused > 250 && refused < 420)
  assert.throws(() => filter.containsMany(integers(0, 500)), (error) =>
    error instanceof PartError && error.index < 20)
})

test('info of a set', () => {
  const { info } = setOf(files)
  assert.equal(info.parts, 3)
  assert.equal(info.filters.length, 3)
  assert.equal(info.n, 3000)
  assert.equal(info.bytes, 3 * 64 + (20 + 21 + 22) * 64)
  assert.ok(info.cardinality > 450 && info.cardinality < 550)
  assert.equal(JSON.parse(JSON.stringify(info)).filters[2].blocks, 22)
})

test('one checksum for a set, the same in all readers and on the command line', () => {
  const { file_hex: pair } = rowsOf('pages.tsv').find(({ name }) => name === 'here_pair')
  assert.equal(BloomFilter.fromBytes(Buffer.from(pair, 'hex')).info.checksum, 'f1b2a5fbdc00231d')
})
