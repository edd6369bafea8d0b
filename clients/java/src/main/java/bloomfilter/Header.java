package bloomfilter;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The fields of one filter file, checked by rules 1 to 14 of FORMAT.md. */
final class Header {
    static final int BYTES = 64;

    /** Of header and directory, which stand before the blocks of an exact filter. */
    static final int EXACT_BYTES = 128;
    static final long AS_STATED = Long.MAX_VALUE;
    static final int MAX_BYTES = 512 * 1024 * 1024 - 4096;
    private static final int MAGIC = 0x464d4c42;
    private static final int CHECKSUM_AT = 52;
    private static final int DIRECTORY_CHECKSUM_AT = 120;

    /** The format version of exact filters. */
    private static final int EXACT = 2;

    /** One level: its bits, and where they begin, from the filter's first byte. */
    static final class Level {
        /** Bits per key. */
        final int probes;
        final int log2BlockBits;
        final long blocks;
        final long bitsSet;
        final long start;

        private Level(ByteBuffer bytes, int at, int blocksAt, int bitsSetAt, long start)
                throws InvalidFilterException {
            probes = bytes.get(at) & 0xff;
            log2BlockBits = bytes.get(at + 1) & 0xff;
            blocks = Integer.toUnsignedLong(bytes.getInt(blocksAt));
            bitsSet = bytes.getLong(bitsSetAt);
            this.start = start;
            require(probes >= 1 && probes <= 32, "probes", probes + " probes are not 1 to 32");
            require(log2BlockBits >= 9 && log2BlockBits <= 16, "block_bits",
                    "block size 2^" + log2BlockBits + " bits is not 2^9 to 2^16");
        }

        private void requireBlocks() throws InvalidFilterException {
            require(blocks >= 1, "blocks", "number of blocks is zero");
        }

        /** Negative: 2^63 bits and more. */
        void requireBits(boolean condition) throws InvalidFilterException {
            require(condition && bitsSet >= 0 && bitsSet <= bits(), "bits_set",
                    "number of set bits does not match the blocks");
        }

        /** Bytes of its blocks. */
        long length() {
            return blocks << (log2BlockBits - 3);
        }

        long bits() {
            return length() * 8;
        }
    }

    /** Level 1, and of an exact filter levels 2 and 3. */
    final List<Level> levels = new ArrayList<>();
    final Level first;
    final int kind;
    final int part;
    final int parts;
    final long seed;
    final long n;
    final double p;
    final long checksum;

    /** Bytes of the whole filter. */
    final long bytes;

    /** Of an exact filter, else 0. */
    final int salt;
    final long others;

    /**
     * Checks and reads a header.
     *
     * @param start little-endian, the first 128 bytes of the filter, or all if there are fewer
     * @param length bytes of the whole filter; AS_STATED where the header alone says it
     */
    Header(ByteBuffer start, long length) throws InvalidFilterException {
        require(length >= BYTES && start.limit() >= BYTES, "short",
                "shorter than the 64-byte header");
        checkIdentity(start);
        boolean exact = start.get(4) == EXACT;
        first = new Level(start, 5, 8, 40, exact ? EXACT_BYTES : BYTES);
        // The key type in byte 7, the columns in bytes 49 to 51.
        kind = start.get(7) & 0xff | start.getInt(48) & ~0xff;
        part = start.getShort(12) & 0xffff;
        parts = start.getShort(14) & 0xffff;
        seed = start.getLong(16);
        n = start.getLong(24);
        p = start.getDouble(32);
        checksum = start.getLong(56);
        require(KeyType.isNumber(kind & 0xff), "key_type", "unknown key type " + (kind & 0xff));
        require(KeyType.isWhole(kind), "columns", "columns do not match the key type");
        first.requireBlocks();
        levels.add(first);
        if (exact) {
            readDirectory(start);
        }
        salt = exact ? start.get(64) & 0xff : 0;
        others = exact ? start.getLong(72) : 0;
        Level last = levels.get(levels.size() - 1);
        bytes = last.start + last.length();
        require((bytes == length || length == AS_STATED) && bytes <= MAX_BYTES, "size", "the header says "
                + bytes + " bytes, which is another length, or more than " + MAX_BYTES);
        require(part < parts, "part",
                "part " + part + " is not below the number of parts " + parts);
        // Unsigned numbers from 2^63 up are negative here, and refused as well.
        require(n >= 1, "capacity", "capacity is not between 1 and 2^63 - 1");
        require(p > 0.0 && p < 1.0, "rate", "false-positive rate is not between 0 and 1");
    }

    private void readDirectory(ByteBuffer start) throws InvalidFilterException {
        require(start.limit() >= EXACT_BYTES
                && start.getLong(DIRECTORY_CHECKSUM_AT) == Part.checksum(start, start.duplicate().limit(DIRECTORY_CHECKSUM_AT)),
                "directory", "directory of levels is damaged");
        requireThree(start.get(65) == 3 && start.getInt(66) == 0 && start.getShort(70) == 0);
        long at = EXACT_BYTES + first.length();
        for (int field : new int[] {80, 100}) {
            requireThree(start.getShort(field + 2) == 0);
            Level level = new Level(start, field, field + 4, field + 12, at);
            level.requireBlocks();
            level.requireBits(true);
            levels.add(level);
            at += level.length();
        }
    }

    private static void requireThree(boolean condition) throws InvalidFilterException {
        require(condition, "levels", "directory is not that of three levels");
    }

    static void require(boolean condition, String rule, String message)
            throws InvalidFilterException {
        if (!condition) {
            throw new InvalidFilterException(rule, "not a valid filter: " + message);
        }
    }

    private static void checkIdentity(ByteBuffer bytes) throws InvalidFilterException {
        int version = bytes.get(4) & 0xff;
        require(bytes.getInt(0) == MAGIC, "magic", "does not start with BLMF");
        require(version == 1 || version == EXACT, "version", "unsupported format version " + version);
        require(bytes.getInt(CHECKSUM_AT) == checksum(bytes), "header_checksum",
                "header checksum does not match");
        require(bytes.get(48) == 1, "hash",
                "unsupported hash function " + (bytes.get(48) & 0xff));
    }

    /** The low half of XXH64, seed 0, of the bytes before it. */
    static int checksum(ByteBuffer bytes) {
        byte[] start = new byte[CHECKSUM_AT];
        bytes.duplicate().position(0).get(start);
        return (int) Xxh64.of(start, 0);
    }
}
