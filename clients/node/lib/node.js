// For import in Node: what require gives, so that both have the same classes.
import all from '../build/index.cjs'

export const {
  BloomFilter, FollowedBloomFilter, RemoteBloomFilter, WatchedBloomFilter, Key, ratesWith, sizing,
  BloomFilterError, InvalidFilterError, InvalidSetError, KeyTypeError, KeyValueError, ListError, PartError
} = all
