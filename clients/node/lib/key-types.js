// The numbers of the key types in the header, and their names.
export const NONE = 0
export const INTEGER = 1
export const TEXT = 2
export const BYTEA = 3
export const UUID = 4
export const NUMERIC = 5
export const FLOAT = 6
export const DATE = 7
export const TIMESTAMP = 8
export const TIMESTAMPTZ = 9
export const INET = 10
export const MACADDR = 11

export const keyTypeNames = [
  'none', 'integer', 'text', 'bytea', 'uuid', 'numeric', 'float', 'date',
  'timestamp', 'timestamptz', 'inet', 'macaddr'
]
