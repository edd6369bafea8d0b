#!/usr/bin/env node
// Answers what test/readers asks of a reader, a line each: the top of test/readers/readers.py has the questions.
import fs from 'node:fs'
import { createInterface } from 'node:readline'
import { BloomFilter, BloomFilterError, Key, WatchedBloomFilter } from '../lib/index.js'

const opened = {}
const told = {}

const bytesOf = (digits) => Uint8Array.from(Buffer.from(digits, 'hex'))

const isWord = (value) => typeof value === 'bigint'

/** The key of a question, and a value of JavaScript that it is, or the key again. */
function keyOf (field) {
  const [name, ...words] = field.split(' ')
  const [form, type] = name.split(':')
  let text = words.join(' ')
  if (form === 'raw') {
    const key = Key.raw(type, bytesOf(text))
    return [key, type === 'integer' ? Buffer.from(key.bytes).readBigInt64LE() : key]
  }
  if (form === 'row') {
    const columns = words.filter(Boolean).map((word) => word.split(':')).map(([type, digits]) => Key.raw(type, bytesOf(digits)))
    return [Key.row(...columns), columns]
  }
  if (form === 'hex') {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(text))
  }
  const key = Key.parse(type ?? name, text)
  const own = { integer: BigInt, text: String, bytea: () => key.bytes }[type ?? name]
  return [key, own === undefined ? key : own(text)]
}

/** All ways to ask give the same answer. */
function agreed (answers) {
  return answers.every((answer) => answer === answers[0]) ? answers[0] : 'differ'
}

function ask (filter, field) {
  const [key, own] = keyOf(field)
  const safe = isWord(own) && BigInt(Number(own)) === own && Number.isSafeInteger(Number(own)) ? Number(own) : own
  return agreed([key, own, safe].map((one) => Number(filter.contains(one))))
}

function many (filter, fields) {
  const pairs = fields.map(keyOf)
  const ways = [pairs.map(([key]) => key), pairs.map(([, own]) => own)]
  if (ways[1].every(isWord)) {
    ways.push(BigInt64Array.from(ways[1]))
  }
  return agreed(ways.map((way) => filter.containsMany(way).join('')))
}

function lacks (filter, ranges) {
  const serial = filter.status().serial ?? 0
  let lacking = 0
  for (const range of ranges) {
    const [first, last] = range.split('-').map(Number)
    for (let key = first; key <= last; key++) {
      lacking += filter.contains(key) ? 0 : 1
    }
  }
  return `${serial} ${lacking}`
}

async function open (name, path, words) {
  const said = Object.fromEntries(words.map((word) => word.split('=')))
  const options = { verify: !('noverify' in said), identity: said.identity, onError: ({ message }) => { told[name] = message } }
  if ('wait' in said) {
    return WatchedBloomFilter.wait(path, said.wait * 1000, options)
  }
  if ('watch' in said) {
    return WatchedBloomFilter.open(path, options)
  }
  if ('bytes' in said) {
    return BloomFilter.fromBytes(fs.readFileSync(path), options)
  }
  return 'copy' in said ? (await BloomFilter.open(path, options)).snapshot() : BloomFilter.openSync(path, options)
}

const infoOf = (i) => [i.n, i.p, i.seed, i.hashes, i.blockBits, i.blocks, i.part, i.parts, i.keyType, i.bitsSet, i.checksum, i.bits, i.bytes,
  i.formatVersion, i.others, i.fill, ...(i.filters ?? []).flatMap(infoOf)]

function statusOf (s) {
  const [trueAt, looked, expires, since] = [s.trueAt, s.looked, s.expires, s.since].map((date) => date && date * 1000)
  return [s.list, s.identity, s.place, s.serial, trueAt, looked, s.age && s.age / 1000, s.every && s.every * 1000, s.heartbeat && s.heartbeat * 1000,
    expires, since, s.failures, Number(s.superseded), s.changes, s.reason, s.message]
}

/** The error's name, as clients/README.md has it; a text that is not UTF-8 no string has. */
function kindOf (error) {
  return error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'none' : error instanceof BloomFilterError ? error.name : 'SystemError'
}

function each (answer, fields) {
  return fields.map((field) => {
    try {
      return answer(field)
    } catch (error) {
      return kindOf(error)
    }
  })
}

const commands = {
  open: async (name, path, ...words) => { opened[name] = await open(name, path, words); return ['ok'] },
  keep: (name, watched) => { opened[name] = opened[watched].current; return ['ok'] },
  cd: (folder) => { process.chdir(folder); return ['ok'] },
  key: (...fields) => each((field) => keyOf(field)[0].describe(), fields),
  ask: (name, ...fields) => each((field) => ask(opened[name], field), fields),
  many: (name, ...fields) => [many(opened[name], fields)],
  lacks: (name, ...ranges) => [lacks(opened[name], ranges)],
  info: (name) => infoOf(opened[name].info),
  status: (name) => statusOf(opened[name].status()),
  reload: async (name) => [await opened[name].reload()],
  told: (name) => [told[name]]
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...rest] = line.split('\t')
  let answer
  try {
    answer = await commands[command](...rest)
  } catch (error) {
    answer = [kindOf(error), error.rule, error.index, error.message.replaceAll('\t', ' ')]
  }
  process.stdout.write(`${answer.join('\t')}\n`)
}
