/** Names of key types. */
export type KeyTypeName =
  | 'none' | 'integer' | 'text' | 'bytea' | 'uuid' | 'numeric' | 'float'
  | 'date' | 'timestamp' | 'timestamptz' | 'inet' | 'macaddr'
  | `row(${string})`

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

/** One file. */
export interface PartInfo {
  keyType: KeyTypeName
  part: number
  parts: number
  seed: bigint
  /** Bits per key. */
  probes: number
  blockBits: number
  blocks: number
  /** Keys it was sized for. */
  capacity: bigint
  /** False-positive rate at that many keys. */
  rate: number
  bitsSet: number
  checksum: bigint
  bytes: number
  /** Estimated from the bits set; Infinity if all are. */
  estimatedKeys: number
}

/** A filter, or all open parts of a set together. */
export interface Info {
  keyType: KeyTypeName
  /** SQL shows it as the signed BigInt.asIntN(64, seed). */
  seed: bigint
  /** Of the whole set; 1 for a whole filter. */
  parts: number
  capacity: bigint
  bytes: number
  bitsSet: number
  estimatedKeys: number
  open: PartInfo[]
}

export class Filter {
  private constructor ()
  readonly keyType: KeyTypeName
  readonly info: Info
  /** false: surely not in. true: perhaps in. */
  contains (key: KeyLike): boolean
  /** Element i of the result is 1 (perhaps in) or 0 (surely not in). */
  containsMany (keys: KeyList): Uint8Array
}

/** Opens a filter's file, a set's manifest, or a folder with one or the other. */
export function open (path: string, options?: OpenOptions): Promise<Filter>

/** The same, waiting for the disk. */
export function openSync (path: string, options?: OpenOptions): Filter

/** A filter of bytes in memory. They are copied. */
export function fromBytes (bytes: Uint8Array, options?: OpenOptions): Filter

/** A filter that is replaced while it is in use. */
export class Live {
  private constructor ()
  static open (path: string, options?: OpenOptions): Promise<Live>
  /** The present filter. */
  readonly filter: Filter
  contains (key: KeyLike): boolean
  containsMany (keys: KeyList): Uint8Array
  /** Opens the path again; on any error the old filter stays. */
  reload (): Promise<void>
}

/** A key whose SQL type is said by the caller. */
export class Key {
  private constructor ()
  readonly type: KeyTypeName
  readonly bytes: Uint8Array
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
  static timestamptz (value: string | Date): Key
  /** An address, with its prefix length or without. */
  static inet (value: string): Key
  /** Text, or 6 or 8 bytes. */
  static mac (value: string | Uint8Array): Key
  /** One to six columns; an array of them is as good. */
  static row (...columns: ColumnLike[]): Key
}

/** The parent of all errors that this package makes. */
export class BloomfilterError extends Error {
  /** In a batch: the number of the key that the error is about. */
  index?: number
}

/** Bytes are not a valid filter. */
export class FormatError extends BloomfilterError {
  /** The word of the first broken rule in the format's description. */
  readonly rule: string
}

/** Valid filters are not one whole set, or a manifest is not one. */
export class SetError extends BloomfilterError {}

/** The filter was asked for a key of a type that it does not hold. */
export class KeyTypeError extends BloomfilterError {
  readonly holds: KeyTypeName
  readonly asked: KeyTypeName
}

/** The key belongs to a part of the set that was not opened. */
export class PartError extends BloomfilterError {
  readonly part: number
  readonly parts: number
  readonly wanted: number
}

/** A value has no key bytes. */
export class KeyError extends BloomfilterError {
  readonly type: KeyTypeName
}
