// The room "ask": keys as text, looked up in the dropped file or in a file of the web.
import { Key } from '../clients/node/lib/browser.js'
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

function source () {
  if (looked.filter === undefined) {
    throw new Error('no file was dropped yet')
  }
  return looked.filter
}

async function ask () {
  const result = byId('ask-result')
  result.replaceChildren()
  const lines = keysOf(byId('ask-keys').value)
  if (lines.length === 0) {
    throw new Error('no key was typed')
  }
  const filter = source()
  const type = filter.keyType
  const answers = lines.map((line) => filter.contains(keyOf(type, line)))
  const found = answers.filter(Boolean).length
  result.append(make('p', {}, `${whole(lines.length)} looked up: ${whole(found)} in the list or false positives, ` +
    `${whole(lines.length - found)} not in the list.`))
  result.append(make('div', { class: 'scroll' }, make('table', {},
    make('caption', {}, 'Keys, as they were typed'),
    make('tbody', {}, ...lines.slice(0, MOST_ROWS).map((line, i) => row(line, verdict(answers[i])))))))
  if (lines.length > MOST_ROWS) {
    result.append(make('p', { class: 'note' }, `The first ${MOST_ROWS} are shown.`))
  }
}

export function startAsk () {
  byId('ask-form').addEventListener('submit', (event) => {
    event.preventDefault()
    showingErrors(byId('ask-error'), ask)
  })
  byId('ask-url').addEventListener('focus', () => {
    document.querySelector('input[name=ask-source][value=url]').checked = true
  })
}
