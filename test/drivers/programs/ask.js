// Asks by node-postgres; "lines.py" puts the document's lines in, and the types of the table.
'use strict'
const readline = require('readline')
const { Client } = require('pg')

async function lookup(client) {
  // LOOKUP
  return found
}

async function each(client) {
  // EACH
  return found
}

async function row(client) {
  // ROW
  return found
}

async function answer(question) {
  try {
    return JSON.stringify(await question())
  } catch (error) {
    return error.code
  }
}

// What the table says that the driver can send without a type, and what it can't.
const uuid = '00000000-0000-0000-0000-0000000000'
const types = [
  ['integer', 'number', 42, 43],
  ['integer', 'string', '42', '43'],
  ['integer', 'BigInt', 42n, 43n],
  ['text', 'string', 'a', 'b'],
  ['uuid', 'string', uuid + '42', uuid + '43'],
  ['numeric', 'number', 1.5, 2.5],
  ['bytea', 'Buffer', Buffer.from('abc'), Buffer.from('abd')],
  ['inet', 'string', '10.0.0.1', '10.0.0.2'],
  ['float', 'number', 1.5, 2.5],
  ['date', 'string', '2024-01-01', '2024-01-02'],
  ['timestamptz', 'Date', new Date('2024-01-01T00:00:00Z'), new Date('2024-01-02T00:00:00Z')],
]

async function askTypes(client) {
  const ask = (call, kind, key) => answer(async () => {
    const { rows } = await client.query(`select ${call} as found from held where kind = '${kind}'`, [key])
    return rows[0].found
  })
  for (const [kind, type, key, other] of types) {
    console.log(`${kind} ${type}:`,
      await ask('bloom_contains(filter, $1)', kind, key),
      await ask('bloom_contains(filter, $1)', kind, other),
      await ask('bloom_contains_each(filter, $1)', kind, [key, other]))
  }
}

async function main() {
  const client = new Client()
  await client.connect()
  if (process.argv[2] === 'types') {
    await askTypes(client)
  } else {
    for await (const line of readline.createInterface({ input: process.stdin })) {
      console.log(await answer(() => lookup(client)), await answer(() => each(client)), await answer(() => row(client)))
    }
  }
  await client.end()
}

main()
