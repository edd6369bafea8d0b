package bloomfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What a path names: a filter, or a manifest and its files; and what these files were before
 * anything else of them was read. Two sources that are equal name the same bytes.
 */
final class Source {
    private final Path path;
    private final List<Path> parts;
    private final List<Stamp> stamps;
    private final Map<String, String> notes;
    private final Working.Stamp working;

    private Source(Path path, List<Path> parts, List<Stamp> stamps, Map<String, String> notes) {
        this.path = path;
        this.parts = parts;
        this.stamps = stamps;
        this.notes = notes;
        working = Working.Stamp.of(path);
    }

    /** What the notes of a manifest tell. */
    Map<String, String> notes() {
        return notes;
    }

    /** Null where there is no working copy. */
    Working.Stamp working() {
        return working;
    }

    /** What the headers of the filters say of their checksums; null where one has no header. */
    long[] checksums() {
        List<Stamp> files = parts == null ? stamps : stamps.subList(1, stamps.size());
        long[] checksums = new long[files.size()];
        for (int i = 0; i < checksums.length; i++) {
            Stamp stamp = files.get(i);
            if (stamp == null || stamp.start.length < Header.BYTES) {
                return null;
            }
            checksums[i] = ByteBuffer.wrap(stamp.start).order(ByteOrder.LITTLE_ENDIAN).getLong(56);
        }
        return checksums;
    }

    /** The filter's file, or the manifest. */
    Path path() {
        return path;
    }

    /** The files that a manifest names, or null. */
    List<Path> parts() {
        return parts;
    }

    /** Looks at a file, at a manifest and its files, or at the manifest of a folder. */
    static Source find(Path path) throws IOException {
        boolean isFolder = Files.isDirectory(path);
        Path own = isFolder ? manifestOf(path) : path;
        try (FileChannel channel = openRegular(own)) {
            Stamp stamp = Stamp.of(own, channel);
            if (!isFolder && !Manifest.isOne(stamp.start)) {
                return new Source(own, null, List.of(stamp), Map.of());
            }
            byte[] text = read(channel, Manifest.MAX_BYTES + 1);
            return ofManifest(own, stamp, Manifest.names(text), Manifest.notes(text));
        } catch (FileException error) {
            error.in(own);
            throw error;
        }
    }

    private static Path manifestOf(Path folder) throws InvalidSetException {
        Path manifest = folder.resolve(Manifest.NAME);
        if (!Files.exists(manifest, LinkOption.NOFOLLOW_LINKS)) {
            InvalidSetException error = new InvalidSetException("a folder is opened by its file \""
                    + Manifest.NAME + "\", and it has none");
            error.in(folder);
            throw error;
        }
        return manifest;
    }

    private static Source ofManifest(Path path, Stamp own, List<String> names,
            Map<String, String> notes) throws InvalidSetException {
        List<Path> parts = new ArrayList<>();
        List<Stamp> stamps = new ArrayList<>(List.of(own));
        for (String name : names) {
            Path part = resolve(path, name);
            Stamp stamp = Stamp.orNull(part);
            if (parts.isEmpty() && stamp != null) {
                stamp.checkCount(names.size());
            }
            parts.add(part);
            stamps.add(stamp);
        }
        return new Source(path, parts, stamps, notes);
    }

    /** Some names can't be spelled in the file names' encoding of this machine. */
    private static Path resolve(Path manifest, String name) throws InvalidSetException {
        try {
            return manifest.resolveSibling(name);
        } catch (InvalidPathException error) {
            throw new InvalidSetException("manifest has a bad file name: " + error.getMessage());
        }
    }

    /** Asks before it opens: a pipe would hang its opener, and a device has no size. */
    static FileChannel openRegular(Path path) throws IOException {
        if (!Files.readAttributes(path, BasicFileAttributes.class).isRegularFile()) {
            InvalidFilterException error =
                    new InvalidFilterException("short", "not a regular file");
            error.in(path);
            throw error;
        }
        return FileChannel.open(path, StandardOpenOption.READ);
    }

    /** The file's first bytes, as many as there are and are wanted. */
    static byte[] read(FileChannel channel, int most) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, channel.size()));
        int got = 0;
        while (bytes.hasRemaining() && got >= 0) {
            got = channel.read(bytes, bytes.position());
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Source && ((Source) other).path.equals(path)
                && Objects.equals(((Source) other).parts, parts)
                && ((Source) other).stamps.equals(stamps)
                && Objects.equals(((Source) other).working, working);
    }

    @Override
    public int hashCode() {
        return Objects.hash(path, parts, stamps);
    }

    /** What a file was when it was looked at. */
    private static final class Stamp {
        private final Object key;
        private final long size;
        private final FileTime time;
        private final byte[] start;

        private Stamp(BasicFileAttributes attributes, byte[] start) {
            key = attributes.fileKey();
            size = attributes.size();
            time = attributes.lastModifiedTime();
            this.start = start;
        }

        /** If the file is replaced in between, the next look finds other attributes. */
        static Stamp of(Path path, FileChannel channel) throws IOException {
            return new Stamp(Files.readAttributes(path, BasicFileAttributes.class),
                    read(channel, Header.BYTES));
        }

        /**
         * A manifest of many lines is believed when the first part's header says the same, before
         * the other files are looked at. What else is the matter with it shows when it is opened.
         */
        void checkCount(int count) throws InvalidSetException {
            Header header;
            try {
                header = Header.read(ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN), size);
            } catch (InvalidFilterException shownLater) {
                return;
            }
            InvalidSetException.require(header.parts() == count,
                    count + " filters of a set of " + header.parts() + " parts");
        }

        /** Null for one that can't be read: that shows when it is opened. */
        static Stamp orNull(Path path) {
            try (FileChannel channel = openRegular(path)) {
                return of(path, channel);
            } catch (IOException error) {
                return null;
            }
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Stamp && Objects.equals(((Stamp) other).key, key)
                    && ((Stamp) other).size == size && ((Stamp) other).time.equals(time)
                    && Arrays.equals(((Stamp) other).start, start);
        }

        @Override
        public int hashCode() {
            return Objects.hash(key, size, time, Arrays.hashCode(start));
        }
    }
}
