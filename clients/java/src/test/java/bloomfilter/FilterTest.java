package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Logger;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What Java alone has: its memory, threads, locales and logs. */
public class FilterTest {
    private static final Logger LOGGER = Logger.getLogger("bloomfilter");

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private byte[] integers;
    private Path path;

    @Before
    public void writeFirst() throws IOException {
        integers = Support.vector("filters.tsv", "integer");
        path = folder.getRoot().toPath().resolve("f.bloom");
        Support.replace(path, integers);
    }

    @Test
    public void changedSourceDoesNotChangeTheFilter() throws IOException {
        BloomFilter filter = BloomFilter.fromBytes(integers);
        Arrays.fill(integers, (byte) 0);
        assertTrue(filter.contains(42));
    }

    @Test
    public void whatIsNoFilterAndNoIdentity() {
        assertThrows(NullPointerException.class, () -> ReadOption.identity(null));
        InvalidFilterException error = assertThrows(InvalidFilterException.class,
                () -> BloomFilter.fromBytes(Base64.getEncoder().encode(integers)));
        assertTrue(error.getMessage(), error.getMessage().contains("filter::bytea"));
    }

    @Test
    public void textsAreTheSameInEachLocale() throws IOException {
        BloomFilter filter = BloomFilter.open(path);
        String said = filter.info().checksum() + Key.of(1).describe();
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            assertEquals(said, filter.info().checksum() + Key.of(1).describe());
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    public void aFollowedFileThatIsCutIsAnErrorAndNoNo() throws IOException, InterruptedException {
        boolean[] no = new boolean[2];
        int errors = 0;
        for (int i = 0; i < 10; i++) {
            Support.replace(path, Support.vector("pages.tsv", "here"));
            BloomFilter filter = BloomFilter.open(path);
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                file.setLength(0);
            }
            errors += thrownBy(() -> no[0] |= !filter.contains(1)) instanceof ChangedFileException ? 1 : 0;
            thrownBy(() -> no[1] |= !filter.containsMany(new long[] {1, 2})[0]);
            Throwable told = thrownBy(filter::status);
            assertTrue(told instanceof ChangedFileException || told instanceof InternalError);
        }
        assertFalse("it answers no", no[0] || no[1]);
        assertTrue(errors > 0);
    }

    /** In a thread of its own: the machine notes a fault and may throw it some time later, in whatever runs then. */
    private static Throwable thrownBy(Runnable question) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(question);
        thread.setUncaughtExceptionHandler((none, error) -> thrown.set(error));
        thread.start();
        thread.join();
        return thrown.get();
    }

    @Test(timeout = 60_000)
    public void logsErrors() throws IOException, InterruptedException {
        BlockingQueue<String> logged = new LinkedBlockingQueue<>();
        LOGGER.setUseParentHandlers(false);
        LOGGER.setFilter(record -> logged.add(record.getMessage()));
        try {
            WatchedBloomFilter watched = WatchedBloomFilter.open(path);
            Files.delete(path);
            while (logged.isEmpty()) {
                watched.current();
                Thread.sleep(1);
            }
            String message = logged.take();
            assertTrue(message, message.startsWith("the filter stays the old one: "));
            assertTrue(message, message.contains(path.toString()));
        } finally {
            LOGGER.setFilter(null);
        }
    }

    /** A filter and an empty one take turns. */
    @Test
    public void readersSeeNoWrongNo() throws IOException, InterruptedException {
        byte[] none = Support.vector("filters.tsv", "empty");
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong asked = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            readers.add(new Thread(() -> {
                while (!stop.get()) {
                    BloomFilter current = watched.current();
                    boolean isNone = current.info().keyType() == KeyType.NONE;
                    boolean[] found = current.containsMany(new long[] {42, -1});
                    wrong.addAndGet(found[0] != isNone && found[1] != isNone && current.contains(42) != isNone ? 0 : 1);
                    asked.incrementAndGet();
                }
            }));
        }
        readers.forEach(Thread::start);
        for (int round = 0; round < 100; round++) {
            Support.replace(path, round % 2 == 0 ? none : integers);
            watched.reload();
        }
        stop.set(true);
        for (Thread reader : readers) {
            reader.join();
        }
        assertEquals(0, wrong.get());
        assertTrue(asked.get() > 0);
    }
}
