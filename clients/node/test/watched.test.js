import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, WatchedBloomFilter } from '../lib/index.js'
import { limits } from '../lib/watched.js'
import { build, integers, replace, sound, tempFile, until } from './helpers.js'

const shared = Array.from({ length: 100 }, (_, i) => i)

function checkShared (filter) {
  assert.ok(shared.every((key) => filter.contains(key)))
  assert.equal(filter.containsMany(shared).indexOf(0), -1)
}

test('nobody sees a wrong answer while filters take turns', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const builds = [
    build({ blocks: 40 }, integers(0, 300)),
    build({ blocks: 9, log2: 10, seed: 8n }, integers(0, 100))
  ]
  const file = tempFile(builds[0])
  const watched = await WatchedBloomFilter.open(file)
  let isOver = false
  t.after(() => { isOver = true })
  let asked = 0
  const readers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      checkShared(watched)
      asked++
      await new Promise(setImmediate)
    }
  })
  for (let i = 1; i <= 100; i++) {
    replace(file, builds[i % 2])
    assert.deepEqual(await Promise.all([watched.reload(), watched.reload()]), [true, false])
    assert.equal(watched.current.info.seed, i % 2 === 0 ? '0' : '8')
  }
  isOver = true
  await Promise.all(readers)
  assert.ok(asked > 0)
})

test('a failed reload keeps the old filter', async () => {
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  for (const bytes of ['', sound().subarray(0, 100), 'bloomfilter-set 1\nmissing\n']) {
    replace(file, bytes)
    await assert.rejects(watched.reload())
    checkShared(watched)
  }
  fs.rmSync(file)
  await assert.rejects(watched.reload())
  checkShared(watched)
  replace(file, build({}, integers(0, 300)))
  await watched.reload()
  assert.equal(watched.contains(250), true)
  await assert.rejects(WatchedBloomFilter.open(tempFile('')))
})

test('a relative path after chdir', async () => {
  const file = tempFile(sound())
  const here = process.cwd()
  process.chdir(path.dirname(file))
  const watched = await WatchedBloomFilter.open(path.basename(file))
  process.chdir(here)
  replace(file, build({ keyType: 0 }))
  assert.equal(await watched.reload(), true)
})

test('memory of old filters comes back', async () => {
  const files = [1, 2].map((key) => tempFile(build({ blocks: 2 ** 17 }, integers(0, key))))
  const file = `${files[0]}.now`
  const take = (number) => {
    fs.linkSync(files[number % 2], `${file}.next`)
    fs.renameSync(`${file}.next`, file)
  }
  take(1)
  const watched = await WatchedBloomFilter.open(file, { verify: false })
  const before = process.memoryUsage().rss
  for (let i = 0; i < 60; i++) {
    take(i)
    await watched.reload()
  }
  // 60 filters of 8 MiB would be 480.
  const more = process.memoryUsage().rss - before
  assert.ok(more < 320 * 2 ** 20, `${more} bytes more`)
})

test('a reload reads nothing where nothing changed', async () => {
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  const before = watched.current
  assert.equal(await watched.reload(), false)
  assert.equal(watched.current, before)
  // The same bytes in another file are another filter: the old one may have been damaged.
  replace(file, sound())
  assert.equal(await watched.reload(), true)
})

test('it looks by itself, and tells of errors', async () => {
  const file = tempFile(sound())
  const errors = []
  const watched = await WatchedBloomFilter.open(file, { onError: (error) => errors.push(error) })
  replace(file, build({}, integers(0, 300)))
  await until(() => watched.contains(250))
  replace(file, Buffer.from('BLMF'))
  await until(() => errors.length > 0)
  assert.equal(errors[0].name, 'InvalidFilterError')
  checkShared(watched)
})

test('it lets its process end', () => {
  const file = tempFile(sound())
  const program = `import { BloomFilter, WatchedBloomFilter } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url))}
    await WatchedBloomFilter.open(${JSON.stringify(file)})`
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 60000 })
})

test('the check of a large file lets others have the thread', async () => {
  const file = tempFile(build({ log2: 16, blocks: 8000 }))
  let turns = 0
  let next
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  turn()
  const filter = await BloomFilter.open(file)
  clearImmediate(next)
  // 64 MB are 32 slices, with the others' turn between each two.
  assert.ok(turns > 31, `${turns} turns`)
  assert.equal(filter.contains(1), false)
})

test('wait for the first file', async () => {
  const file = tempFile(sound())
  fs.renameSync(file, `${file}.later`)
  await assert.rejects(WatchedBloomFilter.wait(file, 0), { code: 'ENOENT' })
  setTimeout(() => fs.renameSync(`${file}.later`, file), 50)
  checkShared(await WatchedBloomFilter.wait(file, 60000))
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

test('a filter that nobody follows has no status', async () => {
  const watched = await WatchedBloomFilter.open(tempFile(sound()))
  assert.deepEqual(watched.status(), { place: 'none', failures: 0, reason: '', message: '', superseded: false, changes: 0 })
})
