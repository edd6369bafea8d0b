package bloomfilter;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The thread behind {@link WatchedBloomFilter#follow}. */
final class Follower {
    private static final System.Logger LOG = System.getLogger("bloomfilter");

    private final WeakReference<WatchedBloomFilter> followed;
    private final long nanos;
    private final Consumer<BloomFilter> onChange;
    private final Consumer<Throwable> onError;
    private final CountDownLatch over = new CountDownLatch(1);
    private String lastError;
    private long loggedAt;

    /** Between two lines about a lasting error. */
    static long logAgainNanos = TimeUnit.MINUTES.toNanos(1);

    Follower(WatchedBloomFilter watched, Duration every, Consumer<BloomFilter> onChange,
            Consumer<Throwable> onError) {
        if (every.isZero() || every.isNegative()) {
            throw new IllegalArgumentException("the time between two looks must be more than 0");
        }
        followed = new WeakReference<>(watched);
        nanos = TimeUnit.NANOSECONDS.convert(every);
        this.onChange = onChange;
        this.onError = onError != null ? onError : this::log;
    }

    void start() {
        Thread thread = new Thread(this::run, "bloomfilter-follow");
        thread.setDaemon(true);
        thread.start();
    }

    void end() {
        over.countDown();
    }

    private void run() {
        try {
            while (!over.await(nanos, TimeUnit.NANOSECONDS) && look()) {
                // Until the end.
            }
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * One reload. Whatever goes wrong, lack of memory included, the next look comes; false when
     * nobody holds the filter any more.
     */
    private boolean look() {
        WatchedBloomFilter watched = followed.get();
        if (watched == null) {
            return false;
        }
        try {
            boolean changed = watched.reload();
            lastError = null;
            if (changed) {
                tell(onChange, watched.current());
            }
        } catch (Throwable error) {
            tell(onError, error);
        }
        return true;
    }

    private static <T> void tell(Consumer<T> function, T news) {
        try {
            function.accept(news);
        } catch (Throwable error) {
            LOG.log(System.Logger.Level.WARNING, "a function that was given to follow failed",
                    error);
        }
    }

    private void log(Throwable error) {
        long now = System.nanoTime();
        if (!error.toString().equals(lastError) || now - loggedAt >= logAgainNanos) {
            loggedAt = now;
            LOG.log(System.Logger.Level.WARNING, "the filter stays the old one: " + error);
        }
        lastError = error.toString();
    }
}
