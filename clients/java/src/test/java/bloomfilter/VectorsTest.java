package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The golden vectors: every row, by what a user of the package would call. */
public class VectorsTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private static Key expected(Map<String, String> row) {
        return Key.raw(type(row), Support.hex(row.get("key_hex")));
    }

    private static KeyType type(Map<String, String> row) {
        return KeyType.ofNumber(Integer.parseInt(row.get("key_type")));
    }

    /** Of a filter; a key has them in its bytes. */
    private static List<KeyType> columns(Map<String, String> row) {
        if (!row.containsKey("columns")) {
            return Kind.columns(expected(row).kind());
        }
        List<KeyType> columns = new ArrayList<>();
        for (int number : Support.numbers(row.get("columns"))) {
            columns.add(KeyType.ofNumber(number));
        }
        return columns;
    }

    private static int number(Map<String, String> row, String column) {
        return Integer.parseInt(row.get(column));
    }

    /** Hash, block and part; and a filter with only the row's bits says yes, without one of them no. */
    @Test
    public void keys() throws IOException {
        int checked = 0;
        for (Map<String, String> row : Support.rows("keys.tsv")) {
            String sql = row.get("sql");
            byte[] key = Support.hex(row.get("key_hex"));
            long seed = Long.parseUnsignedLong(row.get("seed"));
            long hash = Xxh64.of(key, seed);
            assertEquals(sql, Long.parseUnsignedLong(row.get("hash_hex"), 16), hash);
            assertEquals(sql, number(row, "block"), Hash.reduce(hash, number(row, "blocks")));
            assertEquals(sql, number(row, "part"), Hash.part(hash, number(row, "parts")));
            if (key.length == Long.BYTES) {
                assertEquals(sql, hash, Xxh64.ofLong(word(key), seed));
            }
            if (type(row) == KeyType.ROW) {
                assertEquals(sql, expected(row), rowOf(key));
            }
            long size = Long.parseLong(row.get("blocks")) << (number(row, "log2_block_bits") - 3);
            if (size <= 1 << 20) {
                checkBits(row, (int) size);
                checked++;
            }
        }
        assertTrue(checked > 300);
    }

    private void checkBits(Map<String, String> row, int size) throws IOException {
        Support.Shape shape = shape(row);
        int start = number(row, "block") << (shape.log2BlockBits - 3);
        int[] bits = Support.numbers(row.get("bits"));
        byte[] body = new byte[size];
        for (int bit : bits) {
            body[start + (bit >> 3)] |= 1 << (bit & 7);
        }
        assertTrue(BloomFilter.fromBytes(Support.seal(shape, body)).contains(expected(row)));
        int last = bits[bits.length - 1];
        body[start + (last >> 3)] ^= 1 << (last & 7);
        assertFalse(BloomFilter.fromBytes(Support.seal(shape, body)).contains(expected(row)));
    }

    private static Support.Shape shape(Map<String, String> row) {
        Support.Shape shape = new Support.Shape();
        shape.type = type(row);
        shape.columns = columns(row);
        shape.part = number(row, "part");
        shape.parts = number(row, "parts");
        shape.seed = Long.parseUnsignedLong(row.get("seed"));
        shape.k = number(row, "k");
        shape.log2BlockBits = number(row, "log2_block_bits");
        shape.blocks = number(row, "blocks");
        return shape;
    }

    private static long word(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /** A row, made of its columns. */
    private static Key rowOf(byte[] key) {
        List<Key> columns = new ArrayList<>();
        ByteBuffer rest = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
        while (rest.hasRemaining()) {
            KeyType type = KeyType.ofNumber(rest.get());
            byte[] column = new byte[rest.getInt()];
            rest.get(column);
            columns.add(Key.raw(type, column));
        }
        return Key.row(columns.toArray());
    }

    /** Values of Java's own types. Its parsers don't take all spellings. */
    @Test
    public void valuesGiveTheKeyBytes() throws IOException {
        int checked = 0;
        for (Map<String, String> row : Support.rows("texts.tsv")) {
            String text = row.get("text");
            text = text.startsWith("hex:") ? new String(Support.hex(text.substring(4)), StandardCharsets.UTF_8) : text;
            Object value;
            try {
                value = CrossCheck.value(row.get("type"), text);
            } catch (IOException | RuntimeException none) {
                continue;
            }
            // An InetAddress is never an IPv4-mapped one.
            String wanted = row.get("key_hex");
            if (wanted.equals("-") || text.startsWith("::ffff:")) {
                continue;
            }
            byte[] bytes = Key.of(value).bytes();
            if (wanted.startsWith("xxh64:")) {
                assertEquals(text, wanted, String.format("xxh64:%016x", Xxh64.of(bytes, 0)));
            } else {
                assertArrayEquals(row.get("type") + " " + text, Support.hex(wanted), bytes);
            }
            checked++;
        }
        assertTrue("only " + checked, checked > 300);
    }

    @Test
    public void filters() throws IOException {
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            byte[] bytes = Support.hex(row.get("filter_hex"));
            BloomFilter filter = BloomFilter.fromBytes(bytes);
            checkFields(row, filter.info());
            assertEquals(bytes.length, filter.info().bytes());
            checkAnswers(row, filter, "keys", true);
            checkAnswers(row, filter, "absent", false);
            checkAnswers(row, filter, "false_positives", true);
            if (filter.info().parts() == 1) {
                checkOtherTypes(filter);
            }
            for (long key = 0; key < 50; key++) {
                checkPart(filter, key);
            }
        }
    }

    private static void checkFields(Map<String, String> row, Info info) {
        String name = row.get("name");
        assertEquals(name, Long.parseLong(row.get("n")), info.n());
        assertEquals(name, Long.parseUnsignedLong(row.get("p_hex"), 16),
                Double.doubleToRawLongBits(info.p()));
        assertEquals(name, Long.parseUnsignedLong(row.get("seed")), info.seed());
        assertEquals(name, number(row, "k"), info.hashes());
        assertEquals(name, 1 << number(row, "log2_block_bits"), info.blockBits());
        assertEquals(name, number(row, "blocks"), info.blocks());
        assertEquals(name, number(row, "part"), info.part());
        assertEquals(name, number(row, "parts"), info.parts());
        assertEquals(name, type(row), info.keyType());
        assertEquals(name, columns(row), info.columns());
        assertEquals(name, columns(row), info.filters().get(0).columns());
        assertEquals(name, number(row, "bits_set"), info.bitsSet());
        assertEquals(name, row.get("checksum_hex"), info.checksum());
        assertEquals(name, 1, info.formatVersion());
    }

    /** What keys of a row are read as. */
    private static KeyType asked(Map<String, String> row) {
        return type(row) == KeyType.NONE ? KeyType.INTEGER : type(row);
    }

    /** One by one and in batches, as keys and as values. */
    private static void checkAnswers(Map<String, String> row, BloomFilter filter, String column,
            boolean answer) {
        String name = row.get("name") + " " + column;
        List<Key> keys = new ArrayList<>();
        List<Long> words = new ArrayList<>();
        for (byte[] bytes : Support.keyList(row.get(column))) {
            Key key = Key.raw(asked(row), bytes);
            keys.add(key);
            assertEquals(name, answer, filter.contains(key));
            assertEquals(name, answer, containsValue(filter, key));
            words.add(asked(row) == KeyType.INTEGER ? word(bytes) : 0);
        }
        for (boolean found : filter.containsMany(keys)) {
            assertEquals(name, answer, found);
        }
        if (asked(row) == KeyType.INTEGER) {
            for (boolean found : filter.containsMany(words.stream().mapToLong(Long::longValue).toArray())) {
                assertEquals(name, answer, found);
            }
        }
    }

    /** By the overload that takes the value, where there is one. */
    private static boolean containsValue(BloomFilter filter, Key key) {
        switch (key.type()) {
            case INTEGER:
                return filter.contains(word(key.bytes()));
            case TEXT:
                return filter.contains(new String(key.bytes(), StandardCharsets.UTF_8));
            default:
                return filter.contains(key);
        }
    }

    private static void checkOtherTypes(BloomFilter filter) throws IOException {
        for (Object other : KeysTest.samples()) {
            if (filter.info().keyType() == KeyType.NONE) {
                assertFalse(filter.contains(other));
                assertFalse(filter.containsMany(List.of(other))[0]);
            } else if (Key.of(other).type() != filter.info().keyType() || other.equals(Key.row("x"))) {
                assertThrows(KeyTypeException.class, () -> filter.contains(other));
                assertThrows(KeyTypeException.class, () -> filter.containsMany(List.of(other)));
            }
        }
    }

    private static void checkPart(BloomFilter filter, long key) {
        Info info = filter.info();
        if (info.parts() == 1 || Hash.part(Xxh64.ofLong(key, info.seed()), info.parts()) == info.part()) {
            return;
        }
        assertThrows(PartException.class, () -> filter.contains(key));
        PartException error = assertThrows(PartException.class,
                () -> filter.containsMany(new long[] {key}));
        assertEquals(0, error.index());
    }

    @Test
    public void invalidFiltersAreRefusedForTheirRule() throws IOException {
        for (Map<String, String> row : Support.rows("invalid.tsv")) {
            byte[] bytes = Support.hex(row.get("filter_hex"));
            checkRefused(bytes, row, row.get("rule"));
            if (!row.get("rule").equals("bits_set") && !row.get("rule").equals("checksum")) {
                assertEquals(row.get("name"), row.get("rule"), assertThrows(InvalidFilterException.class,
                        () -> BloomFilter.fromBytes(bytes, ReadOption.NO_VERIFY)).rule());
            }
        }
    }

    private void checkRefused(byte[] bytes, Map<String, String> row, String rule) throws IOException {
        Path path = folder.getRoot().toPath().resolve("f");
        Files.write(path, bytes);
        assertEquals(row.get("name"), rule, assertThrows(row.get("name"), InvalidFilterException.class,
                () -> BloomFilter.fromBytes(bytes)).rule());
        for (ReadOption[] options : new ReadOption[][] {{}, {ReadOption.MAP}}) {
            InvalidFilterException error = assertThrows(row.get("name"), InvalidFilterException.class,
                    () -> BloomFilter.open(path, options));
            assertEquals(row.get("name"), rule, error.rule());
            assertTrue(error.getMessage(), error.getMessage().startsWith(path + ": "));
        }
    }

    @Test
    public void exactFilters() throws IOException {
        Path path = folder.getRoot().toPath().resolve("exact");
        for (Map<String, String> row : Support.rows("exact.tsv")) {
            byte[] bytes = Support.hex(row.get("filter_hex").replace("-", ""));
            if (!row.get("word").equals("-")) {
                checkRefused(bytes, row, row.get("word"));
                continue;
            }
            Files.write(path, bytes);
            for (BloomFilter filter : List.of(BloomFilter.fromBytes(bytes), BloomFilter.open(path),
                    BloomFilter.open(path, ReadOption.MAP))) {
                checkAnswers(row, filter, "members_hex", true);
                checkAnswers(row, filter, "others_hex", false);
                checkAnswers(row, filter, "strangers_hex", false);
                assertEquals(2, filter.info().formatVersion());
                assertEquals(bytes.length, filter.info().bytes());
            }
        }
    }
}
