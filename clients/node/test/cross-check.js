#!/usr/bin/env node
// Asks a filter for keys, one per line of standard input, and prints 1 or 0 for
// each. Tests compare its output with the answers of SQL.
//
//   cross-check.js FILE TYPE [describe] <keys >answers
//   cross-check.js FILE integer watch <ranges >answers
//
// TYPE is a name such as integer or timestamptz. Keys are spelled as PostgreSQL
// prints them. With watch a line has ranges such as 1-20, and the answer is the serial of
// the list and how many of these it then lacks.
import fs from 'node:fs'
import { createInterface } from 'node:readline'
import { BloomFilter, Key, WatchedBloomFilter } from '../lib/index.js'

async function run ([path, type, mode]) {
  if (mode === 'watch') {
    return watch(path)
  }
  const filter = BloomFilter.openSync(path)
  const keys = fs.readFileSync(0, 'utf8').replace(/\n$/, '').split('\n').map((line) => Key.parse(type, line))
  const answers = mode === 'describe'
    ? keys.map((key) => `${key.describe()}\n`)
    : Array.from(filter.containsMany(keys), (found) => `${found}\n`)
  process.stdout.write(answers.join(''))
}

async function watch (path) {
  const watched = await WatchedBloomFilter.open(path)
  for await (const line of createInterface({ input: process.stdin })) {
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

run(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`cross-check: ${error.message}\n`)
  process.exitCode = 2
})
