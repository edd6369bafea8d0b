package bloomfilter;

/** Parts that are not exactly one whole set. */
public final class InvalidSetException extends FileException {
    private static final long serialVersionUID = 1L;

    InvalidSetException(String message) {
        super(message);
    }

    static void require(boolean condition, String message) throws InvalidSetException {
        if (!condition) {
            throw new InvalidSetException(message);
        }
    }
}
