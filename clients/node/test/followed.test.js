// Files that "bloomfilter pull" keeps: a page of facts and the parts of a list.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { BloomFilter, BloomFilterError, InvalidFilterError, Key, WatchedBloomFilter } from '../lib/index.js'
import { thisBoot } from '../lib/open.js'
import { PAGE } from '../lib/status.js'
import { build, buildSet, integers, keep, page, poke, pokeNumber, replace, rowsOf, sound, tempFile, tempFolder, until } from './helpers.js'

const SERIAL = 520
const SUPERSEDED = 600
const SAVED = 1024
const LOOKED = 1536
const BLOCKS = PAGE + 64

const otherBoot = Buffer.alloc(16, 'b')
const noPlace = thisBoot().every((byte) => byte === 0) && 'this system tells no boots apart'

function followedFile (filters, place) {
  const file = path.join(tempFolder(), 'f.bloom')
  keep(file, page(filters), place)
  return file
}

const statusOf = (file) => BloomFilter.openSync(file).status()

const rows = rowsOf('pages.tsv')

const PLACES = { here: 'here', boot: 'other boot', copy: 'copy', device: 'copy', nobody: 'none' }
const MOVED = { here: {}, boot: { boot: otherBoot }, copy: { inode: 1n }, device: { device: 1n } }

/** The vector's file, standing where the vector says. */
function atPlace (bytes, where) {
  const file = tempFile(bytes)
  if (where in MOVED) {
    keep(file, bytes, MOVED[where])
  }
  return file
}

for (const { name, word, where, told, true_at: trueAt, reason, message, file_hex: hex, keys } of rows) {
  test(`pages.tsv: ${name}`, { skip: noPlace }, async () => {
    const bytes = Buffer.from(hex, 'hex')
    if (word !== '-') {
      const file = atPlace(bytes, where)
      for (const open of [() => BloomFilter.openSync(file), () => BloomFilter.fromBytes(bytes)]) {
        assert.throws(open, (error) => error instanceof InvalidFilterError && error.rule === word, name)
      }
      await assert.rejects(BloomFilter.open(file), { rule: word, path: file })
      if (word === 'sum') {
        BloomFilter.openSync(file, { verify: false })
      }
      return
    }
    const file = atPlace(bytes, where)
    for (const filter of [BloomFilter.openSync(file), await BloomFilter.open(file), await BloomFilter.openSync(file).snapshot()]) {
      const status = filter.status()
      assert.deepEqual([status.place, status.serial, status.reason], [PLACES[where], told, reason])
      assert.deepEqual(status.trueAt, trueAt === '0' ? undefined : new Date(Math.floor(Number(trueAt) / 1000)))
      assert.ok(message === '' || status.message === message, status.message)
      assert.ok(keys.split(',').every((key) => filter.contains(Number(key))))
    }
  })
}

const numbers = (list) => list === '-' ? [] : list.split(',').map(Number)

for (const { name, word, file_hex: hex, keys, absent, errors } of rowsOf('tables.tsv')) {
  test(`tables.tsv: ${name}`, { skip: noPlace }, async () => {
    const file = atPlace(Buffer.from(hex, 'hex'), 'here')
    if (word !== '-') {
      assert.throws(() => BloomFilter.openSync(file), { rule: word })
      return
    }
    for (const filter of [BloomFilter.openSync(file), await BloomFilter.openSync(file).snapshot(), BloomFilter.fromBytes(Buffer.from(hex, 'hex'))]) {
      assert.equal(filter.status().changes, Number(Buffer.from(hex, 'hex').readBigUInt64LE(608)))
      for (const [list, answer] of [[keys, true], [absent, false]]) {
        assert.deepEqual(numbers(list).filter((key) => filter.contains(key) !== answer || filter.contains(BigInt(key)) !== answer), [])
        assert.deepEqual([...filter.containsMany(numbers(list))], numbers(list).map(() => Number(answer)))
      }
      for (const key of numbers(errors)) {
        assert.throws(() => filter.contains(key), { name: 'ChangesError', message: 'table of changes is damaged' })
        assert.throws(() => filter.containsMany([key]), { index: 0 })
      }
    }
  })
}

test('a change that comes in is known at once', { skip: noPlace }, async () => {
  const rows = rowsOf('tables.tsv')
  const [before, after] = ['empty_table', 'changed'].map((name) => Buffer.from(rows.find((row) => row.name === name).file_hex, 'hex'))
  const file = atPlace(before, 'here')
  const filter = BloomFilter.openSync(file)
  const copy = await filter.snapshot()
  assert.ok(filter.contains(1) && filter.status().changes === 0)
  poke(file, before.length - (33 << 10), after.subarray(before.length - (33 << 10)))
  assert.ok(filter.contains(1))
  pokeNumber(file, 608, 4n)
  assert.ok(!filter.contains(1) && filter.contains(2) && filter.status().changes === 4)
  assert.ok(copy.contains(1) && copy.status().changes === 0)
  assert.throws(() => filter.contains('x'), { name: 'KeyTypeError' })
})

test('an exact list is in memory, and its page is where it is', { skip: noPlace }, () => {
  const { where, file_hex: hex } = rows.find(({ name }) => name === 'exact_here')
  const file = atPlace(Buffer.from(hex, 'hex'), where)
  const filter = BloomFilter.openSync(file)
  poke(file, PAGE + 128, Buffer.alloc(64))
  assert.ok(filter.contains(1) && !filter.contains(1000))
  assert.throws(() => BloomFilter.openSync(file), { rule: 'part' })
  assert.ok(!filter.isSuperseded())
  pokeNumber(file, SUPERSEDED, 1n)
  assert.ok(filter.isSuperseded() && filter.status().superseded)
})

test('what a page tells', { skip: noPlace }, () => {
  const file = followedFile(buildSet(2, 300))
  const here = statusOf(file)
  assert.deepEqual({ ...here, age: 0, looked: 0 }, {
    list: 'public.users', identity: 'abababab-abab-abab-abab-abababababab', place: 'here', serial: '20',
    trueAt: new Date(1795395655100), looked: 0, age: 0, every: 10000, heartbeat: 0, expires: undefined,
    failures: 3, since: undefined, reason: 'no-look', message: 'could not connect?[2J', superseded: false, changes: 0
  })
  assert.ok(here.age >= 5000 && here.age < 3600000, `${here.age}`)
  // by the numbers of FEED.md, and not by the reader's own
  const numbers = [1795395600000000n, 0n, 4n, 2000000n, 20000000n, 1795395700000000n, 1795395500000000n]
  numbers.forEach((number, i) => pokeNumber(file, 1536 + 8 * i, number))
  const { looked, failures, every, heartbeat, expires, since } = statusOf(file)
  assert.deepEqual([looked, failures, every, heartbeat, expires, since],
    [new Date(1795395600000), 4, 2000, 20000, new Date(1795395700000), new Date(1795395500000)])
  replace(file, fs.readFileSync(file))
  const copy = statusOf(file)
  assert.deepEqual([copy.place, copy.serial, copy.trueAt], ['copy', '10', undefined])
  keep(file, page(buildSet(2, 300)), { boot: otherBoot })
  pokeNumber(file, SAVED, 999n)
  assert.deepEqual([statusOf(file).place, statusOf(file).serial], ['other boot', '10'])
})

test('clocks, and a follower that is no more', { skip: noPlace }, () => {
  const bytes = page([sound()])
  bytes.fill(0, 1592, 1864)
  const file = path.join(tempFolder(), 'f')
  keep(file, bytes)
  assert.equal(statusOf(file).reason, '')
  pokeNumber(file, LOOKED, BigInt(Date.now() + 3600000) * 1000n)
  assert.ok(statusOf(file).age < -3500000)
  assert.deepEqual([statusOf(file).reason, /^the last look is 3[56]\d\d s in the future$/.test(statusOf(file).message)], ['clock', true])
  // By the clock of this boot it was long ago, whatever the other says.
  pokeNumber(file, LOOKED + 8, 1n)
  assert.ok(statusOf(file).age > 0)
  pokeNumber(file, LOOKED + 8, 0n)
  pokeNumber(file, LOOKED, BigInt(Date.now() - 31000) * 1000n)
  assert.deepEqual([statusOf(file).reason, /^no look for 3\d s$/.test(statusOf(file).message)], ['old', true])
  pokeNumber(file, LOOKED, 0n)
  assert.deepEqual([statusOf(file).reason, statusOf(file).age], ['', undefined])
  pokeNumber(file, LOOKED, 2n ** 64n - 1n)
  assert.equal(statusOf(file).looked, undefined)
})

test('keys of all kinds, asked block by block, as in memory', { skip: noPlace }, async () => {
  const texts = Array.from({ length: 300 }, (_, i) => i % 7 === 0 ? `gr\u00fc\u00dfe ${i}` : `text ${i} ${'x'.repeat(i)}`)
  texts.push('x'.repeat(300000))
  const lists = [
    [1, integers(0, 400), Array.from({ length: 2000 }, (_, i) => i)],
    [2, texts.map((text) => Key.text(text)), [...texts, ...texts.map((text) => `no ${text}`)]],
    [6, [1.5, -0, 1e300].map((value) => Key.float(value)), [1.5, 0, -0, 1e300, 2.5]]
  ]
  for (const [keyType, members, asked] of lists) {
    for (const [parts, log2] of [[1, 9], [1, 16], [3, 9], [3, 12]]) {
      const filters = Array.from({ length: parts }, (_, part) => build({ part, parts, keyType, log2, blocks: 40 + part, seed: 9n }, members))
      const filter = BloomFilter.openSync(followedFile(filters))
      const copy = await filter.snapshot()
      const found = copy.containsMany(asked)
      assert.deepEqual(filter.containsMany(asked), found)
      assert.deepEqual(asked.map((key) => Number(filter.contains(key))), [...found])
      assert.ok(found.includes(0) || log2 === 16)
      assert.equal(filter.containsMany(members).indexOf(0), -1)
      assert.deepEqual(filter.info, copy.info)
      assert.deepEqual(filter.info.filters.map(({ checksum }) => checksum), filters.map((bytes) => BloomFilter.fromBytes(bytes).info.checksum))
    }
  }
})

test('errors are those of other filters', { skip: noPlace }, () => {
  const filter = BloomFilter.openSync(followedFile(buildSet(2, 100)))
  assert.throws(() => filter.contains('x'), { name: 'KeyTypeError' })
  assert.throws(() => filter.containsMany([1, 'x']), { name: 'KeyTypeError', index: 1, message: /^key 1: / })
  assert.throws(() => filter.containsMany(5), TypeError)
})

/** Two filters of one geometry: the second has a hundred keys more, of which the first lacks one. */
const [before, after] = [100, 200].map((count) => build({}, integers(0, count)))
const missing = Array.from({ length: 100 }, (_, i) => i + 100).find((key) => !BloomFilter.fromBytes(before).contains(key))

test('keys come in while the file is open; a snapshot stays', { skip: noPlace }, async () => {
  const file = followedFile([before])
  const filter = await BloomFilter.open(file)
  const copy = await filter.snapshot()
  assert.equal(filter.contains(missing), false)
  poke(file, BLOCKS, after.subarray(64))
  pokeNumber(file, SERIAL, 21n)
  assert.equal(filter.contains(missing), true)
  assert.equal(filter.containsMany([missing])[0], 1)
  assert.deepEqual([filter.status().serial, filter.info.bitsSet], ['21', BloomFilter.fromBytes(after).info.bitsSet])
  assert.deepEqual([copy.contains(missing), copy.status().serial], [false, '20'])
  assert.equal((await filter.snapshot()).contains(missing), true)
  assert.equal(await copy.snapshot(), copy)
})

// The follower writes bits and then the serial; whatever a snapshot tells must be in it.
test('a snapshot has everything of its serial', { skip: noPlace }, async (t) => {
  const blocks = 4000
  const shape = { blocks, seed: 3n }
  const file = followedFile([build(shape)])
  const filter = await BloomFilter.open(file)
  let key = 0
  let isOver = false
  t.after(() => { isOver = true })
  const start = build({ ...shape, keyType: 0 })
  const writing = (async () => {
    while (!isOver) {
      const added = build(shape, integers(key, key + 20))
      for (let at = 64; at < added.length; at++) {
        start[at] |= added[at]
      }
      poke(file, BLOCKS, start.subarray(64))
      key += 20
      pokeNumber(file, SERIAL, BigInt(1000 + key))
      await new Promise(setImmediate)
    }
  })()
  for (let i = 0; i < 20; i++) {
    const copy = await filter.snapshot()
    const told = Number(copy.status().serial) - 1000
    assert.equal(copy.containsMany(integers(0, Math.max(0, told))).indexOf(0), -1, `serial ${told}`)
  }
  isOver = true
  await writing
  assert.ok(key > 0)
})

test('a file that is cut is an error at the look-up, never a no', { skip: noPlace }, () => {
  const file = followedFile([sound()])
  const filter = BloomFilter.openSync(file)
  fs.truncateSync(file, PAGE + 64)
  assert.throws(() => filter.contains(5), (error) => error instanceof BloomFilterError && error.message === `${file}: file was cut short`)
  fs.truncateSync(file, 100)
  assert.throws(() => filter.status(), BloomFilterError)
})

test('a file that another one took the place of is left, and kept while that can\'t be opened', { skip: noPlace }, async () => {
  const file = followedFile([sound()])
  const errors = []
  const watched = await WatchedBloomFilter.open(file, { onError: (error) => errors.push(error) })
  const first = watched.current
  fs.linkSync(file, `${file}.old`)
  const next = page([build({ blocks: 9 }, integers(0, 200))])
  next.writeBigUInt64LE(30n, SERIAL)
  pokeNumber(`${file}.old`, SUPERSEDED, 1n)
  await watched.reload()
  assert.equal(watched.current, first, 'it was opened again though it is the same file')
  assert.equal(watched.status().superseded, true)
  keep(file, next)
  await until(() => watched.current !== first)
  assert.deepEqual([watched.status().serial, watched.contains(7)], ['30', true])
  // Who held the old one goes on with it.
  assert.equal(first.contains(7), true)
  pokeNumber(file, SUPERSEDED, 1n)
  replace(file, 'no filter')
  await until(() => errors.length > 0)
  assert.equal(errors[0].rule, 'short')
  assert.ok(watched.contains(7) && watched.status().superseded)
})

// Its own timer stands still: each tick is made here.
test('superseded is seen at each tick, the path at each tenth', { skip: noPlace }, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const file = followedFile([sound()])
  const next = page([build({ blocks: 9 }, integers(0, 200))])
  const watched = await WatchedBloomFilter.open(file)
  const first = watched.current
  fs.linkSync(file, `${file}.old`)
  keep(file, next)
  for (let i = 1; i < 10; i++) {
    await watched.tick()
    assert.equal(watched.current, first)
  }
  await watched.tick()
  assert.notEqual(watched.current, first)
  const second = watched.current
  fs.rmSync(`${file}.old`)
  fs.linkSync(file, `${file}.old`)
  keep(file, next)
  await watched.tick()
  assert.equal(watched.current, second)
  pokeNumber(`${file}.old`, SUPERSEDED, 1n)
  await watched.tick()
  assert.notEqual(watched.current, second)
})

for (const [name, harm] of Object.entries({
  'is overwritten': (file) => {
    fs.writeFileSync(file, page([build({ blocks: 9, seed: 4n }, integers(1000, 1300))]))
    assert.equal(BloomFilter.openSync(file).contains(1000), true)
  },
  'its follower found damaged': (file) => {
    pokeNumber(file, SUPERSEDED, 2n)
    assert.throws(() => BloomFilter.openSync(file), { rule: 'lost' })
  }
})) {
  test(`a file that ${name} is an error, and never a no, until another one takes its place`, { skip: noPlace }, async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const file = followedFile([sound()])
    const errors = []
    const watched = await WatchedBloomFilter.open(file, { onError: (error) => errors.push(error.message) })
    harm(file)
    await watched.tick()
    const changed = { name: 'ChangedFileError', message: `${file}: file was overwritten, or found damaged by its follower` }
    assert.throws(() => watched.contains(7), changed)
    assert.throws(() => watched.status(), changed)
    assert.deepEqual(errors, [changed.message])
    await assert.rejects(watched.reload(), changed)
    keep(file, page([sound()]))
    await watched.tick()
    assert.equal(watched.contains(7), true)
  })
}

test('a reader that insists on a list', { skip: noPlace }, async () => {
  const identity = 'ABABABAB-abab-abab-abab-abababababab'
  const file = followedFile([sound()])
  const watched = await WatchedBloomFilter.open(file, { identity })
  assert.ok(watched.contains(7))
  const other = page([sound()])
  other.fill(7, 32, 48)
  keep(file, other)
  await assert.rejects(watched.reload(), { rule: 'identity', message: /list public\.users, 07070707-.*not ABAB/ })
  assert.ok(watched.contains(7))
  assert.throws(() => BloomFilter.fromBytes(sound(), { identity }), { rule: 'identity' })
})

const library = JSON.stringify(new URL('../lib/index.js', import.meta.url))

test('files are closed when nobody holds them any more', { skip: noPlace || !fs.existsSync('/proc/self/fd') }, () => {
  const program = path.join(tempFolder(), 'gc.mjs')
  fs.writeFileSync(program, `import fs from 'node:fs'
    import { BloomFilter } from ${library}
    const count = () => fs.readdirSync('/proc/self/fd').length
    const before = count()
    let kept
    const open = () => { for (let i = 0; i < 100; i++) kept = BloomFilter.openSync(${JSON.stringify(followedFile([sound()]))}) }
    open()
    const most = count()
    for (let i = 0; i < 100 && count() > before + 1; i++) { gc(); await new Promise(setImmediate) }
    console.log(most - before, count() - before, kept.contains(7))`)
  assert.equal(execFileSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8' }), '100 1 true\n')
})
