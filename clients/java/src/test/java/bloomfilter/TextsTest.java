package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.Test;

/** Keys as text: the golden rows of texts.tsv, of which PostgreSQL was the judge. */
public class TextsTest {
    @Test
    public void everyTextIsReadOrRefused() throws IOException {
        int read = 0;
        int refused = 0;
        for (Map<String, String> row : Support.rows("texts.tsv")) {
            String name = row.get("type") + " " + row.get("text");
            String text = text(row.get("text"));
            if (!row.get("key_hex").equals("-")) {
                assertEquals(name, row.get("key_hex"), key(row, Key.parse(row.get("type"), text)));
                read++;
            } else if (text != null) {
                assertThrows(name, KeyValueException.class,
                        () -> Key.parse(row.get("type"), text));
                refused++;
            }
        }
        assertTrue(read + " " + refused, read > 300 && refused > 400);
    }

    /** Null for bytes that are not UTF-8: no String holds them. */
    private static String text(String field) {
        if (!field.startsWith("hex:")) {
            return field;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(Support.hex(field.substring(4)))).toString();
        } catch (CharacterCodingException error) {
            return null;
        }
    }

    private static String key(Map<String, String> row, Key key) {
        if (row.get("key_hex").startsWith("xxh64:")) {
            return String.format("xxh64:%016x", Xxh64.of(key.bytes(), 0));
        }
        StringBuilder hex = new StringBuilder();
        for (byte octet : key.bytes()) {
            hex.append(String.format("%02x", octet));
        }
        return hex.toString();
    }
}
