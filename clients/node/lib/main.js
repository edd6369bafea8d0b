// What all platforms have.
export { BloomFilter } from './filter.js'
export { FollowedBloomFilter } from './followed.js'
export { RemoteBloomFilter } from './remote.js'
export { WatchedBloomFilter } from './watched.js'
export { Key } from './key.js'
export { ratesWith, sizing } from './size.js'
export {
  BloomFilterError, InvalidFilterError, InvalidSetError, KeyTypeError, KeyValueError, ListError, PartError
} from './errors.js'
