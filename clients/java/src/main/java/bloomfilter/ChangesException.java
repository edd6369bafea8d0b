package bloomfilter;

/** The table of changes by day of a followed file is damaged. */
public final class ChangesException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    ChangesException() {
        super("table of changes is damaged");
    }
}
