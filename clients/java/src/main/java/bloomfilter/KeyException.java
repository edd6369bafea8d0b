package bloomfilter;

/** A key that the filter can't be asked for; it is never answered with "no". */
public class KeyException extends IllegalArgumentException {
    private int index = -1;

    KeyException(String message) {
        super(message);
    }

    /** The same error, as one of a batch. */
    final KeyException at(int place) {
        index = place;
        return this;
    }

    /** The place in a batch, from 0 on, or -1 for a single key. */
    public final int index() {
        return index;
    }

    @Override
    public String getMessage() {
        return index < 0 ? super.getMessage() : "key " + index + ": " + super.getMessage();
    }
}
