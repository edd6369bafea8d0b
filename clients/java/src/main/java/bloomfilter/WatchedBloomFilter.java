package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A filter that is replaced by newer ones while threads ask it.
 *
 * <p>{@link #current} is one volatile read. Each question is answered by one whole filter, the old
 * or the new one.
 */
public final class WatchedBloomFilter implements AutoCloseable {
    /** Between two looks of {@link #waitFor}. */
    private static final long WAIT_MILLIS = 100;

    private final Path path;
    private final Opening opening;
    private volatile BloomFilter current;

    /** What the files were that the last reload read. */
    private Source source;

    private final Object following = new Object();
    private Follower follower;

    private WatchedBloomFilter(Path path, Opening opening) throws IOException {
        this.path = path;
        this.opening = opening;
        Opening.Opened opened = opening.open(path);
        source = opened.source;
        current = new BloomFilter(opened);
    }

    /** Opens what {@link BloomFilter#open} opens. */
    public static WatchedBloomFilter open(Path path, ReadOption... options) throws IOException {
        return new WatchedBloomFilter(path, new Opening(options));
    }

    /**
     * Opens as soon as there is a file, for a service that starts before the first one has come.
     *
     * @throws IOException the last error, after the time-out
     */
    public static WatchedBloomFilter waitFor(Path path, Duration timeout, ReadOption... options)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            try {
                return open(path, options);
            } catch (IOException error) {
                if (System.nanoTime() - end >= 0) {
                    throw error;
                }
            }
            Thread.sleep(WAIT_MILLIS);
        }
    }

    /** Which content of which list it is, and how fresh. */
    public Status status() {
        return current.status();
    }

    /** The filter of this moment; keep it to ask several questions of one. */
    public BloomFilter current() {
        return current;
    }

    /**
     * Takes what is at the path now, and says whether that is another filter.
     *
     * <p>Where no file was replaced (file key, size, time and header are the same) nothing else is
     * read. On any error the old filter stays and the error is thrown.
     */
    public synchronized boolean reload() throws IOException {
        if (Source.find(path).equals(source)) {
            return false;
        }
        Opening.Opened opened = opening.open(path);
        BloomFilter fresh = new BloomFilter(opened);
        boolean changed = !fresh.hasBytesOf(current);
        source = opened.source;
        // One of the same bytes is taken, too: it may have replaced a damaged one.
        current = fresh;
        return changed;
    }

    /** Follows as the other form does, and logs errors by {@link System.Logger}. */
    public void follow(Duration every) {
        follow(every, filter -> { }, null);
    }

    /**
     * Reloads every so often, in a daemon thread of its own, until {@link #close}, or until nobody
     * holds this object any more.
     *
     * @param onChange is given each new filter
     * @param onError is given each error; if it is null, an error is logged when it is another one
     *     than the time before, and a lasting one again each minute
     */
    public void follow(Duration every, Consumer<BloomFilter> onChange,
            Consumer<Throwable> onError) {
        Follower fresh = new Follower(this, every, onChange, onError);
        replaceFollower(fresh);
        fresh.start();
    }

    /** Ends following. The present filter stays, and answers. */
    @Override
    public void close() {
        replaceFollower(null);
    }

    private void replaceFollower(Follower fresh) {
        synchronized (following) {
            if (follower != null) {
                follower.end();
            }
            follower = fresh;
        }
    }
}
