// Compiled, never run: the types are there for CommonJS, too.
import { BloomFilter, Key, LiveBloomFilter } from 'bloomfilter-reader'

export async function use (path: string): Promise<boolean> {
  const live: LiveBloomFilter = await LiveBloomFilter.open(path)
  const filter: BloomFilter = live.current
  return filter.contains(Key.real(0.1))
}
