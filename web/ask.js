// The room "ask": keys as text, looked up in the dropped file.
import { Key } from '../clients/node/lib/main.js'
import { looked } from './look.js'
import { byId, make, row, showingErrors, whole } from './dom.js'

/** Of these the page shows each; of more it shows how many. */
const MOST_ROWS = 200

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

/** What the first key is, for bloomfilter explain and SQL's bloom_explain. */
function showDescribed (line, key) {
  byId('ask-result').append(make('h3', {}, `How ${line} is looked up`),
    make('pre', {}, `bloomfilter explain FILE --bytes ${key.describe()}`),
    make('p', { class: 'note' }, 'This and SQL\'s bloom_explain print the same lines: lay two side by side, and the first ' +
      'that differs is why one says false.'))
}

function ask () {
  byId('ask-result').replaceChildren()
  const lines = keysOf(byId('ask-keys').value)
  const { filter } = looked
  if (lines.length === 0) {
    throw new Error('no key was typed')
  }
  if (filter === undefined) {
    throw new Error('no file was dropped yet')
  }
  const keys = lines.map((line) => keyOf(filter.keyType, line))
  showAll(lines, keys.map((key) => filter.contains(key)))
  showDescribed(lines[0], keys[0])
}

export function startAsk () {
  byId('ask-form').addEventListener('submit', (event) => {
    event.preventDefault()
    showingErrors(byId('ask-error'), ask)
  })
}
