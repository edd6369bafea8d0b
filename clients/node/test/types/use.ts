// Compiled, never run: the types allow what the README shows and no more.
import { BloomFilter, Key, KeyTypeError, Status, WatchedBloomFilter } from 'bloomfilter-reader'

export async function use (bytes: Uint8Array): Promise<string> {
  const filter: BloomFilter = await BloomFilter.open('users.bloom', { verify: false })
  const found: boolean = filter.contains(42) || filter.contains(42n) || filter.contains('x') ||
    filter.contains(bytes) || filter.contains(Key.uuid('00112233-4455-6677-8899-aabbccddeeff')) ||
    filter.contains([7, 'x']) || filter.contains(Key.parse('real', '0.1'))
  const many: Uint8Array = filter.containsMany([1, 2n, Key.integer(3)])
  filter.containsMany(BigInt64Array.of(1n))
  BloomFilter.openSync('users.bloom').containsMany(['a', 'b'])
  BloomFilter.fromBytes(bytes).contains(found ? 1 : many[0])
  const watched = await WatchedBloomFilter.open('users.bloom', { onError: (error) => console.error(error.message) })
  const changed: boolean = await watched.reload()
  const status: Status = watched.status()
  if (status.place === 'here' && status.age !== undefined && status.age > 1000) {
    (await watched.current.snapshot()).contains(changed ? 1 : 2)
  }
  await BloomFilter.fetch('https://lists.example.com/users.bloom', { headers: { authorization: 'x' } })
  // @ts-expect-error a Date has no SQL type of its own
  watched.contains(new Date())
  // @ts-expect-error numeric takes no number
  Key.numeric(0.1)
  // @ts-expect-error rows have no form as text
  Key.parse('row', '(1,2)')
  // @ts-expect-error filters come from open
  new BloomFilter()
  try {
    watched.current.contains('x')
  } catch (error) {
    if (error instanceof KeyTypeError && error.index === undefined) {
      return watched.current.info.filters[0].checksum
    }
  }
  return filter.info.seed
}
