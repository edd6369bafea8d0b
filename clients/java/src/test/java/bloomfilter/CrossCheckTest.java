package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The program that other tests compare languages with. */
public class CrossCheckTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private static Map<KeyType, List<String>> keys() {
        Map<KeyType, List<String>> keys = new LinkedHashMap<>();
        keys.put(KeyType.INTEGER, List.of("42", "-1", "9223372036854775807"));
        keys.put(KeyType.TEXT, List.of("", "gr\u00f6\u00dfe", "a\rb", " a ", "\ud83d\ude00"));
        keys.put(KeyType.BYTEA, List.of("\\x", "\\x00ff", "\\x6162"));
        keys.put(KeyType.UUID, List.of("00112233-4455-6677-8899-aabbccddeeff",
                "00112233-4455-6677-8899-aabbccddeefe"));
        keys.put(KeyType.NUMERIC, List.of("1.50", "-0.001", "1000"));
        keys.put(KeyType.FLOAT, List.of("0.1", "-0", "1e-10", "Infinity", "NaN"));
        keys.put(KeyType.DATE,
                List.of("2024-02-29", "1850-03-01"));
        keys.put(KeyType.TIMESTAMP,
                List.of("2024-02-29 12:34:56.5", "2024-02-29 12:34:56"));
        keys.put(KeyType.TIMESTAMPTZ, List.of("2024-02-29 12:34:56.123+02",
                "2024-02-29 12:34:56+05:45"));
        keys.put(KeyType.INET, List.of("10.0.0.1", "10.0.0.1/8", "::1", "2001:db8::/32"));
        keys.put(KeyType.MACADDR, List.of("08:00:2b:01:02:03", "08:00:2b:01:02:03:04:05"));
        return keys;
    }

    private String ask(byte[] filter, String type, List<String> lines) throws IOException {
        Path path = folder.getRoot().toPath().resolve("f");
        Files.write(path, filter);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        String input = String.join("\n", lines) + "\n";
        CrossCheck.run(path, type,
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    public void eachType() throws IOException {
        for (Map.Entry<KeyType, List<String>> entry : keys().entrySet()) {
            List<byte[]> added = new ArrayList<>();
            List<String> texts = entry.getValue();
            for (String text : texts.subList(1, texts.size())) {
                added.add(Key.of(CrossCheck.value(entry.getKey().toString(), text)).bytes());
            }
            Support.Shape shape = new Support.Shape();
            shape.type = entry.getKey();
            shape.blocks = 64;
            assertEquals(entry.getKey().toString(), "0\n" + "1\n".repeat(texts.size() - 1),
                    ask(Support.build(added, shape), entry.getKey().toString(), texts));
        }
    }

    @Test
    public void columnsOfTypeReal() throws IOException {
        byte[] filter = Support.build(List.of(Key.floating(0.1f).bytes()), floats());
        assertEquals("1\n0\n", ask(filter, "real", List.of("0.1", "0.2")));
        assertEquals("0\n", ask(filter, "float", List.of("0.1")));
    }

    private static Support.Shape floats() {
        Support.Shape shape = new Support.Shape();
        shape.type = KeyType.FLOAT;
        return shape;
    }

    @Test
    public void errorsEndIt() {
        byte[] filter = Support.integerFilter(0, 1);
        assertThrows(NumberFormatException.class, () -> ask(filter, "integer", List.of("x")));
        assertThrows(KeyException.class, () -> ask(filter, "text", List.of("42")));
        assertThrows(KeyException.class, () -> ask(filter, "json", List.of("1")));
    }
}
