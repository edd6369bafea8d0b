package bloomfilter;

import java.util.Locale;

/** What kind of keys a filter holds. The ordinal is the number in the header, but of ROW. */
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
}
