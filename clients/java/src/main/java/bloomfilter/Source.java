package bloomfilter;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Where filters come from: a file, or the files of a manifest. */
final class Source {
    private static final String MANIFEST_NAME = "manifest";
    private static final String MANIFEST_MAGIC = "bloomfilter-set ";
    private static final String MANIFEST_FIRST_LINE = MANIFEST_MAGIC + "1";
    private static final int MAX_PARTS = 65535;

    /** A name that promises what is in its file, which a part of another build is not. */
    private static final Pattern NAME_WITH_CHECKSUM = Pattern.compile(".*\\.([0-9a-f]{16})\\.bloom");

    /** A name of 255 bytes and its line end for each part. */
    private static final int MAX_MANIFEST_BYTES = 32 + MAX_PARTS * 256;

    private final boolean map;
    private final boolean verify;

    Source(Set<ReadOption> options) {
        map = options.contains(ReadOption.MAP);
        verify = !options.contains(ReadOption.SKIP_VERIFICATION);
    }

    /** One filter, or all filters of a set in part order. */
    List<Part> read(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            return readFolder(path);
        }
        try (FileChannel channel = openRegular(path)) {
            ByteBuffer start = readUpTo(channel, Header.BYTES);
            if (!isManifest(start)) {
                return List.of(readFilter(channel, start));
            }
            return readMembers(path.toAbsolutePath().getParent(), manifestNames(channel));
        }
    }

    /** Refuses what is not exactly one whole set in part order. */
    static void checkSet(List<Part> parts) throws InvalidSetException {
        require(!parts.isEmpty(), "no filter is there");
        Header first = parts.get(0).header;
        require(first.parts() == parts.size(),
                parts.size() + " filters of a set of " + first.parts() + " parts");
        for (int i = 0; i < parts.size(); i++) {
            Header header = parts.get(i).header;
            require(header.parts() == first.parts() && header.seed() == first.seed(),
                    "filters of different sets");
            require(header.part() == i,
                    "part " + header.part() + " is where part " + i + " should be");
        }
        commonKind(parts);
    }

    /** The kind of key of all filters that hold keys; NONE if none does. */
    static int commonKind(List<Part> parts) throws InvalidSetException {
        int common = Kind.NONE;
        for (Part part : parts) {
            int kind = part.header.kind();
            require(kind == Kind.NONE || common == Kind.NONE || kind == common,
                    "filters of different key types");
            common = kind == Kind.NONE ? common : kind;
        }
        return common;
    }

    private static void require(boolean condition, String message) throws InvalidSetException {
        if (!condition) {
            throw new InvalidSetException(message);
        }
    }

    /** A pipe would hang its opener, a device has no size. */
    private static FileChannel openRegular(Path path) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new InvalidFilterException("short", "not a regular file: " + path);
        }
        return FileChannel.open(path, StandardOpenOption.READ);
    }

    private static ByteBuffer readUpTo(FileChannel channel, long most) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, channel.size()));
        readAll(channel, bytes, 0);
        return bytes.flip().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Fills the buffer, or stops where the file ends. */
    private static void readAll(FileChannel channel, ByteBuffer bytes, long from)
            throws IOException {
        long at = from;
        while (bytes.hasRemaining()) {
            int got = channel.read(bytes, at);
            if (got < 0) {
                return;
            }
            at += got;
        }
    }

    private static boolean isManifest(ByteBuffer start) {
        byte[] magic = MANIFEST_MAGIC.getBytes(StandardCharsets.US_ASCII);
        return start.limit() >= magic.length
                && Arrays.equals(Arrays.copyOf(start.array(), magic.length), magic);
    }

    /** The header is checked against the file's length before anything is allocated or mapped. */
    private Part readFilter(FileChannel channel, ByteBuffer start) throws IOException {
        long length = channel.size();
        Header.read(start, length);
        if (map) {
            return Part.check(channel.map(FileChannel.MapMode.READ_ONLY, 0, length), verify);
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) length);
        readAll(channel, bytes, 0);
        if (bytes.hasRemaining()) {
            throw new EOFException("file became shorter while it was read");
        }
        return Part.check(bytes.flip(), verify);
    }

    /** A file of a set, which must be a filter itself; errors name it. */
    private Part readMember(Path path) throws IOException {
        try (FileChannel channel = openRegular(path)) {
            Part part = readFilter(channel, readUpTo(channel, Header.BYTES));
            checkName(path.getFileName().toString(), part.header);
            return part;
        } catch (InvalidFilterException error) {
            throw new InvalidFilterException(error.rule(),
                    path.getFileName() + ": " + error.getMessage());
        }
    }

    private static void checkName(String name, Header header) throws InvalidSetException {
        Matcher promised = NAME_WITH_CHECKSUM.matcher(name);
        require(!promised.matches()
                        || Long.parseUnsignedLong(promised.group(1), 16) == header.checksum(),
                name + ": is another filter than its name says");
    }

    private List<Part> readMembers(Path folder, List<String> names) throws IOException {
        List<Part> parts = new ArrayList<>();
        for (String name : names) {
            parts.add(readMember(resolve(folder, name)));
        }
        checkSet(parts);
        return parts;
    }

    /** Some names can't be spelled in the file names' encoding of this machine. */
    private static Path resolve(Path folder, String name) throws InvalidSetException {
        try {
            return folder.resolve(name);
        } catch (InvalidPathException error) {
            throw new InvalidSetException("manifest has a bad file name: " + error.getMessage());
        }
    }

    private List<Part> readFolder(Path folder) throws IOException {
        Path manifest = folder.resolve(MANIFEST_NAME);
        require(Files.exists(manifest, LinkOption.NOFOLLOW_LINKS),
                "folder has no file \"" + MANIFEST_NAME + "\"");
        try (FileChannel channel = openRegular(manifest)) {
            return readMembers(folder, manifestNames(channel));
        }
    }

    private static List<String> manifestNames(FileChannel channel) throws IOException {
        require(channel.size() <= MAX_MANIFEST_BYTES, "manifest is too long");
        ByteBuffer bytes = readUpTo(channel, MAX_MANIFEST_BYTES);
        String text = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
        String whole = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        List<String> lines = Arrays.asList(whole.split("\n", -1));
        require(lines.get(0).equals(MANIFEST_FIRST_LINE),
                "manifest does not begin with the line \"" + MANIFEST_FIRST_LINE + "\"");
        List<String> names = lines.stream().skip(1)
                .filter(line -> !line.startsWith("#")).collect(Collectors.toList());
        require(!names.isEmpty() && names.size() <= MAX_PARTS,
                "manifest must name 1 to 65535 parts");
        for (String name : names) {
            require(isPlainName(name), "manifest has a bad file name: \"" + name + "\"");
        }
        return names;
    }

    private static boolean isPlainName(String name) {
        return !name.isEmpty() && !name.equals(".") && !name.equals("..")
                && name.indexOf('/') < 0 && name.indexOf('\0') < 0;
    }
}
