// Asks by node-postgres, or by postgres.js if that is the argument; "keys.py" says what.
'use strict'
const readline = require('readline')

// Each gives the rows of a statement, as arrays.
const drivers = {
  'node-postgres': async () => {
    const client = new (require('pg').Client)()
    await client.connect()
    return {
      run: async (sql, ...values) => (await client.query({ text: sql, values, rowMode: 'array' })).rows,
      end: () => client.end()
    }
  },
  'postgres.js': async () => {
    const sql = require('postgres')({ host: process.env.PGHOST, max: 1, onnotice: () => {} })
    return { run: (text, ...values) => sql.unsafe(text, values, { prepare: true }).values(), end: () => sql.end() }
  }
}

async function answer(driver, sql, key) {
  try {
    return String((await driver.run(sql, key))[0][0])
  } catch (error) {
    return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : 'client'
  }
}

async function main(name) {
  const driver = await drivers[name]()
  let keys = []
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [kind, way, sql] = line.split('\t')
    if (way === 'read') {
      keys = (await driver.run(sql)).map(row => row[0])
    } else {
      const answers = []
      for (const key of keys) answers.push(await answer(driver, sql, key))
      console.log([name, kind, way, ...answers].join('\t'))
    }
  }
  await driver.end()
}

main(process.argv[2])
