package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;

/** The bytes are not a valid filter. The message begins with the name of their file. */
public final class InvalidFilterException extends IOException {
    private final String rule;

    private String file;

    InvalidFilterException(String rule, String message) {
        super(message);
        this.rule = rule;
    }

    /** The word of the first broken rule in section 7 of FORMAT.md. */
    public String rule() {
        return rule;
    }

    /** The same error, said of a file. */
    InvalidFilterException in(Path path) {
        file = path.toString();
        return this;
    }

    /** The file, or null if the bytes were of none. */
    public String file() {
        return file;
    }

    @Override
    public String getMessage() {
        return file == null ? super.getMessage() : file + ": " + super.getMessage();
    }
}
