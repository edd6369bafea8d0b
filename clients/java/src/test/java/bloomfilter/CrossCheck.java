package bloomfilter;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
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
 * program would have it, as a value of Java's own type, and looked up by all overloads that take
 * it, which must agree. Any error ends the program with status 1.
 *
 * <p>With watch, as a third argument, a line has ranges such as 1-20: the answer is the serial of
 * the list and how many of these integers it then lacks.
 */
public final class CrossCheck {
    private final BloomFilter filter;
    private final String typeName;
    private final KeyType type;

    private CrossCheck(BloomFilter filter, String typeName) {
        this.filter = filter;
        this.typeName = typeName;
        type = typeName.equals("real") ? KeyType.NONE : KeyType.ofName(typeName);
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2 && arguments.length != 3) {
            throw new IllegalArgumentException("usage: CrossCheck FILE TYPE [explain | watch] < KEYS");
        }
        if (arguments.length == 3 && arguments[2].equals("watch")) {
            watch(Path.of(arguments[0]), System.in, System.out);
        } else if (arguments.length == 3) {
            explain(Path.of(arguments[0]), arguments[1], System.in, System.out);
        } else {
            run(Path.of(arguments[0]), arguments[1], System.in, System.out);
        }
    }

    private static BufferedReader lines(InputStream keys) {
        return new BufferedReader(new InputStreamReader(keys,
                StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)));
    }

    private static void watch(Path file, InputStream ranges, PrintStream out) throws IOException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(file);
        BufferedReader reader = lines(ranges);
        for (String line = readLine(reader); line != null; line = readLine(reader)) {
            long serial = watched.status().serial();
            int lacking = 0;
            for (String range : line.isEmpty() ? new String[0] : line.split(" ")) {
                String[] ends = range.split("-");
                for (long key = Long.parseLong(ends[0]); key <= Long.parseLong(ends[1]); key++) {
                    lacking += watched.current().contains(key) ? 0 : 1;
                }
            }
            out.println(serial + " " + lacking);
            out.flush();
        }
    }

    static void explain(Path file, String type, InputStream keys, PrintStream out)
            throws IOException {
        BloomFilter filter = BloomFilter.open(file);
        BufferedReader reader = lines(keys);
        for (String line = readLine(reader); line != null; line = readLine(reader)) {
            out.print(filter.explain(value(type, line)) + "\n\n");
        }
        out.flush();
    }

    static void run(Path file, String type, InputStream keys, PrintStream out)
            throws IOException {
        CrossCheck check = new CrossCheck(BloomFilter.open(file), type);
        BufferedReader reader = lines(keys);
        StringBuilder answers = new StringBuilder();
        for (String line = readLine(reader); line != null; line = readLine(reader)) {
            answers.append(check.answer(line) ? "1\n" : "0\n");
        }
        out.print(answers);
        out.flush();
    }

    /** Up to the next newline; BufferedReader's own ends lines at a carriage return too. */
    private static String readLine(BufferedReader reader) throws IOException {
        StringBuilder line = new StringBuilder();
        int next = reader.read();
        if (next < 0) {
            return null;
        }
        while (next >= 0 && next != '\n') {
            line.append((char) next);
            next = reader.read();
        }
        return line.toString();
    }

    private boolean answer(String text) throws IOException {
        boolean found = filter.contains(value(typeName, text));
        if (overload(text, found) != found) {
            throw new IllegalStateException("two answers for " + typeName + " " + text);
        }
        return found;
    }

    /** The answer of the overload that takes no object, where there is one. */
    private boolean overload(String text, boolean otherwise) {
        switch (type) {
            case INTEGER:
                return filter.contains(Long.parseLong(text));
            case TEXT:
                return filter.contains(text);
            case FLOAT:
                return filter.contains(Double.parseDouble(text));
            default:
                return otherwise;
        }
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
                return Key.macaddr(Support.hex(text.replace(":", "")));
            case "inet":
                String[] fields = text.split("/");
                InetAddress address = InetAddress.getByName(fields[0]);
                return fields.length == 1 ? address : Key.inet(address, Integer.parseInt(fields[1]));
            default:
                throw new KeyTypeException("unknown key type " + type);
        }
    }
}
