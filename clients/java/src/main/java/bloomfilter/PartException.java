package bloomfilter;

/** The key belongs to a part of the set that is not open. */
public final class PartException extends KeyException {
    PartException(String message) {
        super(message);
    }
}
