package bloomfilter;

/** The table of changes by day of a followed file is damaged. */
public final class ChangesException extends IllegalStateException {
    ChangesException() {
        super("table of changes is damaged");
    }
}
