package bloomfilter;

/** A value that PostgreSQL's type can't have, such as nanoseconds. */
public final class KeyValueException extends KeyException {
    KeyValueException(String message) {
        super(message);
    }

    static void require(boolean condition, String message) {
        if (!condition) {
            throw new KeyValueException(message);
        }
    }
}
