package bloomfilter;

import java.util.Objects;
import java.util.UUID;

/** How {@link BloomFilter#open} reads files. */
public final class ReadOption {
    /**
     * Map filters' files instead of reading them into the heap: opens at once with {@link #NO_VERIFY}, and
     * shares memory with other processes. Only where files are never changed in place: if a mapped
     * file is truncated, the Java machine reads zeros before it throws, and a zero is a wrong "no".
     */
    public static final ReadOption MAP = new ReadOption(null);

    /** Leave out the count of the bits and the checksum, which read all blocks. */
    public static final ReadOption NO_VERIFY = new ReadOption(null);

    final UUID identity;

    private ReadOption(UUID identity) {
        this.identity = identity;
    }

    /** Insist on the list with this identity: the file of another list is refused, and so is one of no list. */
    public static ReadOption identity(UUID list) {
        return new ReadOption(Objects.requireNonNull(list));
    }
}
