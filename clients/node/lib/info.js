// What a filter says about itself: the columns of SQL's bloom_stats. Numbers of 64
// bits are text, as in the JSON of `bloomfilter info`, where a number would lose some.
import { hashOf } from './instance.js'
import { kindName } from './key-types.js'

/** A part of a set, or a filter: its instance, and what its header says, of which doc/FORMAT.md has the bytes. */
export function readPart (instance) {
  const { header } = instance
  return {
    instance,
    kind: (header.getUint8(7) | header.getUint32(48, true) & ~0xff) >>> 0,
    part: header.getUint16(12, true),
    parts: header.getUint16(14, true),
    exact: instance.isExact,
    seed: header.getBigInt64(16, true),
    checksum: header.getBigUint64(56, true).toString(16).padStart(16, '0')
  }
}

/** Describes one part. */
function describePart ({ instance, kind, part, parts, exact, seed, checksum }) {
  const { header, exports } = instance
  const blockBits = 2 ** header.getUint8(6)
  const blocks = header.getUint32(8, true)
  const bits = blocks * blockBits
  const bitsSet = Number(header.getBigUint64(40, true))
  return {
    n: Number(header.getBigUint64(24, true)),
    p: header.getFloat64(32, true),
    bits,
    bytes: instance.length,
    hashes: header.getUint8(5),
    blockBits,
    blocks,
    seed: String(seed),
    keyType: kindName(kind),
    bitsSet,
    fill: bitsSet / bits,
    cardinality: exports.cardinality(),
    fpr: exports.fpr(),
    overCapacity: exports.over_capacity() !== 0,
    part,
    parts,
    formatVersion: header.getUint8(4),
    exact,
    others: exact ? exports.others() : 0,
    checksum
  }
}

/** Describes the parts taken as one. */
export function describe (parts, kind) {
  const filters = parts.map(describePart)
  const sum = (field) => filters.reduce((total, filter) => total + filter[field], 0)
  return {
    ...filters[0],
    n: sum('n'),
    p: Math.max(...filters.map(({ p }) => p)),
    bits: sum('bits'),
    bytes: sum('bytes'),
    blocks: sum('blocks'),
    others: sum('others'),
    keyType: kindName(kind),
    bitsSet: sum('bitsSet'),
    fill: sum('bitsSet') / sum('bits'),
    cardinality: sum('cardinality'),
    // An absent key goes to each part as likely.
    fpr: sum('fpr') / filters.length,
    overCapacity: filters.some(({ overCapacity }) => overCapacity),
    checksum: checksumOf(parts),
    filters
  }
}

/** Of a set: each part's, hashed with that of those before it. */
function checksumOf (parts) {
  const pair = new BigUint64Array(2)
  const sums = parts.map(({ checksum }) => BigInt(`0x${checksum}`))
  const whole = sums.reduce((sum, checksum) => {
    pair.set([sum, checksum])
    return hashOf(new Uint8Array(pair.buffer))
  })
  return whole.toString(16).padStart(16, '0')
}
