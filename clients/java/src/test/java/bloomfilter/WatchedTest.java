package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Logger;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Reload: a swap under readers, and the old filter kept on any error. */
public class WatchedTest {
    private static final long[] ONE_TWO_THREE = {1, 2, 3};

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    /** What the reader logs by; tests make errors enough. */
    private static final Logger LOGGER = Logger.getLogger("bloomfilter");

    private Path path;

    @BeforeClass
    public static void printNoErrors() {
        LOGGER.setUseParentHandlers(false);
    }

    @Before
    public void writeFirst() throws IOException {
        path = folder.getRoot().toPath().resolve("f.bloom");
        Support.replace(path, Support.integerFilter(1, 3));
    }

    @Test
    public void reloadTakesTheNewFile() throws IOException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        BloomFilter before = watched.current();
        Support.replace(path, Support.integerFilter(2, 4));
        assertFalse(watched.current().contains(3));
        assertTrue(watched.reload());
        assertArrayEquals(new boolean[] {false, true, true},
                watched.current().containsMany(ONE_TWO_THREE));
        assertTrue(before.contains(1));
    }

    @Test
    public void anyErrorKeepsTheOldFilter() throws IOException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        for (byte[] bytes : List.of(new byte[0], new byte[4], new byte[100])) {
            Support.replace(path, bytes);
            assertThrows(InvalidFilterException.class, watched::reload);
            assertTrue(watched.current().contains(1));
        }
        Files.delete(path);
        assertThrows(IOException.class, watched::reload);
        assertTrue(watched.current().contains(1));
    }

    @Test
    public void waitForTheFirstFile() throws Exception {
        Path late = path.resolveSibling("late");
        assertThrows(IOException.class, () -> WatchedBloomFilter.waitFor(late, Duration.ofMillis(1)));
        Thread writer = new Thread(() -> {
            try {
                Support.replace(late, Support.integerFilter(1, 3));
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
        });
        writer.start();
        assertTrue(WatchedBloomFilter.waitFor(late, Duration.ofMinutes(1)).current().contains(1));
        writer.join();
    }

    @Test
    public void reloadSaysWhetherItChangedSomething() throws IOException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        BloomFilter before = watched.current();
        assertFalse(watched.reload());
        assertSame(before, watched.current());
        Support.replace(path, Support.integerFilter(1, 3));
        assertTrue("the same bytes in another file", watched.reload());
        assertNotSame("it may have replaced a damaged one", before, watched.current());
        Support.replace(path, Support.integerFilter(2, 4));
        assertTrue(watched.reload());
        assertFalse(watched.reload());
    }

    /** By itself, within a second. */
    @Test(timeout = 60_000)
    public void currentLooks() throws IOException, InterruptedException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        BlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        watched.onError(told::add);
        Support.replace(path, Support.integerFilter(2, 4));
        while (!watched.current().contains(3)) {
            Thread.sleep(1);
        }
        Support.replace(path, new byte[100]);
        while (told.isEmpty()) {
            assertTrue(watched.current().contains(3));
            Thread.sleep(1);
        }
        assertEquals(path.toString(), ((InvalidFilterException) told.take()).file());
    }

    @Test(timeout = 60_000)
    public void logsErrors() throws IOException, InterruptedException {
        BlockingQueue<String> logged = new LinkedBlockingQueue<>();
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

    /** Key 2 is in every filter; of 1 and 3 exactly one. */
    @Test
    public void readersSeeNoWrongNo() throws IOException, InterruptedException {
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong asked = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            readers.add(new Thread(() -> {
                while (!stop.get()) {
                    boolean[] found = watched.current().containsMany(ONE_TWO_THREE);
                    boolean right = found[1] && found[0] != found[2];
                    wrong.addAndGet(right && watched.current().contains(2) ? 0 : 1);
                    asked.incrementAndGet();
                }
            }));
        }
        readers.forEach(Thread::start);
        for (int round = 0; round < 100; round++) {
            Support.replace(path, Support.integerFilter(1 + round % 2, 3 + round % 2));
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
