export { Filter, open, openSync, fromBytes } from './filter.js'
export { Live } from './live.js'
export { Key } from './key.js'
export {
  BloomfilterError, FormatError, SetError, KeyTypeError, PartError, KeyError
} from './errors.js'
