// The manifest of a list's folder: section 19 of doc/FORMAT.md.
import { ListError } from './errors.js'

const FIRST_LINE = 'bloomfilter-list 1'
const SIGNATURE = 'signature '
const MUST = 'must-'
const MAX_NAME = 200
const MAX_PARTS = 65535
const MAX_INLINE = 16384
const MAX_FILE = 536866816
const MIN_FILE = 64 + 64
const STEP_HEADER = 64
const MIN_DELTA = 104

/** No manifest is longer. */
export const MAX_LIST = 1 << 20

const strictText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Each byte as a character of the same number; TextDecoder has no such encoding. */
export function latin1 (bytes) {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return text
}

export const bytesOf = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0))

/** Bytes before the first line of a signature. */
export function signedLength (text) {
  return text.startsWith(SIGNATURE) ? 0 : (text.indexOf(`\n${SIGNATURE}`) + 1 || text.length)
}

/** The lines behind them, each with its newline; all of them are signatures if all is right. */
export const signatureLines = (text) => text.slice(signedLength(text)).match(/.*\n|.+$/g) ?? []

export const isSignature = (line) => line.startsWith(SIGNATURE) && line.endsWith('\n')

/** The two values of such a line. */
export const signatureOf = (line) => line.slice(SIGNATURE.length, -1).split(' ')

/** The bytes of base64 with padding; undefined where it is none. */
export function fromBase64 (text) {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? bytesOf(atob(text)) : undefined
}

/** What a line has is turned into a value, or into undefined where it isn't as it must be. */
function number (text) {
  const value = /^(?:0|[1-9][0-9]{0,18})$/.test(text) ? BigInt(text) : undefined
  return value < 1n << 63n ? value : undefined
}

/** The same as a plain number, which is exact up to most. */
function small (text, least, most) {
  const value = Number(number(text))
  return value >= least && value <= most ? value : undefined
}

function name (text) {
  if (text.length < 1 || text.length > MAX_NAME || /^ | $|[\0-\x1f\x7f]/.test(text)) {
    return undefined
  }
  try {
    return strictText.decode(bytesOf(text))
  } catch {
    return undefined
  }
}

const matching = (pattern) => (text) => pattern.test(text) ? text : undefined
const digest = matching(/^[0-9a-f]{64}$/)

function rate (text) {
  const value = /^[0-9.e-]+$/.test(text) ? Number(text) : NaN
  return value >= 0 && value <= 1 ? value : undefined
}

/** Words that stand once, with what reads them. */
const ONCE = {
  name,
  identity: matching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  exporter: matching(/^[0-9a-f]{16}$/),
  serial: number,
  content: number,
  epoch: number,
  built: number,
  true_at: number,
  poll: number,
  spread: number,
  expires: number,
  rate,
  parts: (text) => small(text, 1, MAX_PARTS)
}

const MAY_BE_MISSING = ['true_at', 'expires', 'rate']

/** part, serial, length, digest */
function whole (text, list) {
  const [part, to, length, sha256, ...more] = text.split(' ')
  const file = { to: number(to ?? ''), length: small(length ?? '', MIN_FILE, MAX_FILE), digest: digest(sha256 ?? '') }
  return small(part, 0, MAX_PARTS - 1) === list.wholes.length && isWhole(file, more) ? file : undefined
}

/** from, to, length, digest */
function step (text) {
  const [from, to, length, sha256, ...more] = text.split(' ')
  const file = {
    from: number(from), to: number(to ?? ''), length: small(length ?? '', STEP_HEADER, 8 * MAX_FILE), digest: digest(sha256 ?? '')
  }
  return isWhole(file, more) && file.to > file.from ? file : undefined
}

/** The same of an older epoch; of a delta the part before, and the result's digest behind. */
function link (text, isDelta) {
  const values = text.split(' ')
  const part = isDelta ? small(values.shift(), 0, MAX_PARTS - 1) : 0
  const result = isDelta ? digest(values.splice(4, 1)[0] ?? '') : ''
  const [from, to, length, sha256, ...more] = values
  const file = {
    isDelta, part, result, from: number(from ?? ''), to: number(to ?? ''), length: small(length ?? '', isDelta ? MIN_DELTA : STEP_HEADER, MAX_FILE), digest: digest(sha256 ?? '')
  }
  return isWhole(file, more) && file.from > 0n && file.to > file.from ? file : undefined
}

const isWhole = (file, more) => more.length === 0 && Object.values(file).every((value) => value !== undefined)

function inline (text) {
  const bytes = fromBase64(text)
  return bytes?.length <= MAX_INLINE ? bytes : undefined
}

/** Takes a line's value into the list; returns whether it is as it must be. */
function takeLine (list, word, text) {
  if (Object.hasOwn(ONCE, word)) {
    const isFirst = list[word] === undefined
    list[word] = ONCE[word](text)
    return isFirst && list[word] !== undefined
  }
  if (word === 'whole' || word === 'step') {
    const file = (word === 'whole' ? whole : step)(text, list)
    list[`${word}s`].push(file)
    return file !== undefined
  }
  if (word === 'old-step' || word === 'delta') {
    const file = link(text, word === 'delta')
    list.chain.push(file)
    return file !== undefined
  }
  if (word === 'inline') {
    const isFirst = list.inline === undefined
    list.inline = inline(text)
    return isFirst && list.inline !== undefined
  }
  return true
}

/** Whether each link begins where the one before ended, deltas of all parts together, and they end in the epoch. */
function isChain (chain, epoch, parts) {
  let at
  for (let i = 0; i < chain.length;) {
    const first = chain[i]
    if (at !== undefined && first.from !== at) {
      return false
    }
    at = first.to
    for (let part = 0; part < (first.isDelta ? parts : 1); part++, i++) {
      const { isDelta, from, to, part: its } = chain[i] ?? {}
      if (isDelta !== first.isDelta || its !== part || from !== first.from || to !== first.to) {
        return false
      }
    }
  }
  return chain.length === 0 || (chain.at(-1).isDelta && at === epoch)
}

/** What no line tells alone. */
function problemOf ({ serial, content, epoch, wholes, steps, chain, parts, ...list }) {
  const words = { serial, content, epoch, parts, ...list }
  if (Object.keys(ONCE).some((word) => words[word] === undefined && !MAY_BE_MISSING.includes(word)) || wholes.length !== parts) {
    return 'a line is missing'
  }
  if (epoch < 1n || content < epoch || serial < content) {
    return 'its serials don\'t follow each other'
  }
  if (wholes.some(({ to }) => to !== wholes[0].to || to < epoch || to > content)) {
    return 'its whole files are of the wrong serial'
  }
  if (steps.some(({ from }, i) => from < epoch || (i > 0 && from !== steps[i - 1].to))) {
    return 'its steps don\'t follow each other'
  }
  if ((steps.at(-1)?.to ?? wholes[0].to) !== content) {
    return 'its steps don\'t lead to its content'
  }
  return isChain(chain, epoch, parts) ? undefined : 'its deltas don\'t lead to its epoch'
}

/** Reads a manifest; text has a character for each byte. Serials and times are of 64 bits. */
export function parseList (text) {
  const fail = (reason, word = 'line') => new ListError(word, `is no manifest of a list: ${reason}`)
  const lines = text.slice(0, signedLength(text)).split('\n')
  if (lines.pop() !== '') {
    throw fail(text === '' ? 'it is empty' : 'it has no newline at its end')
  }
  const list = { wholes: [], steps: [], chain: [] }
  for (const [i, line] of lines.entries()) {
    const space = line.indexOf(' ')
    const word = line.slice(0, Math.max(space, 0))
    if (i === 0 ? line !== FIRST_LINE : !line.startsWith('#') && (space < 1 || !takeLine(list, word, line.slice(space + 1)))) {
      throw fail(`line ${i + 1} is not as it must be`)
    }
    if (line.includes('\0')) {
      throw fail(`line ${i + 1} has a zero byte`)
    }
    if (i > 0 && word.startsWith(MUST)) {
      throw fail(`line ${i + 1} must be understood, which takes a newer version of this package`, 'must')
    }
  }
  const problem = lines.length === 0 ? 'it is empty' : problemOf(list)
  if (problem !== undefined) {
    throw fail(problem)
  }
  if (!signatureLines(text).every(isSignature)) {
    throw fail('a line stands behind a signature')
  }
  return list
}
