package bloomfilter;

import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Keys from the text that PostgreSQL prints for them; doc/KEYS.md is the grammar. */
final class KeyText {
    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");
    private static final Pattern DECIMAL =
            Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    private static final Pattern DATE =
            Pattern.compile("([0-9]{4,7})-([0-9]{2})-([0-9]{2})( [Bb][Cc])?");
    private static final Pattern TIMESTAMP = Pattern.compile("([0-9]{4,7}-[0-9]{2}-[0-9]{2})[ T]"
            + "([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.([0-9]{1,6}))?"
            + "(Z|[+-][0-9]{2}(?:[0-9]{2}|:[0-9]{2}(?::[0-9]{2})?)?)?( [Bb][Cc])?");
    private static final String SPACES = " \t\n\u000b\f\r";
    private static final String OUT_OF_RANGE = "it is out of the type's range";
    private static final int MAX_OFFSET_HOURS = 15;

    private KeyText() {
    }

    static Key parse(KeyType type, String text) {
        try {
            return parseAs(type, text);
        } catch (Bad bad) {
            throw refused(type.toString(), text, bad);
        }
    }

    static Key parseReal(String text) {
        try {
            return Key.floating(floating(text, true));
        } catch (Bad bad) {
            throw refused("real", text, bad);
        }
    }

    /** Why a text is no key. */
    static final class Bad extends Exception {
        private static final long serialVersionUID = 1;

        Bad(String reason) {
            super(reason, null, false, false);
        }
    }

    /** With a better reason where one can be seen. */
    private static KeyValueException refused(String type, String text, Bad bad) {
        String reason = bad.getMessage();
        if (!type.equals("text") && text.isEmpty()) {
            reason = "it is empty";
        } else if (!type.equals("text") && (SPACES.indexOf(text.charAt(0)) >= 0
                || SPACES.indexOf(text.charAt(text.length() - 1)) >= 0)) {
            reason = "there is white space around it";
        }
        return new KeyValueException("not a key of type " + type + ": " + reason);
    }

    private static Key parseAs(KeyType type, String text) throws Bad {
        switch (type) {
            case INTEGER:
                return integer(text);
            case TEXT:
                return text(text);
            case BYTEA:
                return Key.bytea(bytea(text));
            case UUID:
                return uuid(text);
            case NUMERIC:
                return numeric(text);
            case FLOAT:
                return Key.floating(floating(text, false));
            case DATE:
                return infinite(text) ? Key.infinity(type, text.charAt(0) != '-') : date(text);
            case TIMESTAMP:
            case TIMESTAMPTZ:
                return infinite(text) ? Key.infinity(type, text.charAt(0) != '-')
                        : moment(type, text);
            case INET:
                return InetText.parse(text);
            case MACADDR:
                return macaddr(text);
            default:
                throw new KeyTypeException("keys of type " + type + " have no text");
        }
    }

    private static Matcher matched(Pattern pattern, String text, String reason) throws Bad {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.matches()) {
            throw new Bad(reason);
        }
        return matcher;
    }

    private static Key integer(String text) throws Bad {
        matched(INTEGER, text, "it must be a whole number");
        try {
            return Key.integer(Long.parseLong(text));
        } catch (NumberFormatException error) {
            throw new Bad("it is out of bigint's range");
        }
    }

    private static Key text(String text) throws Bad {
        if (text.indexOf('\0') >= 0) {
            throw new Bad("it has a zero byte, which no text can have in SQL");
        }
        return Key.text(text);
    }

    /** Without the \\x PostgreSQL reads another form, in which "ab" is two letters. */
    private static byte[] bytea(String text) throws Bad {
        byte[] bytes = new byte[text.length() / 2];
        int count = text.startsWith("\\x") ? pairs(text, 2, '\0', 1, bytes) : -1;
        if (count < 0) {
            throw new Bad("it must be \\x and two hexadecimal digits for each byte");
        }
        return Arrays.copyOf(bytes, count);
    }

    /** PostgreSQL takes braces, and a hyphen after each four digits. */
    private static Key uuid(String text) throws Bad {
        boolean braces = text.length() > 2 && text.startsWith("{") && text.endsWith("}");
        byte[] bytes = new byte[16];
        String bare = braces ? text.substring(1, text.length() - 1) : text;
        if (pairs(bare, 0, '-', 2, bytes) != 16) {
            throw new Bad("it must be 32 hexadecimal digits, such as"
                    + " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        }
        ByteBuffer halves = ByteBuffer.wrap(bytes);
        return Key.uuid(new UUID(halves.getLong(), halves.getLong()));
    }

    /** One kind of separator between any two bytes. */
    private static Key macaddr(String text) throws Bad {
        for (char separator : ":-.".toCharArray()) {
            byte[] bytes = new byte[8];
            int count = pairs(text, 0, separator, 1, bytes);
            if (count == 6 || count == 8) {
                return Key.macaddr(Arrays.copyOf(bytes, count));
            }
        }
        throw new Bad("it must be 6 or 8 bytes, such as 08:00:2b:01:02:03");
    }

    /**
     * Hexadecimal digits in pairs, with a separator or none between them after each so many bytes.
     * Returns how many bytes there are, or -1 if anything else is there, or more than fit.
     */
    private static int pairs(String text, int from, char separator, int every, byte[] bytes) {
        int count = 0;
        int at = from;
        while (at < text.length()) {
            int value = at + 1 < text.length() && count < bytes.length
                    ? digit(text.charAt(at)) << 4 | digit(text.charAt(at + 1)) : -1;
            if (value < 0) {
                return -1;
            }
            bytes[count++] = (byte) value;
            at += 2;
            if (at + 1 < text.length() && text.charAt(at) == separator && count % every == 0) {
                at++;
            }
        }
        return count;
    }

    private static int digit(char character) {
        return character < 128 ? Character.digit(character, 16) : -1;
    }

    /** Whether text is this word, in either case of ASCII and no other letters. */
    private static boolean isWord(String text, String word) {
        if (text.length() != word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            char character = text.charAt(i);
            if (character != word.charAt(i) && (character < 'A' || character > 'Z'
                    || character + 'a' - 'A' != word.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** "NaN", "Infinity" or "-Infinity", or null. */
    private static String special(String text) {
        boolean signed = text.startsWith("-") || text.startsWith("+");
        String bare = signed ? text.substring(1) : text;
        if (isWord(text, "nan")) {
            return "NaN";
        }
        if (!isWord(bare, "inf") && !isWord(bare, "infinity")) {
            return null;
        }
        return text.startsWith("-") ? "-Infinity" : "Infinity";
    }

    private static Key numeric(String text) throws Bad {
        String special = special(text);
        if (special != null) {
            return Key.numericSpecial(special);
        }
        String plain = Decimal.ofText(text);
        if (plain == null) {
            throw new Bad("it must be a decimal number in numeric's range, NaN, Infinity or"
                    + " -Infinity");
        }
        return Key.numericSpecial(plain);
    }

    /** What would be an infinity, or 0 without being 0, is out of range as in PostgreSQL. */
    private static double floating(String text, boolean real) throws Bad {
        String special = special(text);
        if (special != null) {
            return Double.parseDouble(special);
        }
        matched(DECIMAL, text, "it must be a decimal number, NaN, Infinity or -Infinity");
        double value = real ? Float.parseFloat(text) : Double.parseDouble(text);
        if (Double.isInfinite(value) || value == 0 && !isZero(text)) {
            throw new Bad(OUT_OF_RANGE);
        }
        return value;
    }

    private static boolean isZero(String text) {
        for (int i = 0; i < text.length() && text.charAt(i) != 'e' && text.charAt(i) != 'E'; i++) {
            if (text.charAt(i) >= '1' && text.charAt(i) <= '9') {
                return false;
            }
        }
        return true;
    }

    private static boolean infinite(String text) {
        return isWord(text.startsWith("-") ? text.substring(1) : text, "infinity");
    }

    private static Key date(String text) throws Bad {
        long days = days(text, "it must be a date such as 2024-02-29, 0044-03-15 BC, infinity or"
                + " -infinity");
        try {
            return Key.days(days);
        } catch (KeyValueException error) {
            throw new Bad(OUT_OF_RANGE);
        }
    }

    private static long days(String text, String reason) throws Bad {
        Matcher matcher = matched(DATE, text, reason);
        int year = Integer.parseInt(matcher.group(1));
        if (year == 0) {
            throw new Bad(reason);
        }
        int proleptic = matcher.group(4) == null ? year : 1 - year;
        try {
            return LocalDate.of(proleptic, Integer.parseInt(matcher.group(2)),
                    Integer.parseInt(matcher.group(3))).toEpochDay();
        } catch (DateTimeException error) {
            throw new Bad("it is no day of the calendar");
        }
    }

    private static Key moment(KeyType type, String text) throws Bad {
        boolean zoned = type == KeyType.TIMESTAMPTZ;
        String reason = zoned
                ? "it must be a timestamp with an offset from UTC, such as"
                        + " 2024-02-29 12:34:56.789+01"
                : "it must be a timestamp such as 2024-02-29 12:34:56.789";
        Matcher matcher = matched(TIMESTAMP, text, reason);
        if ((matcher.group(6) != null) != zoned) {
            throw new Bad(reason);
        }
        String era = matcher.group(7) == null ? "" : matcher.group(7);
        String fraction = matcher.group(5) == null ? "" : matcher.group(5);
        int micros = Integer.parseInt((fraction + "000000").substring(0, 6));
        int clock = clock(matcher.group(2), matcher.group(3), matcher.group(4), micros, reason);
        long seconds = days(matcher.group(1) + era, reason) * 86400 + clock;
        try {
            return Key.moment(type, seconds - offset(matcher.group(6), reason), micros * 1000);
        } catch (KeyValueException error) {
            throw new Bad(OUT_OF_RANGE);
        }
    }

    /** Seconds since midnight; 24:00:00 is the next one. */
    private static int clock(String hours, String minutes, String seconds, int micros,
            String reason) throws Bad {
        int minute = Integer.parseInt(minutes);
        int second = Integer.parseInt(seconds);
        int clock = (Integer.parseInt(hours) * 60 + minute) * 60 + second;
        if (minute > 59 || second > 59 || clock + (micros > 0 ? 1 : 0) > 86400) {
            throw new Bad(reason);
        }
        return clock;
    }

    /** Seconds that a zone such as "+05:45" is ahead of UTC. */
    private static int offset(String zone, String reason) throws Bad {
        if (zone == null || zone.equals("Z")) {
            return 0;
        }
        String digits = zone.substring(1).replace(":", "") + "0000";
        int hours = Integer.parseInt(digits.substring(0, 2));
        if (hours > MAX_OFFSET_HOURS) {
            throw new Bad(reason);
        }
        int ahead = clock(digits.substring(0, 2), digits.substring(2, 4), digits.substring(4, 6),
                0, reason);
        return zone.startsWith("-") ? -ahead : ahead;
    }
}
