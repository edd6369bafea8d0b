// What the page of a list's file tells, by the C code that all readers share: section 6 of doc/FEED.md.
import { InvalidFilterError } from './errors.js'
import { commonInstance } from './instance.js'
import { hexOf } from './text.js'

export const PAGE = 4096
export const WHO_BYTES = 512

/** What superseded is where a follower found its file damaged. */
export const LOST = 2

const MAGIC = 'BLML'
const IDENTITY_BYTES = 16

/** The numbers of feed_where. */
const PLACES = ['none', 'here', 'other boot', 'copy']

/** So many looks may be missed, and a clock may be so many milliseconds ahead. */
const MISSED_LOOKS = 3
const AHEAD = 60000

/** The latest time that a Date can have. */
const LAST_MILLISECOND = 8.64e15

/** Whether a file that begins so has such a page. */
export const isPage = (start) => String.fromCharCode(...start.subarray(0, 4)) === MAGIC

export function refuseUnless (condition, rule, reason) {
  if (!condition) {
    throw new InvalidFilterError(rule, reason)
  }
}

/** Hands a page of a file of so many bytes to C, and throws unless it is valid; returns the instance. */
export function readPage (page, size, instance = commonInstance()) {
  const { bytes, exports } = instance
  bytes.set(page, exports.page_at())
  if (!exports.read_page(size)) {
    throw new InvalidFilterError(instance.string(exports.broken_word()), instance.string(exports.broken_text()))
  }
  return instance
}

/** Where the file is whose page was read; here has boot, device and inode of the one that was opened, if they are known. */
export function placeOf ({ bytes, view, exports }, here) {
  const at = exports.page_at() + PAGE
  bytes.set(here?.boot ?? new Uint8Array(16), at)
  view.setBigUint64(at + 16, here?.device ?? 0n, true)
  view.setBigUint64(at + 24, here?.inode ?? 0n, true)
  return PLACES[exports.where_is()]
}

/** 0 is what isn't known. */
function moment (microseconds) {
  const milliseconds = Number(microseconds / 1000n)
  return microseconds > 0n && milliseconds <= LAST_MILLISECOND ? new Date(milliseconds) : undefined
}

/** The identity of the list whose page was read, a UUID. */
export function identityOf ({ bytes, exports }) {
  const at = exports.list_identity()
  return hexOf(bytes.subarray(at, at + IDENTITY_BYTES)).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** What a follower that is no more can't write into its page. */
function reasonFor (age, every) {
  const seconds = Math.round(Math.abs(age) / 1000)
  if (age < -AHEAD) {
    return { reason: 'clock', message: `the last look is ${seconds} s in the future` }
  }
  return every > 0 && age > MISSED_LOOKS * every ? { reason: 'old', message: `no look for ${seconds} s` } : { reason: '', message: '' }
}

/** What a page tells of a file of so many bytes at a place; of a filter that has none nothing is known. uptime is seconds since boot. */
export function statusOf (page, size, place = 'none', uptime = 0) {
  const status = { place, failures: 0, reason: '', message: '', superseded: false, changes: 0 }
  if (page === undefined) {
    return status
  }
  const common = readPage(page, size)
  const { exports, view } = common
  const where = PLACES.indexOf(place)
  const unsigned = (number) => BigInt.asUintN(64, number)
  Object.assign(status, {
    list: common.string(exports.list_name()),
    identity: identityOf(common),
    serial: String(unsigned(exports.told_serial(where))),
    trueAt: moment(unsigned(exports.told_true_at(where))),
    changes: exports.table_count()
  })
  if (place === 'none') {
    return status
  }
  const how = exports.read_how() >>> 0
  const [looked, , failures, every, heartbeat, expires, since] = Array.from({ length: 7 }, (_, i) => view.getBigUint64(how + 8 * i, true))
  const age = looked > 0n ? Number(exports.age(BigInt(Date.now()) * 1000n, BigInt(Math.round(uptime * 1e6)), where)) / 1000 : undefined
  const reason = common.string(exports.how_reason())
  return {
    ...status,
    looked: moment(looked),
    age,
    every: Number(every) / 1000,
    heartbeat: Number(heartbeat) / 1000,
    expires: moment(expires),
    failures: Number(failures),
    since: moment(since),
    ...reason === '' ? reasonFor(age, Number(every) / 1000) : { reason, message: common.string(exports.how_message()) },
    superseded: exports.superseded() !== 0
  }
}
