// The page as a person uses it: page.mjs READER WORK, in Chromium and in Firefox.
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const [reader, work] = process.argv.slice(2)
const PAGE = path.join(reader, 'build', 'page.html')
const SIZES = readFileSync(path.join(work, 'sizes'), 'utf8').trim().split('\n').map((line) => line.split(' '))
const GOLDEN = readFileSync(path.join(reader, '..', '..', 'test', 'vectors', 'exact.tsv'), 'utf8').trim().split('\n')
  .map((line) => line.split('\t')).filter((row) => row[1] === '-')
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

function makeFiles () {
  const bytes = readFileSync(file('users.bloom'))
  bytes[100] ^= 1
  writeFileSync(file('flipped.bloom'), bytes)
  copyFileSync(file('users.bloom'), file('short.bloom'))
  truncateSync(file('short.bloom'), 700)
  writeFileSync(file('letter.txt'), 'Dear Sir or Madam')
}

/** The sizes that SQL gave, by the function that the page calls. */
async function sameSizes () {
  const { sizing } = await import(path.join(reader, 'lib', 'size.js'))
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
  is(await page.$eval('#unbuilt', (element) => getComputedStyle(element).display), 'none', `${browser}: a built page doesn't say that it is its source`)
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

const bytesOf = (list) => list === '-' ? [] : list.split(',').map((hex) => Buffer.from(hex, 'hex'))

/** The golden exact filters: all members first, then as many others and strangers as there are. */
async function golden (page, browser) {
  let right = 0
  for (const [name, , type, , members, others, strangers, hex] of GOLDEN) {
    const lines = [members, others, strangers].map((list) => bytesOf(list).map((key) => type === '2' ? `${key}` : `${key.readBigInt64LE()}`))
    writeFileSync(file(name), hex, 'hex')
    await drop(page, name)
    const info = await says(page, '#look-info')
    await page.$eval('#ask-result', (element) => element.replaceChildren())
    await page.$eval('#ask-keys', (element, value) => { element.value = value }, lines.flat().join('\n'))
    await page.$eval('#ask-form button', (button) => button.click())
    const summary = await says(page, '#ask-result p')
    const rows = await page.$$eval('#ask-result tbody:first-of-type tr', (rows) => rows.map((row) => row.cells[1]?.textContent.startsWith('in')))
    right += info.includes('right for each key that it was built of') &&
      summary.startsWith(`${lines.flat().length.toLocaleString('en')} looked up: ${lines[0].length} in the list`) &&
      rows.slice(0, lines[0].length).every((isIn) => isIn)
  }
  ok(GOLDEN.length >= 10 && right === GOLDEN.length, `${browser}: ${right} golden exact filters tell that they are, and are right`)
}

/** A file that is none: the page says so, instead of what it said of the file before. */
async function refused (page, browser, name, pattern, what) {
  await drop(page, name)
  await page.waitForFunction((source) => new RegExp(source, 'i').test(document.querySelector('#look-error').textContent),
    { timeout: 10000 }, pattern.source).catch(() => {})
  const told = await text(page, '#look-error')
  ok(pattern.test(told), `${browser}: ${what} is an error: ${told}`)
}

async function look (page, browser) {
  await refused(page, browser, 'flipped.bloom', /bits|checksum/i, 'one bit flipped')
  await refused(page, browser, 'short.bloom', /size|short|length/i, 'a file cut short')
  await refused(page, browser, 'letter.txt', /short|not a bloomfilter|magic/i, 'another file')
  await golden(page, browser)
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
  ok(answer.includes('--bytes integer 0200000000000000'), `${browser}: and tells what it is`, answer)
}

/** A file with a page of facts, of two parts. */
async function lists (page, browser) {
  const { vector } = await import(path.join(reader, 'test', 'helpers.js'))
  writeFileSync(file('list.bloom'), vector('here_pair', 'pages.tsv'))
  await drop(page, 'list.bloom')
  const info = await says(page, '#look-info')
  ok(info.includes('public.users') && info.includes('100 keys'), `${browser}: a list's file tells what it is`, info)
  await lookUp(page, '7')
  ok((await says(page, '#ask-result')).includes('1 in the list'), `${browser}: and is asked`)
  ok(/^140 blocks: /.test(await says(page, '#look-fill-text')), `${browser}: and all its parts are drawn`, await text(page, '#look-fill-text'))
}

const luminance = (color) => {
  const [r, g, b] = color.match(/\d+/g).slice(0, 3).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
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

async function inBrowser (browser, executablePath) {
  const options = { browser: browser === 'firefox' ? 'firefox' : 'chrome', executablePath, headless: true }
  const program = await puppeteer.launch({ ...options, args: browser === 'firefox' ? [] : ['--no-sandbox'] })
  try {
    const page = await program.newPage()
    const asked = []
    const errors = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(`file://${PAGE}`)
    await size(page, browser)
    await look(page, browser)
    await ask(page, browser)
    await lists(page, browser)
    await accessible(page, browser)
    const others = asked.filter((url) => !/^(file|data|blob):/.test(url))
    ok(others.length === 0, `${browser}: nobody else is asked`, others)
    ok(errors.length === 0, `${browser}: no error goes unseen`, errors)
  } finally {
    await program.close()
  }
}

ok(statSync(PAGE).size < 300000, `the page is ${statSync(PAGE).size} bytes, under 300 kB`)
makeFiles()
await sameSizes()
await inBrowser('chromium', '/usr/bin/chromium')
await inBrowser('firefox', existsSync('/usr/bin/firefox-esr') ? '/usr/bin/firefox-esr' : '/usr/bin/firefox')
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
