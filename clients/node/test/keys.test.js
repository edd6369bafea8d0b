// JavaScript's values as keys; texts and bytes of all types are asked by test/readers.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BloomFilter, Key, KeyTypeError, KeyValueError } from '../lib/index.js'
import { members, vector } from './helpers.js'

const isNoKey = (error) => error instanceof KeyValueError || error instanceof KeyTypeError

const filterOf = (name) => BloomFilter.fromBytes(vector(name))

const hex = (key) => Buffer.from(key.bytes).toString('hex')

test('values of the language', () => {
  for (const [key, want] of [
    [Key.integer(-1), 'ffffffffffffffff'],
    [Key.integer(2n ** 63n - 1n), 'ffffffffffffff7f'],
    [Key.integer(-(2 ** 53) + 1), '010000000000e0ff'],
    [Key.float(-0), '0000000000000000'],
    [Key.float(NaN), '000000000000f87f'],
    [Key.real(0.1), '000000a09999b93f'],
    [Key.numeric(-15n), '2d3135'],
    [Key.date(new Date('2000-01-01T00:00:00Z')), 'cd2a000000000000'],
    [Key.timestamptz(new Date(-1), { milliseconds: true }), '18fcffffffffffff'],
    [Key.timestamptz('2024-02-29T12:34:56.789012Z'), '1466aa7c84120600'],
    [Key.inet('10.0.0.1/8'), '04080a000001'],
    [Key.mac(Uint8Array.of(8, 0, 0x2b, 0xff, 0xfe, 1, 2, 3)), '08002b010203'],
    [Key.uuid(new Uint8Array(16).fill(7)), '07'.repeat(16)]
  ]) {
    assert.equal(hex(key), want)
  }
})

test('a Date stands for a timestamptz only where the caller says that it is whole', () => {
  assert.throws(() => Key.timestamptz(new Date(5)), /\{ milliseconds: true \}/)
  assert.throws(() => Key.timestamptz(new Date(5), { milliseconds: 1 }), KeyTypeError)
  assert.deepEqual(Key.timestamptz(new Date(5), { milliseconds: true }).bytes, Key.timestamptz('1970-01-01T00:00:00.005Z').bytes)
})

test('values that have no key bytes', () => {
  for (const make of [
    () => Key.integer(0.5), () => Key.integer(2 ** 53), () => Key.integer(NaN), () => Key.integer('1'),
    () => Key.integer(2n ** 63n), () => Key.integer(-(2n ** 63n) - 1n), () => Key.integer(null),
    () => Key.text('\ud800'), () => Key.text('a\udc00b'), () => Key.text(1), () => Key.text(undefined),
    () => Key.bytea('00'), () => Key.bytea([1]), () => Key.float('1'), () => Key.float(1n), () => Key.real('1'), () => Key.real(1e-50),
    () => Key.numeric(0.1), () => Key.numeric(1), () => Key.numeric(null),
    () => Key.uuid('x'), () => Key.uuid(new Uint8Array(15)), () => Key.uuid(7),
    () => Key.date(new Date('2024-01-31T12:00:00Z')), () => Key.date(new Date(NaN)), () => Key.date(0),
    () => Key.timestamp(new Date(0)), () => Key.timestamp(0), () => Key.timestamptz(new Date(NaN), { milliseconds: true }),
    () => Key.timestamptz(0), () => Key.inet(1), () => Key.inet(null), () => Key.mac(new Uint8Array(20)),
    () => Key.mac(1), () => Key.text(Symbol('s')), () => Key.text(Object.create(null))
  ]) {
    assert.throws(make, isNoKey, String(make))
  }
})

test('what has no type as text', () => {
  for (const [type, text] of [['none', '1'], ['toString', '1'], ['row', '(1,2)'], ['date', 1]]) {
    assert.throws(() => Key.parse(type, text), KeyTypeError)
  }
})

test('a number is an integer, or in a filter of floats a float', () => {
  const integer = filterOf('integer')
  assert.equal(integer.contains(-0), true)
  for (const key of [0.5, 2 ** 53, NaN, Infinity, -(2 ** 60)]) {
    assert.throws(() => integer.contains(key), KeyValueError)
    assert.throws(() => integer.containsMany([1, key]), { name: 'KeyValueError', index: 1 })
    assert.throws(() => integer.containsMany([Key.integer(1), key]), { name: 'KeyValueError', index: 1 })
  }
  const floats = [0, -0, 1, 0.1, -1.5, NaN, Infinity, -Infinity]
  const float = filterOf('float')
  assert.ok(floats.every((value) => float.contains(value)))
  assert.equal(float.containsMany(floats).indexOf(0), -1)
  assert.equal(float.containsMany(Float64Array.from(floats)).indexOf(0), -1)
  assert.equal(float.containsMany([Key.float(0.1), 0.1]).indexOf(0), -1)
  assert.throws(() => float.contains(1n), KeyTypeError)
  assert.throws(() => float.containsMany([1, 1n]), KeyTypeError)
  assert.throws(() => filterOf('text').contains(1), { message: 'bloomfilter holds text keys, not integer' })
  assert.throws(() => filterOf('text').contains(0.5), { message: 'bloomfilter holds text keys, not float' })
  for (const key of [1, 1n, '1']) {
    assert.throws(() => filterOf('numeric').contains(key), KeyTypeError)
    assert.throws(() => filterOf('numeric').containsMany([key]), KeyTypeError)
  }
  for (const key of [1, 0.5, NaN, 1n, 'x', new Uint8Array(3)]) {
    assert.equal(filterOf('empty').contains(key), false)
    assert.deepEqual([...filterOf('empty').containsMany([1, key])], [0, 0])
  }
})

test('what is no key', () => {
  const filter = filterOf('integer')
  for (const key of [undefined, null, true, {}, [], () => 1, Symbol('s'), new Date(0), new ArrayBuffer(8)]) {
    assert.throws(() => filter.contains(key), KeyTypeError)
    assert.throws(() => filter.containsMany([key]), KeyTypeError)
    assert.throws(() => filter.containsMany([1, key]), { index: 1, message: /^key 1: / })
  }
  for (const keys of [undefined, null, 'abc', {}, 5, new Set([1]), new DataView(new ArrayBuffer(8))]) {
    assert.throws(() => filter.containsMany(keys), TypeError)
  }
})

test('a batch of integers of all sizes and arrays', () => {
  const filter = filterOf('integer')
  const many = Array.from({ length: 10000 }, (_, i) => members[i % members.length])
  assert.equal(filter.containsMany(many).indexOf(0), -1)
  assert.equal(filter.containsMany(many.map(BigInt)).indexOf(0), -1)
  assert.equal(filter.containsMany(BigInt64Array.from(many, BigInt)).indexOf(0), -1)
  assert.equal(filter.containsMany(Int32Array.of(0, -1, -32768)).indexOf(0), -1)
  assert.equal(filter.containsMany(Uint32Array.of(0, 2 ** 31)).indexOf(0), -1)
  assert.equal(filter.containsMany(BigUint64Array.of(0n, 2n ** 63n - 1n)).indexOf(0), -1)
  assert.throws(() => filter.containsMany(BigUint64Array.of(2n ** 63n)), KeyValueError)
  assert.equal(filter.containsMany([]).length, 0)
})

test('texts without UTF-8', () => {
  for (const bad of ['\ud800', `${'a'.repeat(20)}\udc00`, `${'a'.repeat(100)}\udc00`, '\ud800'.repeat(70000)]) {
    assert.throws(() => filterOf('text').contains(bad), KeyValueError)
    assert.throws(() => filterOf('text').containsMany(['a', bad]), { index: 1 })
  }
})

test('bytea from any view', () => {
  const filter = filterOf('bytea')
  assert.deepEqual([...filter.containsMany([new Uint8Array(0), Uint8Array.of(0xff, 0xfe), Uint8Array.of(1)])], [1, 1, 0])
  assert.equal(filter.contains(Buffer.from([0, 0xff, 0xfe]).subarray(1)), true)
  assert.throws(() => filter.contains('abc'), KeyTypeError)
})

test('rows', () => {
  const filter = filterOf('row')
  assert.equal(filter.keyType, 'row(integer, text)')
  assert.deepEqual([...filter.containsMany([Key.row(1, 'a'), [1, 'a'], [1n, 'a  '], [8, 'x'], [1, '']])], [1, 1, 1, 0, 0])
  // A number in a row is what the filter holds there.
  assert.throws(() => filter.contains([2.5, 'x']), KeyValueError)
  const own = ['x', Key.numeric('1'), 2, Key.inet('::1'), Key.mac('08:00:2b:01:02:03'), Buffer.of(1)]
  assert.equal(filterOf('row_of_six').contains(own), false)
  assert.throws(() => filterOf('row_of_six').contains([...own.slice(0, 2), 2n, ...own.slice(3)]), KeyTypeError)
})

test('what is no row', () => {
  for (const columns of [[1, null], [1, undefined], [Key.row(1)], [[1]], [true], [0.5]]) {
    assert.throws(() => Key.row(...columns), isNoKey)
  }
})
