// Compiled, never run: the types are there for CommonJS, too.
import { BloomFilter, Key, WatchedBloomFilter } from 'bloomfilter-reader'

export async function use (path: string): Promise<boolean> {
  const watched: WatchedBloomFilter = await WatchedBloomFilter.open(path)
  const filter: BloomFilter = watched.current
  return filter.contains(Key.real(0.1))
}
