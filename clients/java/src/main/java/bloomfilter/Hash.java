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
}
