package bloomfilter;

/**
 * Somebody cut or overwrote a followed file that is open, instead of renaming a new one over it, or cut
 * another file that is mapped, or a follower found its file damaged. Of a watched filter each question
 * is this error until there is a new one.
 */
public final class ChangedFileException extends IllegalStateException {
    ChangedFileException(Throwable cause) {
        super("bloomfilter file was cut short, overwritten, or found damaged by its follower", cause);
    }
}
