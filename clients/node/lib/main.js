// What all platforms have, and all that browsers have and whatever else has no files: filters come from bytes or the web.
export { BloomFilter } from './filter.js'
export { WatchedBloomFilter } from './watched.js'
export { Key } from './key.js'
export {
  BloomFilterError, ChangedFileError, ChangesError, InvalidFilterError, KeyTypeError, KeyValueError, PartError
} from './errors.js'
