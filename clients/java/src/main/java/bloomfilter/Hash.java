package bloomfilter;

import net.jpountz.xxhash.StreamingXXHash64;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;

/**
 * From key bytes to the block, the bits and the part: sections 4 and 5 of FORMAT.md.
 *
 * <p>The Java instances of the library, not the native one: crossing into native code costs
 * several times what hashing a key does.
 */
final class Hash {
    static final long PROBE_MULTIPLIER = 0x9e3779b97f4a7c15L;
    private static final long PART_MULTIPLIER = 0xd6e8feb86659fd93L;
    private static final XXHashFactory FACTORY = XXHashFactory.fastestJavaInstance();
    private static final XXHash64 XXH64 = FACTORY.hash64();

    private Hash() {
    }

    static long of(byte[] key, long seed) {
        return XXH64.hash(key, 0, key.length, seed);
    }

    static StreamingXXHash64 checksum() {
        return FACTORY.newStreamingHash64(0);
    }

    /** The high 64 bits of the unsigned product; range is not negative. */
    static long reduce(long hash, long range) {
        return Math.multiplyHigh(hash, range) + ((hash >> 63) & range);
    }

    static int part(long hash, int parts) {
        long mixed = (hash ^ (hash >>> 32)) * PART_MULTIPLIER;
        return (int) reduce(mixed ^ (mixed >>> 32), parts);
    }
}
