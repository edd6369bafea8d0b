package bloomfilter;

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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Files that a follower keeps. */
public class FollowedTest {
    @Rule
    public final TemporaryFolder temporary = new TemporaryFolder();

    private Path path;

    @Before
    public void choosePath() {
        path = temporary.getRoot().toPath().resolve("f.bloom");
    }

    /** A file of these filters with serial 20, born 10, and no place. */
    static ByteBuffer page(List<byte[]> filters) throws IOException {
        int length = Followed.PAGE;
        for (byte[] filter : filters) {
            length = (length + Followed.PAGE - 1) / Followed.PAGE * Followed.PAGE + filter.length;
        }
        ByteBuffer b = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        int at = Followed.PAGE;
        long sum = 0;
        for (int i = 0; i < filters.size(); i++) {
            at = (at + Followed.PAGE - 1) / Followed.PAGE * Followed.PAGE;
            byte[] filter = filters.get(i).clone();
            sum += Part.check(ByteBuffer.wrap(filter.clone()), true).sum((long) i << 32);
            if (filter[4] == 1) {
                Arrays.fill(filter, 40, 48, (byte) 0);
                Arrays.fill(filter, 56, 64, (byte) 0);
                Support.sealHeader(filter);
            }
            b.position(at);
            b.put(filter);
            at += filter.length;
        }
        b.putInt(0, 0x4c4d4c42).putInt(4, 2).putLong(8, length).putInt(16, filters.size());
        b.putLong(Followed.EPOCH, 5).putLong(Followed.IDENTITY, -1L);
        b.putLong(Followed.BORN, 10).putLong(Followed.BORN_SUM, sum);
        b.putLong(Followed.SERIAL, 20).putLong(Followed.TRUE_AT, 1795395655100000L);
        b.putLong(Followed.LOOKED, (Instant.now().toEpochMilli() - 5000) * 1000);
        b.putLong(Followed.EVERY, 1_000_000).putLong(Followed.FAILURES, 3);
        put(b, Followed.NAME, "public.users");
        put(b, Followed.WORD, "no-look");
        put(b, Followed.TEXT, "could not connect\u001b[2J");
        return seal(b);
    }

    private static void put(ByteBuffer b, int at, String text) {
        b.position(at);
        b.put(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ByteBuffer seal(ByteBuffer b) {
        byte[] all = b.array();
        b.putLong(Followed.WHO_CHECKSUM, Xxh64.of(Arrays.copyOf(all, Followed.WHO_CHECKSUM), 0));
        ByteBuffer saved = ByteBuffer.allocate(72);
        saved.put(all, Followed.SAVED, 56).put(all, Followed.EPOCH, 8).put(all, Followed.INODE, 8);
        b.putLong(Followed.SAVED_CHECKSUM, Xxh64.of(saved.array(), 0));
        return b;
    }

    /** Writes a file as its follower does: with its own place, and saved 15. */
    private void keep(ByteBuffer b, byte[] boot) throws IOException {
        Path fresh = path.resolveSibling("fresh");
        Files.write(fresh, b.array());
        b.position(Followed.BOOT);
        b.put(boot);
        b.putLong(Followed.DEVICE, (Long) Files.getAttribute(fresh, "unix:dev"));
        b.putLong(Followed.INODE, (Long) Files.getAttribute(fresh, "unix:ino"));
        b.putLong(Followed.SAVED, 15);
        seal(b);
        poke(fresh, 0, b.array());
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

    private static List<byte[]> keys(long to) {
        return List.of(Support.integerFilter(0, to));
    }

    @Test
    public void whatTheSerialIsDependsOnThePlace() throws IOException {
        keep(page(keys(50)), Followed.thisBoot());
        Status status = BloomFilter.open(path).status();
        assertEquals(Status.Place.HERE, status.place());
        assertEquals(20, status.serial());
        assertEquals("public.users", status.list());
        assertEquals("ffffffff-ffff-ffff-0000-000000000000", status.identity().toString());
        assertEquals(3, status.failures());
        assertEquals("no-look", status.word());
        assertEquals("could not connect?[2J", status.text());
        assertEquals(Duration.ofSeconds(1), status.every());
        assertTrue(status.age().compareTo(Duration.ofSeconds(4)) > 0);

        // by the numbers of FEED.md, and not by the reader's own
        long[] how = {1795395600000000L, 0, 4, 2000000, 20000000, 1795395700000000L, 1795395500000000L};
        for (int i = 0; i < how.length; i++) {
            poke(path, 1536 + 8 * i, how[i]);
        }
        status = BloomFilter.open(path).status();
        assertEquals(Instant.ofEpochSecond(1795395600), status.looked());
        assertEquals(4, status.failures());
        assertEquals(Duration.ofSeconds(2), status.every());
        assertEquals(Duration.ofSeconds(20), status.heartbeat());
        assertEquals(Instant.ofEpochSecond(1795395700), status.expires());
        assertEquals(Instant.ofEpochSecond(1795395500), status.since());

        Support.replace(path, Files.readAllBytes(path));
        status = BloomFilter.open(path).status();
        assertEquals(Status.Place.COPY, status.place());
        assertEquals(10, status.serial());

        byte[] other = Followed.thisBoot();
        other[0] ^= 1;
        keep(page(keys(50)), other);
        status = BloomFilter.open(path).status();
        assertEquals(Status.Place.OTHER_BOOT, status.place());
        assertEquals(15, status.serial());
        poke(path, Followed.SAVED, 999);
        assertEquals("saved is torn", 10, BloomFilter.open(path).status().serial());
    }

    @Test
    public void vectors() throws IOException {
        for (Map<String, String> row : Support.rows("pages.tsv")) {
            byte[] bytes = Support.hex(row.get("file_hex"));
            Path file = temporary.newFile().toPath();
            Files.write(file, bytes);
            if (!row.get("word").equals("-")) {
                assertEquals(row.get("name"), row.get("word"), assertThrows(row.get("name"),
                        InvalidFilterException.class, () -> BloomFilter.open(file)).rule());
                continue;
            }
            Status.Place place = place(row.get("where"));
            if (place != Status.Place.NONE) {
                poke(file, 0, standing(file, bytes, row.get("where")));
            }
            BloomFilter filter = BloomFilter.open(file);
            assertEquals(row.get("name"), place, filter.status().place());
            assertEquals(row.get("name"), row.get("told"), String.valueOf(filter.status().serial()));
            for (String key : row.get("keys").split(",")) {
                assertTrue(row.get("name") + " " + key, filter.contains(Long.parseLong(key)));
            }
        }
    }

    private static Status.Place place(String where) {
        switch (where) {
            case "here":
                return Status.Place.HERE;
            case "boot":
                return Status.Place.OTHER_BOOT;
            case "nobody":
                return Status.Place.NONE;
            default:
                return Status.Place.COPY;
        }
    }

    /** The page as it is where the vector says. */
    private static byte[] standing(Path file, byte[] bytes, String where) throws IOException {
        ByteBuffer b = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
        byte[] boot = Followed.thisBoot();
        boot[0] ^= where.equals("boot") ? 1 : 0;
        b.position(Followed.BOOT);
        b.put(boot);
        long device = (Long) Files.getAttribute(file, "unix:dev");
        long inode = (Long) Files.getAttribute(file, "unix:ino");
        b.putLong(Followed.DEVICE, device + (where.equals("device") ? 1 : 0));
        b.putLong(Followed.INODE, inode + (where.equals("copy") ? 1 : 0));
        boolean isSaved = b.getLong(Followed.SAVED_CHECKSUM) != 0;
        seal(b);
        return isSaved ? b.array() : b.putLong(Followed.SAVED_CHECKSUM, 0).array();
    }

    @Test
    public void anotherListInTheSameFile() throws IOException {
        ByteBuffer b = page(keys(50));
        Files.write(path, b.array());
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        put(b, Followed.NAME, "public.others");
        poke(path, 0, seal(b).array());
        assertTrue(watched.reload());
        assertEquals("public.others", watched.status().list());
        assertFalse(watched.reload());
    }

    @Test
    public void nobodysFileIsCheckedWhole() throws IOException {
        byte[] set = page(Support.set(3, Support.integers(0, 300))).array();
        Files.write(path, set);
        BloomFilter filter = BloomFilter.open(path);
        SetsTest.checkWhole(filter);
        assertEquals(Status.Place.NONE, filter.status().place());
        set[set.length - 1] ^= 1;
        Files.write(path, set);
        assertEquals("sum", assertThrows(InvalidFilterException.class,
                () -> BloomFilter.open(path)).rule());
        BloomFilter.open(path, ReadOption.NO_VERIFY);
    }

    @Test
    public void everyBitOfThePageCounts() throws IOException {
        byte[] whole = page(keys(50)).array();
        for (int at = 0; at < Followed.WHO_CHECKSUM + 8; at++) {
            whole[at] ^= 1 << at % 8;
            Files.write(path, whole);
            assertThrows("byte " + at, IOException.class, () -> BloomFilter.open(path));
            whole[at] ^= 1 << at % 8;
        }
        for (int length : new int[] {0, 4, 4095, 4096, whole.length - 1, whole.length + 1}) {
            Files.write(path, Arrays.copyOf(whole, length));
            assertThrows("length " + length, IOException.class, () -> BloomFilter.open(path));
        }
        ByteBuffer parts = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
        for (int count : new int[] {0, 2, 65535, 65536, -1}) {
            Files.write(path, seal(parts.putInt(16, count)).array());
            assertThrows(count + " parts", IOException.class, () -> BloomFilter.open(path));
        }
    }

    @Test
    public void keysComeIn() throws IOException {
        keep(page(keys(50)), Followed.thisBoot());
        BloomFilter filter = BloomFilter.open(path);
        byte[] after = keys(100).get(0);
        long missing = 50;
        while (filter.contains(missing)) {
            missing++;
        }
        poke(path, Followed.PAGE + Header.BYTES, Arrays.copyOfRange(after, Header.BYTES, after.length));
        poke(path, Followed.SERIAL, 21);
        assertTrue(filter.contains(missing));
        assertEquals(21, filter.status().serial());
        assertEquals(BloomFilter.fromBytes(after).info().bitsSet(), filter.info().bitsSet());
    }

    @Test
    public void supersededFilesAreLeft() throws IOException {
        keep(page(keys(50)), Followed.thisBoot());
        WatchedBloomFilter watched = WatchedBloomFilter.open(path);
        watched.onError(error -> { });
        BloomFilter first = watched.current();
        Path old = path.resolveSibling("old");
        Files.createLink(old, path);
        poke(old, Followed.SUPERSEDED, 1);
        assertSame("it is the same file", first, watched.current());
        keep(page(keys(50)).putLong(Followed.SERIAL, 30), Followed.thisBoot());
        assertNotSame("at once", first, watched.current());
        assertEquals(30, watched.status().serial());
        poke(path, Followed.SUPERSEDED, 1);
        Support.replace(path, new byte[10]);
        assertTrue(watched.current().contains(7));
        assertTrue(watched.status().isSuperseded());
        assertFalse(first == watched.current());
    }
}
