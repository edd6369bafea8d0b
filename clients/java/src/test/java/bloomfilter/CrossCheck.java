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

/**
 * CrossCheck FILE TYPE: answers 1 or 0 for each key on standard input.
 *
 * <p>Keys come one on a line, as PostgreSQL prints them; TYPE may be real. Each
 * is asked twice, as a value of Java's own type where it has one, and from its text; the two must
 * agree. Any error ends the program with status 1.
 */
public final class CrossCheck {
    /** Infinities, and years that need more than four digits or an era. */
    private static final String NO_PLAIN_TIME = "-?infinity|[0-9]{5,}-.*|.* BC";

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
            throw new IllegalArgumentException("usage: CrossCheck FILE TYPE [explain] < KEYS");
        }
        if (arguments.length == 3) {
            explain(Path.of(arguments[0]), arguments[1], System.in, System.out);
        } else {
            run(Path.of(arguments[0]), arguments[1], System.in, System.out);
        }
    }

    private static BufferedReader lines(InputStream keys) {
        return new BufferedReader(new InputStreamReader(keys,
                StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)));
    }

    static void explain(Path file, String type, InputStream keys, PrintStream out)
            throws IOException {
        BloomFilter filter = BloomFilter.open(file);
        BufferedReader reader = lines(keys);
        for (String line = readLine(reader); line != null; line = readLine(reader)) {
            out.print(filter.explain(Key.parse(type, line)) + "\n\n");
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
        boolean found = filter.contains(Key.parse(typeName, text));
        Object own = ownValue(text);
        if (own != null && filter.contains(own) != found || overload(text, found) != found) {
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
                return text.matches("(?i).*(inf|nan).*") ? otherwise
                        : filter.contains(Double.parseDouble(text));
            default:
                return otherwise;
        }
    }

    /** The value of Java's own type, or null. */
    private Object ownValue(String text) throws IOException {
        switch (type) {
            case INTEGER:
                return Long.valueOf(text);
            case TEXT:
                return text;
            case NUMERIC:
                return text.matches(".*[Nn].*") ? null : new BigDecimal(text);
            case INET:
                return text.matches("[0-9.]+") ? InetAddress.getByName(text) : null;
            default:
                return text.matches(NO_PLAIN_TIME) ? null : time(text);
        }
    }

    private Object time(String text) {
        String iso = text.replace(' ', 'T');
        switch (type) {
            case DATE:
                return LocalDate.parse(text);
            case TIMESTAMP:
                return LocalDateTime.parse(iso);
            case TIMESTAMPTZ:
                return OffsetDateTime.parse(iso.replaceAll("([+-][0-9]{2})$", "$1:00"));
            default:
                return null;
        }
    }
}
