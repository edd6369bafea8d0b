package bloomfilter;

import static bloomfilter.KeyValueException.require;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Which bytes a key can have: section 3 of FORMAT.md, read the other way round. */
final class RawKey {
    private static final Pattern NUMERIC = Pattern.compile(
            "0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\\.[0-9]*[1-9]|NaN|-?Infinity");

    private RawKey() {
    }

    /** The kind of the key with these bytes. */
    static int kind(KeyType type, byte[] bytes) {
        if (type == KeyType.NONE) {
            throw new KeyTypeException("a key has a type");
        }
        if (type == KeyType.ROW) {
            return kindOfRow(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
        }
        require(isKey(type, bytes), "these are the bytes of no key of type " + type);
        return type.number();
    }

    /** The columns must fill a row exactly. */
    private static int kindOfRow(ByteBuffer rest) {
        List<KeyType> types = new ArrayList<>();
        while (rest.remaining() >= Key.COLUMN_HEAD) {
            int type = rest.get() & 0xff;
            int length = rest.getInt();
            require(KeyType.isNumber(type) && type != KeyType.ROW.number() && length >= 0
                    && length <= rest.remaining(), "these are the bytes of no row");
            byte[] column = new byte[length];
            rest.get(column);
            types.add(KeyType.ofKind(kind(KeyType.ofNumber(type), column)));
        }
        require(!rest.hasRemaining(), "these are the bytes of no row");
        return KeyType.kindOfRow(types);
    }

    private static boolean isKey(KeyType type, byte[] bytes) {
        switch (type) {
            case INTEGER:
            case DATE:
            case TIMESTAMP:
            case TIMESTAMPTZ:
                return bytes.length == Long.BYTES;
            case TEXT:
                return isUtf8(bytes) && withoutBlanks(bytes) == bytes;
            case BYTEA:
                return true;
            case UUID:
                return bytes.length == 16;
            case NUMERIC:
                return NUMERIC.matcher(new String(bytes, StandardCharsets.ISO_8859_1)).matches();
            case FLOAT:
                return isFloat(bytes);
            case INET:
                return bytes.length == 6 && bytes[0] == 4 && (bytes[1] & 0xff) <= 32
                        || bytes.length == 18 && bytes[0] == 6 && (bytes[1] & 0xff) <= 128;
            case MACADDR:
                return bytes.length == 6 || bytes.length == 8 && !Key.isNarrow(bytes);
            default:
                return false;
        }
    }

    /** The blanks at a text's end, U+0020 and nothing else, are no part of the key. */
    static byte[] withoutBlanks(byte[] text) {
        int length = text.length;
        while (length > 0 && text[length - 1] == ' ') {
            length--;
        }
        return length == text.length ? text : Arrays.copyOf(text, length);
    }

    private static boolean isUtf8(byte[] bytes) {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException error) {
            return false;
        }
    }

    /** One zero, and one NaN. */
    private static boolean isFloat(byte[] bytes) {
        if (bytes.length != Double.BYTES) {
            return false;
        }
        long word = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        return Key.floatBits(Double.longBitsToDouble(word)) == word;
    }
}
