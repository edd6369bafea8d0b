package bloomfilter;

/** The key belongs to a part of the set that is not open. */
public final class PartException extends KeyException {
    private static final long serialVersionUID = 1L;

    PartException(String message) {
        super(message);
    }
}
