package bloomfilter;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Answers what test/readers asks of a reader, a line each: the top of test/readers/readers.py has
 * the questions. Each key is read as a program would have it, as a value of Java's own type.
 */
public final class CrossCheck {
    private static final Map<String, BloomFilter> FILTERS = new HashMap<>();
    private static final Map<String, WatchedBloomFilter> WATCHED = new HashMap<>();
    private static final Map<String, String> TOLD = new HashMap<>();

    private CrossCheck() {
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            List<String> fields = Arrays.asList(line.split("\t", -1));
            String answer;
            try {
                answer = answer(fields.get(0), fields.get(1), fields.subList(2, fields.size()));
            } catch (IOException | RuntimeException | InterruptedException error) {
                answer = describe(error);
            }
            out.println(answer);
        }
    }

    private static String answer(String command, String name, List<String> rest) throws IOException, InterruptedException {
        switch (command) {
            case "open":
                open(name, Path.of(rest.get(0)), rest.subList(1, rest.size()));
                return "ok";
            case "keep":
                FILTERS.put(name, filter(rest.get(0)));
                return "ok";
            case "key":
                List<String> all = new ArrayList<>(rest);
                all.add(0, name);
                return each(all, field -> Key.of(value(field)).describe());
            case "ask":
                return each(rest, field -> ask(filter(name), value(field)));
            case "many":
                return askMany(filter(name), rest.stream().map(CrossCheck::value).collect(Collectors.toList()));
            case "lacks":
                return lacking(name, rest);
            case "info":
                return info(filter(name).info(), true);
            case "status":
                return status(filter(name).status());
            case "reload":
                return String.valueOf(WATCHED.get(name).reload());
            case "told":
                return TOLD.getOrDefault(name, "");
            default:
                return "?";
        }
    }

    private static BloomFilter filter(String name) {
        return WATCHED.containsKey(name) ? WATCHED.get(name).current() : FILTERS.get(name);
    }

    private static void open(String name, Path path, List<String> words) throws IOException, InterruptedException {
        Map<String, String> said = new HashMap<>();
        words.forEach(word -> said.put(word.split("=")[0], word.substring(word.indexOf('=') + 1)));
        List<ReadOption> options = new ArrayList<>();
        if (said.containsKey("map")) {
            options.add(ReadOption.MAP);
        }
        if (said.containsKey("noverify")) {
            options.add(ReadOption.NO_VERIFY);
        }
        if (said.containsKey("identity")) {
            options.add(ReadOption.identity(UUID.fromString(said.get("identity"))));
        }
        ReadOption[] all = options.toArray(new ReadOption[0]);
        WATCHED.remove(name);
        if (said.containsKey("bytes")) {
            FILTERS.put(name, BloomFilter.fromBytes(Files.readAllBytes(path), all));
        } else if (said.containsKey("watch") || said.containsKey("wait")) {
            Duration wait = Duration.ofMillis(Math.round(1000 * Double.parseDouble(said.getOrDefault("wait", "0"))));
            WATCHED.put(name, said.containsKey("watch") ? WatchedBloomFilter.open(path, all)
                    : WatchedBloomFilter.waitFor(path, wait, all));
            WATCHED.get(name).onError(error -> TOLD.put(name, error.getMessage()));
        } else {
            FILTERS.put(name, BloomFilter.open(path, all));
        }
    }

    private static <T> String each(List<T> fields, Function<T, String> answer) {
        return fields.stream().map(field -> {
            try {
                return answer.apply(field);
            } catch (RuntimeException error) {
                return kind(error);
            }
        }).collect(Collectors.joining("\t"));
    }

    private static String digit(boolean found) {
        return found ? "1" : "0";
    }

    /** Asks by both overloads where it is a long. */
    private static String ask(BloomFilter filter, Object value) {
        return agreed(List.of(() -> digit(filter.contains(value)), () -> digit(filter.contains(Key.of(value))),
                () -> digit(value instanceof Long ? filter.contains((long) value) : filter.contains(value))));
    }

    private static String askMany(BloomFilter filter, List<Object> values) {
        boolean isLong = values.stream().allMatch(value -> value instanceof Long);
        return agreed(List.of(() -> digits(filter.containsMany(values)), () -> digits(isLong
                ? filter.containsMany(values.stream().mapToLong(value -> (long) value).toArray()) : filter.containsMany(values))));
    }

    /** The first one's answer or error, if the others have the same. */
    private static String agreed(List<Supplier<String>> ways) {
        String answers = each(ways, Supplier::get);
        return Arrays.stream(answers.split("\t", -1)).distinct().count() == 1 ? ways.get(0).get() : "differ";
    }

    private static String digits(boolean[] found) {
        return IntStream.range(0, found.length).mapToObj(i -> digit(found[i])).collect(Collectors.joining());
    }

    private static String lacking(String name, List<String> ranges) {
        long serial = filter(name).status().serial();
        int lacking = 0;
        for (String range : ranges) {
            String[] ends = range.split("-");
            for (long key = Long.parseLong(ends[0]); key <= Long.parseLong(ends[1]); key++) {
                lacking += filter(name).contains(key) ? 0 : 1;
            }
        }
        return serial + " " + lacking;
    }

    private static String joined(Object... fields) {
        return Arrays.stream(fields).map(field -> field == null ? "" : field.toString()).collect(Collectors.joining("\t"));
    }

    private static String info(Info i, boolean isWhole) {
        String columns = i.columns().stream().map(KeyType::toString).collect(Collectors.joining(", "));
        String fields = joined(i.n(), i.p(), i.seed(), i.hashes(), i.blockBits(), i.blocks(), i.part(), i.parts(),
                i.keyType() + (columns.isEmpty() ? "" : "(" + columns + ")"), i.bitsSet(), i.checksum(), i.bits(), i.bytes(),
                i.formatVersion(), i.others(), i.fill());
        return isWhole ? fields + "\t" + i.filters().stream().map(part -> info(part, false)).collect(Collectors.joining("\t")) : fields;
    }

    private static Object micros(Instant at) {
        return at == null ? "" : ChronoUnit.MICROS.between(Instant.EPOCH, at);
    }

    private static String status(Status s) {
        return joined(s.list(), s.identity(), s.place().toString().toLowerCase(Locale.ROOT).replace('_', ' '), s.serial(), micros(s.trueAt()),
                micros(s.looked()), s.age() == null ? null : s.age().toMillis() / 1000.0, s.every().toNanos() / 1000,
                s.heartbeat().toNanos() / 1000, micros(s.expires()), micros(s.since()), s.failures(), digit(s.isSuperseded()), s.changes(),
                s.reason(), s.message());
    }

    /** The error's name, as clients/README.md has it, or that Java's own parsers make nothing of a text. */
    private static String kind(Exception error) {
        boolean isOurs = error instanceof KeyException || error instanceof InvalidFilterException
                || error instanceof ChangedFileException || error instanceof ChangesException;
        String own = error.getClass().getSimpleName().replaceFirst("Exception$", "Error");
        return isOurs ? own : error instanceof IOException ? "SystemError" : "none";
    }

    private static String describe(Exception error) {
        return joined(kind(error), error instanceof InvalidFilterException ? ((InvalidFilterException) error).rule() : "",
                error instanceof KeyException ? ((KeyException) error).index() : "", error.getMessage());
    }

    /** The value of a question. */
    private static Object value(String field) {
        String[] words = field.split(" ", 2);
        String[] type = words[0].split(":");
        switch (type[0]) {
            case "raw":
                Key key = Key.raw(KeyType.valueOf(type[1].toUpperCase(Locale.ROOT)), Support.hex(words[1]));
                return key.type() != KeyType.INTEGER ? key
                        : (Object) ByteBuffer.wrap(key.bytes()).order(ByteOrder.LITTLE_ENDIAN).getLong();
            case "row":
                return Key.row(Arrays.stream(words[1].split(" ")).filter(column -> !column.isEmpty())
                        .map(column -> value("raw:" + column.replace(':', ' '))).toArray());
            case "hex":
                return value(type[1], utf8(Support.hex(words[1])));
            default:
                return value(type[0], words[1]);
        }
    }

    private static String utf8(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException error) {
            throw new DateTimeException("no string has these bytes", error);
        }
    }

    /** What a program has of a key that PostgreSQL prints so. */
    private static Object value(String type, String text) {
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
                return inet(text.split("/"));
            default:
                throw new IllegalArgumentException("unknown key type " + type);
        }
    }

    private static Object inet(String[] fields) {
        try {
            InetAddress address = InetAddress.getByName(fields[0]);
            return fields.length == 1 ? address : Key.inet(address, Integer.parseInt(fields[1]));
        } catch (IOException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
