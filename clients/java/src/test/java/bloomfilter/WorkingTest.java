package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeNoException;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Working copies, and what is known about a file. */
public class WorkingTest {
    @Rule
    public final TemporaryFolder temporary = new TemporaryFolder();

    private Path path;

    @Before
    public void choosePath() {
        path = temporary.getRoot().toPath().resolve("f");
    }

    private void write(Path target, byte[] bytes) throws IOException {
        Path fresh = target.resolveSibling("new");
        Files.write(fresh, bytes);
        Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
    }

    private void write(Map<String, String> row) throws IOException {
        String[] files = row.get("base_hex").split(",");
        StringBuilder manifest = new StringBuilder("bloomfilter-set 1\n");
        for (int i = 0; i < files.length; i++) {
            String name = files.length == 1 ? "f" : "p" + i;
            write(path.resolveSibling(name), Support.hex(files[i]));
            manifest.append(name).append('\n');
        }
        if (files.length > 1) {
            write(path, manifest.toString().getBytes());
        }
        write(path.resolveSibling("f.working"), workingOf(row));
    }

    private static byte[] workingOf(Map<String, String> row) {
        String text = row.get("working_hex");
        byte[] bytes = text.equals("-") ? new byte[0] : Support.hex(text);
        if (row.get("boot").equals("this") && bytes.length >= 128) {
            System.arraycopy(Working.thisBoot(), 0, bytes, 48, 16);
            if (!row.get("word").equals("header_checksum")) {
                ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(120, Xxh64.of(Arrays.copyOf(bytes, 120), 0));
            }
        }
        return bytes;
    }

    private static Map<String, String> row(String name) throws IOException {
        return Support.rows("working.tsv").stream()
                .filter(row -> row.get("name").equals(name)).findFirst().get();
    }

    private static long[] keys(String text) {
        return text.equals("-") ? new long[0]
                : Arrays.stream(text.split(",")).mapToLong(Long::parseLong).toArray();
    }

    private static long found(BloomFilter filter, long[] keys) {
        return Arrays.stream(keys).filter(filter::contains).count();
    }

    @Test
    public void vectors() throws IOException {
        for (Map<String, String> row : Support.rows("working.tsv")) {
            write(row);
            check(row);
            check(row, ReadOption.MAP);
        }
    }

    private void check(Map<String, String> row, ReadOption... options) throws IOException {
        String name = row.get("name");
        String word = row.get("word");
        if (!word.equals("-") && !word.equals("file")) {
            InvalidFilterException error = assertThrows(name, InvalidFilterException.class,
                    () -> BloomFilter.open(path, options));
            assertEquals(name, word, error.rule());
            return;
        }
        BloomFilter filter = BloomFilter.open(path, options);
        long[] fresh = keys(row.get("new_keys"));
        boolean taken = word.equals("-");
        assertEquals(name, taken ? fresh.length : 0, found(filter, fresh));
        if (!name.equals("no_bits")) {
            long[] keys = keys(row.get("keys"));
            assertEquals(name, keys.length, found(filter, keys));
            assertTrue(name, filter.info().bitsSet() > 0);
        }
        assertEquals(name, taken, filter.status().identity() != null);
    }

    /** What the serial announces is there, while a follower sets bits. */
    @Test
    public void bitsSetInPlace() throws Exception {
        byte[] full = workingOf(row("one"));
        long[] fresh = keys(row("one").get("new_keys"));
        write(row("no_bits"));
        WatchedBloomFilter watched = WatchedBloomFilter.open(path, ReadOption.MAP);
        assertEquals(0, found(watched.current(), fresh));
        long before = watched.status().serial();
        AtomicLong denied = new AtomicLong();
        Thread[] readers = new Thread[2];
        for (int i = 0; i < readers.length; i++) {
            readers[i] = new Thread(() -> {
                while (true) {
                    long announced = watched.status().serial();
                    long found = found(watched.current(), fresh);
                    if (announced > before) {
                        denied.addAndGet(fresh.length - found);
                        return;
                    }
                }
            });
            readers[i].start();
        }
        try (RandomAccessFile file = new RandomAccessFile(path + ".working", "rw")) {
            for (int at = 4096 + 64; at < full.length; at++) {
                file.seek(at);
                file.write(full[at]);
            }
            file.seek(Working.SERIAL);
            file.writeLong(Long.reverseBytes(before + 1));
            for (Thread reader : readers) {
                reader.join();
            }
            assertEquals(0, denied.get());
            assertFalse("the same file, with more bits", watched.reload());
            file.seek(176);
            file.writeLong(Long.reverseBytes(1));
        }
        assertTrue("superseded", watched.reload());
        assertNull(watched.status().identity());
        long[] old = keys(row("one").get("keys"));
        assertEquals(old.length, found(watched.current(), old));
    }

    /** A link to what another user put where it leads; changing an owner needs root. */
    @Test
    public void planted() throws IOException {
        write(row("no_bits"));
        Path planted = path.resolveSibling("planted");
        Files.move(path.resolveSibling("f.working"), planted);
        Files.createSymbolicLink(path.resolveSibling("f.working"), planted);
        assertTrue(BloomFilter.open(path).status().identity() != null);
        try {
            Files.setAttribute(planted, "unix:uid", 65534);
        } catch (IOException notRoot) {
            assumeNoException(notRoot);
        }
        BloomFilter filter = BloomFilter.open(path);
        assertNull(filter.status().identity());
        long[] keys = keys(row("one").get("keys"));
        assertEquals(keys.length, found(filter, keys));
    }

    @Test
    public void status() throws IOException {
        byte[] bytes = Support.set(1, Support.integers(0, 3)).get(0);
        write(path, bytes);
        BloomFilter filter = BloomFilter.open(path);
        assertEquals(0, filter.status().serial());
        assertNull(filter.status().looked());
        String checksum = filter.info().checksum();
        String text = String.join("\n", "bloomfilter-status 1", "looked 2026-11-22T01:02:03Z",
                "checksum " + checksum, "list users", "identity x", "serial 1795395655123456",
                "built 2026-11-21T01:02:03Z", "failures 2", "error no server",
                "next_checksum 0000000000000001", "next_serial 7", "");
        Files.writeString(path.resolveSibling("f.status"), text);
        Status status = filter.status();
        assertEquals("users", status.list());
        assertEquals(1795395655123456L, status.serial());
        assertEquals(Instant.parse("2026-11-21T01:02:03Z"), status.built());
        assertEquals(Instant.parse("2026-11-22T01:02:03Z"), status.looked());
        assertEquals(2, status.failures());
        assertEquals("no server", status.error());
        Files.writeString(path.resolveSibling("f.status"),
                text.replace("\nchecksum " + checksum, "\nchecksum 1")
                        .replace("0000000000000001", checksum));
        assertEquals(7, filter.status().serial());
    }

    @Test
    public void waitForTheFirstFile() throws Exception {
        assertThrows(IOException.class,
                () -> WatchedBloomFilter.waitFor(path, Duration.ofMillis(1)));
        Thread writer = new Thread(() -> {
            try {
                Thread.sleep(50);
                write(path, Support.set(1, Support.integers(0, 3)).get(0));
            } catch (IOException | InterruptedException error) {
                throw new IllegalStateException(error);
            }
        });
        writer.start();
        assertTrue(WatchedBloomFilter.waitFor(path, Duration.ofMinutes(1)).current().contains(1));
        writer.join();
    }
}
