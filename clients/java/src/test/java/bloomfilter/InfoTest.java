package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.Test;

/** What a filter says about itself. */
public class InfoTest {
    @Test
    public void ofASet() throws IOException {
        List<byte[]> parts = Support.set(3, Support.integers(0, 300));
        BloomFilter set = BloomFilter.fromParts(parts);
        Info info = set.info();
        long bits = 0;
        for (int i = 0; i < 3; i++) {
            Info part = info.filters().get(i);
            assertEquals(i, part.part());
            bits += part.bitsSet();
        }
        assertEquals(bits, info.bitsSet());
        assertEquals(3 * (64 + 64 * 64), info.bytes());
        assertEquals(3 * 64, info.blocks());
        assertEquals(16, info.checksum().length());
        assertEquals(info.checksum(), BloomFilter.fromParts(parts).info().checksum());
    }

    /** The same in all readers and on the command line. */
    @Test
    public void oneChecksumForASet() throws IOException {
        byte[] first = Support.hex(
                "424c4d46010709000100000000000200000000000000000032000000000000007b"
                + "14ae47e17a843f0000000000000000010000007fa7c6555f1e5710152920cf"
                + "00".repeat(64));
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            if (row.get("name").equals("empty_part_1_of_2")) {
                byte[] second = Support.hex(row.get("filter_hex"));
                Info info = BloomFilter.fromParts(List.of(first, second)).info();
                assertEquals("aad0582a58c07fa2", info.checksum());
                assertEquals("cf20291510571e5f", info.filters().get(0).checksum());
                assertEquals(row.get("checksum_hex"), info.filters().get(1).checksum());
                return;
            }
        }
        fail("the vector is missing");
    }

    /** A full filter, and capacities whose sum is no long. */
    @Test
    public void atTheEnds() throws IOException {
        Support.Shape shape = new Support.Shape();
        shape.blocks = 1;
        shape.parts = 2;
        shape.n = Long.MAX_VALUE;
        byte[] full = new byte[64];
        Arrays.fill(full, (byte) -1);
        byte[] zero = Support.seal(shape, full);
        shape.part = 1;
        Info info = BloomFilter.fromParts(List.of(zero, Support.seal(shape, full))).info();
        assertEquals(Long.MAX_VALUE, info.n());
        assertEquals(1, info.fill(), 0);
    }
}
