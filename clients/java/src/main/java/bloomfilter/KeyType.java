package bloomfilter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What keys a filter holds. The ordinal is the number in the header, but of ROW. */
public enum KeyType {
    /** No key was added yet. */
    NONE,
    INTEGER,
    TEXT,
    BYTEA,
    UUID,
    NUMERIC,
    FLOAT,
    DATE,
    TIMESTAMP,
    TIMESTAMPTZ,
    INET,
    MACADDR,
    /** Several columns; {@link Info#columns} has their types. */
    ROW;

    private static final int ROW_NUMBER = 15;
    private static final int MAX_COLUMNS = 6;
    private static final KeyType[] BY_NUMBER = values();

    static boolean isNumber(int number) {
        return number >= 0 && number < ROW.ordinal() || number == ROW_NUMBER;
    }

    static KeyType ofNumber(int number) {
        return number == ROW_NUMBER ? ROW : BY_NUMBER[number];
    }

    int number() {
        return this == ROW ? ROW_NUMBER : ordinal();
    }

    /** Whether a row's column may be of it. */
    boolean isColumn() {
        return this != NONE && this != ROW;
    }

    /** The name as messages and SQL show it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The kind of such rows. A kind is a number: the key type, and above it, in 4 bits each, the
     * types of a row's columns. Keys of equal kinds can be compared.
     */
    static int kindOfRow(List<KeyType> columns) {
        if (columns.isEmpty() || columns.size() > MAX_COLUMNS) {
            throw new KeyTypeException(
                    "a row has 1 to " + MAX_COLUMNS + " columns, not " + columns.size());
        }
        int kind = ROW_NUMBER;
        for (int i = 0; i < columns.size(); i++) {
            KeyType column = columns.get(i);
            if (!column.isColumn()) {
                throw new KeyTypeException("a column of a row can't be of type " + column);
            }
            kind |= column.number() << (8 + 4 * i);
        }
        return kind;
    }

    static KeyType ofKind(int kind) {
        return ofNumber(kind & 0xff);
    }

    static List<KeyType> columns(int kind) {
        List<KeyType> columns = new ArrayList<>();
        for (int rest = kind >>> 8; (rest & 15) != 0; rest >>>= 4) {
            columns.add(ofNumber(rest & 15));
        }
        return columns;
    }

    /** Whether a row has columns, without a gap, and another type has none. */
    static boolean isWhole(int kind) {
        int rest = kind >>> 8;
        if (ofKind(kind) != ROW) {
            return rest == 0;
        }
        while (isNumber(rest & 15) && ofNumber(rest & 15).isColumn()) {
            rest >>>= 4;
        }
        return rest == 0 && kind >>> 8 != 0;
    }

    /** As messages show it: "integer", "row(integer, text)". */
    static String describe(int kind) {
        if (ofKind(kind) != ROW) {
            return ofKind(kind).toString();
        }
        return columns(kind).stream().map(KeyType::toString)
                .collect(Collectors.joining(", ", "row(", ")"));
    }
}
