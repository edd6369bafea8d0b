// What users' tools make of the package: CommonJS, bundlers, browsers.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { listen, sound, tempFile, tempFolder } from './helpers.js'

const here = path.dirname(fileURLToPath(import.meta.url))
const file = tempFile(sound())

let esbuild
try {
  esbuild = await import('esbuild')
} catch {
  // It is not to be had everywhere: run-tests says so.
}

const noNpm = spawnSync('npm', ['--version']).error && 'npm is not installed'

/** What a program prints that is written into a folder. */
function run (folder, name, text) {
  fs.writeFileSync(path.join(folder, name), text)
  return execFileSync(process.execPath, [path.join(folder, name)], { encoding: 'utf8', cwd: tempFolder(), timeout: 60000 })
}

/** A folder in which the package is installed, as npm does it. */
function installed () {
  const folder = tempFolder()
  const target = path.join(folder, 'node_modules/bloomfilter-reader')
  for (const name of ['package.json', 'lib', 'build/bloomfilter.wasm', 'build/wasm.js']) {
    fs.cpSync(path.join(here, '..', name), path.join(target, name), { recursive: true })
  }
  return folder
}

test('require and import give the same classes', () => {
  assert.equal(run(installed(), 'both.mjs', `import * as imported from 'bloomfilter-reader'
    import { createRequire } from 'node:module'
    const required = createRequire(import.meta.url)('bloomfilter-reader')
    const names = Object.keys(required)
    console.log(names.length > 8 && names.every((name) => imported[name] === required[name]),
      required.BloomFilter.openSync(${JSON.stringify(file)}).contains(42))`), 'true true\n')
})

/** A checkout without what is built, in which npm finds a compiler, or doesn't. */
function installFrom (compiler) {
  const checkout = tempFolder()
  for (const name of ['clients/node', 'src/core', 'src/feed', 'src/text']) {
    fs.cpSync(path.join(here, '../../..', name), path.join(checkout, name), {
      recursive: true, filter: (from) => !/clients\/node\/(build|node_modules|test)$/.test(from)
    })
  }
  const { status, stderr } = spawnSync('npm', ['install', '--offline', '--no-audit', '--no-fund', './clients/node'],
    { cwd: checkout, encoding: 'utf8', env: { ...process.env, CC: compiler } })
  return { status, stderr, checkout }
}

test('npm install of a checkout fetches nothing', { skip: noNpm }, () => {
  const { status, stderr, checkout } = installFrom('clang')
  assert.equal(status, 0, stderr)
  assert.deepEqual(fs.readdirSync(path.join(checkout, 'node_modules')).filter((name) => name[0] !== '.'), ['bloomfilter-reader'])
  assert.equal(run(checkout, 'use.mjs', `import { BloomFilter } from 'bloomfilter-reader'
    console.log(BloomFilter.openSync(${JSON.stringify(file)}).contains(42))`), 'true\n')
})

test('npm install without a compiler says what it wants', { skip: noNpm }, () => {
  const { status, stderr } = installFrom('no-such-compiler')
  assert.notEqual(status, 0)
  assert.match(stderr, /build-wasm: clang with a C library for WebAssembly, wasm-ld and xxhash\.h are needed/)
})

test('what is published', { skip: noNpm }, () => {
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'],
    { cwd: path.join(here, '..'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const names = JSON.parse(text)[0].files.map((entry) => entry.path)
  for (const wanted of ['LICENSE', 'LICENSE.musl', 'LICENSE.xxHash', 'build/bloomfilter.wasm', 'build/wasm.js', 'lib/index.d.ts']) {
    assert.ok(names.includes(wanted), wanted)
  }
  assert.deepEqual(names.filter((name) => /^(test|src)/.test(name)), [])
})

const asked = `console.log([BloomFilter.fromBytes(bytes).contains(42), Key.parse('numeric', '1.50').bytes.length].join())`

for (const [format, name] of [['esm', 'out.mjs'], ['cjs', 'out.cjs']]) {
  test(`a bundle for Node, ${format}`, { skip: esbuild === undefined && 'esbuild is not installed' }, () => {
    const source = path.join(installed(), 'in.mjs')
    fs.writeFileSync(source, `import fs from 'node:fs'
      import { BloomFilter, Key } from 'bloomfilter-reader'
      const bytes = fs.readFileSync(${JSON.stringify(file)})
      console.log(BloomFilter.openSync(${JSON.stringify(file)}).contains(42))
      ${asked}`)
    const [out] = esbuild.buildSync({ entryPoints: [source], bundle: true, platform: 'node', format, write: false }).outputFiles
    assert.equal(run(tempFolder(), name, out.text), 'true\ntrue,3\n')
  })
}

test('a bundle for browsers', { skip: esbuild === undefined && 'esbuild is not installed' }, async (t) => {
  const source = path.join(installed(), 'in.mjs')
  fs.writeFileSync(source, `import { BloomFilter, Key } from 'bloomfilter-reader'
    ${asked}
    globalThis.done = BloomFilter.fetch(url).then((filter) => filter.contains(42))
    globalThis.refused = BloomFilter.open('x').catch((error) => error.message)`)
  const [out] = esbuild.buildSync({ entryPoints: [source], bundle: true, platform: 'browser', format: 'iife', write: false }).outputFiles
  // What a page has, and nothing of Node.
  const lines = []
  const page = {
    bytes: fs.readFileSync(file), url: await listen(t, (_, response) => response.end(fs.readFileSync(file))), console: { log: (line) => lines.push(line) },
    atob, fetch, Headers, TextDecoder, TextEncoder, queueMicrotask, setTimeout, clearTimeout,
    Uint8Array, WebAssembly
  }
  page.globalThis = vm.createContext(page)
  vm.runInContext(out.text, page)
  assert.deepEqual(lines, ['true,3'])
  assert.equal(await page.done, true)
  assert.match(await page.refused, /no files here/)
})

// test/edge runs one of them.
for (const condition of ['workerd', 'edge-light']) {
  test(`a bundle for ${condition} imports the module and compiles nothing`, { skip: esbuild === undefined && 'esbuild is not installed' }, () => {
    const source = path.join(installed(), 'in.mjs')
    fs.writeFileSync(source, "export { BloomFilter } from 'bloomfilter-reader'")
    const [out] = esbuild.buildSync({
      entryPoints: [source], bundle: true, format: 'esm', write: false, conditions: [condition, 'worker', 'browser'], external: ['*.wasm?module']
    }).outputFiles
    assert.match(out.text, /^import \w+ from "\S*bloomfilter\.wasm\?module"/m)
    assert.doesNotMatch(out.text, /new WebAssembly\.Module|WebAssembly\.compile|node:/)
  })
}
