package bloomfilter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** One checked filter: the header, and the bytes wherever they are. */
final class Part {
    private static final int CHECKSUM_AT = 56;
    private static final int STEP = 4096;
    private static final long PROBE_MULTIPLIER = 0x9e3779b97f4a7c15L;
    private static final long TWO_PROBES = PROBE_MULTIPLIER * PROBE_MULTIPLIER;
    private static final long PART_MULTIPLIER = 0xd6e8feb86659fd93L;

    final Header header;
    private final ByteBuffer bytes;

    /** The same bytes where they are in the heap, as a buffer costs half of a look-up; or null. */
    private final byte[] heap;
    private final long blocks;
    private final int probes;
    private final int log2BlockBytes;
    private final int bitShift;
    private final int start;

    /** Levels 2 and 3 of an exact filter, else null. */
    private final Part[] upper;

    private Part(Header header, ByteBuffer bytes, Header.Level level, Part... upper) {
        this.header = header;
        this.bytes = bytes;
        heap = bytes.hasArray() ? bytes.array() : null;
        blocks = level.blocks;
        probes = level.probes;
        log2BlockBytes = level.log2BlockBits - 3;
        bitShift = 64 - level.log2BlockBits;
        start = (int) level.start;
        this.upper = upper.length == 0 ? null : upper;
    }

    /** With a header that was checked; in a followed file what that says of the bits is left out. */
    static Part of(Header header, ByteBuffer bytes) {
        return new Part(header, bytes, header.first, header.levels.stream().skip(1)
                .map(level -> new Part(header, bytes, level)).toArray(Part[]::new));
    }

    /** Checks all rules in their order. The buffer is the filter's own, from its first byte. */
    static Part check(ByteBuffer source, boolean verify) throws InvalidFilterException {
        ByteBuffer bytes = source.order(ByteOrder.LITTLE_ENDIAN);
        Header header = new Header(bytes, bytes.limit());
        long set = 0;
        for (Header.Level level : header.levels) {
            level.requireBits(!verify || countBits(bytes, level.start, level.length()) == level.bitsSet);
            set += level.bitsSet;
        }
        Header.require(header.kind != KeyType.NONE.number() || set == 0,
                "empty_key_type", "bits are set and no key type is named");
        Header.require(!verify || checksum(bytes, bytes) == header.checksum, "checksum",
                "checksum does not match");
        return of(header, bytes);
    }

    /**
     * Of pieces of 4096 bytes of the blocks, of an exact filter of all its bytes, which don't change;
     * and of what a plain one's header says of the places of bits. Each is hashed with its number as the seed.
     */
    long sum(long seed) {
        long sum = 0;
        ByteBuffer rest = bytes.duplicate();
        rest.position(0);
        if (upper == null) {
            byte[] fixed = new byte[28];
            rest.get(fixed, 0, 24).position(48).get(fixed, 24, 4).position(Header.BYTES);
            sum += Xxh64.of(fixed, seed | 0xffffffffL);
        }
        for (long number = 0; rest.hasRemaining(); number++) {
            byte[] piece = new byte[Math.min(Followed.PAGE, rest.remaining())];
            rest.get(piece);
            sum += Xxh64.of(piece, seed | number);
        }
        return sum;
    }

    /** Its header with the bits that are set now. */
    Header now() throws InvalidFilterException {
        if (upper != null) {
            return header;
        }
        ByteBuffer start = ByteBuffer.allocate(Header.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.duplicate().get(start.array());
        start.putLong(40, countBits(bytes, Header.BYTES, bytes.limit() - Header.BYTES));
        start.putInt(52, Header.checksum(start));
        start.putLong(CHECKSUM_AT, checksum(start, bytes));
        return new Header(start, bytes.limit());
    }

    private static long countBits(ByteBuffer bytes, long start, long length) {
        long count = 0;
        for (int at = (int) start; at < start + length; at += Long.BYTES) {
            count += Long.bitCount(bytes.getLong(at));
        }
        return count;
    }

    /** XXH64, seed 0, of the header without its checksum, and what is behind it in the bytes. */
    static long checksum(ByteBuffer header, ByteBuffer bytes) {
        Xxh64 hash = new Xxh64(0);
        byte[] step = new byte[STEP];
        header.duplicate().position(0).get(step, 0, CHECKSUM_AT);
        int held = CHECKSUM_AT;
        ByteBuffer rest = bytes.duplicate();
        rest.position(Header.BYTES);
        while (held + rest.remaining() >= STEP) {
            rest.get(step, held, STEP - held);
            hash.addStripes(step, STEP);
            held = 0;
        }
        int last = rest.remaining();
        rest.get(step, held, last);
        return hash.last(step, held + last, bytes.limit() - Header.BYTES + CHECKSUM_AT);
    }

    /** The upper levels of an exact filter are looked at only for keys that level 1 lets in. */
    boolean contains(long hash) {
        return inLevel(hash) && (upper == null || isConfirmed(hash));
    }

    private boolean isConfirmed(long hash) {
        return !upper[0].inLevel(hashOfLevel(0, header.salt, hash))
                || upper[1].inLevel(hashOfLevel(1, header.salt, hash));
    }

    private boolean inLevel(long hash) {
        return inBlock(heap, start(hash), hash) || heap == null && inCopy(hash);
    }

    /**
     * Where a mapped file was cut, the Java machine reads any value, and throws later. So "no" is said of
     * a copy of the block. That is made of ones and stays so where nothing can be read; no filter has such a block.
     */
    private boolean inCopy(long hash) {
        byte[] block = new byte[1 << log2BlockBytes];
        Arrays.fill(block, (byte) -1);
        bytes.duplicate().position(start(hash)).get(block);
        if (block[0] == -1 && Arrays.equals(block, 0, block.length - 1, block, 1, block.length)) {
            throw new ChangedFileException(null);
        }
        return inBlock(block, 0, hash);
    }

    /** Two probes a branch: a stranger is guessed wrong less often, and nobody waits longer. */
    private boolean inBlock(byte[] all, int start, long hash) {
        long probe = hash;
        int i = probes;
        for (; i >= 2; i -= 2) {
            int first = (int) (probe * PROBE_MULTIPLIER >>> bitShift);
            probe *= TWO_PROBES;
            int second = (int) (probe >>> bitShift);
            if ((byteAt(all, start + (first >>> 3)) >>> (first & 7)
                    & byteAt(all, start + (second >>> 3)) >>> (second & 7) & 1) == 0) {
                return false;
            }
        }
        int last = (int) (probe * PROBE_MULTIPLIER >>> bitShift);
        return i == 0 || (byteAt(all, start + (last >>> 3)) >>> (last & 7) & 1) != 0;
    }

    /** The heap is an argument, so that a look-up reads its field once. */
    private byte byteAt(byte[] all, int at) {
        return all != null ? all[at] : bytes.get(at);
    }

    /** Reads what the first probe will read, so that it is in the cache later. */
    byte touch(long hash) {
        int at = start(hash) + ((int) (hash * PROBE_MULTIPLIER >>> bitShift) >>> 3);
        return byteAt(heap, at);
    }

    /** Where the block of a hash begins; below 2^29, as the size is checked. */
    private int start(long hash) {
        return start + (int) (reduce(hash, blocks) << log2BlockBytes);
    }

    /** The high 64 bits of the unsigned product; range is not negative. */
    private static long reduce(long hash, long range) {
        return Math.multiplyHigh(hash, range) + ((hash >> 63) & range);
    }

    /** The number of a hash's part in a set of so many. */
    static int numberOf(long hash, int parts) {
        long mixed = (hash ^ (hash >>> 32)) * PART_MULTIPLIER;
        return (int) reduce(mixed ^ (mixed >>> 32), parts);
    }

    /** A key's hash for level 2 or 3 of an exact filter, whose number is 0 or 1. */
    private static long hashOfLevel(int level, int salt, long hash) {
        long x = hash + (level + 1 + (level == 1 ? 64L * salt : 0)) * PROBE_MULTIPLIER;
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }
}
