package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Reload: a swap under readers, and the old filter kept on any error. */
public class LiveTest {
    private static final long[] ONE_TWO_THREE = {1, 2, 3};

    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private Path path;

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
        live.reload();
        assertArrayEquals(new boolean[] {false, true, true},
                live.current().containsEach(ONE_TWO_THREE));
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
                    boolean[] found = live.current().containsEach(ONE_TWO_THREE);
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
