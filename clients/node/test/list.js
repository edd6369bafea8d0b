// A list's folder and its steps, written for tests from doc/FORMAT.md, sections 17 and 19,
// and a web server that can be told to be wrong.
import { createHash, createPrivateKey, sign } from 'node:crypto'
import http from 'node:http'
import { Instance } from '../lib/instance.js'

export const IDENTITY = '0f8fad5b-d9cb-469f-a165-70867728950e'
const STEP_HEADER = 64

export const now = () => BigInt(Date.now()) * 1000n
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/** XXH64 with seed 0. */
export function checksum (bytes) {
  const instance = new Instance()
  const at = instance.needScratch(Math.max(bytes.length, 8))
  instance.bytes.set(bytes, at)
  instance.exports.hash_in_place(at, bytes.length)
  return instance.view.getBigUint64(at, true)
}

function varint (number) {
  const bytes = []
  let rest = number
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    bytes.push(rest % 128 + 128)
  }
  return [...bytes, rest]
}

/** Numbers of so many bits each, the lowest bit first. */
function packed (numbers, width) {
  const bytes = new Array(Math.ceil(numbers.length * width / 8)).fill(0)
  numbers.forEach((number, i) => {
    for (let bit = 0; bit < width; bit++) {
      const at = i * width + bit
      bytes[at >> 3] |= (number >> bit & 1) << (at & 7)
    }
  })
  return bytes
}

/** The positions at which one filter has 1 and an older one 0. */
function newPositions (older, newer) {
  const positions = []
  for (let at = 64; at < newer.length; at++) {
    const fresh = newer[at] & ~older[at]
    for (let bit = 0; fresh >> bit !== 0; bit++) {
      if (fresh >> bit & 1) {
        positions.push((at - 64) * 8 + bit)
      }
    }
  }
  return positions
}

function section (part, older, newer) {
  const positions = newPositions(older, newer)
  const width = newer[6]
  const blocks = Map.groupBy?.(positions, (position) => Math.floor(position / 2 ** width)) ?? grouped(positions, 2 ** width)
  if (positions.length === 0) {
    return []
  }
  const bytes = [...varint(part), width, ...varint(newer.readUInt32LE(8)), ...varint(Number(newer.readBigUInt64LE(40))), ...varint(blocks.size)]
  let next = 0
  for (const [block, some] of blocks) {
    bytes.push(...varint(block - next), ...varint(some.length - 1), ...packed(some.map((position) => position % 2 ** width), width))
    next = block + 1
  }
  return { bytes, count: positions.length }
}

function grouped (positions, size) {
  const groups = new Map()
  for (const position of positions) {
    const block = Math.floor(position / size)
    groups.set(block, [...groups.get(block) ?? [], position])
  }
  return groups
}

/** The step from one state of a set to another. */
export function stepOf (olders, newers, { epoch, from, to, identity = IDENTITY }) {
  const sections = newers.map((newer, part) => section(part, olders[part], newer)).filter(({ bytes }) => bytes !== undefined)
  const header = Buffer.alloc(STEP_HEADER)
  header.write('BLMS')
  header[4] = 1
  header.writeBigUInt64LE(epoch, 8)
  Buffer.from(identity.replaceAll('-', ''), 'hex').copy(header, 16)
  header.writeBigUInt64LE(from, 32)
  header.writeBigUInt64LE(to, 40)
  header.writeBigUInt64LE(BigInt(sections.reduce((sum, { count }) => sum + count, 0)), 48)
  return sealStep(Buffer.concat([header, ...sections.map(({ bytes }) => Buffer.from(bytes))]))
}

/** Makes a step's checksum right again. */
export function sealStep (step) {
  step.writeBigUInt64LE(checksum(Buffer.concat([step.subarray(0, 56), step.subarray(64)])), 56)
  return step
}

/** Files by their names, as a web server has them, that an exporter would write. */
export class Folder {
  constructor (parts, { name = 'users', identity = IDENTITY, begun = now() } = {}) {
    this.files = new Map()
    this.name = name
    this.identity = identity
    this.extra = []
    this.options = { poll: 1, spread: 0 }
    this.rebuild(parts, begun)
  }

  #put (bytes, ending) {
    const digest = sha256(bytes)
    this.files.set(`${digest}${ending}`, bytes)
    return `${bytes.length} ${digest}`
  }

  /** A new epoch. */
  rebuild (parts, serial = this.next) {
    this.epoch = this.serial = this.content = serial
    this.parts = parts
    this.steps = []
    this.inline = undefined
    this.wholes = parts.map((bytes, i) => `whole ${i} ${serial} ${this.#put(bytes, '.bloom')}`)
    this.publish()
  }

  get next () {
    const time = now()
    return time > this.serial ? time : this.serial + 1n
  }

  /** Parts to which bits were added; inline: the step is in the manifest, too. */
  advance (parts, { inline = true, change = (step) => step } = {}) {
    const [from, to] = [this.content, this.next]
    const step = change(stepOf(this.parts, parts, { epoch: this.epoch, from, to, identity: this.identity }))
    this.steps.push(`step ${from} ${to} ${this.#put(step, '.step')}`)
    this.inline = inline ? step : undefined
    this.parts = parts
    this.serial = this.content = to
    this.publish()
  }

  /** The manifest, with these keys' signatures. */
  publish (options = {}, keys = this.keys ?? []) {
    this.keys = keys
    Object.assign(this.options, options)
    const optional = Object.entries(this.options).filter(([, value]) => value !== undefined).map(([word, value]) => `${word} ${value}`)
    const lines = ['bloomfilter-list 1', `name ${this.name}`, `identity ${this.identity}`, 'exporter 5d9f6f3c1b2a4e70',
      `serial ${this.serial}`, `content ${this.content}`, `epoch ${this.epoch}`, `built ${this.epoch}`, ...optional, 'new_word of later',
      `parts ${this.wholes.length}`, ...this.wholes, ...this.steps]
    if (this.inline !== undefined) {
      lines.push(`inline ${this.inline.toString('base64')}`)
    }
    const text = `${[...lines, ...this.extra, `# ${'.'.repeat(this.files.size % 50)}`].join('\n')}\n`
    this.files.set('manifest', Buffer.from(text + keys.map((key) => key.sign(text)).join('')))
  }

  /** The same content once more, as a heartbeat. */
  beat (options) {
    this.serial = this.next
    this.publish({ true_at: this.serial, ...options })
  }

  get manifest () { return this.files.get('manifest').toString('latin1') }
  set manifest (text) { this.files.set('manifest', Buffer.from(text, 'latin1')) }
}

/** A key as minisign has them, of a secret of 32 bytes. */
export function keyOf (id, secret) {
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, secret)]), format: 'der', type: 'pkcs8'
  })
  const jwk = privateKey.export({ format: 'jwk' })
  return {
    text: Buffer.concat([Buffer.from(`Ed${id}`), Buffer.from(jwk.x, 'base64url')]).toString('base64'),
    sign (text) {
      const signature = sign(null, createHash('blake2b512').update(text).digest(), privateKey)
      const outer = sign(null, Buffer.concat([signature, Buffer.from('bloomfilter-list 1')]), privateKey)
      return `signature ${Buffer.concat([Buffer.from(`ED${id}`), signature]).toString('base64')} ${outer.toString('base64')}\n`
    }
  }
}

/** Serves folders by their paths as any static server does; change may make an answer wrong. */
export async function serve (folders, { port = 0, change = (answer) => answer, headers = {} } = {}) {
  const requests = []
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://x')
    const [, folder, name] = /^\/([^/]*)\/(.*)$/.exec(pathname) ?? []
    const bytes = folders[folder]?.files.get(name)
    const etag = `"${bytes === undefined ? '' : folders[folder].etag ?? sha256(bytes).slice(0, 16)}"`
    const plain = bytes === undefined
      ? { status: 404, headers, body: 'no such file' }
      : request.headers['if-none-match'] === etag
        ? { status: 304, headers: { ...headers, etag }, body: '' }
        : { status: 200, headers: { ...headers, etag }, body: bytes }
    const answer = change(plain, name, requests.length)
    requests.push({ name, status: answer.status, headers: request.headers })
    if (answer.status === 0) {
      return request.socket.destroy()
    }
    response.writeHead(answer.status, answer.headers)
    answer.open ? response.write(answer.body) : response.end(answer.body)
  }).listen(port, '127.0.0.1')
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
  const stop = () => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${server.address().port}`, port: server.address().port, requests, stop }
}
