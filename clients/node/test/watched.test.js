import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, WatchedBloomFilter } from '../lib/index.js'
import { warnOnce } from '../lib/follower.js'
import { build, integers, sound, tempFile } from './helpers.js'

function replace (file, bytes) {
  fs.writeFileSync(`${file}.next`, bytes)
  fs.renameSync(`${file}.next`, file)
}

const shared = Array.from({ length: 100 }, (_, i) => i)

function checkShared (filter) {
  assert.ok(shared.every((key) => filter.contains(key)))
  assert.equal(filter.containsMany(shared).indexOf(0), -1)
}

test('nobody sees a wrong answer while filters take turns', async (t) => {
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

test('a filter in use survives the swap', async () => {
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  const filter = watched.current
  replace(file, build({ keyType: 0 }))
  await watched.reload()
  checkShared(filter)
  assert.equal(watched.contains(5), false)
})

test('memory of old filters comes back', async () => {
  const builds = [1, 2].map((key) => build({ blocks: 2 ** 17 }, integers(0, key)))
  const file = tempFile(builds[1])
  const watched = await WatchedBloomFilter.open(file)
  for (let i = 0; i < 150; i++) {
    replace(file, builds[i % 2])
    await watched.reload()
  }
  // 150 filters of 8 MiB would be 1.2 GiB.
  assert.ok(process.memoryUsage().rss < 800 * 2 ** 20, `${process.memoryUsage().rss} bytes`)
})

test('a reload reads nothing where nothing changed', async () => {
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  const before = watched.current
  assert.equal(await watched.reload(), false)
  // The same bytes in another file are the same filter.
  replace(file, sound())
  assert.equal(await watched.reload(), false)
  assert.equal(watched.current, before)
})

const next = () => Promise.withResolvers?.() ?? (() => {
  const both = {}
  both.promise = new Promise((resolve) => { both.resolve = resolve })
  return both
})()

test('following', async (t) => {
  const awake = setInterval(() => {}, 1000)
  t.after(() => clearInterval(awake))
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  const error = next()
  const change = next()
  watched.follow(5, { onChange: change.resolve, onError: error.resolve })
  replace(file, Buffer.from('BLMF'))
  assert.equal((await error.promise).name, 'InvalidFilterError')
  checkShared(watched)
  replace(file, build({}, integers(0, 300)))
  assert.equal(await change.promise, watched.current)
  assert.equal(watched.contains(250), true)
  watched.close()
  assert.throws(() => watched.follow(0), RangeError)
})

test('a follower lets its process end', () => {
  const file = tempFile(sound())
  const program = `import { BloomFilter, WatchedBloomFilter } from ${JSON.stringify(new URL('../lib/index.js', import.meta.url))}
    const watched = await WatchedBloomFilter.open(${JSON.stringify(file)})
    watched.follow(5)`
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

test('a lasting error is said again', (t) => {
  const said = []
  t.mock.method(process, 'emitWarning', (text) => said.push(text))
  let clock = 0
  const warn = warnOnce(10, () => clock)
  for (clock of [0, 5, 9, 10, 19, 20]) {
    warn(new Error('gone'))
  }
  assert.equal(said.length, 3)
})

test('status', async () => {
  const file = tempFile(sound())
  const watched = await WatchedBloomFilter.open(file)
  assert.equal((await watched.status()).serial, undefined)
  const { checksum } = watched.info
  const text = ['bloomfilter-status 1', 'looked 2026-11-22T01:02:03Z', `checksum ${checksum}`, 'list my users',
    'identity 0f8fad5b-d9cb-469f-a165-70867728950e', 'serial 1795395655123456', 'built 2026-11-21T01:02:03Z',
    'failures 2', 'error no server', 'next_checksum 0000000000000001', 'next_serial 7', ''].join('\n')
  fs.writeFileSync(`${file}.status`, text)
  const status = await watched.status()
  assert.deepEqual([status.list, status.serial, status.failures, status.error, status.looked, status.built],
    ['my users', '1795395655123456', 2, 'no server', new Date('2026-11-22T01:02:03Z'), new Date('2026-11-21T01:02:03Z')])
  fs.writeFileSync(`${file}.status`, text.replace(`\nchecksum ${checksum}`, '\nchecksum 1').replace('0000000000000001', checksum))
  assert.equal((await watched.status()).serial, '7')
  replace(file, build({ keyType: 0 }))
  await watched.reload()
  assert.deepEqual([(await watched.status()).serial, (await watched.status()).failures], [undefined, 2])
})
