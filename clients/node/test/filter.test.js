// Bytes, files and memory as this package has them; what is in them all readers are asked by test/readers.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, WatchedBloomFilter } from '../lib/index.js'
import { limits } from '../lib/watched.js'
import { members, replace, reshaped, sound, tempFile, tempFolder, vector } from './helpers.js'

const library = JSON.stringify(new URL('../lib/index.js', import.meta.url))

/** Of a list, as it lies on a host; its follower keeps it elsewhere. */
const listed = () => vector('here', 'pages.tsv')
const SUPERSEDED = 600

function poke (file, at, number) {
  const handle = fs.openSync(file, 'r+')
  fs.writeSync(handle, BigUint64Array.of(number), 0, 8, at)
  fs.closeSync(handle)
}

function checkMembers (filter) {
  assert.ok(members.every((key) => filter.contains(key)))
  assert.equal(filter.containsMany(members).indexOf(0), -1)
}

test('what is no bytes', () => {
  assert.throws(() => BloomFilter.fromBytes('QkxNRgE='), { name: 'TypeError', message: /filter::bytea/ })
  assert.throws(() => BloomFilter.fromBytes(Buffer.from('QkxNRgE=')), { rule: 'magic', message: /filter::bytea/ })
  for (const bytes of [undefined, null, [1, 2], new ArrayBuffer(64), new DataView(new ArrayBuffer(64))]) {
    assert.throws(() => BloomFilter.fromBytes(bytes), TypeError)
  }
})

test('bytes that change after they were taken', () => {
  const bytes = sound()
  const filter = BloomFilter.fromBytes(bytes)
  bytes.fill(0)
  checkMembers(filter)
})

test('nobody sees a wrong answer while filters take turns', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const builds = [sound(), vector('empty')]
  const file = tempFile(builds[0])
  const watched = await WatchedBloomFilter.open(file)
  let isOver = false
  t.after(() => { isOver = true })
  let asked = 0
  const readers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const isNone = watched.info.keyType === 'none'
      assert.deepEqual([...watched.containsMany([42, -1])].map(Boolean), [!isNone, !isNone])
      assert.equal(watched.contains(42), !isNone)
      asked++
      await new Promise(setImmediate)
    }
  })
  for (let i = 1; i <= 100; i++) {
    replace(file, builds[i % 2])
    assert.deepEqual(await Promise.all([watched.reload(), watched.reload()]), [true, false])
    assert.equal(watched.info.keyType, ['integer', 'none'][i % 2])
  }
  isOver = true
  await Promise.all(readers)
  assert.ok(asked > 0)
})

/** A filter's file of 8 MiB for each 1000 blocks, in which there is nothing. */
function large (blocks) {
  const file = path.join(tempFolder(), 'large.bloom')
  fs.writeFileSync(file, reshaped(16, blocks))
  fs.truncateSync(file, 64 + blocks * 8192)
  return file
}

test('memory of old filters comes back', async () => {
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file, { verify: false })
  const before = process.memoryUsage().rss
  for (let i = 0; i < 60; i++) {
    fs.renameSync(large(1000), file)
    await watched.reload()
  }
  // 60 filters of 8 MiB would be 480.
  const more = process.memoryUsage().rss - before
  assert.ok(more < 320 * 2 ** 20, `${more} bytes more`)
})

test('it lets its process end', () => {
  const program = `import { BloomFilter, WatchedBloomFilter } from ${library}
    await WatchedBloomFilter.open(${JSON.stringify(tempFile(sound()))})`
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 60000 })
})

test('the check of a large file lets others have the thread', async () => {
  let turns = 0
  let next
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  turn()
  try {
    await assert.rejects(BloomFilter.open(large(8000)), { rule: 'bits_set' })
  } finally {
    clearImmediate(next)
  }
  // 64 MB are 32 slices, with the others' turn between each two.
  assert.ok(turns > 31, `${turns} turns`)
})

test('a lasting error is told again after a while', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const before = limits.repeatMilliseconds
  t.after(() => { limits.repeatMilliseconds = before })
  const told = []
  t.mock.method(process, 'emitWarning', (text) => told.push(text))
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  const look = async () => {
    for (let i = 0; i < 10; i++) {
      await watched.tick()
    }
  }
  fs.rmSync(file)
  await look()
  await look()
  assert.deepEqual([told.length, /stays the old one: ENOENT/.test(told[0])], [1, true])
  fs.writeFileSync(file, 'x')
  await look()
  assert.equal(told.length, 2)
  // After a success it is a new error, whatever it says.
  for (const bytes of [sound(), 'x']) {
    replace(file, bytes)
    await look()
  }
  assert.equal(told.length, 3)
  limits.repeatMilliseconds = 0
  await look()
  await look()
  assert.equal(told.length, 5)
})

// Its own timer stands still: each tick is made here.
test('superseded is seen at each tick, the path at each tenth', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const file = tempFile(listed())
  const watched = await WatchedBloomFilter.open(file)
  for (const ticks of [9, 0]) {
    const first = watched.current
    const old = `${file}.old`
    fs.rmSync(old, { force: true })
    fs.linkSync(file, old)
    replace(file, listed())
    for (let i = 0; i < ticks; i++) {
      await watched.tick()
      assert.equal(watched.current, first)
    }
    if (ticks === 0) {
      poke(old, SUPERSEDED, 1n)
    }
    await watched.tick()
    assert.notEqual(watched.current, first)
  }
})

test('a snapshot of what does not change is itself', async () => {
  const filter = await BloomFilter.open(tempFile(sound()))
  assert.equal(await filter.snapshot(), filter)
})

test('no identity is not any, and no timeout not without end', async () => {
  await assert.rejects(BloomFilter.open(tempFile(listed()), { identity: null }), { rule: 'identity' })
  await assert.rejects(WatchedBloomFilter.wait('none'), { code: 'ENOENT' })
})

test('a file that is cut is an error at the look-up, never a no, and what is in memory stays', () => {
  const files = [listed(), sound()].map(tempFile)
  const [filter, copy] = files.map((file) => BloomFilter.openSync(file))
  for (const length of [4096 + 64, 100]) {
    files.forEach((file) => fs.truncateSync(file, length))
    assert.throws(() => filter.contains(5), { name: 'ChangedFileError', message: `${files[0]}: file was cut short` })
  }
  assert.throws(() => filter.status(), { name: 'ChangedFileError' })
  checkMembers(copy)
})

test('files are closed when nobody holds them any more', { skip: !fs.existsSync('/proc/self/fd') }, () => {
  const program = path.join(tempFolder(), 'gc.mjs')
  fs.writeFileSync(program, `import fs from 'node:fs'
    import { BloomFilter } from ${library}
    const count = () => fs.readdirSync('/proc/self/fd').length
    const before = count()
    let kept
    const open = () => { for (let i = 0; i < 100; i++) kept = BloomFilter.openSync(${JSON.stringify(tempFile(listed()))}) }
    open()
    const most = count()
    for (let i = 0; i < 100 && count() > before + 1; i++) { gc(); await new Promise(setImmediate) }
    console.log(most - before, count() - before, kept.contains(1))`)
  assert.equal(execFileSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8' }), '100 1 true\n')
})
