package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * A filter that is replaced by newer ones while threads ask it. It needs no thread of its own.
 *
 * <p>Each question is answered by one whole filter, the old or the new one.
 */
public final class WatchedBloomFilter {
    private static final System.Logger LOG = System.getLogger("bloomfilter");

    /** Between two looks at the path of one that is in use. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Between two looks of {@link #waitFor}. */
    private static final long WAIT_MILLIS = 100;

    /** Between two lines about a lasting error. */
    private static final long LOG_AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Path path;
    private final Opening opening;
    private final ReentrantLock reloading = new ReentrantLock();
    private volatile BloomFilter current;
    private volatile long looked;
    private volatile Consumer<Throwable> onError =
            error -> LOG.log(System.Logger.Level.WARNING, "the filter stays the old one: " + error);

    private String lastError;
    private long toldAt;

    private WatchedBloomFilter(Path path, Opening opening) throws IOException {
        this.path = path;
        this.opening = opening;
        reload();
    }

    /** Opens what {@link BloomFilter#open} opens. */
    public static WatchedBloomFilter open(Path path, ReadOption... options) throws IOException {
        return new WatchedBloomFilter(path.toAbsolutePath(), new Opening(options));
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

    /** Who is told why the file at the path could not be taken; at first, that is logged. */
    public void onError(Consumer<Throwable> told) {
        onError = told;
    }

    /** Which content of which list it is, and how fresh. */
    public Status status() {
        return current().status();
    }

    /**
     * The filter of this moment; keep it to ask several questions of one.
     *
     * <p>Once a second, and at once where a followed file says that another one took its place, one
     * of the callers looks at the path and opens what is there. On any error the old filter stays.
     */
    public BloomFilter current() {
        if ((System.nanoTime() - looked >= LOOK_NANOS || current.isSuperseded())
                && reloading.tryLock()) {
            try {
                reload();
                lastError = null;
            } catch (IOException | RuntimeException error) {
                tell(error);
            } finally {
                reloading.unlock();
            }
        }
        return current;
    }

    /**
     * Takes what is at the path now, and says whether that is another file.
     *
     * <p>Where it is the same one nothing else is read. On any error the old filter stays and the
     * error is thrown.
     */
    public boolean reload() throws IOException {
        reloading.lock();
        try {
            looked = System.nanoTime();
            if (current != null) {
                Opening.Stamp now = Opening.Stamp.orNull(path);
                requireNotOverwritten(now);
                if (current.stamp.isThat(now)) {
                    current.checkWho();
                    return false;
                }
            }
            BloomFilter next = opening.open(path);
            requireNotOverwritten(next.stamp);
            current = next;
            return true;
        } finally {
            reloading.unlock();
        }
    }

    private void requireNotOverwritten(Opening.Stamp now) {
        if (current != null && current.stamp.isOverwritten(now)) {
            current.checkWho();
            throw new ChangedFileException(null);
        }
    }

    /** An error is told when it is another one than the last, and a lasting one now and then. */
    private void tell(Throwable error) {
        long now = System.nanoTime();
        if (!error.toString().equals(lastError) || now - toldAt >= LOG_AGAIN_NANOS) {
            toldAt = now;
            lastError = error.toString();
            onError.accept(error);
        }
    }
}
