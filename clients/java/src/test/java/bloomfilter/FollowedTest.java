package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Files that a follower keeps. */
public class FollowedTest {
    private static final Map<String, Status.Place> PLACES = Map.of("here", Status.Place.HERE,
            "boot", Status.Place.OTHER_BOOT, "copy", Status.Place.COPY, "device", Status.Place.COPY,
            "nobody", Status.Place.NONE);

    @Rule
    public final TemporaryFolder temporary = new TemporaryFolder();

    private Path path;

    @Before
    public void choosePath() {
        path = temporary.getRoot().toPath().resolve("f.bloom");
    }

    /** The file of a row. */
    private static byte[] file(String vectors, String name) throws IOException {
        return Support.rows(vectors).stream().filter(row -> row.get("name").equals(name))
                .map(row -> Support.hex(row.get("file_hex"))).findFirst().orElseThrow();
    }

    /** That of one part has the integers 1 to 5. */
    private static byte[] page(String name) throws IOException {
        return file("pages.tsv", name);
    }

    private static ByteBuffer seal(ByteBuffer b) {
        byte[] all = b.array();
        b.putLong(Followed.WHO_CHECKSUM, Xxh64.of(Arrays.copyOf(all, Followed.WHO_CHECKSUM), 0));
        ByteBuffer saved = ByteBuffer.allocate(72);
        saved.put(all, Followed.SAVED, 56).put(all, Followed.EPOCH, 8).put(all, Followed.INODE, 8);
        b.putLong(Followed.SAVED_CHECKSUM, Xxh64.of(saved.array(), 0));
        return b;
    }

    /** Puts a file where the vectors say that its reader stands: here is where its follower keeps it. */
    private void keep(byte[] bytes, String where) throws IOException {
        Path fresh = path.resolveSibling("fresh");
        Files.write(fresh, bytes);
        ByteBuffer b = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
        byte[] boot = Followed.thisBoot();
        boot[0] ^= where.equals("boot") ? 1 : 0;
        b.position(Followed.BOOT);
        b.put(boot);
        long device = (Long) Files.getAttribute(fresh, "unix:dev");
        long inode = (Long) Files.getAttribute(fresh, "unix:ino");
        b.putLong(Followed.DEVICE, device + (where.equals("device") ? 1 : 0));
        b.putLong(Followed.INODE, inode + (where.equals("copy") ? 1 : 0));
        boolean isSaved = b.getLong(Followed.SAVED_CHECKSUM) != 0;
        seal(b);
        poke(fresh, 0, isSaved ? b.array() : b.putLong(Followed.SAVED_CHECKSUM, 0).array());
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void poke(Path file, int at, byte[] bytes) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(at);
            open.write(bytes);
        }
    }

    private static void poke(Path file, int at, long value) throws IOException {
        poke(file, at, ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    }

    @Test
    public void whatThePageTells() throws IOException {
        keep(page("here"), "here");
        // by the numbers of FEED.md, and not by the reader's own
        long[] how = {1795395600000000L, 0, 4, 2000000, 20000000, 1795395700000000L, 1795395500000000L};
        for (int i = 0; i < how.length; i++) {
            poke(path, 1536 + 8 * i, how[i]);
        }
        poke(path, 1592, "no-look".getBytes(StandardCharsets.UTF_8));
        poke(path, 1608, "could not connect\u001b[2J".getBytes(StandardCharsets.UTF_8));
        poke(path, 536, 1795395655100000L);
        Status status = BloomFilter.open(path).status();
        assertEquals("public.users_filter", status.list());
        assertEquals("0f8fad5b-d9cb-469f-a165-70867728950e", status.identity().toString());
        assertEquals("no-look", status.reason());
        assertEquals("could not connect?[2J", status.message());
        assertEquals(Instant.ofEpochSecond(1795395655, 100000000), status.trueAt());
        assertEquals(Instant.ofEpochSecond(1795395600), status.looked());
        assertEquals(4, status.failures());
        assertEquals(Duration.ofSeconds(2), status.every());
        assertEquals(Duration.ofSeconds(20), status.heartbeat());
        assertEquals(Instant.ofEpochSecond(1795395700), status.expires());
        assertEquals(Instant.ofEpochSecond(1795395500), status.since());
        poke(path, Followed.LOOKED, (Instant.now().toEpochMilli() - 5000) * 1000);
        long age = BloomFilter.open(path).status().age().toSeconds();
        assertTrue("age " + age, age >= 4 && age < 60);
        // the clock was set back
        poke(path, Followed.LOOKED, (Instant.now().toEpochMilli() + 5000) * 1000);
        assertTrue(BloomFilter.open(path).status().age().isNegative());
        poke(path, Followed.LOOKED_BOOT, Math.max(1, Followed.uptime() - 30_000_000));
        age = BloomFilter.open(path).status().age().toSeconds();
        assertTrue("age " + age, age >= 29 && age < 90);
    }

    @Test
    public void vectors() throws IOException {
        for (Map<String, String> row : Support.rows("pages.tsv")) {
            String name = row.get("name");
            byte[] bytes = Support.hex(row.get("file_hex"));
            Files.write(path, bytes);
            if (!row.get("word").equals("-")) {
                if (!row.get("where").equals("-") && !row.get("where").equals("nobody")) {
                    keep(bytes, row.get("where"));
                }
                assertEquals(name, row.get("word"), assertThrows(name,
                        InvalidFilterException.class, () -> BloomFilter.open(path)).rule());
                if (row.get("word").equals("sum")) {
                    BloomFilter.open(path, ReadOption.NO_VERIFY);
                }
                continue;
            }
            Status.Place place = PLACES.get(row.get("where"));
            if (place != Status.Place.NONE) {
                keep(bytes, row.get("where"));
            }
            BloomFilter filter = BloomFilter.open(path);
            assertEquals(name, place, filter.status().place());
            assertEquals(name, row.get("told"), String.valueOf(filter.status().serial()));
            Instant trueAt = filter.status().trueAt();
            assertEquals(name, row.get("true_at"),
                    String.valueOf(trueAt == null ? 0 : ChronoUnit.MICROS.between(Instant.EPOCH, trueAt)));
            assertEquals(name, row.get("reason"), filter.status().reason());
            if (!row.get("message").isEmpty()) {
                assertEquals(name, row.get("message"), filter.status().message());
            }
            for (int key : Support.numbers(row.get("keys"))) {
                assertTrue(name + " " + key, filter.contains(key));
            }
            // Those that an exact list knows and that are no members.
            for (long key = 1000; name.startsWith("exact") && key < 1600; key++) {
                assertFalse(name + " " + key, filter.contains(key));
            }
            Files.delete(path);
        }
    }

    private static void check(String name, BloomFilter filter, String keys, boolean answer) {
        for (int key : Support.numbers(keys)) {
            assertEquals(name + " " + key, answer, filter.contains(key));
            assertEquals(name + " " + key, answer, filter.contains(Key.of(key)));
            assertEquals(name + " " + key, answer, filter.containsMany(new long[] {key})[0]);
            assertEquals(name + " " + key, answer, filter.containsMany(List.of(key))[0]);
        }
    }

    @Test
    public void tables() throws IOException {
        for (Map<String, String> row : Support.rows("tables.tsv")) {
            String name = row.get("name");
            byte[] bytes = Support.hex(row.get("file_hex"));
            keep(bytes, "here");
            if (!row.get("word").equals("-")) {
                assertEquals(name, row.get("word"), assertThrows(name,
                        InvalidFilterException.class, () -> BloomFilter.open(path)).rule());
                continue;
            }
            BloomFilter filter = BloomFilter.open(path);
            assertEquals(name, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(608),
                    filter.status().changes());
            check(name, filter, row.get("keys"), true);
            check(name, filter, row.get("absent"), false);
            if (row.get("errors").equals("-")) {
                long[] many = LongStream.range(0, 100).toArray();
                assertArrayEquals(name, LongStream.of(many).mapToObj(filter::contains).toArray(),
                        IntStream.range(0, 100).mapToObj(i -> filter.containsMany(many)[i]).toArray());
            }
            for (int key : Support.numbers(row.get("errors"))) {
                assertThrows(name, ChangesException.class, () -> filter.contains(key));
                assertThrows(name, ChangesException.class, () -> filter.containsMany(new long[] {key}));
                assertThrows(name, ChangesException.class, () -> filter.containsMany(List.of(key)));
            }
        }
    }

    @Test
    public void aChangeThatComesInIsKnownAtOnce() throws IOException {
        byte[] after = file("tables.tsv", "changed");
        keep(file("tables.tsv", "empty_table"), "here");
        BloomFilter filter = BloomFilter.open(path);
        assertTrue(filter.contains(1));
        int table = after.length - (33 << 10);
        poke(path, table, Arrays.copyOfRange(after, table, after.length));
        assertTrue(filter.contains(1));
        poke(path, 608, 4);
        assertFalse(filter.contains(1));
        assertTrue(filter.contains(2));
        assertEquals(4, filter.status().changes());
        assertThrows(KeyTypeException.class, () -> filter.contains("x"));
        assertEquals(1, assertThrows(KeyException.class, () -> filter.containsMany(List.of(1, "x"))).index());
    }

    /** Another list is copied over it, or its follower finds it damaged. */
    @Test
    public void aChangedFileIsAnErrorUntilThereIsAnother() throws IOException {
        ByteBuffer other = ByteBuffer.wrap(page("here")).order(ByteOrder.LITTLE_ENDIAN);
        other.put(Followed.NAME, (byte) 'P');
        Arrays.fill(other.array(), Followed.PAGE + Header.BYTES, other.limit(), (byte) 0);
        for (boolean isLost : new boolean[] {false, true}) {
            keep(page("here"), "here");
            WatchedBloomFilter watched = WatchedBloomFilter.open(path);
            watched.onError(error -> { });
            if (isLost) {
                poke(path, Followed.SUPERSEDED, 2);
                assertEquals("lost",
                        assertThrows(InvalidFilterException.class, () -> BloomFilter.open(path)).rule());
            } else {
                poke(path, 0, seal(other).array());
            }
            assertThrows(ChangedFileException.class, watched::reload);
            assertThrows(ChangedFileException.class, () -> watched.current().contains(1));
            assertThrows(ChangedFileException.class, () -> watched.current().containsMany(new long[] {1}));
            assertThrows(ChangedFileException.class, watched::status);
            keep(page("here"), "here");
            assertTrue(watched.reload());
            assertTrue(watched.current().contains(1));
        }
    }

    @Test
    public void textsAreTheSameInEachLocale() throws IOException {
        Files.write(path, Support.integerFilter(0, 10));
        BloomFilter filter = BloomFilter.open(path);
        String said = filter + filter.info().checksum() + Key.of(1).describe();
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            assertEquals(said, filter + filter.info().checksum() + Key.of(1).describe());
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    public void aFileThatIsCutIsAnErrorOfOurs() throws IOException {
        keep(page("here"), "here");
        BloomFilter filter = BloomFilter.open(path);
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(0);
        }
        assertThrows(ChangedFileException.class, filter::status);
        assertThrows(ChangedFileException.class, () -> filter.contains(1));
    }

    @Test
    public void aReaderMayInsistOnAList() throws IOException {
        UUID identity = UUID.fromString("0f8fad5b-d9cb-469f-a165-70867728950e");
        byte[] bytes = page("here");
        keep(bytes, "here");
        WatchedBloomFilter watched = WatchedBloomFilter.open(path, ReadOption.identity(identity));
        bytes[Followed.IDENTITY]++;
        keep(bytes, "here");
        assertEquals("identity", assertThrows(InvalidFilterException.class, watched::reload).rule());
        watched.onError(error -> { });
        assertTrue(watched.current().contains(1));
        assertEquals(identity, watched.status().identity());
        Files.write(path, Support.integerFilter(0, 10));
        assertEquals("identity", assertThrows(InvalidFilterException.class,
                () -> BloomFilter.open(path, ReadOption.identity(identity))).rule());
    }

    @Test
    public void keysComeIn() throws IOException {
        byte[] bytes = page("here");
        keep(bytes, "here");
        BloomFilter filter = BloomFilter.open(path);
        long before = filter.status().serial();
        assertFalse(filter.contains(6));
        byte[] blocks = new byte[bytes.length - Followed.PAGE - Header.BYTES];
        Arrays.fill(blocks, (byte) -1);
        poke(path, Followed.PAGE + Header.BYTES, blocks);
        poke(path, Followed.SERIAL, before + 1);
        assertTrue(filter.contains(6));
        assertEquals(before + 1, filter.status().serial());
        assertEquals(8 * blocks.length, filter.info().bitsSet());
    }

    @Test
    public void whatASetIs() throws IOException {
        Files.write(path, page("here_pair"));
        Info info = BloomFilter.open(path).info();
        assertEquals(2, info.parts());
        assertEquals(1, info.filters().get(1).part());
        assertEquals("f1b2a5fbdc00231d", info.checksum());
    }

    @Test
    public void supersededFilesAreLeft() throws IOException {
        keep(page("here"), "here");
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        watched.onError(error -> { });
        BloomFilter first = watched.current();
        Path old = path.resolveSibling("old");
        Files.createLink(old, path);
        poke(old, Followed.SUPERSEDED, 1);
        assertSame("it is the same file", first, watched.current());
        keep(page("here_pair"), "here");
        assertNotSame("at once", first, watched.current());
        assertEquals(2, watched.current().info().parts());
        poke(path, Followed.SUPERSEDED, 1);
        Support.replace(path, new byte[10]);
        assertTrue(watched.current().contains(5));
        assertTrue(watched.status().isSuperseded());
    }
}
