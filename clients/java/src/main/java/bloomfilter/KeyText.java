package bloomfilter;

import java.time.DateTimeException;
import java.util.Arrays;

/**
 * Keys from text, by the grammar of doc/KEYS.md: a text is read as PostgreSQL's own cast reads it,
 * or refused.
 */
final class KeyText {
    /** What is a column's type and no key type of its own. */
    static final String REAL = "real";

    /** What a message shows of a text. */
    private static final int SHOWN = 60;

    private static final int UUID_BYTES = 16;
    private static final int MAX_MAC_BYTES = 8;
    private static final int NO_SEPARATOR = -1;

    private KeyText() {
    }

    /** How one type is read; what is refused is a KeyValueException that says why. */
    private interface Reader {
        Key read(String text);
    }

    static Key parse(KeyType type, String text) {
        if (type == KeyType.TEXT) {
            return text(text);
        }
        return parse(type.toString(), reader(type), text);
    }

    static Key parse(String type, String text) {
        return type.equals(REAL) ? parse(REAL, KeyText::real, text)
                : parse(KeyType.ofName(type), text);
    }

    private static Key parse(String type, Reader reader, String text) {
        try {
            return reader.read(text);
        } catch (KeyValueException | DateTimeException refused) {
            String shown = text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
            throw new KeyValueException("\"" + shown + "\" is not a key of type " + type + ": "
                    + explain(refused.getMessage(), text));
        }
    }

    /** A better reason where one can be seen: a carriage return is the commonest, and invisible. */
    private static String explain(String reason, String text) {
        if (text.isEmpty()) {
            return "it is empty";
        }
        if (text.endsWith("\r")) {
            return "it ends with a carriage return";
        }
        return isSpace(text.charAt(0)) || isSpace(text.charAt(text.length() - 1))
                ? "there is white space around it" : reason;
    }

    private static boolean isSpace(char character) {
        return character == ' ' || character >= '\t' && character <= '\r';
    }

    private static Reader reader(KeyType type) {
        switch (type) {
            case INTEGER:
                return KeyText::integer;
            case BYTEA:
                return KeyText::bytea;
            case UUID:
                return KeyText::uuid;
            case NUMERIC:
                return KeyText::numeric;
            case FLOAT:
                return KeyText::floating;
            case DATE:
                return TimeText::date;
            case TIMESTAMP:
                return TimeText::timestamp;
            case TIMESTAMPTZ:
                return TimeText::timestamptz;
            case INET:
                return InetText::parse;
            case MACADDR:
                return KeyText::macaddr;
            default:
                throw new KeyTypeException("keys of type " + type + " have no form as text");
        }
    }

    static void require(boolean condition, String reason) {
        if (!condition) {
            throw new KeyValueException(reason);
        }
    }

    private static Key text(String text) {
        require(text.indexOf('\0') < 0, "text has a zero byte, which none can have in SQL");
        return Key.text(text);
    }

    /** Long.parseLong takes the digits of all scripts. */
    private static Key integer(String text) {
        require(text.chars().allMatch(c -> c >= '0' && c <= '9' || c == '-' || c == '+'),
                "it must be a whole number");
        try {
            return Key.integer(Long.parseLong(text));
        } catch (NumberFormatException error) {
            throw new KeyValueException("it must be a whole number in bigint's range");
        }
    }

    /** Whether text is this word in either case, in ASCII: Java thinks of all scripts. */
    static boolean isWord(String text, String word) {
        return text.length() == word.length() && text.chars().allMatch(c -> c < 128)
                && text.equalsIgnoreCase(word);
    }

    /** NaN, Infinity or -Infinity, in the spellings that numeric and float have; or null. */
    private static String special(String text) {
        String bare = text.startsWith("-") || text.startsWith("+") ? text.substring(1) : text;
        if (isWord(text, "NaN")) {
            return "NaN";
        }
        if (!isWord(bare, "inf") && !isWord(bare, "infinity")) {
            return null;
        }
        return text.startsWith("-") ? "-Infinity" : "Infinity";
    }

    private static Decimal decimal(String text) {
        Decimal number = Decimal.read(text);
        require(number != null, "it must be a decimal number, NaN, Infinity or -Infinity");
        return number;
    }

    private static Key numeric(String text) {
        String special = special(text);
        return Key.numeric(special != null ? special : decimal(text).plain());
    }

    private static Key floating(String text) {
        String special = special(text);
        if (special == null && decimal(text).isZero()) {
            return Key.floating(0);
        }
        return inRange(special != null, Double.parseDouble(special != null ? special : text));
    }

    /** The real that is nearest, which is another number than the nearest double. */
    private static Key real(String text) {
        String special = special(text);
        if (special == null && decimal(text).isZero()) {
            return Key.floating(0);
        }
        return inRange(special != null, Float.parseFloat(special != null ? special : text));
    }

    private static Key inRange(boolean named, double value) {
        require(named || value != 0 && !Double.isInfinite(value), "it is out of the type's range");
        return Key.floating(value);
    }

    private static Key bytea(String text) {
        byte[] bytes = text.startsWith("\\x")
                ? pairs(text, 2, text.length(), NO_SEPARATOR, 1) : null;
        require(bytes != null, "it must be \\x and two hexadecimal digits for each byte");
        return Key.bytea(bytes);
    }

    /** PostgreSQL takes braces, and a hyphen after each four digits. */
    private static Key uuid(String text) {
        boolean braces = text.length() > 2 && text.startsWith("{") && text.endsWith("}");
        int brace = braces ? 1 : 0;
        byte[] bytes = pairs(text, brace, text.length() - brace, '-', 2);
        require(bytes != null && bytes.length == UUID_BYTES, "it must be 32 hexadecimal digits,"
                + " such as a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        return Key.uuid(bytes);
    }

    /** PostgreSQL takes one kind of separator, between any two bytes. */
    private static Key macaddr(String text) {
        for (char separator : new char[] {':', '-', '.'}) {
            byte[] bytes = pairs(text, 0, text.length(), separator, 1);
            if (bytes != null && (bytes.length == 6 || bytes.length == MAX_MAC_BYTES)) {
                return Key.macaddr(bytes);
            }
        }
        throw new KeyValueException("it must be 6 or 8 bytes, such as 08:00:2b:01:02:03");
    }

    /**
     * Hexadecimal digits in pairs, and a separator where one is allowed: after every so many
     * bytes, and not at the end. Null where there is anything else.
     */
    private static byte[] pairs(String text, int from, int end, int separator, int every) {
        byte[] bytes = new byte[(end - from) / 2];
        int count = 0;
        for (int at = from; at < end; at += 2) {
            if (count > 0 && count % every == 0 && text.charAt(at) == separator) {
                at++;
            }
            int value = at + 1 < end
                    ? digit(text.charAt(at)) << 4 | digit(text.charAt(at + 1)) : -1;
            if (value < 0) {
                return null;
            }
            bytes[count++] = (byte) value;
        }
        return Arrays.copyOf(bytes, count);
    }

    /** Or -1; Character.digit takes those of all scripts. */
    private static int digit(char character) {
        return character < 128 ? Character.digit(character, 16) : -1;
    }
}
