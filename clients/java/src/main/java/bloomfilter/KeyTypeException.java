package bloomfilter;

/** The filter holds keys of another type, or the object is no key at all. */
public final class KeyTypeException extends KeyException {
    private static final long serialVersionUID = 1L;

    KeyTypeException(String message) {
        super(message);
    }
}
