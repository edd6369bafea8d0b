// The bytes of uuid, inet and macaddr.
import { isIPv4, isIPv6 } from 'node:net'
import { KeyError, show } from './errors.js'
import { INET, MACADDR, UUID } from './key-types.js'

const uuidForm = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i
const macForms = [
  /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?:(?::[0-9a-f]{2}){2})?$/i,
  /^[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?:(?:-[0-9a-f]{2}){2})?$/i,
  /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4})?$/i,
  /^[0-9a-f]{12}(?:[0-9a-f]{4})?$/i
]

/** Bytes of pairs of hex digits; the caller has checked them. */
export function fromHex (digits) {
  const bytes = new Uint8Array(digits.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16)
  }
  return bytes
}

export function uuidBytes (value) {
  if (value instanceof Uint8Array && value.length === 16) {
    return Uint8Array.from(value)
  }
  const text = typeof value === 'string' ? value.replace(/^\{(.*)\}$/s, '$1') : ''
  if (!uuidForm.test(text)) {
    throw new KeyError(UUID, `${show(value)} is neither a uuid nor 16 bytes`)
  }
  return fromHex(text.replaceAll('-', ''))
}

/** Eight bytes with ff fe in the middle equal the six without them in SQL. */
export function macBytes (value) {
  const bytes = value instanceof Uint8Array ? value : macOfText(value)
  if (bytes.length !== 6 && bytes.length !== 8) {
    throw new KeyError(MACADDR, `${bytes.length} bytes are neither 6 nor 8`)
  }
  const widened = bytes.length === 8 && bytes[3] === 0xff && bytes[4] === 0xfe
  return Uint8Array.from(widened ? [...bytes.slice(0, 3), ...bytes.slice(5)] : bytes)
}

function macOfText (value) {
  if (typeof value !== 'string' || !macForms.some((form) => form.test(value))) {
    throw new KeyError(MACADDR, `${show(value)} is not a hardware address`)
  }
  return fromHex(value.replace(/[:.-]/g, ''))
}

/** Family, prefix length, address. The bits beyond the prefix count. */
export function inetBytes (value) {
  const [, address, prefix] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(value) ?? []
  const isFour = typeof value === 'string' && isIPv4(address ?? '')
  if (typeof value !== 'string' || !(isFour || isIPv6(address ?? ''))) {
    throw new KeyError(INET, `${show(value)} is not an address`)
  }
  const longest = isFour ? 32 : 128
  const bits = prefix === undefined ? longest : Number(prefix)
  if (bits > longest) {
    throw new KeyError(INET, `${show(value)} has too long a prefix`)
  }
  return Uint8Array.from([isFour ? 4 : 6, bits, ...(isFour ? fourBytes(address) : sixteenBytes(address))])
}

function fourBytes (address) {
  return address.split('.').map(Number)
}

/** An address that node:net has accepted. */
function sixteenBytes (address) {
  const [before, after] = address.split('::').map(groupBytes)
  if (after === undefined) {
    return before
  }
  return [...before, ...new Array(16 - before.length - after.length).fill(0), ...after]
}

/** Groups between colons; the last may be an IPv4 address. */
function groupBytes (text) {
  return text.split(':').filter((group) => group !== '').flatMap((group) => {
    if (group.includes('.')) {
      return fourBytes(group)
    }
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}
