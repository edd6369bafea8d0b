package bloomfilter;

/** The filter holds keys of another type, or the object is no key at all. */
public final class KeyTypeException extends KeyException {
    KeyTypeException(String message) {
        super(message);
    }
}
