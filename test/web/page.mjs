// The page as a person uses it: page.mjs READER WORK, in Chromium and in Firefox.
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const [reader, work] = process.argv.slice(2)
const { BloomFilter } = await import(path.join(reader, 'lib', 'index.js'))
const PAGE = path.join(reader, 'build', 'page.html')
const SIZES = readFileSync(path.join(work, 'sizes'), 'utf8').trim().split('\n').map((line) => line.split(' '))
const COLUMNS = ['bits', 'bytes', 'hashes', 'blockBits', 'blocks', 'bitsPerKey', 'expectedFpr', 'classicBits',
  'classicHashes', 'parts']

let passed = 0
let failed = 0

function ok (holds, name, detail) {
  holds ? passed++ : failed++
  console.log(`${holds ? '' : 'not '}ok - ${name}`)
  if (!holds && detail !== undefined) {
    console.log(`# ${JSON.stringify(detail)}`)
  }
}

function is (got, wanted, name) {
  ok(got === wanted, name, { got, wanted })
}

const file = (name) => path.join(work, name)

let expected

async function makeFiles () {
  const keys = Array.from({ length: 5000 }, (_, i) => `user${i}@example.com`)
  const filter = BloomFilter.build(keys, { n: 5000, p: 0.001 })
  await filter.write(file('users.bloom'))
  const bytes = filter.toBytes()
  bytes[100] ^= 1
  writeFileSync(file('flipped.bloom'), bytes)
  await filter.write(file('short.bloom'))
  truncateSync(file('short.bloom'), 700)
  writeFileSync(file('letter.txt'), 'Dear Sir or Madam')
  const numbers = BloomFilter.build([1, 2, 3], { n: 10, p: 0.001 })
  await numbers.write(file('numbers.bloom'))
  expected = { filter: numbers }
}

/** The sizes that SQL gave, by the function that the page calls. */
async function sameSizes () {
  const { sizing } = await import(path.join(reader, 'lib', 'index.js'))
  const wrong = SIZES.filter(([n, p, ...wanted]) => {
    const got = sizing(BigInt(n), Number(p))
    return COLUMNS.some((column, i) => got[column] !== Number(wanted[i]))
  })
  is(SIZES.length, 1000, 'there are a thousand sizes of SQL')
  ok(wrong.length === 0, 'sizing is bloom_sizing, to the last digit, for a thousand n and p', wrong.slice(0, 3))
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent)

async function type (page, selector, value) {
  await page.$eval(selector, (element) => { element.value = '' })
  await page.type(selector, value)
}

/** Waits for a place to say something that it didn't say before. */
async function says (page, selector) {
  await page.waitForFunction((at) => document.querySelector(at).textContent.trim() !== '', {}, selector)
  return text(page, selector)
}

async function size (page, browser) {
  for (const [n, p, ...wanted] of SIZES.slice(0, 5)) {
    await type(page, '#size-n', n)
    await type(page, '#size-p', p)
    const cells = await page.$$eval('#size-table tr', (rows) => rows.map((row) => row.cells[1].textContent))
    is(cells[1].replaceAll(',', ''), wanted[1], `${browser}: bytes for n = ${n}, p = ${p}`)
    is(cells[8], String(Number(wanted[6])), `${browser}: rate for n = ${n}, p = ${p}`)
  }
  await type(page, '#size-n', 'many')
  ok((await text(page, '#size-error')).includes('whole number'), `${browser}: letters for n are an error that says so`)
  await type(page, '#size-n', '1,000,000')
  await type(page, '#size-p', '1 %')
  is(await text(page, '#size-error'), '', `${browser}: numbers as people write them are right`)
  ok(await page.$$eval('#size-curve path', (paths) => paths.length === 1 && paths[0].getAttribute('d').length > 500),
    `${browser}: the curve is drawn`)
}

async function drop (page, ...names) {
  await page.$eval('#look-info', (element) => element.replaceChildren())
  const input = await page.$('#look-file')
  await input.uploadFile(...names.map(file))
}

async function look (page, browser) {
  await drop(page, 'flipped.bloom')
  ok(/bits|checksum/.test(await says(page, '#look-error')), `${browser}: one bit flipped is an error`, await text(page, '#look-error'))
  await drop(page, 'short.bloom')
  await page.waitForFunction(() => /size|short|length/i.test(document.querySelector('#look-error').textContent))
  ok(true, `${browser}: a file cut short is an error: ${await text(page, '#look-error')}`)
  await drop(page, 'letter.txt')
  await page.waitForFunction(() => /short|not a bloomfilter|magic/i.test(document.querySelector('#look-error').textContent))
  ok(true, `${browser}: another file is an error: ${await text(page, '#look-error')}`)
  await drop(page, 'users.bloom')
  const info = await says(page, '#look-info')
  ok(info.includes('text') && info.includes('5,000 keys') && info.includes('0.1 %'), `${browser}: a filter tells what it is`, info)
  is(await text(page, '#look-error'), '', `${browser}: and the error is gone`)
  ok(/^\d+ blocks: the emptiest has .* % .* the fullest .* %/.test(await says(page, '#look-fill-text')),
    `${browser}: its fill is told in words, too`)
}

async function lookUp (page, keys) {
  await page.$eval('#ask-result', (element) => element.replaceChildren())
  await page.$eval('#ask-error', (element) => element.replaceChildren())
  await type(page, '#ask-keys', keys)
  await page.focus('#ask-form button')
  await page.keyboard.press('Enter')
}

async function ask (page, browser) {
  await lookUp(page, 'user0@example.com\nuser4999@example.com\nnobody@example.com')
  await says(page, '#ask-result')
  const answers = await page.$$eval('#ask-result tbody:first-of-type tr', (rows) => rows.map((row) => row.cells[1]?.textContent))
  ok(answers[0].startsWith('in the list') && answers[1].startsWith('in the list') && answers[2] === 'not in the list',
    `${browser}: members are found, by the keyboard alone`, answers)
  await drop(page, 'numbers.bloom')
  await says(page, '#look-info')
  await lookUp(page, 'user0@example.com')
  ok((await says(page, '#ask-error')).includes('integer'), `${browser}: a key of another kind is an error`, await text(page, '#ask-error'))
  await lookUp(page, '2')
  const answer = await says(page, '#ask-result')
  ok(answer.includes('in the list'), `${browser}: a key of the filter's kind is looked up`)
  const { filter } = expected
  ok(answer.includes(filter.explain(2).trimEnd()), `${browser}: and explained in the reader's own words`, answer)
}

const luminance = (color) => {
  const [r, g, b] = color.match(/\d+/g).slice(0, 3).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** A file server that answers ranges, as any does; without ranges where the path says so. */
function serve () {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const bytes = readFileSync(file('users.bloom'))
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Content-Range, ETag',
      'Access-Control-Allow-Headers': 'Range' }
    if (request.method === 'OPTIONS') {
      response.writeHead(204, headers).end()
    } else if (from === undefined || pathname === '/whole.bloom') {
      response.writeHead(200, headers).end(bytes)
    } else {
      response.writeHead(206, { ...headers, 'Content-Range': `bytes ${from}-${to}/${bytes.length}` })
        .end(bytes.subarray(Number(from), Number(to) + 1))
    }
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

async function askByRanges (page, browser, port) {
  await type(page, '#ask-url', `http://127.0.0.1:${port}/users.bloom`)
  await lookUp(page, 'user7@example.com\nnobody@example.com')
  const result = await says(page, '#ask-result')
  ok(result.includes('1 in the list or false positives, 1 not in the list'), `${browser}: a key is looked up on a web server`, result)
  ok(/Fetched: the header of 64 bytes, and \d[\d,]* bytes of blocks/.test(result), `${browser}: and what was fetched is shown`, result)
  ok(/ \d+=1/.test(result) && /\d+=0/.test(result), `${browser}: with the bits of the probes`, result)
  await type(page, '#ask-url', `http://127.0.0.1:${port}/whole.bloom`)
  await lookUp(page, 'user7@example.com')
  ok((await says(page, '#ask-error')).includes('does not answer ranges'), `${browser}: a server without ranges is an error`,
    await text(page, '#ask-error'))
  await page.click('input[name=ask-source][value=file]')
}

const CORS = { 'Access-Control-Allow-Origin': '*' }

function filtersOf (...counts) {
  const size = { n: 1000, p: 0.0001 }
  return counts.map((count) => [Buffer.from(BloomFilter.build(Array.from({ length: count }, (_, i) => i), size).toBytes())])
}

const shows = (page, selector, pattern) =>
  page.waitForFunction((at, of) => new RegExp(of).test(document.querySelector(at).textContent), { timeout: 120000 }, selector, pattern)

/** A list that is followed: steps, a rebuild, an older manifest, a damaged file, a server that goes. */
async function followList (page, browser, origins) {
  const { Folder, serve } = await import(path.join(reader, 'test', 'list.js'))
  const [one, two, three, four, five, rebuilt, grown] = filtersOf(100, 200, 300, 400, 500, 101, 201)
  const folder = new Folder(one)
  let damage = (bytes) => bytes
  const change = (answer, name) => name.endsWith('.bloom') ? { ...answer, body: damage(answer.body) } : answer
  const web = await serve({ users: folder }, { headers: CORS, change })
  origins.push(web.url)
  const finds = (count) => shows(page, '#ask-result', `^5 looked up: ${count} in the list`)
  await type(page, '#ask-list', `${web.url}/users/`)
  await lookUp(page, '50\n150\n250\n350\n450')
  await finds(1)
  ok(true, `${browser}: a list's folder is followed`)
  const first = folder.manifest
  folder.advance(two)
  await finds(2)
  ok(true, `${browser}: a step of its manifest is taken without a click`)
  folder.advance(three, { inline: false })
  await finds(3)
  ok(true, `${browser}: and one of a file`)
  is(web.requests.filter(({ name }) => name.endsWith('.bloom')).length, 1, `${browser}: the whole was fetched once`)
  folder.manifest = first
  await shows(page, '#ask-error', 'older than what was here')
  ok((await text(page, '#ask-result')).includes('3 in the list'), `${browser}: an older manifest is refused`)
  folder.advance(four)
  await finds(4)
  folder.manifest = folder.manifest.replace(/^identity .*/m, 'identity 5d9f6f3c-d9cb-469f-a165-70867728950e').replace(/^poll .*/m, 'poll 2')
  await shows(page, '#ask-error', 'another list of this name')
  ok((await text(page, '#ask-result')).includes('4 in the list'), `${browser}: another identity is refused`)
  folder.advance(five)
  await finds(5)
  // Of content that the browser has in no cache.
  damage = (bytes) => { const other = Buffer.from(bytes); other[80] ^= 1; return other }
  folder.rebuild(rebuilt)
  await shows(page, '#ask-error', 'is not what the manifest says')
  ok((await text(page, '#ask-result')).includes('5 in the list'), `${browser}: a damaged file is refused`)
  damage = (bytes) => bytes
  await finds(1)
  ok(true, `${browser}: a rebuilt list takes the old one's place`)
  await web.stop()
  await page.waitForFunction(() => document.querySelector('#ask-error').textContent !== '', { timeout: 120000 })
  ok((await text(page, '#ask-result')).includes('1 in the list'), `${browser}: without its server it goes on answering`)
  folder.advance(grown)
  const again = await serve({ users: folder }, { headers: CORS, port: web.port })
  await finds(2)
  ok(true, `${browser}: and goes on where it was when it is back`)
  await signed(page, browser, origins)
  await again.stop()
  await page.click('input[name=ask-source][value=file]')
}

/** Signed lists, by the reader's own bundle, and what a browser that can't verify says. */
async function signed (page, browser, origins) {
  const { Folder, keyOf, serve } = await import(path.join(reader, 'test', 'list.js'))
  const { buildSync } = await import(path.join(reader, 'node_modules', 'esbuild', 'lib', 'main.js'))
  const [bundle] = buildSync({ entryPoints: [path.join(reader, 'lib', 'browser.js')], bundle: true, format: 'iife',
    globalName: 'reader', platform: 'browser', write: false }).outputFiles
  const [a, b] = [keyOf('keyAAAAA', 1), keyOf('keyBBBBB', 2)]
  const folder = new Folder(filtersOf(100)[0])
  folder.publish({}, [a])
  const web = await serve({ users: folder }, { headers: CORS })
  origins.push(web.url)
  await page.addScriptTag({ content: bundle.text })
  const answer = (key) => page.evaluate(async (url, one) => {
    try {
      const list = await globalThis.reader.BloomFilter.followUrl(url, { key: one })
      list.close()
      return [list.contains(7), list.contains(1007)].join()
    } catch (error) {
      return error.message
    }
  }, `${web.url}/users`, key)
  const right = await answer(a.text)
  ok(right === 'true,false' || /this browser has no Ed25519/.test(right), `${browser}: a signed list: ${right}`)
  ok(/no right signature/.test(await answer(b.text)), `${browser}: signed by another key is refused`)
  await web.stop()
}

/** Contrast of 4.5 at least for text, names for all that is filled in, no sideways scrolling. */
async function accessible (page, browser) {
  for (const scheme of browser === 'chromium' ? ['light', 'dark'] : ['light']) {
    if (browser === 'chromium') {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    }
    const colors = await page.evaluate(() => ['body', '.note', '.error', 'dt', 'a', 'button'].map((at) => {
      const style = getComputedStyle(document.querySelector(at))
      const back = at === 'button' ? style.backgroundColor : getComputedStyle(document.body).backgroundColor
      return [at, style.color, back]
    }))
    const poor = colors.filter(([, front, back]) => {
      const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b)
      return (high + 0.05) / (low + 0.05) < 4.5
    })
    ok(poor.length === 0, `${browser}: contrast is enough in ${scheme} colours`, poor)
  }
  const nameless = await page.$$eval('input, textarea, svg, canvas', (elements) => elements.filter((element) =>
    !(element.labels?.length > 0) && !element.getAttribute('aria-label') && !document.getElementById(element.getAttribute('aria-labelledby'))?.textContent)
    .map((element) => element.outerHTML.slice(0, 80)))
  ok(nameless.length === 0, `${browser}: all that is filled in or drawn has a name for screen readers`, nameless)
  await page.setViewport({ width: 360, height: 700 })
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360), `${browser}: a small screen scrolls down only`)
}

async function inBrowser (browser, executablePath, port) {
  const options = { browser: browser === 'firefox' ? 'firefox' : 'chrome', executablePath, headless: true }
  const program = await puppeteer.launch({ ...options, args: browser === 'firefox' ? [] : ['--no-sandbox'] })
  try {
    const page = await program.newPage()
    const asked = []
    const errors = []
    page.on('request', (request) => asked.push(request.url()))
    // Firefox tells of a server that is gone as of an error of the page, which it isn't.
    page.on('pageerror', ({ message }) => /^Cross-Origin Request Blocked.*CORS request did not succeed/.test(message) || errors.push(message))
    await page.goto(`file://${PAGE}`)
    await size(page, browser)
    await look(page, browser)
    await ask(page, browser)
    await askByRanges(page, browser, port)
    const origins = [`http://127.0.0.1:${port}`]
    await followList(page, browser, origins)
    await accessible(page, browser)
    const others = asked.filter((url) => !/^(file|data|blob):/.test(url) && !origins.some((origin) => url.startsWith(`${origin}/`)))
    ok(others.length === 0, `${browser}: nobody else is asked`, others)
    ok(errors.length === 0, `${browser}: no error goes unseen`, errors)
  } finally {
    await program.close()
  }
}

ok(statSync(PAGE).size < 300000, `the page is ${statSync(PAGE).size} bytes, under 300 kB`)
await makeFiles()
await sameSizes()
const server = await serve()
const { port } = server.address()
await inBrowser('chromium', '/usr/bin/chromium', port)
await inBrowser('firefox', existsSync('/usr/bin/firefox-esr') ? '/usr/bin/firefox-esr' : '/usr/bin/firefox', port)
server.closeAllConnections()
server.close()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
