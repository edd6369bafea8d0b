package bloomfilter;

/** A key that the filter can't be asked for; it is never answered with "no". */
public class KeyException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    KeyException(String message) {
        super(message);
    }
}
