package bloomfilter;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.UUID;

/**
 * CrossCheck FILE TYPE: answers 1 or 0 for each key on standard input.
 *
 * <p>Keys come one on a line, as PostgreSQL prints them; TYPE may be real. Each is read as a
 * program would have it, as a value of Java's own type, and looked up by both overloads
 * where it is a long, which must agree. Any error ends the program with status 1.
 *
 * <p>With describe, as a third argument, it prints what each key says it is instead.
 *
 * <p>With watch, as a third argument, a line has ranges such as 1-20: the answer is the serial of
 * the list and how many of these integers it then lacks.
 */
public final class CrossCheck {
    private CrossCheck() {
    }

    private interface Answerer {
        String answer(String line) throws IOException;
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2 && arguments.length != 3) {
            throw new IllegalArgumentException("usage: CrossCheck FILE TYPE [describe | watch] < KEYS");
        }
        String mode = arguments.length == 3 ? arguments[2] : "";
        Answerer answerer = mode.equals("watch") ? watcher(Path.of(arguments[0]))
                : reader(Path.of(arguments[0]), arguments[1], mode.equals("describe"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in,
                StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answerer.answer(line));
        }
    }

    private static Answerer watcher(Path file) throws IOException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(file);
        return line -> {
            long serial = watched.status().serial();
            int lacking = 0;
            for (String range : line.isEmpty() ? new String[0] : line.split(" ")) {
                String[] ends = range.split("-");
                for (long key = Long.parseLong(ends[0]); key <= Long.parseLong(ends[1]); key++) {
                    lacking += watched.current().contains(key) ? 0 : 1;
                }
            }
            return serial + " " + lacking;
        };
    }

    private static Answerer reader(Path file, String type, boolean describe) throws IOException {
        BloomFilter filter = BloomFilter.open(file);
        return line -> {
            Object value = value(type, line);
            if (describe) {
                return Key.of(value).describe();
            }
            boolean found = filter.contains(value);
            if (value instanceof Long && filter.contains((long) value) != found) {
                throw new IllegalStateException("two answers for " + type + " " + line);
            }
            return found ? "1" : "0";
        };
    }

    /** What a program has of a key that PostgreSQL prints so. */
    static Object value(String type, String text) throws IOException {
        String iso = text.replace(' ', 'T');
        switch (type) {
            case "integer":
                return Long.valueOf(text);
            case "text":
                return text;
            case "bytea":
                return Key.bytea(Support.hex(text.substring(2)));
            case "uuid":
                return UUID.fromString(text);
            case "numeric":
                return new BigDecimal(text);
            case "float":
                return Double.valueOf(text);
            case "real":
                return Float.valueOf(text);
            case "date":
                return LocalDate.parse(text);
            case "timestamp":
                return LocalDateTime.parse(iso);
            case "timestamptz":
                return OffsetDateTime.parse(iso.replaceAll("([+-][0-9]{2})$", "$1:00"));
            case "macaddr":
                return Key.macaddr(Support.hex(text.replaceAll("[:.-]", "")));
            case "inet":
                String[] fields = text.split("/");
                InetAddress address = InetAddress.getByName(fields[0]);
                return fields.length == 1 ? address : Key.inet(address, Integer.parseInt(fields[1]));
            default:
                throw new KeyTypeException("unknown key type " + type);
        }
    }
}
