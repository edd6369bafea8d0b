#!/usr/bin/env node
// Asks a filter for keys, one per line of standard input, and prints 1 or 0 for
// each. Tests compare its output with the answers of SQL.
//
//   cross-check.js FILE TYPE [explain] <keys >answers
//
// TYPE is a name such as integer or timestamptz. Keys are spelled as PostgreSQL
// prints them.
import { BloomFilter, Key } from '../lib/index.js'

// Lines per write, and per batch.
const MANY = 4096

async function run ([path, type, explain, ...rest]) {
  if (type === undefined || rest.length > 0) {
    throw new Error('usage: cross-check.js FILE TYPE [explain]')
  }
  const filter = BloomFilter.openSync(path)
  let keys = []
  const answer = () => {
    process.stdout.write(Array.from(filter.containsMany(keys), (found) => `${found}\n`).join(''))
    keys = []
  }
  for await (const line of lines(process.stdin)) {
    if (explain) {
      process.stdout.write(filter.explain(Key.parse(type, line)) + '\n\n')
      continue
    }
    keys.push(Key.parse(type, line))
    if (keys.length === MANY) {
      answer()
    }
  }
  answer()
}

/** Lines end with \n only: a text key may have all other characters. */
async function * lines (stream) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  for await (const chunk of stream) {
    const whole = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = whole.pop()
    yield * whole
  }
  rest += decoder.decode()
  if (rest !== '') {
    yield rest
  }
}

run(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`cross-check: ${error.message}\n`)
  process.exitCode = 2
})
