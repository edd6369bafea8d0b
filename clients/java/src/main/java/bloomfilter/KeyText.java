package bloomfilter;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Keys from the text that PostgreSQL prints for them. */
final class KeyText {
    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");
    private static final Pattern DECIMAL =
            Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    private static final Pattern INFINITE = Pattern.compile("([+-]?)inf(inity)?");
    private static final Pattern UUID_FORM = Pattern.compile(
            "[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}");
    private static final Pattern DATE = Pattern.compile("([0-9]{4,7})-([0-9]{2})-([0-9]{2})( BC)?");
    private static final Pattern TIMESTAMP = Pattern.compile("([0-9]{4,7}-[0-9]{2}-[0-9]{2})[ T]"
            + "([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\\.([0-9]{1,6}))?"
            + "(Z|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)?( BC)?");
    private static final Pattern MAC = Pattern.compile(
            "[0-9a-f]{2}(([:-]?)[0-9a-f]{2})((\\2[0-9a-f]{2}){4}|(\\2[0-9a-f]{2}){6})");
    private static final Pattern MAC_GROUPS =
            Pattern.compile("[0-9a-f]{4}([.-])[0-9a-f]{4}\\1[0-9a-f]{4}(\\1[0-9a-f]{4})?");
    private static final Pattern MAC_HALVES =
            Pattern.compile("[0-9a-f]{6}([:-])[0-9a-f]{6}([0-9a-f]{4})?");

    private KeyText() {
    }

    static Key parse(KeyType type, String text) {
        try {
            return parseAs(type, text);
        } catch (NumberFormatException | DateTimeException error) {
            throw bad(type, text);
        }
    }

    private static Key parseAs(KeyType type, String text) {
        switch (type) {
            case INTEGER:
                return Key.integer(Long.parseLong(matched(type, INTEGER, text).group()));
            case TEXT:
                return Key.text(text);
            case BYTEA:
                return Key.bytea(hex(type, text.startsWith("\\x") ? text.substring(2) : text));
            case UUID:
                return Key.uuid(uuid(text));
            case NUMERIC:
                return numeric(text);
            case FLOAT:
                return Key.floating(floating(text));
            case DATE:
                return infinite(text) != 0 ? Key.infinity(type, infinite(text) > 0)
                        : Key.days(days(type, text));
            case TIMESTAMP:
            case TIMESTAMPTZ:
                return infinite(text) != 0 ? Key.infinity(type, infinite(text) > 0)
                        : moment(type, text);
            case INET:
                return InetText.parse(text);
            case MACADDR:
                return Key.macaddr(mac(text));
            default:
                throw new KeyTypeException("a key has a type");
        }
    }

    static KeyValueException bad(KeyType type, String text) {
        return new KeyValueException("not a key of type " + type + ": \"" + text + "\"");
    }

    private static Matcher matched(KeyType type, Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.matches()) {
            throw bad(type, text);
        }
        return matcher;
    }

    /** Not by a regular expression: Java's run out of stack on long texts. */
    private static byte[] hex(KeyType type, String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < text.length(); i++) {
            char digit = text.charAt(i);
            int value = digit < 128 ? Character.digit(digit, 16) : -1;
            if (value < 0 || text.length() % 2 != 0) {
                throw bad(type, text);
            }
            bytes[i / 2] = (byte) (bytes[i / 2] << 4 | value);
        }
        return bytes;
    }

    private static UUID uuid(String text) {
        boolean braces = text.startsWith("{") && text.endsWith("}");
        String bare = braces ? text.substring(1, text.length() - 1) : text;
        String digits = matched(KeyType.UUID, UUID_FORM, bare).group().replace("-", "");
        return new UUID(Long.parseUnsignedLong(digits.substring(0, 16), 16),
                Long.parseUnsignedLong(digits.substring(16), 16));
    }

    /** 1 or -1 for an infinity, 0 for another text. */
    private static int infinite(String text) {
        Matcher matcher = INFINITE.matcher(text.toLowerCase(Locale.ROOT));
        return !matcher.matches() ? 0 : matcher.group(1).equals("-") ? -1 : 1;
    }

    private static Key numeric(String text) {
        if (infinite(text) != 0) {
            return Key.numericSpecial(infinite(text) > 0 ? "Infinity" : "-Infinity");
        }
        if (text.equalsIgnoreCase("NaN")) {
            return Key.numericSpecial("NaN");
        }
        return Key.numeric(new BigDecimal(matched(KeyType.NUMERIC, DECIMAL, text).group()));
    }

    private static double floating(String text) {
        if (infinite(text) != 0) {
            return infinite(text) * Double.POSITIVE_INFINITY;
        }
        return text.equalsIgnoreCase("NaN") ? Double.NaN
                : Double.parseDouble(matched(KeyType.FLOAT, DECIMAL, text).group());
    }

    private static long days(KeyType type, String text) {
        Matcher matcher = matched(type, DATE, text);
        int year = Integer.parseInt(matcher.group(1));
        if (year == 0) {
            throw bad(type, text);
        }
        int proleptic = matcher.group(4) == null ? year : 1 - year;
        return LocalDate.of(proleptic, Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(3))).toEpochDay();
    }

    private static Key moment(KeyType type, String text) {
        Matcher matcher = matched(type, TIMESTAMP, text);
        String zone = matcher.group(4);
        if ((zone != null) != (type == KeyType.TIMESTAMPTZ)) {
            throw bad(type, text);
        }
        String era = matcher.group(5) == null ? "" : matcher.group(5);
        long seconds = days(type, matcher.group(1) + era) * 86400 + clock(matcher.group(2));
        String fraction = matcher.group(3) == null ? "" : matcher.group(3);
        int micros = Integer.parseInt((fraction + "000000").substring(0, 6));
        return Key.moment(type, seconds - offset(zone), micros * 1000);
    }

    /** Seconds since midnight; 24:00:00 is the next one. */
    private static int clock(String time) {
        return time.equals("24:00:00") ? 86400 : LocalTime.parse(time).toSecondOfDay();
    }

    /** Seconds that a zone such as "+05:45" is ahead of UTC. */
    private static int offset(String zone) {
        if (zone == null || zone.equals("Z")) {
            return 0;
        }
        String digits = (zone.substring(1).replace(":", "") + "0000").substring(0, 6);
        int ahead = clock(digits.substring(0, 2) + ":" + digits.substring(2, 4) + ":"
                + digits.substring(4));
        return zone.startsWith("-") ? -ahead : ahead;
    }

    private static byte[] mac(String text) {
        String lower = text.trim().toLowerCase(Locale.ROOT);
        boolean known = MAC.matcher(lower).matches() || MAC_GROUPS.matcher(lower).matches()
                || MAC_HALVES.matcher(lower).matches();
        if (!known) {
            throw bad(KeyType.MACADDR, text);
        }
        return hex(KeyType.MACADDR, lower.replaceAll("[:.-]", ""));
    }
}
