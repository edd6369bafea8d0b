/** Names of key types. */
export type KeyTypeName =
  | 'none' | 'integer' | 'text' | 'bytea' | 'uuid' | 'numeric' | 'float'
  | 'date' | 'timestamp' | 'timestamptz' | 'inet' | 'macaddr'
  | `row(${string})`

/** Types that have text forms: those of doc/KEYS.md. */
export type TextTypeName =
  | 'integer' | 'text' | 'bytea' | 'uuid' | 'numeric' | 'float' | 'real'
  | 'date' | 'timestamp' | 'timestamptz' | 'inet' | 'macaddr'

/** What leaves no doubt about its SQL type, or a Key. */
export type KeyLike = number | bigint | string | Uint8Array | Key | readonly ColumnLike[]

/** A column of a row. */
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
  /** Of the whole set; 1 for a whole filter. */
  parts: number
  formatVersion: number
  /** 16 hexadecimal digits. */
  checksum: string
}

export interface Info extends PartInfo {
  /** Of each open part. */
  filters: PartInfo[]
}

export interface BuildOptions {
  /** Keys to size it for; without it as many as there are different ones. */
  n?: number | bigint
  /** The most false positives with so many keys. Default: 0.01. */
  p?: number
  seed?: number | bigint | string
  /** A filter whose size, n, p, seed and part to take. */
  like?: BloomFilter
}

/** Which content of which list a filter is, and how fresh. */
export interface Status {
  list?: string
  /** Of the list: a UUID. */
  identity?: string
  /** Of the content, as text: a later one is greater. */
  serial?: string
  built?: Date
  /** The last look at the server that went well. */
  looked?: Date
  changed?: Date
  /** Of a working copy or a followed list: what was committed before is in it. */
  trueAt?: Date
  /** Looks that failed since. */
  failures: number
  failed?: Date
  error?: string
  /** Why pull refused what the server has, in a word. */
  refused?: string
  server?: string
}

export class BloomFilter {
  private constructor ()
  /** Opens a filter's file, a set's manifest, or a folder with a file "manifest". */
  static open (path: string, options?: OpenOptions): Promise<BloomFilter>
  /** The same, waiting for the disk. */
  static openSync (path: string, options?: OpenOptions): BloomFilter
  /** A filter of bytes in memory. They are copied. */
  static fromBytes (bytes: Uint8Array, options?: OpenOptions): BloomFilter
  /** A whole set from the bytes of its parts, in their order. */
  static fromParts (parts: Iterable<Uint8Array>, options?: OpenOptions): BloomFilter
  /** A filter from the web; options are also those of the global fetch. */
  static fetch (url: string | { toString (): string }, options?: OpenOptions & { [option: string]: unknown }): Promise<BloomFilter>
  /** A filter on a web server that is asked by ranges; options are those of the global fetch. */
  static openUrl (url: string | { toString (): string }, options?: { [option: string]: unknown }): Promise<RemoteBloomFilter>
  /** A list that `bloomfilter export` keeps in a folder of a web server, followed until close; options are also those of the global fetch. */
  static followUrl (url: string | { toString (): string }, options?: FollowUrlOptions & { [option: string]: unknown }): Promise<FollowedBloomFilter>
  /** A filter of these keys, with the bytes that SQL makes of them. */
  static build (keys: Iterable<KeyLike> | KeyList, options?: BuildOptions): BloomFilter
  readonly keyType: KeyTypeName
  readonly info: Info
  /** What `bloomfilter pull` wrote beside its file. */
  status (): Promise<Status>
  /** false: surely not in. true: perhaps in. */
  contains (key: KeyLike): boolean
  /** What a look-up of the key computes and sees, in the lines of SQL's bloom_explain. */
  explain (key: KeyLike): string
  /** Element i of the result is 1 (perhaps in) or 0 (surely not in). */
  containsMany (keys: KeyList): Uint8Array
  /** The bytes of one filter, as its file has them. */
  toBytes (): Uint8Array
  /** Writes a filter's file: beside the path first, then renamed over it. */
  write (path: string): Promise<void>
  toJSON (): Info
}

/** A filter that stays on a web server. */
export class RemoteBloomFilter {
  private constructor ()
  readonly keyType: KeyTypeName
  /** 16 hexadecimal digits: where they are the same, so are the bytes. */
  readonly checksum: string
  /** Fetches one block. false: surely not in. true: perhaps in. */
  contains (key: KeyLike): Promise<boolean>
  /** The same, with what was fetched and seen. */
  look (key: KeyLike): Promise<RemoteLook>
}

/** A look-up by range: the block that was fetched, and the bit of each probe in it. */
export interface RemoteLook {
  found: boolean
  /** Of the key: 16 hexadecimal digits. */
  hash: string
  block: number
  blocks: number
  /** The block's place in the file, and its length. */
  from: number
  bytes: number
  bits: { bit: number, set: boolean }[]
}

export interface FollowOptions {
  /** Is told of each new filter. */
  onChange?: (filter: BloomFilter) => void
  /** Is told of each error; without it there is a warning for each other one. */
  onError?: (error: Error) => void
}

/** A filter that is replaced while it is in use. */
export class WatchedBloomFilter {
  private constructor ()
  static open (path: string, options?: OpenOptions): Promise<WatchedBloomFilter>
  /** The same as soon as there is a file; after so many milliseconds the last error. */
  static wait (path: string, timeout: number, options?: OpenOptions): Promise<WatchedBloomFilter>
  status (): Promise<Status>
  /** The present filter. */
  readonly current: BloomFilter
  readonly info: Info
  contains (key: KeyLike): boolean
  /** What a look-up of the key computes and sees, in the lines of SQL's bloom_explain. */
  explain (key: KeyLike): string
  containsMany (keys: KeyList): Uint8Array
  /** Takes what is at the path now: whether it is another filter. On any error the old one stays. */
  reload (): Promise<boolean>
  /** Reloads every so many milliseconds (default: 1000), until close. */
  follow (every?: number, options?: FollowOptions): void
  /** Ends following. */
  close (): void
}

export interface FollowUrlOptions extends FollowOptions {
  /** Milliseconds between two looks, if the list doesn't want more. Default: 10000. */
  every?: number
  /** Public keys of minisign: their text, or what their files have. Only what one of them has signed is taken. */
  key?: string | readonly string[]
  /** The list's, where it is to be none other. */
  name?: string
  /** What status told before, to be gone on from: another list, or an older state, is refused. */
  identity?: string
  serial?: string
  /** Takes http: from other machines, too. With a key it does so by itself. */
  allowHttp?: boolean
  /** Ends following, as close does. */
  signal?: { readonly aborted: boolean, addEventListener (type: 'abort', listener: () => void): void }
}

/** A list on a web server, to whose own copy its steps are applied. */
export class FollowedBloomFilter {
  private constructor ()
  status (): Promise<Status>
  /** The present filter. Keys may come into it; a rebuilt one is another. */
  readonly current: BloomFilter
  readonly info: Info
  contains (key: KeyLike): boolean
  /** What a look-up of the key computes and sees, in the lines of SQL's bloom_explain. */
  explain (key: KeyLike): string
  containsMany (keys: KeyList): Uint8Array
  /** Looks now: whether something changed. On any error all stays as it was. */
  reload (): Promise<boolean>
  /** Ends following. */
  close (): void
}

/** A key whose SQL type is said by the caller. */
export class Key {
  private constructor ()
  readonly type: KeyTypeName
  readonly bytes: Uint8Array
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
  /** double precision. */
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

/** The parent of all errors that this package makes. */
export class BloomFilterError extends Error {
  /** 'ERR_BLOOMFILTER', or that and what it is about, such as 'ERR_BLOOMFILTER_KEY_TYPE'. */
  readonly code: string
  /** In a batch: the number of the key that the error is about. */
  index?: number
  /** The file that it is about. */
  path?: string
}

/** Bytes are not a valid filter. */
export class InvalidFilterError extends BloomFilterError {
  /** The word of the first broken rule in the format's description. */
  readonly rule: string
}

/** A manifest is none, or valid filters are not one whole set. */
export class InvalidSetError extends BloomFilterError {}

/** A list on a web server is not as it must be, or must not be taken. */
export class ListError extends BloomFilterError {
  /** Why: back, identity, list, forked, expired, clock, signature; or line, must, step, file. */
  readonly word: string
}

/** A key of another type than the filter's, or a value that is no key at all. */
export class KeyTypeError extends BloomFilterError {
  readonly holds?: KeyTypeName
  readonly asked?: KeyTypeName
}

/** A value that its SQL type can't have. */
export class KeyValueError extends BloomFilterError {}

/** The key belongs to a part of the set that is not open. */
export class PartError extends BloomFilterError {
  readonly part: number
  readonly parts: number
  readonly wanted: number
}

/** What SQL's bloom_sizing says of n keys at a rate of at most p. */
export interface Sizing {
  bits: number
  bytes: number
  hashes: number
  blockBits: number
  blocks: number
  bitsPerKey: number
  /** The exact expected rate at n keys. */
  expectedFpr: number
  /** The textbook's bits and hashes, which promise a rate that a blocked filter would not have. */
  classicBits: number
  classicHashes: number
  /** The fewest parts in which it can be stored. */
  parts: number
}

export function sizing (n: number | bigint, p: number): Sizing

/** The false-positive rates of a filter sized for n keys at rate p that holds so many keys. */
export function ratesWith (n: number | bigint, p: number, counts: readonly number[]): number[]
