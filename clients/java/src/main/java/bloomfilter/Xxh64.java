package bloomfilter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * XXH64, from its specification: the same value on every machine. It is here and not in a library
 * because it is small, and a reader of files needs nothing else.
 *
 * <p>An object hashes bytes that come in pieces, all but the last of whole stripes.
 */
final class Xxh64 {
    private static final long PRIME_1 = 0x9e3779b185ebca87L;
    private static final long PRIME_2 = 0xc2b2ae3d27d4eb4fL;
    private static final long PRIME_3 = 0x165667b19e3779f9L;
    private static final long PRIME_4 = 0x85ebca77c2b2ae63L;
    private static final long PRIME_5 = 0x27d4eb2f165667c5L;

    /** How many bytes the four lanes take at a time. */
    private static final int STRIPE = 32;

    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private long lane1;
    private long lane2;
    private long lane3;
    private long lane4;

    Xxh64(long seed) {
        lane1 = seed + PRIME_1 + PRIME_2;
        lane2 = seed + PRIME_2;
        lane3 = seed;
        lane4 = seed - PRIME_1;
    }

    /** The hash of all of the bytes. */
    static long of(byte[] bytes, long seed) {
        if (bytes.length < STRIPE) {
            return finish(seed + PRIME_5 + bytes.length, bytes, 0, bytes.length);
        }
        return new Xxh64(seed).last(bytes, bytes.length, bytes.length);
    }

    /** The hash of the 8 bytes of a number, written out, as most keys have this length. */
    static long ofLong(long word, long seed) {
        return avalanche(addWord(seed + PRIME_5 + Long.BYTES, word));
    }

    /** The hash, after the last bytes have come; length is that of all, at least a stripe. */
    long last(byte[] bytes, int count, long length) {
        int at = addStripes(bytes, count);
        return finish(merged() + length, bytes, at, count);
    }

    /** Takes the whole stripes and returns where they end. */
    int addStripes(byte[] bytes, int end) {
        long sum1 = lane1;
        long sum2 = lane2;
        long sum3 = lane3;
        long sum4 = lane4;
        int at = 0;
        for (; at <= end - STRIPE; at += STRIPE) {
            sum1 = round(sum1, (long) LONG.get(bytes, at));
            sum2 = round(sum2, (long) LONG.get(bytes, at + 8));
            sum3 = round(sum3, (long) LONG.get(bytes, at + 16));
            sum4 = round(sum4, (long) LONG.get(bytes, at + 24));
        }
        lane1 = sum1;
        lane2 = sum2;
        lane3 = sum3;
        lane4 = sum4;
        return at;
    }

    private long merged() {
        long sum = Long.rotateLeft(lane1, 1) + Long.rotateLeft(lane2, 7)
                + Long.rotateLeft(lane3, 12) + Long.rotateLeft(lane4, 18);
        sum = merge(sum, lane1);
        sum = merge(sum, lane2);
        sum = merge(sum, lane3);
        return merge(sum, lane4);
    }

    private static long merge(long sum, long lane) {
        return (sum ^ round(0, lane)) * PRIME_1 + PRIME_4;
    }

    private static long round(long sum, long word) {
        return Long.rotateLeft(sum + word * PRIME_2, 31) * PRIME_1;
    }

    private static long addWord(long sum, long word) {
        return Long.rotateLeft(sum ^ round(0, word), 27) * PRIME_1 + PRIME_4;
    }

    /** Adds what is left after the stripes. */
    private static long finish(long start, byte[] bytes, int from, int end) {
        long sum = start;
        int at = from;
        for (; at <= end - 8; at += 8) {
            sum = addWord(sum, (long) LONG.get(bytes, at));
        }
        if (at <= end - 4) {
            long word = (int) INT.get(bytes, at) & 0xffffffffL;
            sum = Long.rotateLeft(sum ^ word * PRIME_1, 23) * PRIME_2 + PRIME_3;
            at += 4;
        }
        for (; at < end; at++) {
            sum = Long.rotateLeft(sum ^ (bytes[at] & 0xff) * PRIME_5, 11) * PRIME_1;
        }
        return avalanche(sum);
    }

    private static long avalanche(long start) {
        long sum = (start ^ start >>> 33) * PRIME_2;
        sum = (sum ^ sum >>> 29) * PRIME_3;
        return sum ^ sum >>> 32;
    }
}
