// Asks by node-postgres; "keys.py" says what.
'use strict'
const readline = require('readline')
const { Client } = require('pg')

async function answer(client, sql, key) {
  try {
    const { rows } = await client.query({ text: sql, values: [key], rowMode: 'array' })
    return String(rows[0][0])
  } catch (error) {
    return error.code
  }
}

async function main() {
  const client = new Client()
  await client.connect()
  let keys = []
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [kind, way, sql] = line.split('\t')
    if (way === 'read') {
      keys = (await client.query({ text: sql, rowMode: 'array' })).rows.map(row => row[0])
    } else {
      const answers = []
      for (const key of keys) answers.push(await answer(client, sql, key))
      console.log(['node-postgres', kind, way, ...answers].join('\t'))
    }
  }
  await client.end()
}

main()
