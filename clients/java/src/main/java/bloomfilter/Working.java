package bloomfilter;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/**
 * The working copy of a host: a file in memory in which a follower sets bits while readers look
 * keys up. Section 18 of FORMAT.md.
 */
final class Working {
    static final int SERIAL = 128;
    static final int TRUE_AT = 144;
    static final int LOOKED = 152;
    static final int FAILURES = 168;
    private static final int BASE = 136;
    private static final int SUPERSEDED = 176;

    private static final int PAGE = 4096;
    private static final int MAGIC = 0x4c4d4c42;
    private static final int CHECKSUM_AT = 120;
    private static final int BOOT_AT = 48;
    private static final int ID_BYTES = 16;
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final VarHandle WORD =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final ByteBuffer page;
    private final UUID identity;
    private final List<Part> parts = new ArrayList<>();

    /** Of a copy, whose serial stays; else the file's is loaded each time. */
    private final boolean copied;
    private final long serial;

    private Working(ByteBuffer page, boolean copied) {
        this.page = page;
        this.copied = copied;
        identity = new UUID(page.order(ByteOrder.BIG_ENDIAN).getLong(32), page.getLong(40));
        page.order(ByteOrder.LITTLE_ENDIAN);
        // Before the blocks: a copy has everything of this serial.
        serial = word(SERIAL);
    }

    /** The file in which the working copy of another is. */
    static Path of(Path file) {
        return file.resolveSibling(file.getFileName() + ".working");
    }

    /**
     * Opens the working copy of a file.
     *
     * @param checksums of the filters that the file names
     * @return null where there is none, or none in use
     */
    static Working open(Path file, long[] checksums, boolean map) throws IOException {
        Path path = of(file);
        try (FileChannel channel = openOwned(path)) {
            return open(channel, checksums, map);
        } catch (NoSuchFileException none) {
            return null;
        } catch (FileException error) {
            error.in(path);
            throw error;
        }
    }

    private static Working open(FileChannel channel, long[] checksums, boolean map)
            throws IOException {
        long length = channel.size();
        require(length >= PAGE, "length", "is too short");
        Working working = new Working(channel.map(FileChannel.MapMode.READ_ONLY, 0, PAGE), !map);
        working.checkHeader(length);
        working.openParts(channel, length);
        return working.isInUse(checksums) ? working : null;
    }

    /**
     * Opens a working copy that is of the same user as its name. A link may lead to a name that
     * any user can take: what another one put there is none. Java tells owners of names alone.
     */
    private static FileChannel openOwned(Path path) throws IOException {
        FileChannel channel = Source.openRegular(path);
        try {
            if (path.getFileSystem().supportedFileAttributeViews().contains("unix")
                    && !Files.getAttribute(path, "unix:uid").equals(
                            Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
                throw new NoSuchFileException(path.toString());
            }
        } catch (IOException error) {
            channel.close();
            throw error;
        }
        return channel;
    }

    private static void require(boolean condition, String rule, String message)
            throws InvalidFilterException {
        if (!condition) {
            throw new InvalidFilterException(rule, "not a valid working copy: " + message);
        }
    }

    private void checkHeader(long length) throws InvalidFilterException {
        byte[] start = new byte[CHECKSUM_AT];
        page.duplicate().get(start);
        require(page.getInt(0) == MAGIC, "magic", "does not start with BLML");
        require(page.getInt(4) == 1, "version", "unsupported version " + page.getInt(4));
        require(page.getLong(CHECKSUM_AT) == Xxh64.of(start, 0), "header_checksum",
                "header checksum does not match");
        require(page.getLong(8) == length, "length",
                "its length is " + length + ", not " + page.getLong(8));
        int count = page.getInt(16);
        boolean zeros = page.getInt(20) == 0;
        for (int at = 64; at < CHECKSUM_AT; at++) {
            zeros &= start[at] == 0;
        }
        require(count >= 1 && count <= Manifest.MAX_PARTS && zeros, "header",
                "a field of its header is wrong");
    }

    private void openParts(FileChannel channel, long length) throws IOException {
        int count = page.getInt(16);
        long at = PAGE;
        for (int i = 0; i < count; i++) {
            Header header = readHeader(channel, at, length);
            boolean fits = header.part() == i && header.parts() == count
                    && (i == 0 || header.seed() == parts.get(0).header.seed());
            require(fits, "part", "part " + i + " is not of the set");
            ByteBuffer bytes =
                    channel.map(FileChannel.MapMode.READ_ONLY, at, header.bytes());
            parts.add(copied ? Part.copyOfWorking(bytes) : Part.ofWorking(header, bytes));
            at += header.bytes();
            if (i + 1 < count) {
                at = (at + PAGE - 1) / PAGE * PAGE;
            }
        }
        require(at == length, "part", "it goes on behind its last part");
    }

    private static Header readHeader(FileChannel channel, long at, long length)
            throws IOException {
        ByteBuffer start = ByteBuffer.allocate(Header.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (start.hasRemaining() && channel.read(start, at + start.position()) > 0) {
            // Until it is there.
        }
        require(!start.hasRemaining(), "part", "a part is missing");
        int log2 = start.get(6) & 0xff;
        long size = Header.BYTES;
        if (log2 >= 9 && log2 <= 16) {
            size += Integer.toUnsignedLong(start.getInt(8)) << (log2 - 3);
        }
        require(size <= length - at, "part", "a part is longer than the file");
        try {
            return Header.read(start, size);
        } catch (InvalidFilterException error) {
            throw new InvalidFilterException("part", error.getMessage());
        }
    }

    private boolean isInUse(long[] checksums) {
        ByteBuffer base =
                ByteBuffer.allocate(8 * checksums.length).order(ByteOrder.LITTLE_ENDIAN);
        base.asLongBuffer().put(checksums);
        byte[] boot = new byte[ID_BYTES];
        ByteBuffer copy = page.duplicate();
        copy.position(BOOT_AT);
        copy.get(boot);
        return Arrays.equals(boot, thisBoot()) && word(SUPERSEDED) == 0
                && word(BASE) == Xxh64.of(base.array(), 0);
    }

    /** This boot's id; zeros where the system has none. */
    static byte[] thisBoot() {
        ByteBuffer bytes = ByteBuffer.allocate(ID_BYTES);
        try {
            UUID id = UUID.fromString(Files.readString(BOOT_ID).trim());
            bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        } catch (IOException | IllegalArgumentException none) {
            return new byte[ID_BYTES];
        }
        return bytes.array();
    }

    List<Part> parts() {
        return parts;
    }

    boolean isCopied() {
        return copied;
    }

    UUID identity() {
        return identity;
    }

    long serial() {
        return copied ? serial : word(SERIAL);
    }

    /** A word that the follower may change meanwhile, in one load. */
    long word(int at) {
        return (long) WORD.getAcquire(page, at);
    }

    /** What a working copy was when it was looked at: its bits and its time mean nothing. */
    static final class Stamp {
        private final Object key;
        private final long base;
        private final long superseded;

        private Stamp(Object key, long base, long superseded) {
            this.key = key;
            this.base = base;
            this.superseded = superseded;
        }

        /** Null where there is none. */
        static Stamp of(Path file) {
            Path path = Working.of(file);
            try (FileChannel channel = openOwned(path)) {
                Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
                ByteBuffer start = ByteBuffer.wrap(Source.read(channel, SUPERSEDED + Long.BYTES))
                        .order(ByteOrder.LITTLE_ENDIAN);
                return start.limit() < SUPERSEDED + Long.BYTES ? new Stamp(key, 0, 0)
                        : new Stamp(key, start.getLong(BASE), start.getLong(SUPERSEDED));
            } catch (IOException none) {
                return null;
            }
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Stamp && Objects.equals(((Stamp) other).key, key)
                    && ((Stamp) other).base == base && ((Stamp) other).superseded == superseded;
        }

        @Override
        public int hashCode() {
            return Objects.hash(key, base, superseded);
        }
    }
}
