package bloomfilter;

/** A value that PostgreSQL's type can't have, such as nanoseconds. */
public final class KeyValueException extends KeyException {
    private static final long serialVersionUID = 1L;

    KeyValueException(String message) {
        super(message);
    }
}
