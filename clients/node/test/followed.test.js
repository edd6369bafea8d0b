// Lists of a web server that are followed. Each look is asked for, so that nothing waits for
// a clock; the test "by itself" is the exception, and waits for what must come.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BloomFilter, BloomFilterError, ListError } from '../lib/index.js'
import { webDigests } from '../lib/digests.js'
import { FollowedBloomFilter } from '../lib/followed.js'
import { build, buildSet, integers } from './helpers.js'
import { Folder, keyOf, sealStep, serve, stepOf } from './list.js'

const ONE = { blocks: 200 }
const of = (count, shape = ONE) => [build(shape, integers(0, count))]

async function follow (t, folder, options = {}, server = {}) {
  const web = await serve({ users: folder }, server)
  t.after(web.stop)
  const followed = await BloomFilter.followUrl(`${web.url}/users/`, { every: 1e9, ...options })
  t.after(() => followed.close())
  return { ...web, followed }
}

const has = (filter, from, to) => Array.from({ length: to - from }, (_, i) => from + i).every((key) => filter.contains(key))
const isLacking = (filter, from, to) => !has(filter, from, to)
const names = (requests, ending) => requests.filter(({ name }) => name.endsWith(ending)).length
/** A host whose turn is in the middle, and a clock that can be ahead. */
function pretend (t) {
  const { random } = Math
  const { now } = performance
  const clock = { seconds: 0 }
  Math.random = () => 0.5
  performance.now = () => now.call(performance) + clock.seconds * 1000
  t.after(() => Object.assign(Math, { random }))
  t.after(() => { performance.now = now })
  return clock
}

const refused = (word) => (error) => error instanceof ListError && error.word === word

test('the whole, then steps by the manifest and by files, in the same filter', async (t) => {
  const folder = new Folder(of(100))
  const { followed, requests, url } = await follow(t, folder)
  const { current } = followed
  assert.ok(has(followed, 0, 100) && isLacking(followed, 100, 200))
  const before = await followed.status()
  assert.deepEqual([before.list, before.identity, before.serial, before.failures, before.server],
    ['users', folder.identity, String(folder.content), 0, `${url}/users/`])
  assert.ok(before.looked instanceof Date && before.built instanceof Date && before.trueAt === undefined)
  folder.advance(of(200))
  assert.equal(await followed.reload(), true)
  assert.ok(has(followed, 0, 200))
  assert.equal(names(requests, '.step'), 0, 'it was in the manifest')
  folder.advance(of(300), { inline: false })
  folder.advance(of(400))
  assert.equal(await followed.reload(), true)
  assert.equal(names(requests, '.step'), 2, 'both lead on')
  assert.ok(has(followed, 0, 400))
  assert.equal(followed.current, current)
  assert.equal(names(requests, '.bloom'), 1)
  folder.beat()
  assert.equal(await followed.reload(), false)
  const after = await followed.status()
  assert.deepEqual([after.serial, after.trueAt.getTime()], [String(folder.content), Number(folder.serial / 1000n)])
  assert.ok(Buffer.from(current.toBytes()).equals(folder.parts[0]), 'its bytes are the exporter\'s')
  assert.equal(followed.info.checksum, BloomFilter.fromBytes(folder.parts[0]).info.checksum)
})

test('a rebuilt list is swapped at once, and who has the old one keeps it', async (t) => {
  const folder = new Folder(of(300))
  let meanwhile = () => {}
  const { followed } = await follow(t, folder, {}, { change: (answer, name) => { meanwhile(name); return answer } })
  const { current } = followed
  const { serial } = await current.status()
  folder.rebuild(of(100, { blocks: 100 }))
  folder.advance(of(150, { blocks: 100 }), { inline: false })
  const seen = []
  meanwhile = (name) => seen.push([name.replace(/.*\./, ''), followed.current === current && has(followed, 0, 300)])
  assert.equal(await followed.reload(), true)
  assert.deepEqual(seen, [['manifest', true], ['bloom', true], ['step', true]])
  assert.notEqual(followed.current, current)
  assert.ok(has(followed, 0, 150) && isLacking(followed, 150, 300))
  assert.ok(has(current, 0, 300))
  assert.equal((await current.status()).serial, serial)
  assert.equal((await followed.status()).serial, String(folder.content))
})

test('sets of parts, and one that becomes a set', async (t) => {
  const folder = new Folder(buildSet(3, 100))
  const { followed, requests } = await follow(t, folder)
  folder.advance(buildSet(3, 300), { inline: false })
  await followed.reload()
  assert.ok(has(followed, 0, 300))
  assert.equal(followed.containsMany(Array.from({ length: 300 }, (_, i) => i)).reduce((sum, one) => sum + one), 300)
  assert.equal(names(requests, '.bloom'), 3)
  folder.rebuild(of(500))
  await followed.reload()
  assert.ok(has(followed, 0, 500))
  assert.equal(followed.info.parts, 1)
})

test('what must not be taken', async (t) => {
  const folder = new Folder(of(100))
  const { followed } = await follow(t, folder)
  const older = folder.manifest
  folder.advance(of(200))
  const beforeBeat = folder.manifest
  folder.beat()
  await followed.reload()
  const { serial, trueAt } = await followed.status()
  const right = folder.manifest
  for (const [word, manifest] of [
    ['back', older],
    ['back', beforeBeat],
    ['back', right.replace(/^serial .*/m, `serial ${folder.serial + 1n}`).replace(/^content .*/m, `content ${folder.epoch}`)
      .replace(/^step .*\n/m, '').replace(/^inline .*\n/m, '')],
    ['forked', right.replace(/^poll .*/m, 'poll 77')],
    ['identity', right.replace(/^identity .*/m, 'identity 5d9f6f3c-d9cb-469f-a165-70867728950e').replace(/^serial .*/m, `serial ${folder.serial + 1n}`)],
    ['list', right.replace(/^name .*/m, 'name others').replace(/^serial .*/m, `serial ${folder.serial + 1n}`)],
    ['clock', right.replace(/^serial .*/m, 'serial 9000000000000000000')],
    ['expired', right.replace(/^serial .*/m, `serial ${folder.serial + 1n}\nexpires 1700000000000000`)],
    ['line', '<html>\n'],
    ['must', right.replace(/^poll/m, 'must-know 1\npoll').replace(/^serial .*/m, `serial ${folder.serial + 1n}`)],
    ['step', right.replace(/^serial .*/m, `serial ${folder.serial + 2n}`).replace(/^content .*/m, `content ${folder.content + 1n}`)
      .replace(/^(step \d+) \d+/m, `$1 ${folder.content + 1n}`).replace(/^inline .*/m, `inline ${sealStep(stepOf(of(200), of(300),
        { epoch: folder.epoch, from: folder.content, to: folder.content + 1n, identity: '5d9f6f3c-d9cb-469f-a165-70867728950e' })).toString('base64')}`)]
  ]) {
    folder.manifest = manifest
    await assert.rejects(followed.reload(), refused(word), word)
    const status = await followed.status()
    assert.deepEqual([status.serial, status.trueAt, status.refused, status.failures > 0], [serial, trueAt, word, true], word)
    assert.ok(has(followed, 0, 200), word)
  }
  folder.manifest = right
  assert.equal(await followed.reload(), false)
  assert.deepEqual([(await followed.status()).failures, (await followed.status()).refused], [0, undefined])
})

test('what was known before a start', async (t) => {
  const folder = new Folder(of(100))
  const web = await serve({ users: folder })
  t.after(web.stop)
  const url = `${web.url}/users`
  await assert.rejects(BloomFilter.followUrl(url, { serial: String(folder.content + 1n) }), refused('back'))
  await assert.rejects(BloomFilter.followUrl(url, { identity: '5d9f6f3c-d9cb-469f-a165-70867728950e' }), refused('identity'))
  await assert.rejects(BloomFilter.followUrl(url, { name: 'others' }), refused('list'))
  const followed = await BloomFilter.followUrl(`${url}?token=secret`, { serial: String(folder.content), identity: folder.identity, name: 'users' })
  followed.close()
  assert.ok(!(await followed.status()).server.includes('secret'))
  assert.ok(has(followed, 0, 100))
  await assert.rejects(BloomFilter.followUrl(`${web.url}/nothing`), /the server answered 404/)
  await assert.rejects(BloomFilter.followUrl('http://lists.example.com/users'), /http lets others change what comes/)
  await assert.rejects(BloomFilter.followUrl(url, { every: 0 }), RangeError)
})

test('files that are damaged, too long, too short', async (t) => {
  const folder = new Folder(of(100))
  let change = (bytes) => bytes
  const { followed, requests } = await follow(t, folder, {}, {
    change: (answer, name) => name.includes('.') && answer.status === 200 ? { ...answer, body: change(answer.body) } : answer
  })
  const { serial } = await followed.status()
  folder.rebuild(of(200))
  for (const [make, message] of [
    [(bytes) => { const other = Buffer.from(bytes); other[70] ^= 1; return other }, /is not what the manifest says/],
    [(bytes) => bytes.subarray(0, -1), /is not what the manifest says/],
    [(bytes) => Buffer.concat([bytes, Buffer.alloc(1)]), /is longer than it may be/]
  ]) {
    change = make
    await assert.rejects(followed.reload(), message)
    assert.ok(has(followed, 0, 100) && isLacking(followed, 100, 200))
    assert.equal((await followed.status()).serial, serial)
  }
  change = (bytes) => bytes
  await followed.reload()
  assert.ok(has(followed, 0, 200))
  assert.match(requests.at(-1).headers['cache-control'] ?? '', /no-cache/, 'and no cache is asked again')
})

test('a manifest that is too long is not read', async (t) => {
  const folder = new Folder(of(100))
  folder.extra = [`# ${'x'.repeat(1 << 20)}`]
  folder.publish()
  await assert.rejects(follow(t, folder), /is longer than it may be/)
})

test('a step that is missing is waited for, then the whole is taken', async (t) => {
  const folder = new Folder(of(100))
  const { followed, requests } = await follow(t, folder)
  folder.advance(of(200), { inline: false })
  const gone = [...folder.files].filter(([name]) => name.endsWith('.step'))
  gone.forEach(([name]) => folder.files.delete(name))
  await assert.rejects(followed.reload(), /404/)
  await assert.rejects(followed.reload(), /404/)
  gone.forEach(([name, bytes]) => folder.files.set(name, bytes))
  assert.equal(await followed.reload(), true)
  assert.ok(has(followed, 0, 200))
  assert.equal(names(requests, '.bloom'), 1)
  // The third time the whole is taken, which the exporter has written anew meanwhile.
  folder.advance(of(300), { inline: false })
  const { serial, content } = folder
  const manifest = folder.manifest
  folder.files.delete([...folder.files.keys()].filter((name) => name.endsWith('.step')).at(-1))
  await assert.rejects(followed.reload(), /404/)
  await assert.rejects(followed.reload(), /404/)
  const whole = new Folder(of(300), { begun: content })
  for (const [name, bytes] of whole.files) {
    folder.files.set(name, bytes)
  }
  folder.manifest = manifest.replace(/^whole .*/m, whole.manifest.match(/^whole .*/m)[0]).replace(/^serial .*/m, `serial ${serial + 1n}`)
  const clock = pretend(t)
  await assert.rejects(followed.reload(), /404/, 'not by all at the same moment')
  assert.equal(names(requests, '.bloom'), 1)
  clock.seconds = 151
  assert.equal(await followed.reload(), true)
  assert.ok(has(followed, 0, 300))
  assert.equal(names(requests, '.bloom'), 2)
})

test('whole files that would not help are not fetched', async (t) => {
  const folder = new Folder(of(100))
  const { followed, requests } = await follow(t, folder)
  const clock = pretend(t)
  folder.advance(of(200), { inline: false })
  const step = [...folder.files].find(([name]) => name.endsWith('.step'))
  folder.files.delete(step[0])
  for (let i = 0; i < 6; i++) {
    await assert.rejects(followed.reload(), /404/)
    clock.seconds += 301
  }
  assert.equal(names(requests, '.bloom'), 1)
  // Whole files that have this step, but not the next one, which is gone, too.
  const { content } = folder
  folder.advance(of(300), { inline: false })
  folder.files.delete([...folder.files.keys()].filter((name) => name.endsWith('.step')).at(-1))
  const whole = new Folder(of(200), { begun: content })
  for (const [name, bytes] of whole.files) {
    if (name !== 'manifest') {
      folder.files.set(name, bytes)
    }
  }
  folder.manifest = folder.manifest.replace(/^whole .*/m, whole.manifest.match(/^whole .*/m)[0])
  for (let i = 0; i < 6; i++) {
    await assert.rejects(followed.reload(), /404/)
    clock.seconds += 301
  }
  assert.equal(names(requests, '.bloom'), 3, 'after each three misses and a turn, not by each look')
  folder.files.set(...step)
  await assert.rejects(followed.reload(), /404/)
  assert.ok(has(followed, 0, 100))
})

test('a step after which there are other bits than it says', async (t) => {
  const folder = new Folder(of(100))
  const { followed, requests } = await follow(t, folder)
  const { current } = followed
  const { serial } = await followed.status()
  // A step that lacks some of its bits, as if the copy had lost them.
  const lacking = (step) => {
    const other = stepOf(of(100), of(150), { epoch: folder.epoch, from: step.readBigUInt64LE(32), to: step.readBigUInt64LE(40) })
    const bits = Number(folder.parts[0].readBigUInt64LE(40))
    assert.ok(bits > 0)
    const varint = Buffer.from([bits + 500 & 127 | 128, (bits + 500) >> 7])
    assert.ok(bits + 500 < 1 << 14 && other.readUInt8(64) === 0 && other.readUInt8(66) >= 128)
    // part, log2, two bytes of blocks, two of bits set
    return sealStep(Buffer.concat([other.subarray(0, 68), varint, other.subarray(70)]))
  }
  folder.advance(of(200), { change: lacking })
  await assert.rejects(followed.reload(), refused('step'), 'here the whole and the step don\'t fit, either')
  assert.equal((await followed.status()).serial, serial)
  await assert.rejects(followed.reload(), refused('step'), 'and it is not trusted the second time')
  assert.equal((await followed.status()).serial, serial)
  assert.equal(names(requests, '.bloom'), 3, 'the whole was fetched each time')
  Object.assign(folder, { parts: of(100), content: folder.epoch, steps: [] })
  folder.advance(of(200))
  assert.equal(await followed.reload(), true)
  assert.equal(names(requests, '.bloom'), 4, 'nor is a right step, once that was so')
  assert.ok(has(followed, 0, 200) && followed.current !== current)
  folder.rebuild(of(200))
  assert.equal(await followed.reload(), true)
  assert.ok(has(followed, 0, 200) && followed.current !== current)
})

test('an ETag that stands for two manifests', async (t) => {
  const folder = new Folder(of(100))
  folder.etag = 'same'
  const { followed, requests } = await follow(t, folder)
  folder.advance(of(200))
  assert.equal(await followed.reload(), false, 'the server says that nothing changed')
  assert.equal(requests.at(-1).status, 304)
  const { now } = performance
  performance.now = () => now.call(performance) + 61000
  t.after(() => { performance.now = now })
  assert.equal(await followed.reload(), true, 'but it is asked without a condition each minute')
  assert.ok(has(followed, 0, 200))
})

test('signatures', async (t) => {
  const [a, b] = [keyOf('keyAAAAA', 1), keyOf('keyBBBBB', 2)]
  const folder = new Folder(of(100))
  folder.publish({}, [a, b])
  const { followed, url } = await follow(t, folder, { key: b.text })
  const both = await BloomFilter.followUrl(`${url}/users`, { key: [`untrusted comment: minisign public key\n${a.text}\n`, b.text] })
  both.close()
  folder.advance(of(200))
  await followed.reload()
  assert.ok(has(followed, 0, 200))
  folder.beat()
  folder.manifest = folder.manifest.replace(/^poll .*/m, 'poll 9')
  await assert.rejects(followed.reload(), refused('signature'))
  folder.publish({}, [a])
  await assert.rejects(followed.reload(), refused('signature'), 'signed by another key')
  folder.publish({}, [])
  await assert.rejects(followed.reload(), refused('signature'), 'not signed')
  // The same key and name are the same list.
  folder.identity = '5d9f6f3c-d9cb-469f-a165-70867728950e'
  folder.publish({}, [b])
  folder.rebuild(of(300))
  assert.equal(await followed.reload(), true)
  assert.ok(has(followed, 0, 300))
  await assert.rejects(BloomFilter.followUrl(`${url}/users`, { key: 'x' }), /not a public key/)
})

test('hosts that need the whole at the same moment spread', async (t) => {
  const folder = new Folder(of(300))
  const { followed } = await follow(t, folder)
  folder.options.spread = 1000
  folder.rebuild(of(100))
  const random = Math.random
  Math.random = () => 0.5
  t.after(() => { Math.random = random })
  assert.equal(await followed.reload(), false)
  assert.equal(await followed.reload(), false)
  assert.ok(has(followed, 0, 300))
  assert.equal((await followed.status()).failures, 0)
  const { now } = performance
  performance.now = () => now.call(performance) + 501000
  t.after(() => { performance.now = now })
  assert.equal(await followed.reload(), true)
  assert.ok(isLacking(followed, 100, 300))
})

test('as in a browser: its own cache, and WebCrypto', async (t) => {
  const folder = new Folder(of(100))
  const key = keyOf('keyAAAAA', 1)
  folder.publish({}, [key])
  const { url, requests, stop } = await serve({ users: folder })
  t.after(stop)
  const likeFilter = await BloomFilter.followUrl(`${url}/users`)
  likeFilter.close()
  const made = []
  const followed = await FollowedBloomFilter.open(`${url}/users`, { every: 1e9, key: key.text },
    { make: (parts, state) => { made.push(parts); return { status: async () => state } }, digests: webDigests, cached: true })
  t.after(() => followed.close())
  folder.advance(of(200))
  assert.equal(await followed.reload(), true)
  assert.ok(requests.every(({ headers }) => headers['if-none-match'] === undefined), 'conditions are the cache\'s')
  assert.equal(made.length, 1)
})

test('by itself: steps, a server that goes, and the end', async (t) => {
  const folder = new Folder(of(100))
  folder.publish({ poll: 0 })
  const first = await serve({ users: folder })
  const [changes, errors] = [[], []]
  const followed = await BloomFilter.followUrl(`${first.url}/users`, {
    every: 20, onChange: (filter) => changes.push(filter), onError: (error) => errors.push(error)
  })
  t.after(() => followed.close())
  const until = async (holds) => {
    for (let i = 0; i < 1200 && !holds(); i++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    assert.ok(holds(), String(holds))
  }
  folder.advance(of(200))
  await until(() => has(followed, 0, 200))
  await first.stop()
  await until(() => errors.length > 0)
  assert.ok(errors[0] instanceof BloomFilterError)
  assert.ok((await followed.status()).failures > 0)
  assert.ok(has(followed, 0, 200))
  folder.advance(of(300), { inline: false })
  folder.advance(of(400))
  const second = await serve({ users: folder }, { port: first.port })
  t.after(second.stop)
  await until(() => has(followed, 0, 400))
  folder.rebuild(of(500))
  await until(() => has(followed, 0, 500))
  assert.ok(changes.length >= 3 && changes.at(-1) === followed.current)
  followed.close()
  await assert.rejects(followed.reload(), /was closed/)
  assert.ok(has(followed, 0, 500))
})

test('the manifest says how often to look', async (t) => {
  const folder = new Folder(of(100))
  folder.publish({ poll: 3600 })
  const { followed, requests } = await follow(t, folder, { every: 1 })
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(names(requests, 'manifest'), 1)
  assert.ok(followed.contains(1))
})

test('a server that takes a request and says nothing doesn\'t hold up the end', async (t) => {
  const folder = new Folder(of(100))
  const stop = new AbortController()
  let silent = false
  const { followed } = await follow(t, folder, { signal: stop.signal }, {
    change: (answer) => {
      if (silent) {
        setImmediate(() => stop.abort())
        return { ...answer, status: 200, body: 'bloom', open: true }
      }
      return answer
    }
  })
  silent = true
  await assert.rejects(followed.reload(), /was closed/)
  assert.ok(has(followed, 0, 100))
})

test('a server that trickles is a failure', async (t) => {
  const folder = new Folder(of(100))
  let slow = false
  const { followed } = await follow(t, folder, {}, { change: (answer) => slow ? { ...answer, status: 200, body: 'b', open: true } : answer })
  slow = true
  const { setInterval } = globalThis
  globalThis.setInterval = (run, wait) => setInterval(run, wait / 300)
  t.after(() => { globalThis.setInterval = setInterval })
  await assert.rejects(followed.reload(), /less than 30000 bytes came in 30 s/)
  assert.equal((await followed.status()).failures, 1)
  assert.ok(has(followed, 0, 100))
})
