package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.Test;

/** Sets of parts: whole or refused, and asked as one. */
public class SetsTest {
    private static final long[] MEMBERS = LongStream.range(0, 300).toArray();
    private static final long[] STRANGERS = LongStream.range(1_000_000, 1_000_300).toArray();

    private final List<byte[]> parts = Support.set(3, Support.integers(0, 300));

    @Test
    public void wholeSet() throws IOException {
        BloomFilter filter = BloomFilter.fromParts(parts);
        for (boolean answer : filter.containsMany(MEMBERS)) {
            assertTrue(answer);
        }
        boolean[] found = filter.containsMany(STRANGERS);
        int wrong = 0;
        for (int i = 0; i < STRANGERS.length; i++) {
            assertTrue(filter.contains(MEMBERS[i]));
            assertEquals(found[i], filter.contains(STRANGERS[i]));
            wrong += found[i] ? 1 : 0;
        }
        assertTrue(wrong < 30);
        Info info = filter.info();
        assertEquals(3, info.parts());
        assertEquals(300, info.n());
        assertEquals(info.filters().stream().mapToLong(Info::bitsSet).sum(), info.bitsSet());
        assertEquals(3 * (64 + 64 * 64), info.bytes());
        assertEquals(3 * 64, info.blocks());
        assertEquals(2, info.filters().get(2).part());
    }

    @Test
    public void partWithoutKeys() throws IOException {
        parts.set(1, empty(1, 3));
        BloomFilter whole = BloomFilter.fromParts(parts);
        assertEquals(KeyType.INTEGER, whole.info().keyType());
        assertThrows(KeyTypeException.class, () -> whole.contains("text"));
    }

    private static byte[] empty(int part, int count) {
        Support.Shape shape = shape(part, count);
        shape.type = KeyType.NONE;
        shape.blocks = 1;
        shape.n = 50;
        return Support.build(List.of(), shape);
    }

    /** The same in all readers and on the command line. */
    @Test
    public void oneChecksumForASet() throws IOException {
        Info info = BloomFilter.fromParts(List.of(empty(0, 2), empty(1, 2))).info();
        assertEquals("aad0582a58c07fa2", info.checksum());
        assertEquals("cf20291510571e5f", info.filters().get(0).checksum());
    }

    /** A full filter, and capacities whose sum is no long. */
    @Test
    public void atTheEnds() throws IOException {
        Support.Shape shape = shape(0, 2);
        shape.blocks = 1;
        shape.n = Long.MAX_VALUE;
        byte[] full = new byte[64];
        Arrays.fill(full, (byte) -1);
        byte[] zero = Support.seal(shape, full);
        shape.part = 1;
        Info info = BloomFilter.fromParts(List.of(zero, Support.seal(shape, full))).info();
        assertEquals(Long.MAX_VALUE, info.n());
        assertEquals(1, info.fill(), 0);
    }

    private static Support.Shape shape(int part, int count) {
        Support.Shape shape = new Support.Shape();
        shape.part = part;
        shape.parts = count;
        return shape;
    }

    @Test
    public void incompleteAndMixedSets() {
        Support.Shape seed = shape(2, 3);
        seed.seed = 5;
        Support.Shape type = shape(2, 3);
        type.type = KeyType.TEXT;
        byte[] zero = parts.get(0);
        byte[] one = parts.get(1);
        byte[] two = parts.get(2);
        List<List<byte[]>> cases = List.of(List.of(), List.of(zero), List.of(zero, one),
                List.of(zero, one, one), List.of(one, zero, two), List.of(zero, one, two, two),
                List.of(zero, one, Support.build(List.of(), seed)),
                List.of(zero, one, Support.build(List.of(), shape(2, 4))),
                List.of(zero, one, Support.build(List.of(), type)));
        for (List<byte[]> filters : cases) {
            assertThrows(InvalidSetException.class, () -> BloomFilter.fromParts(filters));
        }
    }
}
