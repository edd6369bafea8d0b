package bloomfilter;

/** A manifest or folder is not exactly one whole set of filters. */
public final class InvalidSetException extends java.io.IOException {
    private static final long serialVersionUID = 1L;

    InvalidSetException(String message) {
        super(message);
    }
}
