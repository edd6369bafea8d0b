// The numbers of the key types in the header, and their names.
export const NONE = 0
export const INTEGER = 1
export const TEXT = 2
export const BYTEA = 3
export const FLOAT = 6
export const DATE = 7
export const TIMESTAMPTZ = 9
export const ROW = 15

export const MAX_COLUMNS = 6

const names = [
  'none', 'integer', 'text', 'bytea', 'uuid', 'numeric', 'float', 'date',
  'timestamp', 'timestamptz', 'inet', 'macaddr'
]

/** The name of the type with this number. */
export function typeName (type) {
  return type === ROW ? 'row' : names[type]
}

/** The number of the type with this name; -1: there is none. */
export function typeOfName (name) {
  return name === 'row' ? ROW : names.indexOf(name)
}

// What keys a filter holds is one number, its kind: the key type, and above it, in
// 4 bits each, the types of a row's columns. Keys of equal kinds can be compared.

/** The kind of a row with columns of these types. */
export function rowKind (columns) {
  return columns.reduce((kind, type, i) => (kind | type << (8 + 4 * i)) >>> 0, ROW)
}

/** The types of a row's columns; none for other keys. */
export function columnsOf (kind) {
  const columns = []
  for (let rest = kind >>> 8; (rest & 15) !== 0; rest >>>= 4) {
    columns.push(rest & 15)
  }
  return columns
}

/** As messages show it: 'integer', 'row(integer, text)'. */
export function kindName (kind) {
  const columns = columnsOf(kind).map(typeName)
  const name = typeName(kind & 0xff)
  return columns.length > 0 ? `${name}(${columns.join(', ')})` : name
}
