package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * A filter, or a set of parts asked as one. But for a followed file, to which keys come, it never
 * changes; any number of threads may ask it.
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

    /** What the file was before it was read, or null. */
    final Opening.Stamp stamp;

    /** The file that the parts lie in, if its bits change, else null. */
    private final Followed followed;

    /** Of a tracked list, else null. */
    private final Changes changes;

    BloomFilter(List<Part> open, Opening.Stamp stamp, Followed followed) throws InvalidFilterException {
        this.stamp = stamp;
        this.followed = followed;
        changes = followed == null ? null : followed.changes;
        Header first = open.get(0).header;
        parts = new Part[first.parts];
        for (Part part : open) {
            parts[part.header.part] = part;
        }
        only = parts.length == 1 ? parts[0] : null;
        kind = Opening.commonKind(open);
        seed = first.seed;
        info = new Info(kind,
                open.stream().map(part -> part.header).collect(Collectors.toUnmodifiableList()));
    }

    /**
     * Opens a filter's file, or one that {@code bloomfilter pull} keeps: that is mapped, and keys
     * come to it while it is open.
     *
     * @throws InvalidFilterException if the file is damaged
     */
    public static BloomFilter open(Path path, ReadOption... options) throws IOException {
        return new Opening(options).open(path);
    }

    /** A filter from its bytes, as {@code filter::bytea} in a query returns them; copied. */
    public static BloomFilter fromBytes(byte[] filter, ReadOption... options)
            throws IOException {
        return new BloomFilter(List.of(new Opening(options).check(filter)), null, null);
    }

    /** What the filter says about itself; of a followed file the bits are counted. */
    public Info info() {
        if (followed == null) {
            return info;
        }
        List<Header> headers = new ArrayList<>();
        try {
            for (Part part : parts) {
                headers.add(part.now());
            }
        } catch (InvalidFilterException | InternalError error) {
            throw new ChangedFileException(error);
        }
        return new Info(kind, headers);
    }

    /** Which content of which list it is, and how fresh: what a followed file says of itself. */
    public Status status() {
        checkWho();
        return new Status(followed);
    }

    /** Whether a follower has put another file in the place of this one. */
    boolean isSuperseded() {
        try {
            return followed != null && followed.word(Followed.SUPERSEDED) != 0;
        } catch (InternalError cut) {
            return true;
        }
    }

    /** Throws if somebody changed a followed file: each question is an error then. */
    void checkWho() {
        if (followed == null) {
            return;
        }
        try {
            followed.checkWho();
            followed.requireUnchanged();
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }

    /** Asks for an integer key: a long, int, short or byte. */
    public boolean contains(long key) {
        if (changes != null) {
            return contains((Object) key);
        }
        requireType(KeyType.INTEGER);
        return answer(Xxh64.ofLong(key, seed));
    }

    /** Refused: Java would take a char for an integer. */
    public boolean contains(char key) {
        throw new KeyTypeException("a char is not a key: is it a text or an integer?");
    }

    /** Asks for a text, or a key of any other of the types that {@link Key#of} knows. */
    public boolean contains(Object key) {
        return changes == null ? answer(hash(key)) : answerTracked(Key.of(key));
    }

    /** A key that was changed by day has the answer of its change, whatever the filter says. */
    private boolean answerTracked(Key key) {
        requireKind(key.kind());
        long hash = Xxh64.of(key.ownBytes(), seed);
        try {
            followed.requireUnchanged();
            Boolean change = changes.ask(hash, key::ownBytes);
            return change != null ? change : answer(hash);
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }

    /** One answer for each integer key, in their order; faster than one by one in large filters. */
    public boolean[] containsMany(long[] keys) {
        requireType(KeyType.INTEGER);
        boolean[] answers = new boolean[keys.length];
        long[] hashes = new long[BATCH];
        for (int from = 0; from < keys.length; from += BATCH) {
            int count = Math.min(BATCH, keys.length - from);
            for (int i = 0; i < count; i++) {
                hashes[i] = Xxh64.ofLong(keys[from + i], seed);
            }
            answerBatch(hashes, count, answers, from, i -> Key.integer(keys[i]));
        }
        return answers;
    }

    /** One answer for each key, in their order. An exception has the {@code index} of its key. */
    public boolean[] containsMany(Collection<?> keys) {
        Object[] all = keys.toArray();
        boolean[] answers = new boolean[all.length];
        long[] hashes = new long[BATCH];
        for (int from = 0; from < all.length; from += BATCH) {
            int count = Math.min(BATCH, all.length - from);
            for (int i = 0; i < count; i++) {
                hashes[i] = hash(all[from + i], from + i);
            }
            answerBatch(hashes, count, answers, from, i -> Key.of(all[i]));
        }
        return answers;
    }

    private long hash(Object object, int index) {
        try {
            return hash(object);
        } catch (KeyException error) {
            throw error.at(index);
        }
    }

    private long hash(Object object) {
        Key key = Key.of(object);
        requireKind(key.kind());
        return Xxh64.of(key.ownBytes(), seed);
    }

    private void requireType(KeyType type) {
        requireKind(type.number());
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

    /** The Java machine throws an InternalError where a mapped file was cut. */
    private boolean answer(long hash) {
        Part part = partOf(hash);
        if (followed == null) {
            return part.contains(hash);
        }
        try {
            followed.requireUnchanged();
            boolean found = part.contains(hash);
            // It may come with the next call only: then this is the one.
            followed.requireUnchanged();
            return found;
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }

    /**
     * Reads one byte of each key's block first. These reads do not wait for each other, so their
     * cache misses overlap; Java has no other way to prefetch. Changes by day come before: what a
     * publish takes out of them is in the filter by then.
     */
    private void answerBatch(long[] hashes, int count, boolean[] answers, int from, IntFunction<Key> keyAt) {
        try {
            int touched = 0;
            if (followed != null) {
                followed.requireUnchanged();
            }
            Boolean[] byDay = changes == null ? null : changed(hashes, count, from, keyAt);
            for (int i = 0; i < count; i++) {
                touched |= partOf(hashes[i], from + i).touch(hashes[i]);
            }
            // A use of the bytes, so that the compiler keeps the reads: a key whose
            // first byte is 0 is not there.
            for (int i = 0; i < count; i++) {
                answers[from + i] = byDay != null && byDay[i] != null ? byDay[i] : touched != 0 && answer(hashes[i]);
            }
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }

    /** What the changes say of the keys of a batch. */
    private Boolean[] changed(long[] hashes, int count, int from, IntFunction<Key> keyAt) {
        Boolean[] answers = new Boolean[count];
        for (int i = 0; i < count; i++) {
            int place = from + i;
            answers[i] = changes.ask(hashes[i], () -> keyAt.apply(place).ownBytes());
        }
        return answers;
    }

    private Part partOf(long hash, int index) {
        try {
            return partOf(hash);
        } catch (PartException error) {
            throw error.at(index);
        }
    }

    @Override
    public String toString() {
        return "BloomFilter of " + info;
    }
}
