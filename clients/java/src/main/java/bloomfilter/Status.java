package bloomfilter;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which content of which list a filter is, and how fresh: what {@code bloomfilter pull} wrote
 * beside its file, or a follower into the working copy. Null and 0 are what isn't known.
 */
public final class Status {
    private static final String FIRST_LINE = "bloomfilter-status 1";
    private static final int MOST_BYTES = 16384;

    private final Map<String, String> look;
    private final Map<String, String> origin;
    private final Working working;

    private Status(Map<String, String> look, Map<String, String> origin, Working working) {
        this.look = look;
        this.origin = origin;
        this.working = working;
    }

    /** Of the filter that was opened from a source, and has this checksum. */
    static Status of(Source source, Working working, String checksum) {
        if (source == null) {
            return new Status(Map.of(), Map.of(), null);
        }
        Path path = source.path();
        Map<String, String> values = read(path.resolveSibling(path.getFileName() + ".status"));
        if (working != null) {
            return new Status(values, values, working);
        }
        if (source.notes().containsKey("serial")) {
            return new Status(values, source.notes(), null);
        }
        // Before a new filter takes the file's name, what comes is noted under "next_".
        if (checksum.equals(values.get("next_checksum"))) {
            Map<String, String> next = new HashMap<>();
            values.forEach((name, value) -> {
                if (name.startsWith("next_")) {
                    next.put(name.substring("next_".length()), value);
                }
            });
            return new Status(values, next, null);
        }
        return new Status(values,
                checksum.equals(values.get("checksum")) ? values : Map.of(), null);
    }

    private static Map<String, String> read(Path path) {
        try (FileChannel channel = Source.openRegular(path)) {
            String text = new String(Source.read(channel, MOST_BYTES), StandardCharsets.UTF_8);
            List<String> lines = Arrays.asList(text.split("\n"));
            return lines.get(0).equals(FIRST_LINE) ? values(lines, "") : Map.of();
        } catch (IOException none) {
            return Map.of();
        }
    }

    /** What lines "name value" tell that begin with a prefix. */
    static Map<String, String> values(List<String> lines, String prefix) {
        Map<String, String> values = new HashMap<>();
        for (String line : lines) {
            int space = line.indexOf(' ', prefix.length());
            if (line.startsWith(prefix) && space >= 0) {
                values.put(line.substring(prefix.length(), space), line.substring(space + 1));
            }
        }
        return values;
    }

    private static long number(Map<String, String> values, String name) {
        try {
            return Long.parseLong(values.getOrDefault(name, "0"));
        } catch (NumberFormatException none) {
            return 0;
        }
    }

    private static Instant time(Map<String, String> values, String name) {
        try {
            String text = values.get(name);
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeParseException none) {
            return null;
        }
    }

    private Instant moment(int word) {
        long microseconds = working == null || working.isCopied() ? 0 : working.word(word);
        return microseconds == 0 ? null : Instant.EPOCH.plus(microseconds,
                java.time.temporal.ChronoUnit.MICROS);
    }

    /** The list's name. */
    public String list() {
        return origin.get("list");
    }

    /** The list's identity, a UUID. */
    public String identity() {
        return working != null ? working.identity().toString() : origin.get("identity");
    }

    /** The content's serial: that of a later one is greater. */
    public long serial() {
        return working != null ? working.serial() : number(origin, "serial");
    }

    /** When the list was built on the server. */
    public Instant built() {
        return time(origin, "built");
    }

    /** The last look at the server that went well. */
    public Instant looked() {
        Instant own = moment(Working.LOOKED);
        return own != null ? own : time(look, "looked");
    }

    /** When pull replaced the file. */
    public Instant changed() {
        return time(look, "changed");
    }

    /** Of a working copy: what was committed before is in it. */
    public Instant trueAt() {
        return moment(Working.TRUE_AT);
    }

    /** Looks that failed since the last one that went well. */
    public long failures() {
        return moment(Working.LOOKED) != null ? working.word(Working.FAILURES)
                : number(look, "failures");
    }

    /** When the last look failed that did. */
    public Instant failed() {
        return time(look, "failed");
    }

    /** The error of that look. */
    public String error() {
        return look.get("error");
    }

    /** Why pull refused what the server has, in a word. */
    public String refused() {
        return look.get("refused");
    }

    /** The server that was looked at. */
    public String server() {
        return look.get("server");
    }
}
