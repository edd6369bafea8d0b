#!/usr/bin/env node
// Asks a filter for keys, one per line of standard input, and prints 1 or 0 for
// each. Tests compare its output with the answers of SQL.
//
//   cross-check.js FILE TYPE [explain] <keys >answers
//   cross-check.js FILE integer watch <ranges >answers
//
// TYPE is a name such as integer or timestamptz. Keys are spelled as PostgreSQL
// prints them. With watch a line has ranges such as 1-20, and the answer is the serial of
// the list and how many of these it then lacks.
import { BloomFilter, Key, WatchedBloomFilter } from '../lib/index.js'

// Lines per write, and per batch.
const MANY = 4096

async function run ([path, type, explain, ...rest]) {
  if (type === undefined || rest.length > 0) {
    throw new Error('usage: cross-check.js FILE TYPE [explain | watch]')
  }
  if (explain === 'watch') {
    return watch(path)
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

async function watch (path) {
  const watched = await WatchedBloomFilter.open(path)
  for await (const line of lines(process.stdin)) {
    const { serial } = watched.status()
    let lacking = 0
    for (const range of line.split(' ').filter(Boolean)) {
      const [first, last] = range.split('-').map(Number)
      for (let key = first; key <= last; key++) {
        lacking += watched.contains(key) ? 0 : 1
      }
    }
    process.stdout.write(`${serial} ${lacking}\n`)
  }
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
