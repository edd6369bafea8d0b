// The room "size": a filter for n keys at rate p, its rate with other numbers of keys.
import { ratesWith, sizing } from '../clients/node/lib/size.js'
import { byId, make, rateText, row, shortBytes, showingErrors, whole } from './dom.js'

/** Of n, where the curve begins and ends. */
const FROM = 0.05
const TO = 20
const STEPS = 120
const WIDTH = 640
const HEIGHT = 300
const LEFT = 60
const BOTTOM = 30

/** A count as people write it: 1e6, 1,000,000, 10_000. */
function count (text) {
  const plain = text.replace(/[\s,_']/g, '')
  if (/^\d+$/.test(plain)) {
    return BigInt(plain)
  }
  const number = Number(plain)
  if (!Number.isSafeInteger(number)) {
    throw new RangeError(`n is a whole number of keys, not ${text.trim() || 'nothing'}`)
  }
  return BigInt(number)
}

function rate (text) {
  const number = /%\s*$/.test(text) ? Number(text.replace('%', '')) / 100 : Number(text)
  if (text.trim() === '' || !(number > 0 && number < 1)) {
    throw new RangeError(`p is a rate between 0 and 1, as 0.01 or 1 %, not ${text.trim() || 'nothing'}`)
  }
  return number
}

function showTable (size, n) {
  const { bytes, bits, bitsPerKey, hashes, blockBits, blocks, parts, expectedFpr, classicBits, classicHashes } = size
  byId('size-table').replaceChildren(
    row('size', shortBytes(bytes), shortBytes(Math.ceil(classicBits / 8))),
    row('bytes', whole(bytes), whole(Math.ceil(classicBits / 8))),
    row('bits', whole(bits), whole(classicBits)),
    row('bits a key', String(bitsPerKey), String(classicBits / Number(n))),
    row('hashes', String(hashes), String(classicHashes)),
    row('block', `${whole(blockBits)} bits`, 'none'),
    row('blocks', whole(blocks), ''),
    row('parts', whole(parts), ''),
    row('rate with n keys', String(expectedFpr), ''))
}

function showWrong (n, p) {
  const factors = [0.5, 1, 1.25, 2, 5, 10]
  const counts = factors.map((factor) => Math.max(1, Math.round(Number(n) * factor)))
  const rates = ratesWith(n, p, counts)
  byId('size-wrong').replaceChildren(...counts.map((keys, i) => row(
    whole(keys), rateText(rates[i]), `${Number((rates[i] / p).toPrecision(3))} times`,
    shortBytes(sizing(BigInt(keys), p).bytes))))
}

/** The rate over the number of keys, both on logarithmic scales. */
function showCurve (n, p) {
  const factors = Array.from({ length: STEPS + 1 }, (_, i) => FROM * (TO / FROM) ** (i / STEPS))
  const rates = ratesWith(n, p, factors.map((factor) => Number(n) * factor))
  const lowest = Math.floor(Math.log10(Math.max(Math.min(...rates), 1e-15)))
  const x = (factor) => LEFT + (WIDTH - LEFT - 10) * Math.log(factor / FROM) / Math.log(TO / FROM)
  const y = (value) => 10 + (HEIGHT - BOTTOM - 10) * Math.log10(Math.max(value, 10 ** lowest)) / lowest
  const curve = byId('size-curve')
  curve.replaceChildren()
  const step = Math.max(1, Math.ceil(-lowest / 6))
  for (let power = 0; power >= lowest; power -= step) {
    curve.append(make('line', { class: 'axis', x1: LEFT, x2: WIDTH - 10, y1: y(10 ** power), y2: y(10 ** power) }),
      make('text', { x: LEFT - 8, y: y(10 ** power) + 4, 'text-anchor': 'end' }, power === 0 ? '1' : `1e${power}`))
  }
  for (const factor of [0.1, 0.5, 1, 2, 5, 10]) {
    curve.append(make('text', { x: x(factor), y: HEIGHT - 10, 'text-anchor': 'middle' }, factor === 1 ? 'n' : `${factor} n`))
  }
  curve.append(make('path', { class: 'curve', d: factors.map((factor, i) => `${i ? 'L' : 'M'}${x(factor)} ${y(rates[i])}`).join('') }))
  const [atN] = ratesWith(n, p, [Number(n)])
  curve.append(make('circle', { class: 'mark', cx: x(1), cy: y(atN), r: 5 }))
  const [half, double] = ratesWith(n, p, [Number(n) / 2, Number(n) * 2])
  byId('size-curve-text').textContent =
    `With n keys ${rateText(atN)}, with half as many ${rateText(half)}, with twice as many ${rateText(double)}.`
}

function show () {
  return showingErrors(byId('size-error'), () => {
    byId('size-result').hidden = true
    const n = count(byId('size-n').value)
    const p = rate(byId('size-p').value)
    showTable(sizing(n, p), n)
    showWrong(n, p)
    showCurve(n, p)
    byId('size-result').hidden = false
  })
}

export function startSize () {
  byId('size-form').addEventListener('submit', (event) => event.preventDefault())
  byId('size-form').addEventListener('input', show)
  show()
}
