package bloomfilter;

import static org.junit.Assert.assertEquals;
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

/** Exact filters: every golden vector, opened in all ways. */
public class ExactTest {
    @Rule
    public final TemporaryFolder temporary = new TemporaryFolder();

    private static long wrong(BloomFilter filter, Map<String, String> row, String column, boolean want) {
        List<Object> keys = new ArrayList<>();
        long wrong = 0;
        for (byte[] bytes : Support.keyList(row.get(column))) {
            Object key = row.get("key_type").equals("2") ? new String(bytes, StandardCharsets.UTF_8)
                    : (Object) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
            keys.add(key);
            wrong += filter.contains(key) == want ? 0 : 1;
        }
        for (boolean found : filter.containsMany(keys)) {
            wrong += found == want ? 0 : 1;
        }
        return wrong;
    }

    @Test
    public void vectors() throws IOException {
        Path path = temporary.getRoot().toPath().resolve("f");
        int valid = 0;
        for (Map<String, String> row : Support.rows("exact.tsv")) {
            String name = row.get("name");
            byte[] bytes = row.get("filter_hex").equals("-") ? new byte[0] : Support.hex(row.get("filter_hex"));
            Files.write(path, bytes);
            if (!row.get("word").equals("-")) {
                assertEquals(name, row.get("word"), assertThrows(name, InvalidFilterException.class,
                        () -> BloomFilter.open(path)).rule());
                assertEquals(name, row.get("word"), assertThrows(name, InvalidFilterException.class,
                        () -> BloomFilter.fromBytes(bytes)).rule());
                continue;
            }
            valid++;
            List<BloomFilter> filters = new ArrayList<>(List.of(BloomFilter.fromBytes(bytes),
                    BloomFilter.open(path), BloomFilter.open(path, ReadOption.MAP)));
            if (!name.startsWith("part_")) {
                Path followed = temporary.newFile().toPath();
                Files.write(followed, FollowedTest.page(List.of(bytes)).array());
                filters.add(BloomFilter.open(followed));
            }
            for (BloomFilter filter : filters) {
                assertEquals(name, 0, wrong(filter, row, "members_hex", true)
                        + wrong(filter, row, "others_hex", false) + wrong(filter, row, "strangers_hex", false));
                assertEquals(2, filter.info().formatVersion());
                assertEquals(bytes.length, filter.info().bytes());
            }
        }
        assertTrue(valid >= 10);
    }
}
