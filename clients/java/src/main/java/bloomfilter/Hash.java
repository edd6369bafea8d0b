package bloomfilter;

/** From a key's hash to the block, the bits and the part: section 5 of FORMAT.md. */
final class Hash {
    static final long PROBE_MULTIPLIER = 0x9e3779b97f4a7c15L;
    private static final long PART_MULTIPLIER = 0xd6e8feb86659fd93L;

    private Hash() {
    }

    /** The high 64 bits of the unsigned product; range is not negative. */
    static long reduce(long hash, long range) {
        return Math.multiplyHigh(hash, range) + ((hash >> 63) & range);
    }

    static int part(long hash, int parts) {
        long mixed = (hash ^ (hash >>> 32)) * PART_MULTIPLIER;
        return (int) reduce(mixed ^ (mixed >>> 32), parts);
    }

    /** A key's hash for level 2 or 3 of an exact filter, whose number is 0 or 1. */
    static long ofLevel(int level, int salt, long hash) {
        long x = hash + (level + 1 + (level == 1 ? 64L * salt : 0)) * PROBE_MULTIPLIER;
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }
}
