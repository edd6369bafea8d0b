import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, BloomFilterError, InvalidSetError, Key, KeyTypeError, PartError } from '../lib/index.js'
import { syncIo } from '../lib/files.js'
import { findSource } from '../lib/open.js'
import { runSync } from '../lib/steps.js'
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
  for (const manifest of [GOOD, GOOD.trimEnd()]) {
    const folder = writeSet(files, manifest)
    checkWhole(BloomFilter.openSync(folder))
    checkWhole(await BloomFilter.open(folder, { verify: false }))
    checkWhole(await BloomFilter.open(path.join(folder, 'manifest')))
  }
  const inOrder = [...files].sort((a, b) => a.readUInt16LE(12) - b.readUInt16LE(12))
  checkWhole(BloomFilter.fromParts(inOrder))
  assert.throws(() => BloomFilter.fromParts(inOrder.slice(1)), InvalidSetError)
  assert.throws(() => BloomFilter.fromParts([]), InvalidSetError)
})

test('a folder without a manifest is refused', async () => {
  const folder = writeSet([sound()])
  assert.throws(() => BloomFilter.openSync(folder), {
    name: 'InvalidSetError', message: `${folder}: a folder is opened by its file "manifest", and it has none`
  })
  await assert.rejects(BloomFilter.open(folder), InvalidSetError)
})

test('notes in a manifest', () => {
  checkWhole(BloomFilter.openSync(writeSet(files, GOOD.replace('part-0', '# generation 17\npart-0'))))
})

test('a part of another build', () => {
  const names = files.map((bytes) => `p.${Buffer.from(bytes).readBigUInt64LE(56).toString(16).padStart(16, '0')}.bloom`)
  const folder = writeSet(files, `bloomfilter-set 1\n${names.join('\n')}\n`)
  names.forEach((name, i) => fs.writeFileSync(path.join(folder, name), files[i]))
  checkWhole(BloomFilter.openSync(folder))
  fs.writeFileSync(path.join(folder, names[1]), buildSet(3, 400)[1])
  assert.throws(() => BloomFilter.openSync(folder), { name: 'InvalidSetError', message: /another filter than its name says/ })
})

test('a set that is replaced while it is opened', async () => {
  // As `bloomfilter pull` does it: new names, the manifest last, the old parts deleted.
  const folder = tempFolder()
  const builds = [500, 600].map((more) => [0, 1, 2].map((part) =>
    build({ part, parts: 3, blocks: 40 }, [...integers(0, 300), Key.integer(more)])))
  let swaps = 0
  let old = []
  const publish = () => {
    const names = [0, 1, 2].map((part) => `${swaps}.${part}`)
    names.forEach((name, part) => fs.writeFileSync(path.join(folder, name), builds[swaps % 2][part]))
    fs.writeFileSync(path.join(folder, 'next'), `bloomfilter-set 1\n${names.join('\n')}\n`)
    fs.renameSync(path.join(folder, 'next'), path.join(folder, 'manifest'))
    old.forEach((name) => fs.rmSync(path.join(folder, name)))
    old = names
    swaps++
  }
  publish()
  // One swap falls between other steps of the opening each time.
  for (let i = 0; i < 200; i++) {
    const opening = BloomFilter.open(folder)
    for (let turns = i % 20; turns > 0; turns--) {
      await new Promise(setImmediate)
    }
    publish()
    const filter = await opening
    assert.notEqual(filter.contains(500), filter.contains(600))
    assert.equal(filter.containsMany(integers(0, 300)).indexOf(0), -1)
  }
  await assert.rejects(BloomFilter.open(writeSet(files, GOOD.replace('part-1', 'missing'))), { code: 'ENOENT' })
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
    assert.throws(() => BloomFilter.openSync(folder))
    await assert.rejects(BloomFilter.open(path.join(folder, 'manifest')).then((filter) => {
      // The one manifest that may be opened as what it is: a part.
      assert.equal(name, 'a filter')
      throw new Error(`part ${filter.info.part}`)
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
    assert.throws(() => BloomFilter.openSync(writeSet([files[0], bytes, files[2]], GOOD)), BloomFilterError)
  })
}

test('an empty part takes the key type of the set', () => {
  const empty = build({ part: 1, parts: 3, keyType: 0 })
  const filter = BloomFilter.openSync(writeSet([files[0], empty, files[2]], GOOD))
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
  const filter = BloomFilter.openSync(writeSet(parts, 'bloomfilter-set 1\npart-0.bloom\npart-1.bloom\n'))
  assert.equal(filter.containsMany(texts).indexOf(0), -1)
  assert.ok(texts.every((text) => filter.contains(text)))
  assert.equal(filter.contains('x'.repeat(300000)), filter.containsMany(['x'.repeat(300000)])[0] === 1)
})

test('info of a set', () => {
  const { info } = BloomFilter.openSync(writeSet(files, GOOD))
  assert.equal(info.parts, 3)
  assert.equal(info.filters.length, 3)
  assert.equal(info.n, 3000)
  assert.equal(info.bytes, 3 * 64 + (20 + 21 + 22) * 64)
  assert.ok(info.cardinality > 450 && info.cardinality < 550)
  assert.equal(JSON.parse(JSON.stringify(info)).filters[2].blocks, 22)
})

test('one checksum for a set, the same in all readers and on the command line', () => {
  const vectors = new URL('../../../test/vectors/filters.tsv', import.meta.url)
  const row = fs.readFileSync(vectors, 'utf8').split('\n').find((line) => line.startsWith('empty_part_1_of_2\t'))
  const second = row.split('\t').find((field) => field.startsWith('424c4d46'))
  const first = '424c4d46010709000100000000000200000000000000000032000000000000007b' +
    '14ae47e17a843f0000000000000000010000007fa7c6555f1e5710152920cf' + '00'.repeat(64)
  const { info } = BloomFilter.fromParts([first, second].map((hex) => Buffer.from(hex, 'hex')))
  assert.equal(info.checksum, 'aad0582a58c07fa2')
  assert.deepEqual(info.filters.map(({ checksum }) => checksum), ['cf20291510571e5f', '9ea138acca94a5af'])
})

test('many lines in a manifest are refused before the second file is opened', () => {
  const folder = tempFolder()
  fs.writeFileSync(path.join(folder, 'p'), sound())
  fs.writeFileSync(path.join(folder, 'manifest'), `bloomfilter-set 1\n${'p\n'.repeat(65535)}`)
  const opened = []
  const io = { ...syncIo, open: (file) => { opened.push(path.basename(file)); return syncIo.open(file) } }
  assert.throws(() => runSync(findSource(io, folder)), InvalidSetError)
  assert.deepEqual(opened, ['manifest', 'p'])
  assert.throws(() => BloomFilter.openSync(folder), InvalidSetError)
})
