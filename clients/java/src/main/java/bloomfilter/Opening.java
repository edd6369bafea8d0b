package bloomfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Opens what a path names.
 *
 * <p>Between the reading of a manifest and of its parts, a writer may put another one in its place
 * and delete the old parts: then it is read again.
 */
final class Opening {
    /** How often a set may be replaced while it is being opened. */
    private static final int MOST_ATTEMPTS = 8;

    /** The first bytes of a filter as a driver gives it as text. */
    private static final String BASE64_MAGIC = "QkxNR";

    private final boolean map;
    private final boolean verify;

    Opening(ReadOption... options) {
        List<ReadOption> all = Arrays.asList(options);
        map = all.contains(ReadOption.MAP);
        verify = !all.contains(ReadOption.NO_VERIFY);
    }

    /** Parts, and what the files were before these were read. */
    static final class Opened {
        final List<Part> parts;
        final Source source;

        /** That the parts lie in or were copied from, or null. */
        final Working working;

        Opened(List<Part> parts, Source source, Working working) {
            this.parts = parts;
            this.source = source;
            this.working = working;
        }
    }

    /** One filter, or all filters of a set in part order. */
    Opened open(Path path) throws IOException {
        for (int attempt = 1; ; attempt++) {
            Source source = Source.find(path);
            try {
                return open(source);
            } catch (IOException error) {
                if (attempt == MOST_ATTEMPTS || !wasReplaced(path, source)) {
                    throw error;
                }
            }
        }
    }

    private Opened open(Source source) throws IOException {
        long[] checksums = source.working() == null ? null : source.checksums();
        if (checksums != null) {
            Working working = Working.open(source.path(), checksums, map);
            if (working != null) {
                return new Opened(working.parts(), source, working);
            }
            // None is in use; or the follower has just changed both.
            if (wasReplaced(source.path(), source)) {
                throw new InvalidSetException("was replaced while it was opened");
            }
        }
        return new Opened(read(source), source, null);
    }

    private static boolean wasReplaced(Path path, Source before) {
        try {
            return !Source.find(path).equals(before);
        } catch (IOException error) {
            return false;
        }
    }

    private List<Part> read(Source source) throws IOException {
        if (source.parts() == null) {
            return List.of(readFile(source.path()));
        }
        List<Part> parts = new ArrayList<>();
        for (Path path : source.parts()) {
            parts.add(readMember(path));
        }
        try {
            checkSet(parts);
        } catch (InvalidSetException error) {
            error.in(source.path());
            throw error;
        }
        return parts;
    }

    private Part readMember(Path path) throws IOException {
        Part part = readFile(path);
        try {
            Manifest.checkName(path.getFileName().toString(), part.header);
        } catch (InvalidSetException error) {
            error.in(path);
            throw error;
        }
        return part;
    }

    /** A file that must be a filter itself; errors name it. */
    private Part readFile(Path path) throws IOException {
        try (FileChannel channel = Source.openRegular(path)) {
            return readFilter(channel);
        } catch (FileException error) {
            error.in(path);
            throw error;
        }
    }

    /** The header is checked against the file's length before anything is allocated or mapped. */
    private Part readFilter(FileChannel channel) throws IOException {
        long length = channel.size();
        byte[] start = Source.read(channel, Header.BYTES);
        Header.read(ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN), length);
        if (map) {
            return Part.check(channel.map(FileChannel.MapMode.READ_ONLY, 0, length), verify);
        }
        byte[] bytes = new byte[(int) length];
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        int got = 0;
        while (rest.hasRemaining() && got >= 0) {
            got = channel.read(rest, rest.position());
        }
        Header.require(!rest.hasRemaining(), "size", "file became shorter while it was read");
        return Part.check(rest.flip(), verify);
    }

    /** The bytes of one filter, which are copied. */
    Part check(byte[] filter) throws InvalidFilterException {
        Header.require(!new String(filter, 0, Math.min(filter.length, BASE64_MAGIC.length()),
                StandardCharsets.ISO_8859_1).equals(BASE64_MAGIC), "magic",
                "this is the base64 text of one; select filter::bytea");
        return Part.check(ByteBuffer.wrap(filter.clone()), verify);
    }

    /** Refuses what is not exactly one whole set in part order. */
    static void checkSet(List<Part> parts) throws InvalidSetException {
        InvalidSetException.require(!parts.isEmpty(), "no filter is there");
        Header first = parts.get(0).header;
        InvalidSetException.require(first.parts() == parts.size(),
                parts.size() + " filters of a set of " + first.parts() + " parts");
        for (int i = 0; i < parts.size(); i++) {
            Header header = parts.get(i).header;
            InvalidSetException.require(
                    header.parts() == first.parts() && header.seed() == first.seed(),
                    "filters of different sets");
            InvalidSetException.require(header.part() == i,
                    "part " + header.part() + " is where part " + i + " should be");
        }
        commonKind(parts);
    }

    /** The kind of key of all filters that hold keys; NONE if none does. */
    static int commonKind(List<Part> parts) throws InvalidSetException {
        int common = Kind.NONE;
        for (Part part : parts) {
            int kind = part.header.kind();
            InvalidSetException.require(
                    kind == Kind.NONE || common == Kind.NONE || kind == common,
                    "filters of different key types");
            common = kind == Kind.NONE ? common : kind;
        }
        return common;
    }
}
