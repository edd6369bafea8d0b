// The room "look": the file that was dropped, its header, checks and fill.
import { BloomFilter } from '../clients/node/lib/main.js'
import { byId, bytesText, make, rateText, showingErrors, whole } from './dom.js'

const HEADER_BYTES = 64
const EXACT_HEADER_BYTES = 128
const PAGE = 4096

/** What was dropped last, for the room "ask". */
export const looked = { filter: undefined }

/** The share of bits set of each block, in their order, of all parts, of exact ones of level 1; those of a list begin behind its page. */
function fills (bytes, infos, isList) {
  const all = []
  let at = isList ? PAGE : 0
  for (const { bytes: length, blockBits, blocks, exact } of infos) {
    const first = at + (exact ? EXACT_HEADER_BYTES : HEADER_BYTES)
    for (let block = first; block < first + blocks * blockBits / 8; block += blockBits / 8) {
      let bits = 0
      for (let byte = block; byte < block + blockBits / 8; byte++) {
        bits += ONES[bytes[byte]]
      }
      all.push(bits / blockBits)
    }
    at = Math.ceil((at + length) / PAGE) * PAGE
  }
  return all
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

/** A cell for each block, or for as many blocks as share one: the darker, the fuller. */
function drawFills (all) {
  const canvas = byId('look-fill')
  const context = canvas.getContext('2d')
  const columns = Math.min(160, Math.ceil(Math.sqrt(all.length * 4)))
  const rows = Math.min(40, Math.ceil(all.length / columns))
  const cells = columns * rows
  context.clearRect(0, 0, canvas.width, canvas.height)
  const strong = getComputedStyle(document.documentElement).getPropertyValue('--strong')
  context.fillStyle = strong
  for (let cell = 0; cell < cells; cell++) {
    const from = Math.floor(cell * all.length / cells)
    const to = Math.max(from + 1, Math.floor((cell + 1) * all.length / cells))
    const some = all.slice(from, to)
    context.globalAlpha = some.reduce((sum, fill) => sum + fill, 0) / some.length
    context.fillRect((cell % columns) * canvas.width / columns, Math.floor(cell / columns) * canvas.height / rows,
      canvas.width / columns, canvas.height / rows)
  }
  let least = 1
  let most = 0
  for (const fill of all) {
    least = Math.min(least, fill)
    most = Math.max(most, fill)
  }
  const mean = all.reduce((sum, fill) => sum + fill, 0) / all.length
  byId('look-fill-text').textContent = `${whole(all.length)} blocks: the emptiest has ${rateText(least)} of its bits set, ` +
    `the fullest ${rateText(most)}, all together ${rateText(mean)}.`
}

function age (time) {
  const hours = (Date.now() - time) / 3.6e6
  return hours < 48 ? `${Math.max(0, Math.round(hours))} hours` : `${Math.round(hours / 24)} days`
}

function showInfo (info, status, changed) {
  const lines = {
    'keys of type': info.keyType,
    'sized for, n': `${whole(info.n)} keys`,
    'rate promised, p': rateText(info.p),
    'keys in it, estimated': `${whole(Math.round(info.cardinality))}${info.overCapacity ? ': more than it was sized for' : ''}`,
    'rate now': rateText(info.fpr),
    size: bytesText(info.bytes),
    fill: rateText(info.fill),
    hashes: String(info.hashes),
    block: `${whole(info.blockBits)} bits`,
    parts: String(info.filters.length),
    seed: info.seed,
    checksum: info.checksum,
    'format version': String(info.formatVersion),
    ...info.exact ? { exact: `right for each key that it was built of: members, and about ${whole(info.others)} others` } : {},
    ...status.list === undefined ? {} : { list: status.list, serial: status.serial },
    'file changed': `${new Date(changed).toISOString()}, ${age(changed)} ago`
  }
  const terms = Object.entries(lines).flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, text)])
  byId('look-info').replaceChildren(...terms)
}

async function look (files) {
  byId('look-result').hidden = true
  looked.filter = undefined
  if (files.length > 1) {
    throw new Error(`these are ${files.length} files: drop one`)
  }
  const bytes = new Uint8Array(await files[0].arrayBuffer())
  looked.filter = BloomFilter.fromBytes(bytes)
  const { info } = looked.filter
  const status = looked.filter.status()
  byId('look-verdict').replaceChildren(make('span', { class: 'out' }, 'Whole: '), status.place === 'copy'
    ? 'its first page and the headers of its parts are right. It is a copy of a list that is followed: whoever follows it checks the bits.'
    : 'header, size, number of bits and checksum are right.')
  showInfo(info, status, files[0].lastModified)
  byId('look-result').hidden = false
  drawFills(fills(bytes, info.filters, status.list !== undefined))
}

export function startLook () {
  const drop = byId('drop')
  const take = (files) => showingErrors(byId('look-error'), () => look([...files]))
  byId('look-file').addEventListener('change', (event) => event.target.files.length > 0 && take(event.target.files))
  for (const name of ['dragenter', 'dragover']) {
    drop.addEventListener(name, (event) => {
      event.preventDefault()
      drop.classList.add('over')
    })
  }
  drop.addEventListener('dragleave', () => drop.classList.remove('over'))
  drop.addEventListener('drop', (event) => {
    event.preventDefault()
    drop.classList.remove('over')
    take(event.dataTransfer.files)
  })
}
