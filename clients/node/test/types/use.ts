// Compiled, never run: the types allow what the README shows and no more.
import { Filter, Key, KeyTypeError, Live, fromBytes, open, openSync } from '../../lib/index.js'

export async function use (bytes: Uint8Array): Promise<bigint> {
  const filter: Filter = await open('users.bloom', { verify: false })
  const found: boolean = filter.contains(42) || filter.contains(42n) || filter.contains('x') ||
    filter.contains(bytes) || filter.contains(Key.uuid('00112233-4455-6677-8899-aabbccddeeff'))
  const many: Uint8Array = filter.containsMany([1, 2n, Key.integer(3)])
  filter.containsMany(BigInt64Array.of(1n))
  openSync('users.bloom').containsMany(['a', 'b'])
  fromBytes(bytes).contains(found ? 1 : many[0])
  const live = await Live.open('users.bloom')
  await live.reload()
  // @ts-expect-error a Date has no SQL type of its own
  live.contains(new Date())
  // @ts-expect-error numeric takes no number
  Key.numeric(0.1)
  // @ts-expect-error filters come from open
  new Filter()
  try {
    live.filter.contains('x')
  } catch (error) {
    if (error instanceof KeyTypeError && error.holds === 'integer') {
      return live.filter.info.open[0].checksum
    }
  }
  return filter.info.seed
}
