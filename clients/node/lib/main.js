// What all platforms have.
export { BloomFilter } from './filter.js'
export { LiveBloomFilter } from './live.js'
export { Key } from './key.js'
export {
  BloomFilterError, InvalidFilterError, InvalidSetError, KeyTypeError, KeyValueError, PartError
} from './errors.js'
