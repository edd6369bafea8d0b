import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { Key, KeyTypeError, PartError, SetError, fromBytes, open, openSync } from '../lib/index.js'
import { build, buildSet, integers, sound, tempFolder } from './helpers.js'

const GOOD = 'bloomfilter-set 1\npart-2.bloom\npart-0.bloom\npart-1.bloom\n'
const files = buildSet(3, 500)

/** Files part-N.bloom whose names are not in the order of the parts. */
function writeSet (parts, manifest) {
  const folder = tempFolder()
  parts.forEach((bytes, i) => {
    fs.writeFileSync(path.join(folder, `part-${(i + 2) % parts.length}.bloom`), bytes)
  })
  if (manifest !== undefined) {
    fs.writeFileSync(path.join(folder, 'manifest'), manifest)
  }
  return folder
}

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

test('a set by its manifest and by its folder', async () => {
  for (const manifest of [GOOD, GOOD.trimEnd(), undefined]) {
    const folder = writeSet(files, manifest)
    checkWhole(openSync(folder))
    checkWhole(await open(folder, { verify: false }))
    if (manifest !== undefined) {
      checkWhole(await open(path.join(folder, 'manifest')))
    }
  }
})

test('notes in a manifest', () => {
  checkWhole(openSync(writeSet(files, GOOD.replace('part-0', '# generation 17\npart-0'))))
})

test('a part of another build', () => {
  const names = files.map((bytes) => `p.${Buffer.from(bytes).readBigUInt64LE(56).toString(16).padStart(16, '0')}.bloom`)
  const folder = writeSet(files, `bloomfilter-set 1\n${names.join('\n')}\n`)
  names.forEach((name, i) => fs.writeFileSync(path.join(folder, name), files[i]))
  checkWhole(openSync(folder))
  fs.writeFileSync(path.join(folder, names[1]), buildSet(3, 400)[1])
  assert.throws(() => openSync(folder), { name: 'SetError', message: /another filter than its name says/ })
})

test('a folder with one whole filter', () => {
  const folder = writeSet([sound()])
  fs.writeFileSync(path.join(folder, '.next.bloom'), 'not complete')
  fs.writeFileSync(path.join(folder, 'README'), 'other')
  assert.equal(openSync(folder).contains(5), true)
})

for (const [name, manifest] of Object.entries({
  'other version': GOOD.replace('set 1', 'set 2'),
  'no parts': 'bloomfilter-set 1\n',
  'wrong order': 'bloomfilter-set 1\npart-0.bloom\npart-1.bloom\npart-2.bloom\n',
  'part missing': 'bloomfilter-set 1\npart-2.bloom\npart-0.bloom\n',
  'part twice': 'bloomfilter-set 1\npart-2.bloom\npart-0.bloom\npart-0.bloom\n',
  'too many': `${GOOD}part-0.bloom\n`,
  'file missing': 'bloomfilter-set 1\npart-2.bloom\npart-0.bloom\npart-3.bloom\n',
  'empty line': `${GOOD}\n`,
  'carriage return': GOOD.replaceAll('\n', '\r\n'),
  slash: GOOD.replace('part-2', './part-2'),
  folder: GOOD.replace('part-2.bloom', '.'),
  parent: GOOD.replace('part-2.bloom', '..'),
  itself: GOOD.replace('part-2.bloom', 'manifest'),
  'zero byte': GOOD.replace('part-2.bloom', 'part-2.bloom\0'),
  'a filter': files[0],
  empty: ''
})) {
  test(`manifest: ${name}`, async () => {
    const folder = writeSet(files, manifest)
    assert.throws(() => openSync(folder))
    await assert.rejects(open(path.join(folder, 'manifest')).then((filter) => {
      // The one manifest that may be opened as what it is: a part.
      assert.equal(name, 'a filter')
      throw new Error(`part ${filter.info.open[0].part}`)
    }))
  })
}

for (const [name, bytes] of Object.entries({
  'other seed': build({ part: 1, parts: 3, seed: 5n }, integers(0, 500)),
  'other parts': build({ part: 1, parts: 4 }, integers(0, 500)),
  'other key type': build({ part: 1, parts: 3, keyType: 2 }, [Key.text('x')]),
  'part twice': files[0],
  'whole filter': sound(),
  damaged: files[1].subarray(0, -1)
})) {
  test(`set: ${name}`, () => {
    assert.throws(() => openSync(writeSet([files[0], bytes, files[2]])))
  })
}

test('a part missing, no part, a folder as part', () => {
  assert.throws(() => openSync(writeSet(files.slice(0, 2))), SetError)
  assert.throws(() => openSync(tempFolder()), SetError)
  const folder = writeSet(files.slice(0, 2))
  fs.mkdirSync(path.join(folder, 'x.bloom'))
  assert.throws(() => openSync(folder))
})

test('an empty part takes the key type of the set', () => {
  const empty = build({ part: 1, parts: 3, keyType: 0 })
  const filter = openSync(writeSet([files[0], empty, files[2]]))
  assert.equal(filter.keyType, 'integer')
  for (let i = 0; i < 100; i++) {
    assert.throws(() => filter.contains(String(i)), KeyTypeError)
  }
})

test('a single part', () => {
  const filter = fromBytes(files[1])
  let refused = 0
  for (let key = 0; key < 500; key++) {
    try {
      assert.equal(filter.contains(key), true)
    } catch (error) {
      assert.ok(error instanceof PartError, error)
      assert.equal(error.part, 1)
      refused++
    }
  }
  assert.ok(refused > 250 && refused < 420)
  assert.throws(() => filter.containsMany(integers(0, 500)), (error) =>
    error instanceof PartError && error.index < 20 && error.wanted !== 1)
})

test('texts in a set', () => {
  const texts = Array.from({ length: 5000 }, (_, i) => i % 7 === 0 ? `gr\u00fc\u00dfe ${i}` : `text ${i}`)
  const parts = [0, 1].map((part) =>
    build({ part, parts: 2, keyType: 2, blocks: 60 }, texts.map((text) => Key.text(text))))
  const filter = openSync(writeSet(parts))
  assert.equal(filter.containsMany(texts).indexOf(0), -1)
  assert.ok(texts.every((text) => filter.contains(text)))
  assert.equal(filter.contains('x'.repeat(300000)), filter.containsMany(['x'.repeat(300000)])[0] === 1)
})

test('info of a set', () => {
  const { info } = openSync(writeSet(files))
  assert.equal(info.parts, 3)
  assert.equal(info.open.length, 3)
  assert.equal(info.capacity, 3000n)
  assert.equal(info.bytes, 3 * 64 + (20 + 21 + 22) * 64)
  assert.ok(info.estimatedKeys > 450 && info.estimatedKeys < 550)
})
