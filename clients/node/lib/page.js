// Page 0 of a list's file: sections 1 and 6 of doc/FEED.md.
import { InvalidFilterError } from './errors.js'
import { hashOf } from './instance.js'

export const PAGE = 4096
export const WHO_BYTES = 512
export const MAX_PARTS = 65535

const MAGIC = 'BLML'
const VERSION = 2
const NAME_BYTES = 200

// Offsets of what never changes, of what the follower writes, and of how it fares.
const [LENGTH, PARTS, ZERO, EPOCH, IDENTITY, BOOT, DEVICE, INODE] = [8, 16, 20, 24, 32, 48, 64, 72]
const [BORN, BORN_SUM, NAME, NAME_END, WHO_SUM] = [80, 88, 136, 352, 504]
const [SERIAL, TRUE_AT, SAVED, SAVED_END] = [520, 536, 1024, 1080]
export const SUPERSEDED = 600
const [LOOKED, LOOKED_BOOT, FAILURES, EVERY, HEARTBEAT, EXPIRES, SINCE] = [1536, 1544, 1552, 1560, 1568, 1576, 1584]
const [WORD, TEXT, TEXT_END] = [1592, 1608, 1864]

/** So many looks may be missed, and a clock may be so many milliseconds ahead. */
const MISSED_LOOKS = 3
const AHEAD = 60000

/** The latest time that a Date can have. */
const LAST_MILLISECOND = 8.64e15

const decoder = new TextDecoder()

const viewOf = (page) => new DataView(page.buffer, page.byteOffset, page.byteLength)
const wordOf = (page, at) => viewOf(page).getBigUint64(at, true)
const isZero = (bytes) => bytes.every((byte) => byte === 0)

/** Whether a file that begins so has such a page. */
export const isPage = (start) => String.fromCharCode(...start.subarray(0, 4)) === MAGIC

/** Whether nobody follows the file: then it never changes. */
export const isNobodys = (start) => start.length >= BORN && isZero(start.subarray(BOOT, BORN))

export function refuseUnless (condition, rule, reason) {
  if (!condition) {
    throw new InvalidFilterError(rule, reason)
  }
}

/** Checks who the file is that has so many bytes; returns the number of its parts and the sum with which it began. */
export function readWho (page, length) {
  refuseUnless(page.length === PAGE, 'short', 'shorter than a page')
  const view = viewOf(page)
  const parts = view.getUint32(PARTS, true)
  refuseUnless(view.getUint32(4, true) === VERSION, 'version', `file of a list in the unsupported version ${view.getUint32(4, true)}`)
  refuseUnless(wordOf(page, WHO_SUM) === hashOf(page.subarray(0, WHO_SUM)), 'checksum', 'checksum of its first page does not match')
  refuseUnless(wordOf(page, LENGTH) === BigInt(length), 'length', 'longer or shorter than it says')
  refuseUnless(parts >= 1 && parts <= MAX_PARTS && isZero(page.subarray(ZERO, EPOCH)) && isRightName(page.subarray(NAME, NAME_END)) &&
    isZero(page.subarray(NAME_END, WHO_SUM)), 'who', 'its first page is not valid')
  return { parts, length, sum: wordOf(page, BORN_SUM) }
}

/** It ends before its field does, and behind it all is zero. */
function isRightName (field) {
  const end = field.indexOf(0)
  return end >= 0 && end <= NAME_BYTES && isZero(field.subarray(end))
}

/** Where the file is: here has boot, device and inode of the one that was opened, if they are known. */
export function placeOf (page, here) {
  if (isNobodys(page)) {
    return 'none'
  }
  if (here === undefined || isZero(here.boot) || wordOf(page, INODE) !== here.inode) {
    return 'copy'
  }
  if (here.boot.some((byte, i) => byte !== page[BOOT + i])) {
    return 'other boot'
  }
  return wordOf(page, DEVICE) === here.device ? 'here' : 'copy'
}

/** The serial that can be believed there: the file has everything of it. */
function serialOf (page, place) {
  if (place === 'here') {
    return wordOf(page, SERIAL)
  }
  return place === 'other boot' && isSaved(page) ? wordOf(page, SAVED) : wordOf(page, BORN)
}

function isSaved (page) {
  const bytes = new Uint8Array([...page.subarray(SAVED, SAVED_END), ...page.subarray(EPOCH, IDENTITY), ...page.subarray(INODE, BORN)])
  return wordOf(page, SAVED_END) === hashOf(bytes)
}

/** A text up to its first zero byte, fit for a log. */
function printable (bytes) {
  const end = bytes.indexOf(0)
  return decoder.decode(bytes.subarray(0, end < 0 ? bytes.length : end)).replace(/[\p{Cc}\ufffd]/gu, '?')
}

/** 0 is what isn't known. */
function moment (microseconds) {
  const milliseconds = Number(microseconds / 1000n)
  return microseconds > 0n && milliseconds <= LAST_MILLISECOND ? new Date(milliseconds) : undefined
}

function uuidOf (bytes) {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Milliseconds since the last look, by the clock that says more; uptime is seconds since boot. */
function ageOf (page, place, looked, uptime) {
  const byClock = looked && Date.now() - looked
  const then = wordOf(page, LOOKED_BOOT)
  return looked && place === 'here' && then > 0n ? Math.max(byClock, uptime * 1000 - Number(then) / 1000) : byClock
}

/** What a follower that is no more can't write into its page. */
function wordFor (age, every) {
  const seconds = Math.round(Math.abs(age) / 1000)
  if (age < -AHEAD) {
    return { word: 'clock', text: `the last look is ${seconds} s in the future` }
  }
  return every > 0 && age > MISSED_LOOKS * every ? { word: 'old', text: `no look for ${seconds} s` } : { word: '', text: '' }
}

/** What a page tells at a place; of a filter that has none nothing is known. */
export function statusOf (page, place, uptime) {
  if (page === undefined) {
    return { place, failures: 0, word: '', text: '', superseded: false }
  }
  const word = printable(page.subarray(WORD, TEXT))
  const looked = moment(wordOf(page, LOOKED))
  const every = Number(wordOf(page, EVERY)) / 1000
  const age = ageOf(page, place, looked, uptime)
  return {
    list: printable(page.subarray(NAME, NAME_END)),
    identity: uuidOf(page.subarray(IDENTITY, BOOT)),
    place,
    serial: String(serialOf(page, place)),
    // Of the serial that a file has now, and of no other.
    trueAt: place === 'here' ? moment(wordOf(page, TRUE_AT)) : undefined,
    looked,
    age,
    every,
    heartbeat: Number(wordOf(page, HEARTBEAT)) / 1000,
    expires: moment(wordOf(page, EXPIRES)),
    failures: Number(wordOf(page, FAILURES)),
    since: moment(wordOf(page, SINCE)),
    ...word === '' ? wordFor(age, every) : { word, text: printable(page.subarray(TEXT, TEXT_END)) },
    superseded: wordOf(page, SUPERSEDED) !== 0n
  }
}
