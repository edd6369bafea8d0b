import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, BloomFilterError, Key, KeyTypeError, KeyValueError } from '../lib/index.js'
import { build, buildSet, tempFolder } from './helpers.js'

const numbers = (count) => Array.from({ length: count }, (_, i) => i)

test('n and p give the size', () => {
  const filter = BloomFilter.build(numbers(1000), { n: 1000, p: 0.001, seed: -5 })
  const { info } = filter
  assert.deepEqual([info.n, info.p, info.seed, info.keyType], [1000, 0.001, '-5', 'integer'])
  assert.ok(info.fpr < 0.001 && info.fpr > 0.0001)
  assert.ok(Math.abs(info.cardinality - 1000) < 50)
  assert.equal(filter.containsMany(numbers(1000)).indexOf(0), -1)
  const others = filter.containsMany(numbers(11000).slice(1000))
  assert.ok(others.reduce((sum, one) => sum + one, 0) < 30)
})

test('without n the different keys count', () => {
  assert.equal(BloomFilter.build([1, 2, 2, 3, 1]).info.n, 3)
  assert.equal(BloomFilter.build(new Set(['a', 'b'])).info.n, 2)
  const empty = BloomFilter.build([])
  assert.deepEqual([empty.info.n, empty.info.keyType], [1, 'none'])
  assert.equal(empty.contains('anything'), false)
})

test('order and repeats do not matter', () => {
  const one = BloomFilter.build(['a', 'b', 'c'], { n: 10 })
  assert.deepEqual(one.toBytes(), BloomFilter.build([...'cabbac'], { n: 10 }).toBytes())
})

test('keys of all kinds', () => {
  const keys = [1, 1n, 'a', new Uint8Array(3), 1.5, Key.date('2024-01-31'), [1, 'x'], 'x'.repeat(600000),
    new Uint8Array(600000)]
  for (const key of keys) {
    assert.equal(BloomFilter.build([key]).contains(key), true)
  }
  for (const list of [BigInt64Array.of(1n, -5n), Int32Array.of(1, -5), numbers(70000)]) {
    assert.equal(BloomFilter.build(list).containsMany(list).indexOf(0), -1)
  }
})

test('too many keys are told', () => {
  const { info } = BloomFilter.build(numbers(2000), { n: 100 })
  assert.equal(info.overCapacity, true)
  assert.ok(info.fpr > info.p)
})

test('errors', () => {
  const wrong = { name: 'KeyTypeError', index: 1, message: 'key 1: bloomfilter holds integer keys, not text' }
  assert.throws(() => BloomFilter.build([1, 'a']), wrong)
  assert.throws(() => BloomFilter.build([1, 2 ** 60]), KeyValueError)
  assert.throws(() => BloomFilter.build([null]), KeyTypeError)
  assert.throws(() => BloomFilter.build(5), TypeError)
  for (const options of [{ n: 0 }, { n: -1 }, { n: 2n ** 63n }, { n: 1.5 }, { p: 0 }, { p: 1 }, { p: NaN }]) {
    assert.throws(() => BloomFilter.build([1], options), RangeError)
  }
  assert.throws(() => BloomFilter.build([1], { n: 10 ** 10 }), { name: 'BloomFilterError', message: /set of parts/ })
  assert.throws(() => BloomFilter.build([1], { n: 10, p: 1e-300 }), BloomFilterError)
  assert.throws(() => new BloomFilter(1000, 0.01), { name: 'TypeError', message: /opened and then asked/ })
})

test('a part takes its own keys only', () => {
  const like = BloomFilter.fromBytes(build({ part: 1, parts: 3, keyType: 0 }))
  assert.throws(() => BloomFilter.build(numbers(50), { like }), { message: /another part/ })
  assert.throws(() => BloomFilter.build([1], { like: BloomFilter.fromParts(buildSet(3, 10)) }), /a set of 3/)
})

test('write', async () => {
  const folder = tempFolder()
  const file = path.join(folder, 'f.bloom')
  for (const keys of [[1], [1, 2]]) {
    const built = BloomFilter.build(keys, { n: 100 })
    await built.write(file)
    assert.deepEqual(fs.readdirSync(folder), ['f.bloom'])
    assert.deepEqual((await BloomFilter.open(file)).toBytes(), built.toBytes())
  }
  const built = BloomFilter.build([1])
  await assert.rejects(built.write(path.join(folder, 'missing', 'f.bloom')), { code: 'ENOENT' })
  fs.mkdirSync(path.join(folder, 'd'))
  await assert.rejects(built.write(path.join(folder, 'd')))
  assert.deepEqual(fs.readdirSync(folder).sort(), ['d', 'f.bloom'])
})
