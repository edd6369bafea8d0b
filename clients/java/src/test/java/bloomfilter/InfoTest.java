package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.Test;

/** What a filter says about itself. */
public class InfoTest {
    /** What bloom_stats and bloom_fpr say of the same filters. */
    @Test
    public void isThatOfSql() throws IOException {
        Support.Shape shape = new Support.Shape();
        shape.blocks = 20;
        shape.n = 1000;
        shape.k = 6;
        check(shape, 700, 3441, 702, 0.0018603044434307816, false);
        check(shape, 1000, 4563, 1011, 0.009124476735953409, false);
        check(shape, 1500, 5978, 1503, 0.04284795182186319, true);
        Support.Shape one = new Support.Shape();
        one.k = 11;
        one.blocks = 1;
        one.n = 10;
        check(one, 12, 118, 12, 1.897582351877721e-07, true);
    }

    private void check(Support.Shape shape, long keys, long bitsSet, long cardinality, double fpr,
            boolean over) throws IOException {
        Info info = BloomFilter.fromBytes(Support.build(Support.integers(0, keys), shape)).info();
        assertEquals(bitsSet, info.bitsSet());
        assertEquals(cardinality, Math.round(info.cardinality()));
        assertEquals(1, info.fpr() / fpr, 1e-6);
        assertEquals(over, info.overCapacity());
        assertEquals((double) bitsSet / (512 * shape.blocks), info.fill(), 0);
    }

    @Test
    public void ofASet() throws IOException {
        List<byte[]> parts = Support.set(3, Support.integers(0, 300));
        BloomFilter set = BloomFilter.fromParts(parts);
        Info info = set.info();
        double rates = 0;
        long bits = 0;
        for (int i = 0; i < 3; i++) {
            Info part = info.filters().get(i);
            assertEquals(i, part.part());
            rates += part.fpr();
            bits += part.bitsSet();
        }
        assertEquals(1, info.fpr() / (rates / 3), 1e-12);
        assertEquals(bits, info.bitsSet());
        assertEquals(3 * (64 + 64 * 64), info.bytes());
        assertEquals(3 * 64, info.blocks());
        assertEquals(16, info.checksum().length());
        assertTrue(set.hasBytesOf(BloomFilter.fromParts(parts)));
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
        assertEquals(1, info.fpr(), 0.02);
        assertTrue(info.toString(), info.cardinality() > 500 && info.cardinality() < 5000);
    }
}
