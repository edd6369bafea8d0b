package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/** The golden vectors: every row, by what a user of the package would call. */
public class VectorsTest {
    private static final Pattern LITERAL = Pattern.compile(
            "'([^']*(?:''[^']*)*)'::([a-z0-9 ]+?)( ?\\([0-9]+\\))?", Pattern.DOTALL);
    private static final Pattern SMALL =
            Pattern.compile("\\(?(-?[0-9]+)\\)?::(smallint|integer|bigint)");
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
        for (int number : numbers(row.get("columns").replace("-", ""))) {
            columns.add(KeyType.ofNumber(number));
        }
        return columns;
    }

    private static int number(Map<String, String> row, String column) {
        return Integer.parseInt(row.get(column));
    }

    private static int[] numbers(String list) {
        return Pattern.compile(",").splitAsStream(list).filter(text -> !text.isEmpty())
                .mapToInt(Integer::parseInt).toArray();
    }

    @Test
    public void keysHashBlockBitsPart() throws IOException {
        for (Map<String, String> row : Support.rows("keys.tsv")) {
            long hash = Xxh64.of(Support.hex(row.get("key_hex")),
                    Long.parseUnsignedLong(row.get("seed")));
            int[] bits =
                    Support.positions(hash, number(row, "k"), number(row, "log2_block_bits"));
            String sql = row.get("sql");
            assertEquals(sql, Long.parseUnsignedLong(row.get("hash_hex"), 16), hash);
            assertEquals(sql, number(row, "block"), Hash.reduce(hash, number(row, "blocks")));
            assertEquals(sql, number(row, "part"), Hash.part(hash, number(row, "parts")));
            assertArrayEquals(sql, numbers(row.get("bits")), bits);
        }
    }

    /** A filter with only the row's bits says yes; without one of them, no. */
    @Test
    public void lookUpsReadExactlyTheseBits() throws IOException {
        int checked = 0;
        for (Map<String, String> row : Support.rows("keys.tsv")) {
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
        int[] bits = numbers(row.get("bits"));
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

    @Test
    public void ownTypesGiveTheKeyBytes() throws IOException {
        int checked = 0;
        for (Map<String, String> row : Support.rows("keys.tsv")) {
            Object value = valueOf(row.get("sql"));
            if (value != null) {
                assertEquals(row.get("sql"), expected(row), Key.of(value));
                checked++;
            }
        }
        assertTrue("only " + checked, checked > 520);
    }

    /** Rows of literals, none of which has a comma and a space in it. */
    private static Object rowOf(String sql) throws IOException {
        List<Object> columns = new ArrayList<>();
        for (String column : sql.substring(4, sql.length() - 1).split(", ")) {
            Object value = valueOf(column);
            if (value == null) {
                return null;
            }
            columns.add(value);
        }
        return Key.row(columns.toArray());
    }

    private static Object valueOf(String sql) throws IOException {
        if (sql.startsWith("ROW(")) {
            return rowOf(sql);
        }
        Matcher small = SMALL.matcher(sql);
        Matcher literal = LITERAL.matcher(sql);
        if (small.matches()) {
            return Long.valueOf(small.group(1));
        }
        if (!literal.matches() || sql.contains("Europe")) {
            return null;
        }
        return valueOf(literal.group(1).replace("''", "'"), literal.group(2));
    }

    /** The value of Java's own type, or null if Java has none. */
    private static Object valueOf(String text, String sqlType) throws UnknownHostException {
        switch (sqlType) {
            case "text":
            case "varchar":
            case "name":
                return text;
            case "char":
                return text.replaceAll(" +$", "");
            case "bytea":
                return Support.hex(text.substring(2));
            case "uuid":
                return text.matches("[^{]{36}") ? UUID.fromString(text) : null;
            case "numeric":
                return text.matches("-?[0-9.e-]+") ? new BigDecimal(text) : null;
            case "double precision":
                return Double.valueOf(text);
            case "real":
                return Float.valueOf(text);
            case "inet":
            case "cidr":
                return inet(text);
            default:
                return time(text, sqlType);
        }
    }

    private static Object inet(String text) throws UnknownHostException {
        if (text.contains("ffff:1.")) {
            return null;
        }
        String[] fields = text.split("/");
        InetAddress address = InetAddress.getByName(fields[0]);
        return fields.length == 1 ? address : Key.inet(address, Integer.parseInt(fields[1]));
    }

    private static Object time(String text, String sqlType) {
        boolean plain = text.matches("[0-9]{4}-[^ ]*([ ][0-2][0-3]:[0-9:.]*(Z|[+-][0-9:]+)?)?");
        switch (plain ? sqlType : "") {
            case "date":
                return LocalDate.parse(text);
            case "timestamp":
                return LocalDateTime.parse(text.replace(' ', 'T'));
            case "timestamptz":
                return OffsetDateTime.parse(
                        text.replace(' ', 'T').replaceAll("([+-][0-9]{2})$", "$1:00"));
            default:
                return null;
        }
    }

    @Test
    public void filtersHaveTheirFields() throws IOException {
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            byte[] bytes = Support.hex(row.get("filter_hex"));
            Info info = BloomFilter.fromBytes(bytes).info();
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
            assertEquals(name, bytes.length, info.bytes());
            assertEquals(name, 1, info.formatVersion());
        }
    }

    @Test
    public void filtersAnswerTheirKeys() throws IOException {
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            BloomFilter filter = BloomFilter.fromBytes(Support.hex(row.get("filter_hex")));
            checkAnswers(row, filter, "keys", true);
            checkAnswers(row, filter, "absent", false);
            checkAnswers(row, filter, "false_positives", true);
            checkExplained(row, filter, "keys", "key_explained");
            checkExplained(row, filter, "absent", "absent_explained");
        }
    }

    private void checkExplained(Map<String, String> row, BloomFilter filter, String column,
            String wanted) {
        KeyType type = type(row) == KeyType.NONE ? KeyType.INTEGER : type(row);
        if (!row.get(wanted).equals("-")) {
            Key key = Key.raw(type, Support.keyList(row.get(column)).get(0));
            assertEquals(row.get(wanted).replace('|', '\n'), filter.explain(key));
        }
    }

    private void checkAnswers(Map<String, String> row, BloomFilter filter, String column,
            boolean answer) {
        KeyType type = type(row) == KeyType.NONE ? KeyType.INTEGER : type(row);
        List<Key> keys = new ArrayList<>();
        for (byte[] bytes : Support.keyList(row.get(column))) {
            keys.add(Key.raw(type, bytes));
            assertEquals(row.get("name"), answer, filter.contains(Key.raw(type, bytes)));
        }
        for (boolean found : filter.containsMany(keys)) {
            assertEquals(row.get("name"), answer, found);
        }
    }

    @Test
    public void filtersRefuseKeysOfAnotherType() throws IOException {
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            BloomFilter filter = BloomFilter.fromBytes(Support.hex(row.get("filter_hex")));
            Key other = type(row) == KeyType.BYTEA ? Key.integer(1) : Key.bytea(new byte[3]);
            if (filter.info().keyType() != KeyType.NONE) {
                assertThrows(KeyTypeException.class, () -> filter.contains(other));
            } else if (filter.info().parts() == 1) {
                assertFalse(filter.contains(other));
            }
        }
    }

    @Test
    public void partsRefuseKeysOfOtherParts() throws IOException {
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            if (number(row, "parts") == 1) {
                continue;
            }
            BloomFilter filter = BloomFilter.fromBytes(Support.hex(row.get("filter_hex")));
            for (long key = 0; key < 50; key++) {
                checkPart(filter, key);
            }
        }
    }

    private void checkPart(BloomFilter filter, long key) {
        Info info = filter.info();
        long hash = Xxh64.ofLong(key, info.seed());
        if (Hash.part(hash, info.parts()) == info.part()) {
            filter.contains(key);
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
            InvalidFilterException error = assertThrows(row.get("name"),
                    InvalidFilterException.class,
                    () -> BloomFilter.fromBytes(Support.hex(row.get("filter_hex"))));
            assertEquals(row.get("name"), row.get("rule"), error.rule());
        }
    }

    @Test
    public void theBuilderOfTheseTestsAgrees() throws IOException {
        for (Map<String, String> row : Support.rows("filters.tsv")) {
            if (row.get("made_of").startsWith("and") || !row.get("n").equals("100")
                    || !row.get("p").equals("0.01")) {
                continue;
            }
            assertArrayEquals(row.get("name"), Support.hex(row.get("filter_hex")),
                    Support.build(Support.keyList(row.get("keys")), shape(row)));
        }
    }
}
