package bloomfilter;

/** The bytes are not a valid filter. */
public final class InvalidFilterException extends FileException {
    private static final long serialVersionUID = 1L;

    private final String rule;

    InvalidFilterException(String rule, String message) {
        super(message);
        this.rule = rule;
    }

    /** The word of the first broken rule in section 7 of FORMAT.md. */
    public String rule() {
        return rule;
    }
}
