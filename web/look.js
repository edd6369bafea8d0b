// The room "look": the files that were dropped, their header, checks and fill.
import { BloomFilter } from '../clients/node/lib/browser.js'
import { byId, bytesText, make, rateText, showingErrors, whole } from './dom.js'

const HEADER_BYTES = 64
const MANIFEST = 'bloomfilter-set 1'

/** What was dropped last, for the room "ask". */
export const looked = { filter: undefined, name: undefined }

/** Manifest and parts, in the manifest's order; or the one file. */
async function sort (files) {
  const heads = await Promise.all(files.map((file) => file.slice(0, MANIFEST.length).text()))
  const at = heads.indexOf(MANIFEST)
  if (at < 0) {
    if (files.length > 1) {
      throw new Error(`these are ${files.length} files and none is a manifest: drop one filter, or a set with its manifest`)
    }
    return { parts: files, notes: [] }
  }
  const lines = (await files[at].text()).trimEnd().split('\n').slice(1)
  const names = lines.filter((line) => !line.startsWith('#'))
  const parts = names.map((name) => files.find((file) => file.name === name))
  const missing = names.filter((_, i) => parts[i] === undefined)
  if (missing.length > 0) {
    throw new Error(`the manifest names ${missing[0]}${missing.length > 1 ? ` and ${missing.length - 1} more` : ''}, not dropped with it`)
  }
  return { parts, notes: lines.filter((line) => line.startsWith('#')).map((line) => line.slice(1).trim()) }
}

/** The share of bits set of each block, in their order, of all parts. */
function fills (buffers, infos) {
  const all = []
  buffers.forEach((bytes, i) => {
    const blockBytes = infos[i].blockBits / 8
    for (let at = HEADER_BYTES; at < bytes.length; at += blockBytes) {
      let bits = 0
      for (let byte = at; byte < at + blockBytes; byte++) {
        bits += ONES[bytes[byte]]
      }
      all.push(bits / infos[i].blockBits)
    }
  })
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

function showInfo (info, parts, notes) {
  const changed = Math.max(...parts.map((file) => file.lastModified))
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
    'file changed': `${new Date(changed).toISOString()}, ${age(changed)} ago`
  }
  const terms = Object.entries(lines).flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, text)])
  for (const note of notes) {
    terms.push(make('dt', {}, 'note'), make('dd', {}, note))
  }
  byId('look-info').replaceChildren(...terms)
}

async function look (files) {
  byId('look-result').hidden = true
  looked.filter = undefined
  const { parts, notes } = await sort(files)
  const buffers = await Promise.all(parts.map(async (file) => new Uint8Array(await file.arrayBuffer())))
  looked.filter = buffers.length === 1 ? BloomFilter.fromBytes(buffers[0]) : BloomFilter.fromParts(buffers)
  looked.name = parts[0].name
  const { info } = looked.filter
  byId('look-verdict').replaceChildren(make('span', { class: 'in' }, 'Whole: '),
    'header, size, number of bits and checksum are right.')
  showInfo(info, parts, notes)
  byId('look-result').hidden = false
  drawFills(fills(buffers, info.filters))
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
