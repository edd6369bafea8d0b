// The room "ask": keys as text, looked up in the dropped file, in a file of the web, or in a list that is followed.
import { BloomFilter, Key } from '../clients/node/lib/browser.js'
import { looked } from './look.js'
import { byId, make, row, showingErrors, whole } from './dom.js'

/** Of these the page shows each; of more it shows how many. */
const MOST_ROWS = 200

/** Of a web address each key is a request: so many at a time. */
const MOST_REQUESTS = 20

/** Between two looks at a list, if its server doesn't want more. */
const FOLLOW_MILLISECONDS = 1000

const keysOf = (text) => text.split('\n').map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')

/** The key of a line, as the filter's keys are read. */
function keyOf (type, line) {
  if (type === 'none') {
    return Key.text(line)
  }
  if (type.startsWith('row')) {
    throw new Error('keys that are rows are looked up by the command line or by SQL')
  }
  return Key.parse(type, line)
}

function verdict (found) {
  return found
    ? make('span', { class: 'in' }, 'in the list, or a false positive')
    : make('span', { class: 'out' }, 'not in the list')
}

function showAll (lines, answers) {
  const found = answers.filter(Boolean).length
  const result = byId('ask-result')
  result.append(make('p', {}, `${whole(lines.length)} looked up: ${whole(found)} in the list or false positives, ` +
    `${whole(lines.length - found)} not in the list.`))
  result.append(make('div', { class: 'scroll' }, make('table', {},
    make('caption', {}, 'Keys, as they were typed'),
    make('tbody', {}, ...lines.slice(0, MOST_ROWS).map((line, i) => row(line, verdict(answers[i])))))))
  if (lines.length > MOST_ROWS) {
    result.append(make('p', { class: 'note' }, `The first ${MOST_ROWS} are shown.`))
  }
}

/** How the first key is looked up, in the words of SQL's bloom_explain. */
function showExplained (line, text) {
  byId('ask-result').append(make('h3', {}, `How ${line} is looked up`), make('pre', {}, text.trimEnd()),
    make('p', { class: 'note' }, 'SQL\'s bloom_explain, the command line and each reader print the same lines: lay two side ' +
      'by side, and the first that differs is why one says false.'))
}

function askFile (lines) {
  const { filter } = looked
  if (filter === undefined) {
    throw new Error('no file was dropped yet')
  }
  const keys = lines.map((line) => keyOf(filter.keyType, line))
  showAll(lines, keys.map((key) => filter.contains(key)))
  showExplained(lines[0], filter.explain(keys[0]))
}

function fetched (line, { hash, block, blocks, from, bytes, bits }) {
  return row(line, `bytes ${whole(from)} to ${whole(from + bytes - 1)}`, `${whole(block)} of ${whole(blocks)}`, hash,
    bits.map(({ bit, set }) => `${bit}=${Number(set)}`).join(' '))
}

async function askUrl (address, lines) {
  if (address === '') {
    throw new Error('no web address was typed')
  }
  if (lines.length > MOST_REQUESTS) {
    throw new Error(`each key is a request, so ${MOST_REQUESTS} keys at a time; for more download the file and drop it above`)
  }
  const filter = await BloomFilter.openUrl(address)
  const looks = []
  for (const line of lines) {
    looks.push(await filter.look(keyOf(filter.keyType, line)))
  }
  showAll(lines, looks.map(({ found }) => found))
  const total = looks.reduce((sum, { bytes }) => sum + bytes, 0)
  byId('ask-result').append(make('div', { class: 'scroll' }, make('table', {},
    make('caption', {}, `Fetched: the header of 64 bytes, and ${whole(total)} bytes of blocks. The server learns which blocks.`),
    make('thead', {}, make('tr', {}, ...['key', 'of the file', 'block', 'hash', 'probes: bit=set'].map((head) =>
      make('th', { scope: 'col' }, head)))),
    make('tbody', {}, ...lines.map((line, i) => fetched(line, looks[i]))))))
}

/** The list that is followed, by its address: one at a time. */
const followed = { address: undefined, list: undefined }

async function follow (address) {
  if (followed.address !== address) {
    followed.list?.close()
    followed.address = followed.list = undefined
    followed.list = await BloomFilter.followUrl(address, {
      every: FOLLOW_MILLISECONDS,
      onChange: () => source() === 'list' && showingErrors(byId('ask-error'), ask),
      onError: (error) => { byId('ask-error').textContent = error.message }
    })
    followed.address = address
  }
  return followed.list
}

/** As in a file; once something changed the same keys are looked up again. */
async function askList (address, lines) {
  if (address === '') {
    throw new Error('no web address was typed')
  }
  const list = await follow(address)
  const { list: name, serial, looked: at } = await list.status()
  const filter = list.current
  const keys = lines.map((line) => keyOf(filter.keyType, line))
  byId('ask-result').replaceChildren()
  showAll(lines, keys.map((key) => filter.contains(key)))
  byId('ask-result').append(make('p', { class: 'note' }, `Of the list ${name}, serial ${serial}, of ${at.toISOString()}; it is followed, ` +
    'and the keys are looked up again when it changes. The server doesn\'t learn the keys.'))
  showExplained(lines[0], filter.explain(keys[0]))
}

const source = () => document.querySelector('input[name=ask-source]:checked').value

async function ask () {
  const lines = keysOf(byId('ask-keys').value)
  if (lines.length === 0) {
    byId('ask-result').replaceChildren()
    throw new Error('no key was typed')
  }
  if (source() === 'list') {
    return askList(byId('ask-list').value.trim(), lines)
  }
  byId('ask-result').replaceChildren()
  if (source() === 'url') {
    await askUrl(byId('ask-url').value.trim(), lines)
  } else {
    askFile(lines)
  }
}

export function startAsk () {
  byId('ask-form').addEventListener('submit', (event) => {
    event.preventDefault()
    showingErrors(byId('ask-error'), ask)
  })
  for (const name of ['url', 'list']) {
    byId(`ask-${name}`).addEventListener('focus', () => {
      document.querySelector(`input[name=ask-source][value=${name}]`).checked = true
    })
  }
}
