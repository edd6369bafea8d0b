package bloomfilter;

import static org.junit.Assert.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.Test;

/** The hash, whose value for every length keys.tsv has: here its other doors agree. */
public class Xxh64Test {
    private final Random random = new Random(7);

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    public void knownValues() {
        assertEquals(0xef46db3751d8e999L, Xxh64.of(new byte[0], 0));
        assertEquals(0x13c1d910702770e6L,
                Xxh64.of("abc".getBytes(StandardCharsets.US_ASCII), 42));
        byte[] thousand = new byte[1000];
        for (int i = 0; i < thousand.length; i++) {
            thousand[i] = (byte) (i * 7 + 3);
        }
        assertEquals(0xe9d57553e8fa6cfeL, Xxh64.of(thousand, 0xdeadbeefcafebabeL));
    }

    @Test
    public void ofANumber() {
        for (int i = 0; i < 1000; i++) {
            long word = random.nextLong();
            long seed = random.nextLong();
            assertEquals(Xxh64.of(Key.integerBytes(word), seed), Xxh64.ofLong(word, seed));
        }
    }

    /** All lengths up to some stripes, in pieces of all sizes. */
    @Test
    public void inPieces() {
        for (int length = 0; length < 200; length++) {
            byte[] bytes = bytes(length);
            for (int piece = 1; piece < 100; piece++) {
                Xxh64 hash = new Xxh64(length);
                for (int from = 0; from < length; from += piece) {
                    hash.update(bytes, from, Math.min(piece, length - from));
                }
                assertEquals(Xxh64.of(bytes, length), hash.value());
            }
        }
    }
}
