package bloomfilter;

import static bloomfilter.Header.require;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A file that {@code bloomfilter pull} keeps: a page of facts and the parts of a list, whose bits
 * are set in place while readers have the file mapped. doc/FEED.md describes it.
 */
final class Followed {
    static final int PAGE = 4096;
    private static final int MAGIC = 0x4c4d4c42;
    private static final int VERSION = 2;
    private static final int TRACKED_VERSION = 3;
    private static final int LOG2_SLOTS = 20;
    private static final int MAX_PARTS = 65535;

    static final int EPOCH = 24;
    static final int IDENTITY = 32;
    static final int BOOT = 48;
    static final int DEVICE = 64;
    static final int INODE = 72;
    static final int BORN = 80;
    static final int BORN_SUM = 88;
    static final int NAME = 136;
    static final int NAME_BYTES = 216;
    private static final int MAX_NAME = 200;
    static final int WHO_CHECKSUM = 504;
    static final int WHO_BYTES = 512;
    static final int SERIAL = 520;
    static final int TRUE_AT = 536;
    static final int SUPERSEDED = 600;
    private static final long LOST = 2;
    static final int SAVED = 1024;
    static final int SAVED_CHECKSUM = 1080;
    static final int LOOKED = 1536;
    static final int LOOKED_BOOT = 1544;
    static final int FAILURES = 1552;
    static final int EVERY = 1560;
    static final int HEARTBEAT = 1568;
    static final int EXPIRES = 1576;
    static final int SINCE = 1584;
    static final int WORD = 1592;
    static final int WORD_BYTES = 16;
    static final int TEXT = 1608;
    static final int TEXT_BYTES = 256;

    private static final VarHandle WORDS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final ByteBuffer page;
    final List<Part> parts = new ArrayList<>();
    final Status.Place place;
    private final long told;
    private final byte[] who;

    /** Of a tracked list, else null. */
    final Changes changes;

    /** Whether a watched filter found other bytes here, or none. */
    private volatile boolean isChanged;

    /**
     * Opens one; pages and headers are checked, and all bits of a file that nobody follows.
     *
     * @param verify whether these bits are to be checked, and those of exact parts, which don't change
     * @param identity the list's, or null for any
     */
    Followed(Path path, FileChannel channel, boolean verify, UUID identity) throws IOException {
        long length = channel.size();
        require(length >= PAGE, "short", "a followed file has at least 4096 bytes");
        page = map(channel, 0, PAGE);
        boolean isTracked = page.getInt(4) == TRACKED_VERSION;
        require(isTracked || page.getInt(4) == VERSION, "version",
                "unsupported version " + page.getInt(4) + " of a followed file");
        require(page.getLong(WHO_CHECKSUM) == Xxh64.of(bytes(0, WHO_CHECKSUM), 0), "checksum",
                "checksum of the page does not match");
        require(page.getLong(8) == length, "length", "the file has another length than it says");
        int count = page.getInt(16);
        require(count >= 1 && count <= MAX_PARTS, "who", "the number of parts is not 1 to 65535");
        long tableBytes = Changes.bytes(page.getInt(LOG2_SLOTS));
        require(tableBytes >= 0 && (isTracked || tableBytes == 0) && isRightName(), "who", "a field of the page is not 0 that must be");
        require(!isLost(), "lost", "its follower found it damaged");
        require(identity == null || identity.equals(identity()), "identity",
                "it is of list " + name() + ", " + identity() + ", and not " + identity);
        who = bytes(0, WHO_BYTES);
        try {
            long at = mapParts(channel, count, length, verify);
            at = tableBytes == 0 ? at : (at + PAGE - 1) / PAGE * PAGE;
            require(at + tableBytes == length, "part", "the file goes on behind its last part");
            changes = isTracked ? new Changes(page, map(channel, at, tableBytes), page.getInt(LOG2_SLOTS)) : null;
        } catch (InvalidFilterException error) {
            throw new InvalidFilterException("part", error.getMessage());
        }
        place = findPlace(path);
        told = place == Status.Place.OTHER_BOOT && isSavedWhole() ? page.getLong(SAVED)
                : page.getLong(BORN);
        require(place != Status.Place.NONE || !verify || page.getLong(BORN_SUM) == sum(),
                "sum", "the parts are not those that the page was written for");
    }

    /** The name ends within its bytes, and behind it all is 0. */
    private boolean isRightName() {
        int end = NAME;
        while (end < NAME + MAX_NAME && page.get(end) != 0) {
            end++;
        }
        return isZero(bytes(end, WHO_CHECKSUM - end));
    }

    /** Whether a file that begins so is one. */
    static boolean isOne(ByteBuffer start) {
        return start.limit() >= 4 && start.getInt(0) == MAGIC;
    }

    private static ByteBuffer map(FileChannel channel, long at, long length) throws IOException {
        return channel.map(FileChannel.MapMode.READ_ONLY, at, length)
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Each part is mapped by itself, as a buffer ends at 2 GB; returns where the last one ends. */
    private long mapParts(FileChannel channel, int count, long length, boolean verify) throws IOException {
        long at = PAGE;
        for (int i = 0; i < count; i++) {
            at = (at + PAGE - 1) / PAGE * PAGE;
            require(at + Header.BYTES <= length, "part", "a part is missing");
            Header header = new Header(map(channel, at, Math.min(Header.EXACT_BYTES, length - at)), Header.AS_STATED);
            require(header.bytes <= length - at, "part", "a part goes on behind the file's end");
            ByteBuffer bytes = map(channel, at, header.bytes);
            boolean isExact = header.levels.size() > 1;
            require(isExact || header.first.bitsSet == 0 && header.checksum == 0, "part",
                    "a part's header says of its bits what changes");
            parts.add(isExact ? Part.check(bytes, verify) : Part.of(header, bytes));
            at += header.bytes;
        }
        Opening.checkSet(parts);
        return at;
    }

    /** By boot, device and inode, which a copy does not keep. */
    private Status.Place findPlace(Path path) throws IOException {
        byte[] boot = bytes(BOOT, 16);
        if (isZero(bytes(BOOT, 32))) {
            return Status.Place.NONE;
        }
        long[] numbers = numbers(path);
        byte[] now = thisBoot();
        if (numbers == null || isZero(now) || numbers[1] != page.getLong(INODE)) {
            return Status.Place.COPY;
        }
        if (!Arrays.equals(boot, now)) {
            return Status.Place.OTHER_BOOT;
        }
        return numbers[0] == page.getLong(DEVICE) ? Status.Place.HERE : Status.Place.COPY;
    }

    private boolean isSavedWhole() {
        ByteBuffer saved = ByteBuffer.allocate(SAVED_CHECKSUM - SAVED + 16);
        saved.put(bytes(SAVED, SAVED_CHECKSUM - SAVED)).put(bytes(EPOCH, 8)).put(bytes(INODE, 8));
        return Xxh64.of(saved.array(), 0) == page.getLong(SAVED_CHECKSUM);
    }

    /** Device and inode, or null where the system has none. */
    private static long[] numbers(Path path) throws IOException {
        try {
            Map<String, Object> values = Files.readAttributes(path, "unix:dev,ino");
            return new long[] {(Long) values.get("dev"), (Long) values.get("ino")};
        } catch (UnsupportedOperationException | IllegalArgumentException none) {
            return null;
        }
    }

    /** All zeros where the system does not tell its boots apart. */
    static byte[] thisBoot() {
        try {
            UUID boot = UUID.fromString(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim());
            return ByteBuffer.allocate(16).putLong(boot.getMostSignificantBits())
                    .putLong(boot.getLeastSignificantBits()).array();
        } catch (IOException | RuntimeException none) {
            return new byte[16];
        }
    }

    /** Microseconds since this boot, by a clock that nobody sets; 0 where the system doesn't tell them. */
    static long uptime() {
        try {
            return (long) (Double.parseDouble(Files.readString(Path.of("/proc/uptime")).split(" ")[0]) * 1e6);
        } catch (IOException | RuntimeException none) {
            return 0;
        }
    }

    private static boolean isZero(byte[] bytes) {
        return Arrays.equals(bytes, new byte[bytes.length]);
    }

    /** What the page has of all blocks, in pieces of 4096 bytes. */
    long sum() {
        long sum = 0;
        for (int i = 0; i < parts.size(); i++) {
            sum += parts.get(i).sum((long) i << 32);
        }
        return sum;
    }

    /** A word that the follower may change meanwhile, in one load. */
    long word(int at) {
        return (long) WORDS.getAcquire(page, at);
    }

    /** What it has everything of, as far as that can be believed here. */
    long serial() {
        return place == Status.Place.HERE ? word(SERIAL) : told;
    }

    byte[] bytes(int at, int length) {
        byte[] bytes = new byte[length];
        page.duplicate().position(at).get(bytes);
        return bytes;
    }

    /** Of a file that nobody follows it says nothing. */
    private boolean isLost() {
        return word(SUPERSEDED) == LOST && !isZero(bytes(BOOT, 32));
    }

    /** Throws if somebody changed the file. */
    void requireUnchanged() {
        if (isChanged) {
            throw new ChangedFileException(null);
        }
    }

    /** Finds out whether somebody wrote another file over this one: then its answers may be wrong. */
    void checkWho() {
        boolean isSame = false;
        try {
            isSame = Arrays.equals(who, bytes(0, WHO_BYTES)) && !isLost();
        } finally {
            isChanged |= !isSame;
        }
    }

    String name() {
        return text(NAME, NAME_BYTES, StandardCharsets.UTF_8).replaceAll("[\\p{Cntrl}\\x80-\\x9f\\ufffd]", "?");
    }

    UUID identity() {
        ByteBuffer bytes = ByteBuffer.wrap(bytes(IDENTITY, 16));
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    /** What the follower says: bytes that aren't printable ASCII become question marks. */
    String said(int at, int length) {
        return text(at, length, StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", "?");
    }

    /** A text up to its first zero byte. */
    private String text(int at, int length, Charset charset) {
        return new String(bytes(at, length), charset).split("\0", 2)[0];
    }
}
