// A few words for making the page's elements, and for numbers as people read them.

export const byId = (id) => document.getElementById(id)

/** An element with attributes and children; text stays text, whatever a key contains. */
export function make (name, attributes = {}, ...children) {
  const space = ['svg', 'path', 'line', 'text', 'circle'].includes(name)
    ? 'http://www.w3.org/2000/svg'
    : 'http://www.w3.org/1999/xhtml'
  const element = document.createElementNS(space, name)
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value)
  }
  element.append(...children)
  return element
}

/** A row of a table; the first cell is its head. */
export function row (head, ...cells) {
  return make('tr', {}, make('th', { scope: 'row' }, head), ...cells.map((cell) => make('td', {}, cell)))
}

export const whole = (number) => number.toLocaleString('en-US')

export function shortBytes (bytes) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let at = 0
  let size = bytes
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000
    at++
  }
  return `${at === 0 ? whole(bytes) : size.toPrecision(3)} ${units[at]}`
}

export function bytesText (bytes) {
  return bytes < 1000 ? shortBytes(bytes) : `${shortBytes(bytes)} (${whole(bytes)} bytes)`
}

/** A rate with the digits that matter. */
export function rateText (rate) {
  return rate >= 0.001 ? `${Number((rate * 100).toPrecision(4))} %` : rate.toExponential(3)
}

/** Runs what may fail, and says in the place for it why it did. */
export async function showingErrors (place, run) {
  place.textContent = ''
  try {
    await run()
  } catch (error) {
    place.textContent = error.message
  }
}
