// A list on a web server, followed: its folder is fetched, checked, and looked at again and
// again. Sections 17 and 19 of doc/FORMAT.md; src/cli does the same in C (pull --url).
//
// Nothing is used before all of it was checked: the signature first, then the manifest, then
// that it doesn't lead back, then each file by length and digest, then its content.
import { BloomFilterError, ListError, inFile } from './errors.js'
import { Follower } from './follower.js'
import { Instance } from './instance.js'
import { checked, wholeSet } from './load.js'
import { parseList } from './list.js'
import { ListCopy } from './list-copy.js'
import { ListFolder } from './list-folder.js'
import { checkSignature, parseKeys } from './list-key.js'
import { pause, runAsync } from './steps.js'

const EVERY_MILLISECONDS = 10000

/** A look without a condition so often: an ETag may stand for two manifests. */
const FULL_MILLISECONDS = 60000

/** How often a step that is missing or damaged is waited for: caches keep "not found" for a while. */
const MOST_MISSES = 3

/** Seconds over which those that miss a step fetch whole files, if the manifest doesn't say it. */
const MISSED_SPREAD = 300n

const [FIRST_WAIT, LONGEST_WAIT, LONGEST_RETRY, LONGEST_PERIOD] = [1000, 300000, 3600000, 86400000]

/** What may lie between the clocks of this machine and of the exporter, microseconds. */
const CLOCK_GRACE = 300000000n
const DAY = 86400000000n

const now = () => BigInt(Date.now()) * 1000n
const moment = (microseconds) => microseconds === undefined ? undefined : new Date(Number(microseconds / 1000n))

export class FollowedBloomFilter {
  #make
  #folder
  #keys
  #verify
  #ends = new AbortController()
  #follower
  #every
  #last = Promise.resolve()

  // What was taken last, and must not be gone back behind.
  #mark
  #least

  #copy
  #current
  #state

  // The look.
  #fullLook = 0
  #misses = 0
  #turn
  #poll = 0
  #expires
  #begun
  #wait = FIRST_WAIT
  #retry
  #phase = Math.random()

  constructor (url, { every = EVERY_MILLISECONDS, key, name, identity, serial, allowHttp, onChange, onError, ...request }, { make, digests, cached }) {
    if (!(every > 0)) {
      throw new RangeError('milliseconds between two looks are more than 0')
    }
    this.#keys = parseKeys(key)
    this.#verify = digests.verify
    this.#every = every
    this.#make = make
    this.#mark = { name, identity, serial: 0n }
    this.#least = serial === undefined ? 0n : BigInt(serial)
    const { signal, ...plain } = request
    this.#folder = new ListFolder(url, {
      allowHttp: allowHttp || this.#keys.length > 0, request: plain, digests, cached, signal: this.#ends.signal
    })
    this.#state = { list: name, identity, serial: undefined, failures: 0, server: this.#folder.shown }
    signal?.addEventListener('abort', () => this.close())
    if (signal?.aborted) {
      this.close()
    }
  }

  /** See BloomFilter.followUrl. */
  static async open (url, options, platform) {
    const followed = new FollowedBloomFilter(url, options, platform)
    await followed.reload()
    if (!followed.#ends.signal.aborted) {
      followed.#follower = new Follower(followed, (one) => one.#untilNext(), options.onChange, options.onError)
    }
    return followed
  }

  /** The present filter. Keys may come into it; a rebuilt one is another. */
  get current () { return this.#current }

  get info () { return this.#current.info }

  contains (key) { return this.#current.contains(key) }

  /** As explain of the filter that is current. */
  explain (key) { return this.#current.explain(key) }

  containsMany (keys) { return this.#current.containsMany(keys) }

  /** Which content of which list it is, and how fresh. */
  status () { return this.#current.status() }

  /**
   * Looks now; resolves to whether something changed. On any error all stays as it was, and the promise is
   * rejected. Looks run one after the other.
   */
  reload () {
    const looking = this.#last.then(() => this.#look())
    this.#last = looking.catch(() => {})
    return looking
  }

  /** Ends following. The present filter stays and answers. */
  close () {
    this.#follower?.stop()
    this.#ends.abort(new BloomFilterError('was closed'))
  }

  async #look () {
    this.#begun = performance.now()
    this.#retry = undefined
    const serial = this.#copy?.serial
    try {
      await this.#lookAtManifest()
    } catch (error) {
      this.#folder.forget()
      this.#failed(inFile(error, this.#folder.shown))
      throw error
    } finally {
      this.#tell(serial)
    }
    this.#wait = FIRST_WAIT
    Object.assign(this.#state, { looked: new Date(), failures: 0, error: undefined, refused: undefined })
    return this.#copy.serial !== serial
  }

  #failed (error) {
    const refused = error instanceof ListError ? error.word : undefined
    this.#retry = error.retry
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT)
    Object.assign(this.#state, { failures: this.#state.failures + 1, failed: new Date(), error: error.message, refused })
  }

  /** Also after a failure: steps that were applied before it are there. */
  #tell (before) {
    if (this.#copy !== undefined && this.#copy.serial !== before) {
      Object.assign(this.#state, { serial: String(this.#copy.serial), changed: new Date() })
    }
  }

  /** A fixed period while all goes well, whose phase is this process's own. */
  #untilNext () {
    if (this.#state.failures > 0) {
      return this.#retry === undefined ? this.#wait * (0.5 + 0.5 * Math.random()) : Math.min(this.#retry, LONGEST_RETRY)
    }
    const period = Math.min(Math.max(this.#every, this.#poll), LONGEST_PERIOD)
    const share = this.#phase
    this.#phase = 1
    return Math.max(0, this.#begun + share * period - performance.now())
  }

  async #lookAtManifest () {
    const full = this.#copy === undefined || this.#state.failures > 0 || performance.now() - this.#fullLook >= FULL_MILLISECONDS
    const text = await this.#folder.manifest(full)
    if (full) {
      this.#fullLook = performance.now()
    }
    if (text === undefined || text === this.#mark.text) {
      checkExpiry(this.#expires)
      return
    }
    await checkSignature(text, this.#keys, this.#verify)
    const list = parseList(text)
    this.#checkIdentity(list)
    this.#checkSerial(list)
    if (await this.#take(list)) {
      this.#mark = { name: list.name, identity: list.identity, serial: list.serial, text }
      this.#poll = Number(list.poll) * 1000
      this.#expires = list.expires
      Object.assign(this.#state, { trueAt: moment(list.true_at), built: moment(list.built) })
    } else {
      // It is to come again, when it is this process's turn.
      this.#folder.forget()
    }
  }

  #checkIdentity ({ name, identity }) {
    const mark = this.#mark
    if (mark.name !== undefined && mark.name !== name) {
      throw new ListError('list', `it is the list "${name}", not "${mark.name}"`)
    }
    // The same key and name are the same list, whatever the folder was lost to.
    if (mark.identity !== undefined && mark.identity !== identity && this.#keys.length === 0) {
      throw new ListError('identity', 'it is another list of this name; if that is right, follow it anew')
    }
  }

  #checkSerial ({ serial, content, expires }) {
    if (serial > now() + DAY) {
      throw new ListError('clock', 'its serial is of the future: this clock or the exporter\'s is wrong')
    }
    checkExpiry(expires)
    if (serial < this.#mark.serial || content < this.#least || content < (this.#copy?.serial ?? 0n)) {
      throw new ListError('back', 'it is older than what was here')
    }
    if (serial === this.#mark.serial) {
      throw new ListError('forked', 'there are two different ones of one serial: do two exporters write to it?')
    }
  }

  /** Takes what a manifest has; resolves to false if it is not this process's turn yet. */
  async #take (list) {
    if (this.#copy?.isOf(list) && await this.#bySteps(list)) {
      return true
    }
    if (!this.#isMyTurn(list.spread)) {
      return false
    }
    const copy = await this.#fetchWholes(list)
    // What comes next can fail: they are not fetched again by each look then.
    this.#misses = 0
    this.#turn = undefined
    if (!await this.#takeSteps(copy, list)) {
      throw new ListError('step', 'steps and whole files of the server don\'t fit each other')
    }
    // All at once: what was looked up before saw the old one, what comes sees the new one.
    this.#copy = copy
    // The old filter goes on telling what it was.
    this.#state = { ...this.#state, list: list.name, identity: list.identity, serial: String(copy.serial) }
    this.#current = this.#make(copy.parts, this.#state)
    return true
  }

  /** Whether steps led to the manifest's content; if not, the whole files are to be taken. */
  async #bySteps (list) {
    try {
      const led = await this.#takeSteps(this.#copy, list)
      this.#misses = 0
      this.#turn = led ? undefined : this.#turn
      return led
    } catch (error) {
      // Whole files help if they have what the step has. A cache says to all hosts that it isn't there.
      if (error.missed === undefined || ++this.#misses < MOST_MISSES || error.missed > list.wholes[0].to ||
          !this.#isMyTurn(list.spread || MISSED_SPREAD)) {
        throw error
      }
      return false
    }
  }

  /** Brings a copy to the manifest's content; resolves to false if no steps lead there. */
  async #takeSteps (copy, { content, steps, inline }) {
    if (copy.serial >= content) {
      return true
    }
    if (inline !== undefined) {
      const step = copy.read(inline)
      if (step.from <= copy.serial && step.to === content) {
        return copy.apply(step)
      }
    }
    const first = steps.findLastIndex(({ from }) => from <= copy.serial)
    for (const file of first < 0 ? [] : steps.slice(first)) {
      const step = copy.read(await this.#folder.bytes(file, '.step'))
      if (step.from !== file.from || step.to !== file.to) {
        throw new ListError('step', 'a step has other serials than the manifest says')
      }
      if (!await copy.apply(step)) {
        return false
      }
    }
    return copy.serial >= content
  }

  /** Those that need whole files at the same moment come one after the other. */
  #isMyTurn (spread) {
    if (this.#copy === undefined || spread === 0n) {
      return true
    }
    this.#turn ??= performance.now() + Number(spread) * 1000 * Math.random()
    return performance.now() >= this.#turn
  }

  async #fetchWholes (list) {
    const parts = []
    for (const file of list.wholes) {
      parts.push(await this.#fetchWhole(file))
    }
    return new ListCopy(wholeSet(parts), list, list.wholes[0].to)
  }

  async #fetchWhole (file) {
    const instance = await Instance.create()
    instance.room(file.length)
    await this.#folder.fetch(file, '.bloom', (chunk, at) => instance.bytes.set(chunk, instance.start + at),
      () => instance.bytes.subarray(instance.start, instance.start + file.length))
    instance.checkHeader(file.length)
    return runAsync(checked(instance, true, pause))
  }
}

function checkExpiry (expires) {
  if (expires !== undefined && expires + CLOCK_GRACE < now()) {
    throw new ListError('expired', 'it has expired: the exporter is dead, or somebody holds an old manifest back')
  }
}
