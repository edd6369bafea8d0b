package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;

/** What is wrong with a file, whose name the message begins with. */
abstract class FileException extends IOException {
    private static final long serialVersionUID = 1L;

    private String file;

    FileException(String message) {
        super(message);
    }

    /** Says whose bytes they are; the innermost file counts. */
    void in(Path path) {
        if (file == null) {
            file = path.toString();
        }
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
