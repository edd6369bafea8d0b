package bloomfilter;

import java.nio.ByteBuffer;
import java.util.List;

/** The fields of one filter file, checked by rules 1 to 14 of FORMAT.md. */
final class Header {
    static final int BYTES = 64;
    static final int MAX_BYTES = 512 * 1024 * 1024 - 4096;
    private static final int MAGIC = 0x464d4c42;
    private static final int CHECKSUM_AT = 52;

    /** The format version of exact filters. */
    private static final int EXACT = 2;

    /** Bits per key. */
    final int probes;
    final int log2BlockBits;
    final int kind;
    final int blocks;
    final int part;
    final int parts;
    final long seed;
    final long n;
    final double p;
    final long bitsSet;
    final long checksum;

    /** Of an exact filter, else null. */
    final Directory directory;

    private Header(ByteBuffer bytes, Directory directory) {
        this.directory = directory;
        probes = bytes.get(5) & 0xff;
        log2BlockBits = bytes.get(6) & 0xff;
        kind = kind(bytes);
        blocks = bytes.getInt(8);
        part = bytes.getShort(12) & 0xffff;
        parts = bytes.getShort(14) & 0xffff;
        seed = bytes.getLong(16);
        n = bytes.getLong(24);
        p = bytes.getDouble(32);
        bitsSet = bytes.getLong(40);
        checksum = bytes.getLong(56);
    }

    /**
     * Checks and reads a header.
     *
     * @param bytes little-endian, the first 128 bytes of the filter, or all if there are fewer
     * @param length bytes of the whole filter
     */
    static Header read(ByteBuffer bytes, long length) throws InvalidFilterException {
        require(length >= BYTES && bytes.limit() >= BYTES, "short",
                "shorter than the 64-byte header");
        checkIdentity(bytes);
        checkGeometry(bytes);
        Directory directory = checkSize(bytes, length);
        checkParameters(bytes);
        return new Header(bytes, directory);
    }

    /** How long a filter is whose header begins so; 64 if it says nothing of the format. */
    static long lengthOf(ByteBuffer bytes) {
        int log2 = bytes.get(6) & 0xff;
        long upper = bytes.get(4) == EXACT ? Directory.lengthOf(bytes) : 0;
        return BYTES + upper + (log2 < 9 || log2 > 16 ? 0
                : Integer.toUnsignedLong(bytes.getInt(8)) << (log2 - 3));
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
        ByteBuffer copy = bytes.duplicate();
        copy.position(0);
        copy.get(start);
        return (int) Xxh64.of(start, 0);
    }

    /** The key type in byte 7, the columns in bytes 49 to 51. */
    private static int kind(ByteBuffer bytes) {
        return bytes.get(7) & 0xff | bytes.getInt(48) & ~0xff;
    }

    private static void checkGeometry(ByteBuffer bytes) throws InvalidFilterException {
        int probes = bytes.get(5) & 0xff;
        int log2 = bytes.get(6) & 0xff;
        int keyType = bytes.get(7) & 0xff;
        long blocks = Integer.toUnsignedLong(bytes.getInt(8));
        require(probes >= 1 && probes <= 32, "probes", probes + " probes are not 1 to 32");
        require(log2 >= 9 && log2 <= 16, "block_bits",
                "block size 2^" + log2 + " bits is not 2^9 to 2^16");
        require(keyType < KeyType.COUNT, "key_type", "unknown key type " + keyType);
        require(Kind.isWhole(kind(bytes)), "columns", "columns do not match the key type");
        require(blocks >= 1, "blocks", "number of blocks is zero");
    }

    /** That the geometry gives this length; of an exact filter with its directory, which is returned. */
    private static Directory checkSize(ByteBuffer bytes, long length)
            throws InvalidFilterException {
        long blocks = Integer.toUnsignedLong(bytes.getInt(8)) << ((bytes.get(6) & 0xff) - 3);
        if (bytes.get(4) == EXACT) {
            return new Directory(bytes, length, blocks);
        }
        require(BYTES + blocks == length && length <= MAX_BYTES, "size", "length is " + length
                + " and the header says " + (BYTES + blocks) + ", at most " + MAX_BYTES);
        return null;
    }

    private static void checkParameters(ByteBuffer bytes) throws InvalidFilterException {
        int part = bytes.getShort(12) & 0xffff;
        int parts = bytes.getShort(14) & 0xffff;
        double p = bytes.getDouble(32);
        require(part < parts, "part",
                "part " + part + " is not below the number of parts " + parts);
        // Unsigned numbers from 2^63 up are negative here, and refused as well.
        require(bytes.getLong(24) >= 1, "capacity", "capacity is not between 1 and 2^63 - 1");
        require(p > 0.0 && p < 1.0, "rate", "false-positive rate is not between 0 and 1");
    }

    KeyType keyType() {
        return Kind.type(kind);
    }

    /** All bits of all blocks. */
    long bits() {
        return (long) blocks << log2BlockBits;
    }

    /** Bytes before the blocks. */
    int front() {
        return directory == null ? BYTES : Directory.BYTES;
    }

    /** Bytes of all. */
    int bytes() {
        long upper = directory == null ? 0
                : directory.levels[0].length() + directory.levels[1].length();
        return (int) (front() + bits() / 8 + upper);
    }
}
