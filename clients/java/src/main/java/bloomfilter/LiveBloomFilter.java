package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A filter that is replaced by newer ones while threads ask it.
 *
 * <p>{@link #current} is one volatile read. Each question is answered by one whole filter, the
 * old or the new one.
 */
public final class LiveBloomFilter {
    private final Path path;
    private final ReadOption[] options;
    private volatile BloomFilter current;

    private LiveBloomFilter(Path path, ReadOption... options) throws IOException {
        this.path = path;
        this.options = options.clone();
        current = BloomFilter.open(path, options);
    }

    /** Opens what {@link BloomFilter#open} opens. */
    public static LiveBloomFilter open(Path path, ReadOption... options) throws IOException {
        return new LiveBloomFilter(path, options);
    }

    /** The filter of this moment; keep it to ask several questions of one. */
    public BloomFilter current() {
        return current;
    }

    /**
     * Opens the path again and takes what is there now. On any error the old filter stays and
     * the error is thrown.
     */
    public synchronized void reload() throws IOException {
        current = BloomFilter.open(path, options);
    }
}
