import assert from 'node:assert/strict'
import test from 'node:test'
import { BloomFilter, Key, KeyTypeError, KeyValueError } from '../lib/index.js'
import { rowKind, typeOfName } from '../lib/key-types.js'
import { build, sound } from './helpers.js'

const isNoKey = (error) => error instanceof KeyValueError || error instanceof KeyTypeError

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
  // What node-postgres makes of 4,000 timestamps with microseconds.
  const stored = Array.from({ length: 4000 }, (_, i) => 1700000000000000n + BigInt(i) * 7123457n)
  const text = (micros) => new Date(Number(micros / 1000n)).toISOString().replace('Z', `${micros % 1000n}`.padStart(3, '0') + 'Z')
  const filter = BloomFilter.fromBytes(build({ keyType: 9, blocks: 500 }, stored.map((micros) => Key.timestamptz(text(micros)))))
  for (const micros of stored) {
    const date = new Date(Number(micros / 1000n))
    assert.throws(() => filter.contains(Key.timestamptz(date)), /\{ milliseconds: true \}/)
    assert.throws(() => Key.timestamptz(date, { milliseconds: 1 }), KeyTypeError)
    assert.ok(filter.contains(Key.timestamptz(text(micros))))
  }
  assert.deepEqual(Key.timestamptz(new Date(5), { milliseconds: true }).bytes, Key.timestamptz('1970-01-01T00:00:00.005Z').bytes)
})

test('blanks at the end of a text are no part of the key', () => {
  const shape = { blocks: 2000 }
  for (const text of ['', 'ab', 'größe', '€', '\u{1f600}', 'x'.repeat(31), 'x'.repeat(47), 'x'.repeat(300),
    'é'.repeat(300), 'x'.repeat(65536), 'x'.repeat(70000), 'é'.repeat(400000)]) {
    const filter = BloomFilter.fromBytes(build({ ...shape, keyType: 2 }, [Key.text(text)]))
    const row = BloomFilter.fromBytes(build({ keyType: rowKind([2, 1]) }, [Key.row(text, 7)]))
    const spellings = [0, 1, 7, 40, 300, 70000].map((count) => text + ' '.repeat(count))
    for (const spelling of spellings) {
      const bytes = new TextEncoder().encode(spelling)
      assert.ok(filter.contains(spelling))
      assert.ok(filter.contains(Key.text(spelling)))
      assert.ok(filter.contains(Key.parse('text', spelling)))
      assert.ok(filter.contains(Key.raw('text', bytes)))
      assert.ok(row.contains([spelling, 7]))
    }
    assert.deepEqual([...filter.containsMany(spellings)], spellings.map(() => 1))
  }
})

test('only blanks, and only of texts', () => {
  const filter = BloomFilter.fromBytes(build({ keyType: 2 }, [Key.text('a')]))
  for (const other of [' a', 'a\t', 'a\r', 'a\n', 'a \t', 'a\u00a0', 'a\u2002', 'a\u3000', 'a\v ']) {
    assert.ok(!filter.contains(other))
    assert.equal(filter.containsMany([other])[0], 0)
  }
  assert.ok(!BloomFilter.fromBytes(build({ keyType: 3 }, [Key.bytea(Buffer.from('a'))])).contains(Buffer.from('a ')))
  assert.throws(() => Key.raw('row', Uint8Array.of(2, 2, 0, 0, 0, 0x61, 0x20)), KeyValueError)
})

test('values that have no key bytes', () => {
  for (const make of [
    () => Key.integer(0.5), () => Key.integer(2 ** 53), () => Key.integer(NaN), () => Key.integer('1'),
    () => Key.integer(2n ** 63n), () => Key.integer(-(2n ** 63n) - 1n), () => Key.integer(null),
    () => Key.text('\ud800'), () => Key.text('a\udc00b'), () => Key.text(1), () => Key.text(undefined),
    () => Key.bytea('00'), () => Key.bytea([1]), () => Key.float('1'), () => Key.float(1n), () => Key.real('1'),
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

const ofEachType = {
  integer: Key.integer(7),
  text: Key.text(''),
  bytea: Key.bytea(new Uint8Array(0)),
  uuid: Key.uuid('01000000-0000-0000-0000-000000000000'),
  numeric: Key.numeric('7.0'),
  float: Key.float(7),
  date: Key.date('2024-01-31'),
  timestamp: Key.timestamp('2024-01-31 00:00:00'),
  timestamptz: Key.timestamptz('2024-01-31 01:00:00+01'),
  inet: Key.inet('::/0'),
  macaddr: Key.mac('01:02:03:04:05:06')
}

test('what has no type as text', () => {
  for (const [type, text] of [['none', '1'], ['toString', '1'], ['row', '(1,2)'], ['date', 1]]) {
    assert.throws(() => Key.parse(type, text), KeyTypeError)
  }
})

test('each type in each filter', () => {
  for (const [holds, member] of Object.entries(ofEachType)) {
    const filter = BloomFilter.fromBytes(build({ keyType: typeOfName(holds) }, [member]))
    for (const [asked, key] of Object.entries(ofEachType)) {
      if (asked === holds) {
        assert.equal(filter.contains(key), true)
        assert.deepEqual([...filter.containsMany([key, key])], [1, 1])
      } else {
        assert.throws(() => filter.contains(key), KeyTypeError)
        assert.throws(() => filter.containsMany([member, key]), { name: 'KeyTypeError', index: 1 })
      }
    }
  }
  const empty = BloomFilter.fromBytes(build({ keyType: 0 }))
  for (const key of [...Object.values(ofEachType), 1, 0.5, NaN, 1n, 'x', new Uint8Array(3)]) {
    assert.equal(empty.contains(key), false)
    assert.deepEqual([...empty.containsMany([1, key])], [0, 0])
  }
})

test('a number is an integer, or in a filter of floats a float', () => {
  const integer = BloomFilter.fromBytes(sound())
  assert.equal(integer.contains(7), true)
  assert.equal(integer.contains(-0), true)
  for (const key of [0.5, 2 ** 53, NaN, Infinity, -(2 ** 60)]) {
    assert.throws(() => integer.contains(key), KeyValueError)
    assert.throws(() => integer.containsMany([1, key]), { name: 'KeyValueError', index: 1 })
    assert.throws(() => integer.containsMany([Key.integer(1), key]), { name: 'KeyValueError', index: 1 })
  }
  const floats = [0, 0.1, -1.5, NaN, Infinity, 2 ** 60]
  const float = BloomFilter.fromBytes(build({ keyType: 6 }, floats.map((value) => Key.float(value))))
  assert.ok(floats.every((value) => float.contains(value)))
  assert.equal(float.contains(-0), true)
  assert.equal(float.containsMany([...floats, -0]).indexOf(0), -1)
  assert.equal(float.containsMany(Float64Array.from(floats)).indexOf(0), -1)
  assert.equal(float.containsMany([Key.float(0.1), 0.1]).indexOf(0), -1)
  assert.throws(() => float.contains(1n), KeyTypeError)
  assert.throws(() => float.containsMany([1, 1n]), KeyTypeError)
  const text = BloomFilter.fromBytes(build({ keyType: 2 }, [Key.text('1')]))
  assert.throws(() => text.contains(1), { message: 'bloomfilter holds text keys, not integer' })
  assert.throws(() => text.contains(0.5), { message: 'bloomfilter holds text keys, not float' })
  const numeric = BloomFilter.fromBytes(build({ keyType: 5 }, [Key.numeric('1')]))
  for (const key of [1, 1n, '1']) {
    assert.throws(() => numeric.contains(key), KeyTypeError)
    assert.throws(() => numeric.containsMany([key]), KeyTypeError)
  }
})

test('what is no key', () => {
  const filter = BloomFilter.fromBytes(sound())
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
  const members = [0, -1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1]
  const filter = BloomFilter.fromBytes(build({ blocks: 100 }, members.map((key) => Key.integer(key))))
  const many = Array.from({ length: 10000 }, (_, i) => members[i % members.length])
  assert.equal(filter.containsMany(many).indexOf(0), -1)
  assert.equal(filter.containsMany(many.map(BigInt)).indexOf(0), -1)
  assert.equal(filter.containsMany(BigInt64Array.from(many, BigInt)).indexOf(0), -1)
  assert.equal(filter.containsMany(Int32Array.of(0, -1, -(2 ** 31))).indexOf(0), -1)
  assert.equal(filter.containsMany(Uint32Array.of(0, 2 ** 31)).indexOf(0), -1)
  assert.equal(filter.containsMany(BigUint64Array.of(0n, 2n ** 32n)).indexOf(0), -1)
  assert.throws(() => filter.containsMany(BigUint64Array.of(2n ** 63n)), KeyValueError)
  assert.equal(filter.containsMany([]).length, 0)
  for (const key of members) {
    assert.ok(filter.contains(key) && filter.contains(BigInt(key)))
  }
})

test('texts of all lengths and alphabets', () => {
  const alphabets = ['a', '\u00e9', '\u20ac', '\u{1f600}', '\0', '\ufeff']
  const texts = [0, 1, 7, 15, 16, 47, 48, 49, 100, 1000, 70000, 400000]
    .flatMap((length) => alphabets.map((letter) => letter.repeat(length)))
  const filter = BloomFilter.fromBytes(build({ keyType: 2 }, texts.map((text) => Key.text(text))))
  assert.ok(texts.every((text) => filter.contains(text)))
  assert.equal(filter.containsMany(texts).indexOf(0), -1)
  assert.equal(filter.containsMany([...texts].reverse()).indexOf(0), -1)
  assert.equal(filter.contains('e\u0301'), false)
  for (const bad of ['\ud800', `${'a'.repeat(20)}\udc00`, `${'a'.repeat(100)}\udc00`, '\ud800'.repeat(70000)]) {
    assert.throws(() => filter.contains(bad), KeyValueError)
    assert.throws(() => filter.containsMany(['a', bad]), { index: 1 })
  }
})

test('each character of a short text counts, whatever it is and wherever it stands', () => {
  const ascii = [...Array(70).keys()].map((length) => 'abcdefghij'.repeat(7).slice(0, length))
  const others = ascii.flatMap((text) => [...Array(text.length % 9).keys()]
    .map((i) => `${text.slice(0, i)}\u0161${text.slice(i + 1)}`))
  const shape = { keyType: 2, blocks: 200 }
  for (const [members, absent] of [[ascii, others], [others, ascii]]) {
    const filter = BloomFilter.fromBytes(build(shape, members.map((text) => Key.text(text))))
    assert.deepEqual(members.filter((text) => !filter.contains(text)), [])
    assert.equal(filter.containsMany(members).indexOf(0), -1)
    assert.deepEqual(absent.filter((text) => filter.contains(text)), [])
    assert.equal(filter.containsMany(absent).indexOf(1), -1)
  }
})

test('bytea from any view', () => {
  const long = new Uint8Array(300000).fill(5)
  const keys = [new Uint8Array(0), Uint8Array.of(1, 2, 3), long]
  const filter = BloomFilter.fromBytes(build({ keyType: 3 }, keys.map((key) => Key.bytea(key))))
  assert.equal(filter.containsMany(keys).indexOf(0), -1)
  assert.equal(filter.contains(Buffer.from([0, 1, 2, 3]).subarray(1)), true)
  assert.equal(filter.contains(long), true)
  assert.throws(() => filter.contains('abc'), KeyTypeError)
})

test('rows', () => {
  const row = Key.row(7, 'x')
  assert.equal(row.describe(), 'row 0108000000' + '0700000000000000' + '0201000000' + '78')
  assert.deepEqual([Key.integer(42).describe(), Key.text(' ').describe()], ['integer 2a00000000000000', 'text -'])
  assert.equal(row.type, 'row(integer, text)')
  const filter = BloomFilter.fromBytes(build({ keyType: rowKind([1, 2]) }, [row]))
  assert.equal(filter.keyType, 'row(integer, text)')
  assert.deepEqual([...filter.containsMany([row, [7, 'x'], [7n, 'x'], [8, 'x'], [7, '']])], [1, 1, 1, 0, 0])
  assert.equal(filter.contains([7, 'x']), true)
  assert.equal(filter.contains([8, 'x']), false)
  for (const other of [[7], ['x', 7], [7, 'x', 1], [7, Buffer.of(1)], 7, 'x']) {
    assert.throws(() => filter.contains(other), /^KeyTypeError: bloomfilter holds row\(integer, text\) keys/)
    assert.throws(() => filter.containsMany([other]), /bloomfilter holds row\(integer, text\) keys/)
  }
})

test('a number in a row is what the filter holds there', () => {
  const filter = BloomFilter.fromBytes(build({ keyType: rowKind([6, 1]) }, [Key.row(Key.float(2), 2)]))
  assert.equal(filter.contains([2, 2]), true)
  assert.equal(filter.contains([2.5, 2]), false)
  assert.throws(() => filter.contains([2, 2.5]), KeyValueError)
})

test('what is no row', () => {
  for (const columns of [[], [1, 2, 3, 4, 5, 6, 7], [1, null], [1, undefined], [Key.row(1)], [[1]], [true], [0.5]]) {
    assert.throws(() => Key.row(...columns), isNoKey)
  }
})
