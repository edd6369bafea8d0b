package bloomfilter;

import java.util.Locale;

/** What kind of keys a filter holds. The ordinal is the number in the header. */
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

    private static final KeyType[] BY_NUMBER = values();

    static final int COUNT = BY_NUMBER.length;

    static KeyType ofNumber(int number) {
        return BY_NUMBER[number];
    }

    /** The name as messages and SQL show it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
