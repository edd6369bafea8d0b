// Steps and manifests of the golden files.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import test from 'node:test'
import { webDigests } from '../lib/digests.js'
import { Instance } from '../lib/instance.js'
import { parseList } from '../lib/list.js'
import { blake2b, checkSignature, parseKeys } from '../lib/list-key.js'
import { nodeDigests } from '../lib/node-digests.js'
import { StepReader, setPositions } from '../lib/step.js'
import { noPause, runSync } from '../lib/steps.js'
import { build, integers } from './helpers.js'
import { stepOf } from './list.js'

function rowsOf (name) {
  const [first, ...lines] = fs.readFileSync(new URL(`../../../test/vectors/${name}`, import.meta.url), 'utf8').trimEnd().split('\n')
  const names = first.slice(1).split('\t')
  return lines.map((line) => Object.fromEntries(line.split('\t').map((field, i) => [names[i], field])))
}

function instanceOf (bytes) {
  const instance = new Instance()
  instance.room(bytes.length).set(bytes)
  runSync(instance.check(false))
  return { instance }
}

/** Which bits of a part are 1. */
function positionsOf ({ instance }) {
  const blocks = instance.bytes.subarray(instance.start + 64, instance.start + instance.length)
  return Array.from(blocks).flatMap((byte, at) => [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte >> bit & 1).map((bit) => at * 8 + bit))
}

function apply (reader, bytes, parts) {
  const step = reader.read(bytes, parts)
  const bits = new Map()
  const fresh = []
  runSync(reader.each((part, positions, bitsSet) => {
    bits.set(part, bitsSet)
    fresh[part] = (fresh[part] ?? 0) + setPositions(parts[part].instance, positions)
  }, noPause))
  return { ...step, bits, fresh }
}

for (const { name, word, geometry, step_hex: hex, positions } of rowsOf('steps.tsv')) {
  test(`step: ${name}`, () => {
    const shapes = geometry.split(';').map((one) => one.split(':').map(Number))
    const parts = shapes.map(([log2, blocks], part) => instanceOf(build({ log2, blocks, part, parts: shapes.length })))
    const bytes = Buffer.from(hex === '-' ? '' : hex, 'hex')
    if (word !== '-') {
      assert.throws(() => new StepReader().read(bytes, parts), { name: 'ListError', word: 'step', message: `a step is not valid: ${word}` })
      return
    }
    const { epoch, identity, from, to } = apply(new StepReader(), bytes, parts)
    assert.equal(identity, '0f8fad5b-d9cb-469f-a165-70867728950e')
    assert.ok(epoch <= from && from < to)
    const wanted = shapes.map(() => [])
    for (const one of positions === '-' ? [] : positions.split(';')) {
      const [part, list] = one.split(':')
      wanted[part] = list.split(',').map(Number)
    }
    assert.deepEqual(parts.map(positionsOf), wanted)
  })
}

test('a step of more positions than are set in one go', () => {
  for (const log2 of [9, 16]) {
    const shape = { log2, blocks: log2 === 9 ? 4096 : 40, k: 16 }
    const [older, newer] = [build(shape, integers(0, 3)), build(shape, integers(0, 30000))]
    const part = instanceOf(older)
    const reader = new StepReader()
    const step = stepOf([older], [newer], { epoch: 1n, from: 1n, to: 2n })
    const { bits, fresh } = apply(reader, step, [part])
    assert.deepEqual(positionsOf(part), positionsOf(instanceOf(newer)))
    assert.equal(bits.get(0), Number(newer.readBigUInt64LE(40)))
    assert.equal(fresh[0], Number(newer.readBigUInt64LE(40) - older.readBigUInt64LE(40)))
    assert.deepEqual(apply(reader, step, [part]).fresh, [0])
    part.instance.seal()
    assert.ok(Buffer.from(part.instance.bytes.subarray(part.instance.start, part.instance.start + newer.length)).equals(newer))
  }
})

for (const { name, word, word_with_key: wordWithKey, key, manifest_hex: hex } of rowsOf('lists.tsv')) {
  const text = Buffer.from(hex === '-' ? '' : hex, 'hex').toString('latin1')
  const check = async (keys, verify) => {
    try {
      await checkSignature(text, keys, verify)
      parseList(text)
      return '-'
    } catch (error) {
      assert.equal(error.name, 'ListError', error.stack)
      return error.word
    }
  }
  test(`manifest: ${name}`, async () => {
    assert.equal(await check([], nodeDigests.verify), word)
    assert.equal(await check(parseKeys(key), nodeDigests.verify), wordWithKey)
    assert.equal(await check(parseKeys([key, key]), webDigests.verify), wordWithKey, 'as browsers verify it')
  })
}

test('BLAKE2b is that of node:crypto', () => {
  for (let length = 0; length < 400; length++) {
    const bytes = Buffer.alloc(length).map((_, i) => i * 7 + length)
    assert.ok(createHash('blake2b512').update(bytes).digest().equals(blake2b(bytes)), String(length))
  }
})

test('what is no key of minisign', () => {
  for (const key of ['', 'x', 'RWQ', Buffer.alloc(42).toString('base64')]) {
    assert.throws(() => parseKeys(key), /not a public key of minisign/)
  }
})
