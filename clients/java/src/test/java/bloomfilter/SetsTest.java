package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.Test;

/** Sets of parts: whole or refused, and asked as one. */
public class SetsTest {
    static final long[] MEMBERS = LongStream.range(0, 300).toArray();
    private static final long[] STRANGERS = LongStream.range(1_000_000, 1_000_300).toArray();

    private final List<byte[]> parts = Support.set(3, Support.integers(0, 300));

    static void checkWhole(BloomFilter filter) {
        int found = 0;
        for (long key : MEMBERS) {
            assertTrue(filter.contains(key));
        }
        for (boolean answer : filter.containsMany(MEMBERS)) {
            assertTrue(answer);
        }
        boolean[] singles = new boolean[STRANGERS.length];
        for (int i = 0; i < STRANGERS.length; i++) {
            singles[i] = filter.contains(STRANGERS[i]);
            found += singles[i] ? 1 : 0;
        }
        assertArrayEquals(singles, filter.containsMany(STRANGERS));
        assertTrue(found < 30);
        assertEquals(3, filter.info().parts());
        assertEquals(3, filter.info().filters().size());
        assertEquals(300, filter.info().n());
    }

    @Test
    public void wholeSet() throws IOException {
        checkWhole(BloomFilter.fromParts(parts));
    }

    @Test
    public void partWithoutKeys() throws IOException {
        Support.Shape shape = shape(1, 3);
        shape.type = KeyType.NONE;
        parts.set(1, Support.build(List.of(), shape));
        BloomFilter whole = BloomFilter.fromParts(parts);
        assertEquals(KeyType.INTEGER, whole.info().keyType());
        assertThrows(KeyTypeException.class, () -> whole.contains("text"));
    }

    private static Support.Shape shape(int part, int count) {
        Support.Shape shape = new Support.Shape();
        shape.part = part;
        shape.parts = count;
        return shape;
    }

    @Test
    public void onePartAlone() throws IOException {
        BloomFilter alone = BloomFilter.fromBytes(parts.get(1));
        int found = 0;
        int refused = 0;
        for (long key : MEMBERS) {
            try {
                assertTrue(alone.contains(key));
                found++;
            } catch (PartException expected) {
                refused++;
            }
        }
        assertTrue(Math.min(found, refused) > 50);
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
