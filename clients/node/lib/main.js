// What all platforms have.
export { BloomFilter } from './filter.js'
export { WatchedBloomFilter } from './watched.js'
export { Key } from './key.js'
export {
  BloomFilterError, ChangedFileError, ChangesError, InvalidFilterError, KeyTypeError, KeyValueError, PartError
} from './errors.js'
