package bloomfilter;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;

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
    private final int kind;
    private final long seed;

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
        kind = Opening.commonKind(open);
        seed = first.seed;
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
        List<Header> headers = new ArrayList<>();
        try {
            for (Part part : parts) {
                if (part != null) {
                    headers.add(followed == null ? part.header : part.now());
                }
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
        requireKind(KeyType.INTEGER.number());
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
        requireKind(key.kind);
        long hash = Xxh64.of(key.bytes, seed);
        try {
            followed.requireUnchanged();
            Boolean change = changes.ask(hash, () -> key.bytes);
            return change != null ? change : answer(hash);
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }

    /** One answer for each integer key, in their order; faster than one by one in large filters. */
    public boolean[] containsMany(long[] keys) {
        requireKind(KeyType.INTEGER.number());
        return answerAll(keys.length, i -> Xxh64.ofLong(keys[i], seed), i -> Key.integer(keys[i]));
    }

    /** One answer for each key, in their order. An exception has the {@code index} of its key. */
    public boolean[] containsMany(Collection<?> keys) {
        Object[] all = keys.toArray();
        return answerAll(all.length, i -> hash(all[i]), i -> Key.of(all[i]));
    }

    private long hash(Object object) {
        Key key = Key.of(object);
        requireKind(key.kind);
        return Xxh64.of(key.bytes, seed);
    }

    private void requireKind(int asked) {
        if (asked != kind && kind != KeyType.NONE.number()) {
            throw new KeyTypeException("bloomfilter holds " + KeyType.describe(kind) + " keys, not "
                    + KeyType.describe(asked));
        }
    }

    private Part partOf(long hash) {
        if (parts.length == 1) {
            return parts[0];
        }
        int number = Part.numberOf(hash, parts.length);
        if (parts[number] == null) {
            throw new PartException(
                    "key belongs to part " + number + " of the set, which is not open");
        }
        return parts[number];
    }

    /** The Java machine throws an InternalError where a mapped file was cut, at once or later. */
    private boolean answer(long hash) {
        Part part = partOf(hash);
        if (followed == null) {
            return part.contains(hash);
        }
        try {
            followed.requireUnchanged();
            return part.contains(hash);
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }

    private boolean[] answerAll(int count, IntToLongFunction hashAt, IntFunction<Key> keyAt) {
        boolean[] answers = new boolean[count];
        long[] hashes = new long[BATCH];
        for (int from = 0; from < count; from += BATCH) {
            answerBatch(hashes, Math.min(BATCH, count - from), answers, from, hashAt, keyAt);
        }
        return answers;
    }

    /**
     * Reads one byte of each key's block first. These reads do not wait for each other, so their
     * cache misses overlap; Java has no other way to prefetch. Changes by day come before: what a
     * publish takes out of them is in the filter by then.
     */
    private void answerBatch(long[] hashes, int count, boolean[] answers, int from, IntToLongFunction hashAt, IntFunction<Key> keyAt) {
        Boolean[] byDay = new Boolean[changes == null ? 0 : count];
        int touched = 0;
        int at = 0;
        try {
            if (followed != null) {
                followed.requireUnchanged();
            }
            for (; at < count; at++) {
                int place = from + at;
                hashes[at] = hashAt.applyAsLong(place);
                if (changes != null) {
                    byDay[at] = changes.ask(hashes[at], () -> keyAt.apply(place).bytes);
                }
            }
            for (at = 0; at < count; at++) {
                touched |= partOf(hashes[at]).touch(hashes[at]);
            }
            // A use of the bytes, so that the compiler keeps the reads.
            if (touched == 0) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < count; i++) {
                answers[from + i] = changes != null && byDay[i] != null ? byDay[i] : answer(hashes[i]);
            }
        } catch (KeyException error) {
            throw error.at(from + at);
        } catch (InternalError cut) {
            throw new ChangedFileException(cut);
        }
    }
}
