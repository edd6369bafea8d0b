package bloomfilter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Arrays;
import java.util.Base64;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Damaged and lying files: an ordinary exception each time, never an answer. */
public class HostileTest {
    @Rule
    public final TemporaryFolder folder = new TemporaryFolder();

    private final byte[] sound = Support.integerFilter(0, 30);
    private Path path;

    @Before
    public void makePath() {
        path = folder.getRoot().toPath().resolve("f.bloom");
    }

    @Test
    public void soundFileOpens() throws IOException {
        Files.write(path, sound);
        for (ReadOption option : List.of(ReadOption.MAP, ReadOption.NO_VERIFY)) {
            assertTrue(BloomFilter.open(path, option).contains(7));
        }
        BloomFilter filter = BloomFilter.open(path);
        assertTrue(filter.contains(7));
        assertEquals("BloomFilter of integer keys, sized for 100 at 0.01, 1 of 1 parts, 320 bytes,"
                        + " 9.8 % of the bits set",
                filter.toString());
        assertTrue(filter.info().fill() > 0);
    }

    @Test
    public void textOfAFilter() {
        InvalidFilterException error = assertThrows(InvalidFilterException.class,
                () -> BloomFilter.fromBytes(Base64.getEncoder().encode(sound)));
        assertTrue(error.getMessage(), error.getMessage().contains("filter::bytea"));
    }

    @Test
    public void hugeSparseFile() throws IOException {
        Files.write(path, sound);
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(17L << 30);
        }
        for (ReadOption[] options : new ReadOption[][] {{}, {ReadOption.MAP}}) {
            assertEquals("size", assertThrows(InvalidFilterException.class,
                    () -> BloomFilter.open(path, options)).rule());
        }
    }

    @Test
    public void notRegularFiles() throws IOException, InterruptedException {
        Path pipe = path.resolveSibling("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        for (Path other : List.of(Path.of("/dev/null"), Path.of("/dev/zero"), pipe)) {
            assertThrows(InvalidFilterException.class, () -> BloomFilter.open(other));
        }
        assertThrows(NoSuchFileException.class, () -> BloomFilter.open(path));
    }

    @Test
    public void changedSourceDoesNotChangeTheFilter() throws IOException {
        byte[] source = sound.clone();
        BloomFilter filter = BloomFilter.fromBytes(source);
        Arrays.fill(source, (byte) 0);
        assertTrue(filter.contains(7));
    }

    @Test
    public void openFilterSurvivesTruncation() throws IOException {
        Files.write(path, sound);
        BloomFilter filter = BloomFilter.open(path);
        Files.write(path, new byte[0]);
        assertTrue(filter.contains(7));
    }
}
