package bloomfilter;

import static bloomfilter.Header.require;

import java.nio.ByteBuffer;

/** Levels 2 and 3 of an exact filter, as its directory has them: FORMAT.md, format version 2. */
final class Directory {
    /** Of header and directory, which stand before the blocks. */
    static final int BYTES = 128;

    private static final int SALT_AT = 64;
    private static final int LEVELS_AT = 65;
    private static final int OTHERS_AT = 72;
    private static final int[] LEVEL_AT = {80, 100};
    private static final int CHECKSUM_AT = 120;

    private static final String NOT_THREE = "directory is not that of three levels";

    /** One level: its bits, and where they begin, from the filter's first byte. */
    static final class Level {
        final int probes;
        final int log2BlockBits;
        final long blocks;
        final long bitsSet;
        final int start;

        private Level(ByteBuffer bytes, int at, long start) throws InvalidFilterException {
            probes = bytes.get(at) & 0xff;
            log2BlockBits = bytes.get(at + 1) & 0xff;
            blocks = Integer.toUnsignedLong(bytes.getInt(at + 4));
            bitsSet = bytes.getLong(at + 12);
            this.start = (int) start;
            require(bytes.getShort(at + 2) == 0, "levels", NOT_THREE);
            require(probes >= 1 && probes <= 32, "probes", probes + " probes are not 1 to 32");
            require(log2BlockBits >= 9 && log2BlockBits <= 16, "block_bits",
                    "block size 2^" + log2BlockBits + " bits is not 2^9 to 2^16");
            require(blocks >= 1, "blocks", "number of blocks is zero");
            require(bitsSet >= 0 && bitsSet <= length() * 8, "bits_set",
                    "number of set bits does not match the blocks");
        }

        /** Bytes of its blocks. */
        long length() {
            return blocks << (log2BlockBits - 3);
        }
    }

    final int salt;
    final long others;
    final Level[] levels = new Level[2];

    /** Checks in the format's order; first is the length of level 1's blocks. */
    Directory(ByteBuffer bytes, long length, long first) throws InvalidFilterException {
        require(bytes.limit() >= BYTES && bytes.getLong(CHECKSUM_AT) == checksum(bytes),
                "directory", "directory of levels is damaged");
        boolean zero = bytes.getInt(LEVELS_AT + 1) == 0 && bytes.getShort(LEVELS_AT + 5) == 0;
        require(bytes.get(LEVELS_AT) == 3 && zero, "levels", NOT_THREE);
        salt = bytes.get(SALT_AT) & 0xff;
        others = bytes.getLong(OTHERS_AT);
        long start = BYTES + first;
        for (int i = 0; i < levels.length; i++) {
            levels[i] = new Level(bytes, LEVEL_AT[i], start);
            start += levels[i].length();
        }
        require(start == length && length <= Header.MAX_BYTES, "size",
                "length is " + length + " and the header says " + start);
    }

    /** Of header and directory without the two checksums that are made after it. */
    private static long checksum(ByteBuffer bytes) {
        byte[] both = new byte[56 + CHECKSUM_AT - Header.BYTES];
        bytes.duplicate().position(0).get(both, 0, 56).position(Header.BYTES)
                .get(both, 56, CHECKSUM_AT - Header.BYTES);
        return Xxh64.of(both, 0);
    }

    /** How long a filter is whose first bytes these are, as far as levels 2 and 3 go. */
    static long lengthOf(ByteBuffer bytes) {
        long length = BYTES - Header.BYTES;
        for (int at : LEVEL_AT) {
            int log2 = bytes.limit() < BYTES ? 0 : bytes.get(at + 1) & 0xff;
            length += log2 < 9 || log2 > 16 ? 0
                    : Integer.toUnsignedLong(bytes.getInt(at + 4)) << (log2 - 3);
        }
        return length;
    }

    /** A key's hash for level 2 or 3, whose number is 0 or 1. */
    long hash(int level, long hash) {
        long x = hash + (level + 1 + (level == 1 ? 64L * salt : 0)) * Hash.PROBE_MULTIPLIER;
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }
}
