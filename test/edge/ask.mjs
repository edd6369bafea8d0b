// Serves filters, starts workerd with the Workers of out/, and asks them.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'

const KEYS = 1000
let passed = 0
let failed = 0

function check (property, holds, seen) {
  holds ? passed++ : failed++
  console.log(`${holds ? 'ok' : 'not ok'} - ${property}`)
  if (!holds) {
    console.log(`# ${JSON.stringify(seen)}`)
  }
}

/** The bytes of a filter of integers. */
function filterOf (keys) {
  execFileSync(process.env.BLOOMFILTER, ['build', '-t', 'integer', '-n', '2000', '-p', '0.001', 'served.bloom'], { input: keys.join('\n') + '\n' })
  return fs.readFileSync('served.bloom')
}

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
let served = filterOf(range(1, KEYS))

const server = http.createServer((request, response) => {
  if (request.url === '/moved') {
    response.writeHead(302, { Location: '/users.bloom' }).end()
  } else if (served === undefined) {
    response.writeHead(404).end()
  } else {
    response.end(served)
  }
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const files = `http://127.0.0.1:${server.address().port}`

async function freePort () {
  const socket = net.createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}

const ports = { worker: await freePort(), refused: await freePort() }
const service = (name) => `(name = "${name}", worker = (
    modules = [(name = "${name}.js", esModule = embed "out/${name}.js"), (name = "bloomfilter.wasm", wasm = embed "out/bloomfilter.wasm")],
    bindings = [(name = "USERS", text = "${files}/users.bloom"), (name = "MOVED", text = "${files}/moved")],
    compatibilityDate = "2025-09-01"))`
const socket = (name) => `(name = "${name}", address = "127.0.0.1:${ports[name]}", http = (), service = "${name}")`
fs.writeFileSync('config.capnp', `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [${service('worker')}, ${service('refused')}, (name = "internet", network = (allow = ["private", "local", "public"]))],
  sockets = [${socket('worker')}, ${socket('refused')}]);
`)
const workerd = spawn('node_modules/.bin/workerd', ['serve', 'config.capnp'], { stdio: ['ignore', 'inherit', 'inherit'] })
let ended
workerd.on('exit', (status) => { ended = status })

/** What a Worker says, once it answers at all. */
async function ask (name, query = '') {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${ports[name]}/${query}`)
      const text = await response.text()
      return response.ok ? JSON.parse(text) : text
    } catch (error) {
      if (ended !== undefined) {
        throw new Error(`workerd ended with ${ended}`, { cause: error })
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

const known = async (keys) => {
  let count = 0
  for (const id of keys) {
    count += (await ask('worker', `?id=${id}`)).known === true
  }
  return count
}

try {
  const found = await known(range(1, KEYS))
  check(`a Worker finds each of ${KEYS} keys`, found === KEYS, found)
  const others = await known(range(1_000_001, 1_000_000 + KEYS))
  check('and hardly any other', others < 20, others)

  served = filterOf(range(5001, 6000))
  let taken = false
  while (!taken) {
    taken = (await ask('worker', '?id=5001')).known
  }
  const renewed = await known(range(5001, 6000))
  check('it takes a new file', renewed === KEYS, renewed)

  served = undefined
  const kept = await known(range(5001, 5100))
  check('and keeps the one that it has while there is none', kept === 100, kept)

  served = filterOf([1])
  const [followed, refused] = await ask('refused')
  check('a redirect is followed', followed === true, followed)
  check('but not with headers of one\'s own', /^BloomFilterError: .*302/.test(refused), refused)
} finally {
  server.close()
  server.closeAllConnections()
  workerd.kill()
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
