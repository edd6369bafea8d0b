export type KeyTypeName =
  | 'none' | 'integer' | 'text' | 'bytea' | 'uuid' | 'numeric' | 'float'
  | 'date' | 'timestamp' | 'timestamptz' | 'inet' | 'macaddr'
  | `row(${string})`

/** Types that have text forms: those of doc/KEYS.md. */
export type TextTypeName = Exclude<KeyTypeName, 'none' | `row(${string})`> | 'real'

/** What leaves no doubt about its SQL type, or a Key. */
export type KeyLike = number | bigint | string | Uint8Array | Key | readonly ColumnLike[]

export type ColumnLike = number | bigint | string | Uint8Array | Key

/** Numbers in typed arrays are integers, or floats in a filter of floats. */
export type KeyList =
  | readonly KeyLike[]
  | BigInt64Array | BigUint64Array | Float64Array | Float32Array
  | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array

export interface OpenOptions {
  /**
   * false leaves out the pass over all blocks that counts their bits and compares
   * the checksum; damage of the blocks then goes unseen. Default: true.
   */
  verify?: boolean
  /** A list's identity, a UUID: the file of another one is refused, and so is one of no list. */
  identity?: string
}

/** What SQL's bloom_stats says of one filter, or of a set's parts together. */
export interface PartInfo {
  /** Keys it was sized for. */
  n: number
  /** The false-positive rate at that many keys; of a set the highest. */
  p: number
  bits: number
  bytes: number
  /** Bits per key; of a set its first part's, as is blockBits. */
  hashes: number
  blockBits: number
  blocks: number
  /** Signed, as in SQL. */
  seed: string
  keyType: KeyTypeName
  bitsSet: number
  fill: number
  /** The number of different keys in it, estimated. */
  cardinality: number
  /** The false-positive rate to be expected with the keys in it now. */
  fpr: number
  /** Whether it surely holds more keys than it was sized for. */
  overCapacity: boolean
  part: number
  parts: number
  formatVersion: number
  /** Whether it is right for each key that it was built of: members and others. */
  exact: boolean
  /** Those that are no members, for which an exact one was sized. */
  others: number
  checksum: string
}

export interface Info extends PartInfo {
  filters: PartInfo[]
}

/** Which content of which list a followed file has, and how fresh it is: the project's clients/README.md, Files. What isn't known is undefined. */
export interface Status {
  list?: string
  /** Of the list: a UUID. */
  identity?: string
  /** Where the file is, which says what its serial can be believed to be. */
  place: 'none' | 'here' | 'other boot' | 'copy'
  /** Microseconds since 1970 of its publish, as text: a later one is greater. */
  serial?: string
  trueAt?: Date
  looked?: Date
  /** Milliseconds since the last look that went well; below zero: a clock is wrong. */
  age?: number
  /** Milliseconds between two looks. */
  every?: number
  /** Milliseconds between two manifests at most; 0 where none is promised. */
  heartbeat?: number
  expires?: Date
  /** Looks that failed since the last good one. */
  failures: number
  /** Since when there is this reason: */
  since?: Date
  /** What is wrong, one of the reasons of `bloomfilter status`, or ''. */
  reason: string
  message: string
  superseded: boolean
  changes: number
}

export class BloomFilter {
  private constructor ()
  /** Opens a filter's file, or one that `bloomfilter pull` keeps, of which each look-up reads a block. */
  static open (path: string, options?: OpenOptions): Promise<BloomFilter>
  /** The same, waiting for the disk. */
  static openSync (path: string, options?: OpenOptions): BloomFilter
  /** A filter of bytes in memory. They are copied. */
  static fromBytes (bytes: Uint8Array, options?: OpenOptions): BloomFilter
  /** A filter from the web; options are also those of the global fetch. With headers no redirect is followed. */
  static fetch (url: string | { toString (): string }, options?: OpenOptions & { [option: string]: unknown }): Promise<BloomFilter>
  readonly keyType: KeyTypeName
  /** Of a followed file all of it is read for this. */
  readonly info: Info
  /** What a followed file says of itself now. */
  status (): Status
  /** A copy in memory of a followed file; other filters are in memory, and this is the filter itself. */
  snapshot (): Promise<BloomFilter>
  /** false: surely not in. true: perhaps in. */
  contains (key: KeyLike): boolean
  /** Element i of the result is 1 (perhaps in) or 0 (surely not in). */
  containsMany (keys: KeyList): Uint8Array
}

export interface WatchOptions extends OpenOptions {
  /** Is told why what is at the path could not be taken; without it there is a warning. */
  onError?: (error: Error) => void
}

/** A filter that is replaced while it is in use. */
export class WatchedBloomFilter {
  private constructor ()
  static open (path: string, options?: WatchOptions): Promise<WatchedBloomFilter>
  /** The same as soon as there is a file; after so many milliseconds the last error. */
  static wait (path: string, timeout: number, options?: WatchOptions): Promise<WatchedBloomFilter>
  status (): Status
  /** The present filter: keep it for one piece of work, so that its answers agree. */
  readonly current: BloomFilter
  readonly info: Info
  contains (key: KeyLike): boolean
  containsMany (keys: KeyList): Uint8Array
  /** Takes what is at the path now: whether it is another file. On any error the old one stays. */
  reload (): Promise<boolean>
}

/** A key whose SQL type is said by the caller. */
export class Key {
  private constructor ()
  readonly type: KeyTypeName
  readonly bytes: Uint8Array
  /**
   * The type's name and the bytes in hexadecimal, '-' for none: what `bloomfilter explain --bytes` and
   * SQL's bloom_explain take, to say how the key is looked up.
   */
  describe (): string
  /** The key that PostgreSQL's type reads from a text; 'real' is a type, too. */
  static parse (type: TextTypeName, text: string): Key
  /** Key bytes as they are; those that no key has are refused. */
  static raw (type: Exclude<TextTypeName, 'real'> | 'row', bytes: Uint8Array): Key
  static integer (value: number | bigint): Key
  static text (value: string): Key
  static bytea (value: Uint8Array): Key
  /** Text, or 16 bytes in its order. */
  static uuid (value: string | Uint8Array): Key
  /** Numbers are refused: 0.1 is not the decimal that it looks like. */
  static numeric (value: string | bigint): Key
  static float (value: number): Key
  /** real: the nearest number of 32 bits. */
  static real (value: number): Key
  /** YYYY-MM-DD, infinity, or a Date at midnight in UTC. */
  static date (value: string | Date): Key
  /** YYYY-MM-DD HH:MM:SS.ffffff without an offset, or infinity. */
  static timestamp (value: string): Key
  /** The same with an offset such as +02 or Z, or a Date. */
  static timestamptz (value: string): Key
  /** A Date has no microseconds: right only where all timestamps are whole milliseconds. */
  static timestamptz (value: Date, options: { milliseconds: true }): Key
  /** An address, with its prefix length or without. */
  static inet (value: string): Key
  /** Text, or 6 or 8 bytes. */
  static mac (value: string | Uint8Array): Key
  /** One to six columns; an array of them is as good. */
  static row (...columns: ColumnLike[]): Key
}

/** The parent of all errors that this package makes; the project's clients/README.md says when there is which. */
export class BloomFilterError extends Error {
  /** In a batch: the number of the key that the error is about. */
  index?: number
  /** The file that it is about. */
  path?: string
}

export class InvalidFilterError extends BloomFilterError {
  /** The word of the first broken rule in the format's description. */
  readonly rule: string
}

export class KeyTypeError extends BloomFilterError {}
export class KeyValueError extends BloomFilterError {}
export class PartError extends BloomFilterError {}
export class ChangedFileError extends BloomFilterError {}
export class ChangesError extends BloomFilterError {}
