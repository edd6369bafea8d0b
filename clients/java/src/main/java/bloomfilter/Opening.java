package bloomfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/** Opens what a path names. */
final class Opening {
    /** The first bytes of a filter as a driver gives it as text. */
    private static final String BASE64_MAGIC = "QkxNR";

    private final boolean map;
    private final boolean verify;
    private final UUID identity;

    Opening(ReadOption... options) {
        List<ReadOption> all = Arrays.asList(options);
        map = all.contains(ReadOption.MAP);
        verify = !all.contains(ReadOption.NO_VERIFY);
        identity = all.stream().map(option -> option.identity).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /**
     * What a file was when it was looked at. A followed one stays the same while its first bytes do,
     * which tell of which list it is; its time changes.
     */
    static final class Stamp {
        private final Object key;
        private final String bytes;
        private final boolean isFollowed;

        private Stamp(Path path, ByteBuffer start) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            key = attributes.fileKey();
            String time = attributes.size() + " " + attributes.lastModifiedTime() + " ";
            isFollowed = Followed.isOne(start);
            bytes = (isFollowed ? "" : time) + Arrays.toString(start.array());
        }

        /** Whether somebody wrote over the followed file that this is of: its follower makes another one. */
        boolean isOverwritten(Stamp now) {
            return isFollowed && now != null && Objects.equals(now.key, key) && !now.bytes.equals(bytes);
        }

        /** Null for one that can't be read: that shows when it is opened. */
        static Stamp orNull(Path path) {
            try (FileChannel channel = openRegular(path)) {
                return new Stamp(path, start(channel));
            } catch (IOException error) {
                return null;
            }
        }

        /** Whether the file is the same one, and has the same content. */
        boolean isThat(Stamp now) {
            return now != null && Objects.equals(now.key, key) && now.bytes.equals(bytes);
        }
    }

    /** A filter, or a followed file; errors name it. */
    BloomFilter open(Path path) throws IOException {
        try (FileChannel channel = openRegular(path)) {
            ByteBuffer start = start(channel);
            Stamp stamp = new Stamp(path, start);
            if (Followed.isOne(start)) {
                Followed followed = new Followed(path, channel, verify, identity);
                return new BloomFilter(followed.parts, stamp, followed);
            }
            Header.require(identity == null, "identity", "it is of no list");
            return new BloomFilter(List.of(readFilter(channel, start)), stamp, null);
        } catch (InvalidFilterException error) {
            throw error.in(path);
        }
    }

    /** A pipe would block, and of a device the size means nothing. */
    private static FileChannel openRegular(Path path) throws IOException {
        Header.require(!Files.exists(path) || Files.isRegularFile(path), "regular",
                "this is not a regular file");
        return FileChannel.open(path, StandardOpenOption.READ);
    }

    /** The first bytes of a file, fewer if it is shorter. */
    private static ByteBuffer start(FileChannel channel) throws IOException {
        return read(channel, Followed.WHO_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer read(FileChannel channel, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        int got = 0;
        while (bytes.hasRemaining() && got >= 0) {
            got = channel.read(bytes, bytes.position());
        }
        return bytes.flip();
    }

    /** The header is checked against the file's length before anything is allocated or mapped. */
    private Part readFilter(FileChannel channel, ByteBuffer start) throws IOException {
        long length = channel.size();
        new Header(start, length);
        if (map) {
            return Part.check(channel.map(FileChannel.MapMode.READ_ONLY, 0, length), verify);
        }
        ByteBuffer bytes = read(channel, (int) length);
        Header.require(bytes.limit() == length, "size", "file became shorter while it was read");
        return Part.check(bytes, verify);
    }

    /** The bytes of one filter, which are copied. */
    Part check(byte[] filter) throws InvalidFilterException {
        Header.require(!new String(filter, 0, Math.min(filter.length, BASE64_MAGIC.length()),
                StandardCharsets.ISO_8859_1).equals(BASE64_MAGIC), "magic",
                "this is the base64 text of one; select filter::bytea");
        return Part.check(ByteBuffer.wrap(filter.clone()), verify);
    }

    /** Refuses what is not exactly one whole set in part order. */
    static void checkSet(List<Part> parts) throws InvalidFilterException {
        Header first = parts.get(0).header;
        Header.require(first.parts == parts.size(), "part",
                parts.size() + " filters of a set of " + first.parts + " parts");
        for (int i = 0; i < parts.size(); i++) {
            Header header = parts.get(i).header;
            Header.require(header.parts == first.parts && header.seed == first.seed, "part",
                    "filters of different sets");
            Header.require(header.part == i, "part",
                    "part " + header.part + " is where part " + i + " should be");
        }
    }

    /** The kind of key of all filters that hold keys; NONE if none does. */
    static int commonKind(List<Part> parts) throws InvalidFilterException {
        int none = KeyType.NONE.number();
        int[] kinds = parts.stream().mapToInt(part -> part.header.kind).filter(kind -> kind != none).distinct().toArray();
        Header.require(kinds.length <= 1, "part", "filters of different key types");
        return kinds.length == 0 ? none : kinds[0];
    }
}
