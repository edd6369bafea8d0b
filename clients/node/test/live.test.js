import assert from 'node:assert/strict'
import fs from 'node:fs'
import test from 'node:test'
import { Live } from '../lib/index.js'
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

test('nobody sees a wrong answer while filters take turns', async () => {
  const builds = [
    build({ blocks: 40 }, integers(0, 300)),
    build({ blocks: 9, log2: 10, seed: 8n }, integers(0, 100))
  ]
  const file = tempFile(builds[0])
  const live = await Live.open(file)
  let isOver = false
  let asked = 0
  const readers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      checkShared(live)
      asked++
      await new Promise(setImmediate)
    }
  })
  for (let i = 1; i <= 100; i++) {
    replace(file, builds[i % 2])
    await Promise.all([live.reload(), live.reload()])
    assert.equal(live.filter.info.seed, i % 2 === 0 ? 0n : 8n)
  }
  isOver = true
  await Promise.all(readers)
  assert.ok(asked > 0)
})

test('a failed reload keeps the old filter', async () => {
  const file = tempFile(sound())
  const live = await Live.open(file)
  for (const bytes of ['', sound().subarray(0, 100), 'bloomfilter-set 1\nmissing\n']) {
    replace(file, bytes)
    await assert.rejects(live.reload())
    checkShared(live)
  }
  fs.rmSync(file)
  await assert.rejects(live.reload())
  checkShared(live)
  replace(file, build({}, integers(0, 300)))
  await live.reload()
  assert.equal(live.contains(250), true)
  await assert.rejects(Live.open(tempFile('')))
})

test('a filter in use survives the swap', async () => {
  const file = tempFile(sound())
  const live = await Live.open(file)
  const { filter } = live
  replace(file, build({ keyType: 0 }))
  await live.reload()
  checkShared(filter)
  assert.equal(live.contains(5), false)
})

test('memory of old filters comes back', async () => {
  const file = tempFile(build({ blocks: 2 ** 17 }))
  const live = await Live.open(file)
  for (let i = 0; i < 150; i++) {
    await live.reload()
  }
  // 150 filters of 8 MiB would be 1.2 GiB.
  assert.ok(process.memoryUsage().rss < 800 * 2 ** 20, `${process.memoryUsage().rss} bytes`)
})
