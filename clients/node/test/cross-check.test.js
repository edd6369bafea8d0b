import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { Key } from '../lib/index.js'
import { build, sound, tempFile } from './helpers.js'

const program = fileURLToPath(new URL('./cross-check.js', import.meta.url))
const run = (args, input) => spawnSync(process.execPath, [program, ...args], { input, encoding: 'utf8' })

test('answers line by line', () => {
  const result = run([tempFile(sound()), 'integer'], '5\n199\n123456789\n7')
  assert.equal(result.stdout, '1\n1\n0\n1\n')
  assert.equal(result.status, 0)
})

test('texts with all characters but the newline', () => {
  const texts = ['', 'a\rb', '\u2028', '\ufeffx', 'gr\u00fc\u00dfe']
  const file = tempFile(build({ keyType: 2 }, texts.map((text) => Key.text(text))))
  assert.equal(run([file, 'text'], texts.map((text) => `${text}\n`).join('')).stdout, '1\n'.repeat(5))
})

test('errors', () => {
  const file = tempFile(sound())
  for (const [args, input] of [
    [[], ''], [[file], ''], [[file, 'integer', 'explain', 'x'], ''], [[file, 'text'], 'a\n'], [[file, 'integer'], 'x\n'],
    [[`${file}.not`, 'integer'], '1\n'], [[file, 'what'], '1\n'], [[file, 'text'], Buffer.from('\xff\n', 'latin1')]
  ]) {
    const result = run(args, input)
    assert.equal(result.status, 2, String(args))
    assert.match(result.stderr, /^cross-check: ./)
  }
})
