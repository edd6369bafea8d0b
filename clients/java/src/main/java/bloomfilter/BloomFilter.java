package bloomfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A filter, or a set of parts asked as one. It never changes; any number of threads may ask it.
 *
 * <p>{@code contains} is false if the key was surely never added, and true if it probably was.
 * A key of another type than the filter holds is a {@link KeyTypeException}, never "no".
 */
public final class BloomFilter {
    /** Keys of a batch whose memory is fetched together. */
    private static final int BATCH = 32;

    /** By part number; null where a part is not open. */
    private final Part[] parts;
    private final Part only;
    private final int kind;
    private final long seed;
    private final Info info;

    private BloomFilter(List<Part> open) throws InvalidSetException {
        Header first = open.get(0).header;
        parts = new Part[first.parts()];
        for (Part part : open) {
            parts[part.header.part()] = part;
        }
        only = parts.length == 1 ? parts[0] : null;
        kind = Source.commonKind(open);
        seed = first.seed();
        info = new Info(kind,
                open.stream().map(part -> part.header).collect(Collectors.toUnmodifiableList()));
    }

    /**
     * Opens a filter file, the manifest of a set, or a folder with a manifest.
     *
     * @throws InvalidFilterException if a file is damaged
     * @throws InvalidSetException if a manifest or folder is not one whole set
     */
    public static BloomFilter open(Path path, ReadOption... options) throws IOException {
        return new BloomFilter(new Source(setOf(options)).read(path));
    }

    /** A filter from its bytes, as a query returns them; they are copied. */
    public static BloomFilter of(byte[] filter, ReadOption... options) throws IOException {
        return new BloomFilter(List.of(check(filter, options)));
    }

    /** A whole set from the bytes of its parts, in their order. */
    public static BloomFilter ofParts(List<byte[]> filters, ReadOption... options)
            throws IOException {
        List<Part> parts = new ArrayList<>();
        for (byte[] filter : filters) {
            parts.add(check(filter, options));
        }
        Source.checkSet(parts);
        return new BloomFilter(parts);
    }

    private static Part check(byte[] filter, ReadOption... options)
            throws InvalidFilterException {
        boolean verify = !setOf(options).contains(ReadOption.SKIP_VERIFICATION);
        return Part.check(ByteBuffer.wrap(filter.clone()), verify);
    }

    private static Set<ReadOption> setOf(ReadOption... options) {
        Set<ReadOption> set = EnumSet.noneOf(ReadOption.class);
        set.addAll(Arrays.asList(options));
        return set;
    }

    /** What the filter says about itself. */
    public Info info() {
        return info;
    }

    /** Asks for an integer key: a long, int, short or byte. */
    public boolean contains(long key) {
        requireType(KeyType.INTEGER);
        return answer(Xxh64.ofLong(key, seed));
    }

    /** Asks for a float key: a double, or a float, which is widened. */
    public boolean contains(double key) {
        requireType(KeyType.FLOAT);
        return answer(Xxh64.ofLong(Key.floatBits(key), seed));
    }

    /** Asks for a text key. */
    public boolean contains(String key) {
        requireType(KeyType.TEXT);
        return answer(Xxh64.of(Key.textBytes(key), seed));
    }

    /** Asks for a bytea key. */
    public boolean contains(byte[] key) {
        requireType(KeyType.BYTEA);
        return answer(Xxh64.of(key, seed));
    }

    /** Refused: Java would take a char for an integer. */
    public boolean contains(char key) {
        throw new KeyTypeException("a char is not a key: is it a text or an integer?");
    }

    /** Asks for a key of any of the types that {@link Key#of} knows. */
    public boolean contains(Object key) {
        return answer(hash(key));
    }

    /** One answer for each integer key, in their order; faster than one by one. */
    public boolean[] containsEach(long[] keys) {
        requireType(KeyType.INTEGER);
        boolean[] answers = new boolean[keys.length];
        long[] hashes = new long[BATCH];
        for (int from = 0; from < keys.length; from += BATCH) {
            int count = Math.min(BATCH, keys.length - from);
            for (int i = 0; i < count; i++) {
                hashes[i] = Xxh64.ofLong(keys[from + i], seed);
            }
            answerBatch(hashes, count, answers, from);
        }
        return answers;
    }

    /** One answer for each key, in their order. */
    public boolean[] containsEach(Collection<?> keys) {
        Object[] all = keys.toArray();
        boolean[] answers = new boolean[all.length];
        long[] hashes = new long[BATCH];
        for (int from = 0; from < all.length; from += BATCH) {
            int count = Math.min(BATCH, all.length - from);
            for (int i = 0; i < count; i++) {
                hashes[i] = hash(all[from + i]);
            }
            answerBatch(hashes, count, answers, from);
        }
        return answers;
    }

    private long hash(Object object) {
        Key key = Key.of(object);
        requireKind(key.kind());
        return Xxh64.of(key.ownBytes(), seed);
    }

    private void requireType(KeyType type) {
        requireKind(Kind.of(type));
    }

    private void requireKind(int asked) {
        if (asked != kind && kind != Kind.NONE) {
            throw new KeyTypeException("bloomfilter holds " + Kind.describe(kind) + " keys, not "
                    + Kind.describe(asked));
        }
    }

    private Part partOf(long hash) {
        if (only != null) {
            return only;
        }
        int number = Hash.part(hash, parts.length);
        if (parts[number] == null) {
            throw new PartException(
                    "key belongs to part " + number + " of the set, which is not open");
        }
        return parts[number];
    }

    private boolean answer(long hash) {
        return partOf(hash).contains(hash);
    }

    /**
     * Reads one byte of each key's block first. These reads do not wait for each other, so their
     * cache misses overlap; Java has no other way to prefetch.
     */
    private void answerBatch(long[] hashes, int count, boolean[] answers, int from) {
        int touched = 0;
        for (int i = 0; i < count; i++) {
            touched |= partOf(hashes[i]).touch(hashes[i]);
        }
        // A use of the bytes, so that the compiler keeps the reads: a key whose
        // first byte is 0 is not there.
        for (int i = 0; i < count; i++) {
            answers[from + i] = touched != 0 && answer(hashes[i]);
        }
    }

    @Override
    public String toString() {
        return "BloomFilter of " + info;
    }
}
