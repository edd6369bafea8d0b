package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Sets of parts: whole or refused, and asked as one. */
public class SetsTest {
    private static final long[] MEMBERS = LongStream.range(0, 300).toArray();
    private static final long[] STRANGERS = LongStream.range(1_000_000, 1_000_300).toArray();

    @Rule
    public final TemporaryFolder temporary = new TemporaryFolder();

    private final List<byte[]> parts = Support.set(3, Support.integers(0, 300));
    private Path folder;

    @Before
    public void makeFolder() {
        folder = temporary.getRoot().toPath();
    }

    private void writeParts(List<byte[]> filters, String form) throws IOException {
        for (int i = 0; i < filters.size(); i++) {
            Files.write(folder.resolve(String.format(form, i)), filters.get(i));
        }
    }

    private Path manifest(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    /** A manifest of the names that writeParts gives so many filters. */
    private void nameParts(int count, String form) throws IOException {
        StringBuilder text = new StringBuilder("bloomfilter-set 1\n");
        for (int i = 0; i < count; i++) {
            text.append(String.format(form, i)).append('\n');
        }
        manifest("manifest", text.toString());
    }

    private void checkWhole(BloomFilter filter) {
        int found = 0;
        for (long key : MEMBERS) {
            assertTrue(filter.contains(key));
        }
        for (boolean answer : filter.containsMany(MEMBERS)) {
            assertTrue(answer);
        }
        boolean[] singles = new boolean[STRANGERS.length];
        for (int i = 0; i < STRANGERS.length; i++) {
            singles[i] = filter.contains(STRANGERS[i]);
            found += singles[i] ? 1 : 0;
        }
        assertArrayEquals(singles, filter.containsMany(STRANGERS));
        assertTrue(found < 30);
        assertEquals(3, filter.info().parts());
        assertEquals(3, filter.info().filters().size());
        assertEquals(300, filter.info().n());
        assertEquals(MEMBERS.length, filter.info().cardinality(), 30);
    }

    @Test
    public void manifestFolderAndBytes() throws IOException {
        writeParts(parts, "any name %d");
        String names = "bloomfilter-set 1\nany name 0\nany name 1\nany name 2";
        checkWhole(BloomFilter.open(manifest("nightly", names + "\n")));
        checkWhole(BloomFilter.fromParts(parts));
        manifest("manifest", names);
        checkWhole(BloomFilter.open(folder));
        checkWhole(BloomFilter.open(folder, ReadOption.values()));
    }

    @Test
    public void notesInManifest() throws IOException {
        writeParts(parts, "p%d");
        checkWhole(BloomFilter.open(
                manifest("nightly", "bloomfilter-set 1\n# generation 17\np0\np1\n#\np2\n")));
    }

    @Test
    public void partOfAnotherBuild() throws IOException {
        StringBuilder text = new StringBuilder("bloomfilter-set 1\n");
        String name = "";
        for (byte[] part : parts) {
            long checksum = ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN).getLong(56);
            name = String.format("p.%016x.bloom", checksum);
            Files.write(folder.resolve(name), part);
            text.append(name).append('\n');
        }
        Path path = manifest("nightly", text.toString());
        checkWhole(BloomFilter.open(path));
        Files.write(folder.resolve(name), Support.build(List.of(), shape(2, 3)));
        InvalidSetException error =
                assertThrows(InvalidSetException.class, () -> BloomFilter.open(path));
        assertTrue(error.getMessage(), error.getMessage().contains("than its name says"));
    }

    @Test
    public void partWithoutKeys() throws IOException {
        Support.Shape shape = shape(1, 3);
        shape.type = KeyType.NONE;
        parts.set(1, Support.build(List.of(), shape));
        BloomFilter whole = BloomFilter.fromParts(parts);
        assertEquals(KeyType.INTEGER, whole.info().keyType());
        assertThrows(KeyTypeException.class, () -> whole.contains("text"));
    }

    private static Support.Shape shape(int part, int count) {
        Support.Shape shape = new Support.Shape();
        shape.part = part;
        shape.parts = count;
        return shape;
    }

    @Test
    public void onePartAlone() throws IOException {
        BloomFilter alone = BloomFilter.fromBytes(parts.get(1));
        int found = 0;
        int refused = 0;
        for (long key : MEMBERS) {
            try {
                assertTrue(alone.contains(key));
                found++;
            } catch (PartException expected) {
                refused++;
            }
        }
        assertTrue(Math.min(found, refused) > 50);
    }

    @Test
    public void incompleteAndMixedSets() {
        Support.Shape seed = shape(2, 3);
        seed.seed = 5;
        Support.Shape type = shape(2, 3);
        type.type = KeyType.TEXT;
        byte[] zero = parts.get(0);
        byte[] one = parts.get(1);
        byte[] two = parts.get(2);
        List<List<byte[]>> cases = List.of(List.of(), List.of(zero), List.of(zero, one),
                List.of(zero, one, one), List.of(one, zero, two), List.of(zero, one, two, two),
                List.of(zero, one, Support.build(List.of(), seed)),
                List.of(zero, one, Support.build(List.of(), shape(2, 4))),
                List.of(zero, one, Support.build(List.of(), type)));
        for (List<byte[]> filters : cases) {
            assertThrows(InvalidSetException.class, () -> BloomFilter.fromParts(filters));
        }
    }

    /** The parts in a folder may be of different nights, unless a manifest names them. */
    @Test
    public void foldersWithoutManifest() throws IOException {
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
        Files.write(folder.resolve("one.bloom"), Support.integerFilter(0, 3));
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
        Files.delete(folder.resolve("one.bloom"));
        writeParts(parts, "p%d.bloom");
        InvalidSetException error =
                assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
        assertTrue(error.getMessage(), error.getMessage().startsWith(folder + ": "));
        nameParts(3, "p%d.bloom");
        manifest("other.bloom", "no filter");
        checkWhole(BloomFilter.open(folder));
    }

    @Test
    public void foldersThatAreNoSet() throws IOException {
        writeParts(parts, "p%d.bloom");
        nameParts(2, "p%d.bloom");
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
        Files.write(folder.resolve("p3.bloom"), Support.integerFilter(0, 3));
        nameParts(4, "p%d.bloom");
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
    }

    @Test
    public void damagedMemberIsNamed() throws IOException {
        writeParts(parts, "p%d.bloom");
        nameParts(3, "p%d.bloom");
        Files.write(folder.resolve("p1.bloom"), new byte[70]);
        InvalidFilterException error =
                assertThrows(InvalidFilterException.class, () -> BloomFilter.open(folder));
        assertTrue(error.getMessage(),
                error.getMessage().startsWith(folder.resolve("p1.bloom") + ": "));
        assertEquals("magic", error.rule());
    }

    /**
     * A set is replaced all the while as bloomfilter_write does it: new names, the manifest by
     * rename, then the old parts go. The writer gets one turn an opening and forgets those that it
     * was too late for, so that an opening meets two changes at most, never eight.
     */
    @Test
    public void replacedWhileItIsOpened() throws Exception {
        SetWriter writer = new SetWriter(folder, 8);
        writer.publish(300);
        Semaphore opened = new Semaphore(0);
        AtomicReference<Throwable> failed = new AtomicReference<>();
        AtomicBoolean stop = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            try {
                while (!stop.get()) {
                    for (boolean found : BloomFilter.open(folder).containsMany(MEMBERS)) {
                        assertTrue(found);
                    }
                    opened.release();
                }
            } catch (Throwable error) {
                failed.set(error);
                opened.release();
            }
        });
        reader.start();
        for (int generation = 1; generation <= 150 && failed.get() == null; generation++) {
            opened.acquire();
            opened.drainPermits();
            writer.publish(300 + generation % 2);
        }
        stop.set(true);
        reader.join();
        assertNull(String.valueOf(failed.get()), failed.get());
    }

    @Test
    public void folderWhoseManifestIsNone() throws IOException {
        manifest("manifest", "p0.bloom");
        InvalidSetException error =
                assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
        assertEquals(folder.resolve("manifest").toString(), error.file());
        Files.write(folder.resolve("manifest"), Support.integerFilter(0, 3));
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
        Files.write(folder.resolve("manifest"),
                "bloomfilter-set 1\np\u00ff\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(folder));
    }

    @Test
    public void badManifests() throws IOException {
        writeParts(parts, "p%d.bloom");
        Files.createDirectory(folder.resolve("sub"));
        manifest("inner", "bloomfilter-set 1\np0.bloom\n");
        List<String> bodies = new ArrayList<>();
        String rest = "\np1.bloom\np2.bloom\n";
        for (String name : List.of("../p0.bloom", "sub/../p0.bloom", "missing", "sub", ".", "..",
                "p0\0", "", "inner")) {
            bodies.add("bloomfilter-set 1\n" + name + rest);
        }
        bodies.add("bloomfilter-set 1\np1.bloom\np0.bloom\np2.bloom\n");
        bodies.add("bloomfilter-set 1\np0.bloom\np1.bloom\n");
        bodies.add("bloomfilter-set 1\np0.bloom" + rest + "\n");
        bodies.add("bloomfilter-set 1\n");
        bodies.add("bloomfilter-set 1");
        bodies.add("bloomfilter-set 2\np0.bloom" + rest);
        bodies.add("bloomfilter-set 10\np0.bloom" + rest);
        bodies.add("bloomfilter-set 1 \np0.bloom" + rest);
        bodies.add("");
        for (String body : bodies) {
            Path path = manifest("manifest", body);
            assertThrows(body, IOException.class, () -> BloomFilter.open(path));
            assertThrows(body, IOException.class, () -> BloomFilter.open(folder));
        }
    }

    /** The first part's header is asked before the other files are looked at. */
    @Test
    public void manyLinesInAManifest() throws IOException {
        Files.write(folder.resolve("p"), Support.set(1, Support.integers(0, 3)).get(0));
        Path path = manifest("manifest", "bloomfilter-set 1\n" + "p\n".repeat(65535));
        assertThrows(InvalidSetException.class, () -> Source.find(path));
        assertThrows(InvalidSetException.class, () -> BloomFilter.open(path));
    }
}
