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
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Reload: a swap under readers, and the old filter kept on any error. */
public class LiveTest {
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
        LiveBloomFilter live = LiveBloomFilter.open(path);
        BloomFilter before = live.current();
        Support.replace(path, Support.integerFilter(2, 4));
        assertFalse(live.current().contains(3));
        assertTrue(live.reload());
        assertArrayEquals(new boolean[] {false, true, true},
                live.current().containsMany(ONE_TWO_THREE));
        assertTrue(before.contains(1));
    }

    @Test
    public void anyErrorKeepsTheOldFilter() throws IOException {
        LiveBloomFilter live = LiveBloomFilter.open(path);
        for (byte[] bytes : List.of(new byte[0], new byte[4], new byte[100])) {
            Support.replace(path, bytes);
            assertThrows(InvalidFilterException.class, live::reload);
            assertTrue(live.current().contains(1));
        }
        Files.delete(path);
        assertThrows(IOException.class, live::reload);
        assertTrue(live.current().contains(1));
    }

    @Test
    public void reloadSaysWhetherItChangedSomething() throws IOException {
        LiveBloomFilter live = LiveBloomFilter.open(path);
        BloomFilter before = live.current();
        assertFalse(live.reload());
        assertSame(before, live.current());
        Support.replace(path, Support.integerFilter(1, 3));
        assertFalse("the same bytes in another file", live.reload());
        assertNotSame("it may have replaced a damaged one", before, live.current());
        Support.replace(path, Support.integerFilter(2, 4));
        assertTrue(live.reload());
        assertFalse(live.reload());
    }

    @Test
    public void reloadOfASet() throws IOException {
        Path folder = subfolder("set");
        SetWriter writer = new SetWriter(folder, 3);
        writer.publish(100);
        LiveBloomFilter live = LiveBloomFilter.open(folder);
        assertFalse(live.reload());
        writer.publish(101);
        assertTrue(live.reload());
        assertTrue(live.current().contains(100));
        Files.delete(folder.resolve(writer.names.get(1)));
        IOException error = assertThrows(IOException.class, live::reload);
        assertTrue(error.getMessage(), error.getMessage().contains(writer.names.get(1)));
        assertTrue(live.current().contains(100));
    }

    private Path subfolder(String name) throws IOException {
        return Files.createDirectory(folder.getRoot().toPath().resolve(name));
    }

    @Test
    public void followTellsOfNewFiltersAndErrors() throws IOException, InterruptedException {
        LiveBloomFilter live = LiveBloomFilter.open(path);
        for (Duration none : List.of(Duration.ZERO, Duration.ofMillis(-1))) {
            assertThrows(IllegalArgumentException.class, () -> live.follow(none));
        }
        BlockingQueue<Object> news = new LinkedBlockingQueue<>();
        live.follow(Duration.ofMillis(1), news::add, news::add);
        Support.replace(path, Support.integerFilter(2, 4));
        assertSame(news.take(), live.current());
        assertTrue(live.current().contains(3));
        Support.replace(path, new byte[100]);
        InvalidFilterException error = (InvalidFilterException) news.take();
        assertEquals(path.toString(), error.file());
        assertTrue(live.current().contains(3));
        live.follow(Duration.ofMillis(1), filter -> {
            throw new IllegalStateException("told, and fails");
        }, news::add);
        Support.replace(path, Support.integerFilter(1, 3));
        while (!live.current().contains(1)) {
            Thread.sleep(1);
        }
        news.clear();
        Support.replace(path, new byte[100]);
        assertTrue(news.take() instanceof InvalidFilterException);
        live.close();
        live.close();
        assertTrue(live.current().contains(1));
    }

    @Test
    public void followLogsErrors() throws IOException, InterruptedException {
        BlockingQueue<String> logged = new LinkedBlockingQueue<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                logged.add(record.getMessage());
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        };
        LOGGER.addHandler(handler);
        try (LiveBloomFilter live = LiveBloomFilter.open(path)) {
            Files.delete(path);
            live.follow(Duration.ofMillis(1));
            String message = logged.take();
            assertTrue(message, message.startsWith("the filter stays the old one: "));
            assertTrue(message, message.contains(path.toString()));
        } finally {
            LOGGER.removeHandler(handler);
        }
    }

    /** Key 2 is in every filter; of 1 and 3 exactly one. */
    @Test
    public void readersSeeNoWrongNo() throws IOException, InterruptedException {
        LiveBloomFilter live = LiveBloomFilter.open(path);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong asked = new AtomicLong();
        AtomicLong wrong = new AtomicLong();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            readers.add(new Thread(() -> {
                while (!stop.get()) {
                    boolean[] found = live.current().containsMany(ONE_TWO_THREE);
                    boolean right = found[1] && found[0] != found[2];
                    wrong.addAndGet(right && live.current().contains(2) ? 0 : 1);
                    asked.incrementAndGet();
                }
            }));
        }
        readers.forEach(Thread::start);
        for (int round = 0; round < 300; round++) {
            Support.replace(path, Support.integerFilter(1 + round % 2, 3 + round % 2));
            live.reload();
        }
        stop.set(true);
        for (Thread reader : readers) {
            reader.join();
        }
        assertEquals(0, wrong.get());
        assertTrue(asked.get() > 0);
    }
}
