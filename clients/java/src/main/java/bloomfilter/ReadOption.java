package bloomfilter;

/** How {@link BloomFilter#open} reads files. */
public enum ReadOption {
    /**
     * Map filters' files instead of reading them into the heap: opens at once with {@link #NO_VERIFY}, and
     * shares memory with other processes. Only where files are never changed in place: if a mapped
     * file is truncated, the Java machine reads zeros before it throws, and a zero is a wrong "no".
     */
    MAP,
    /** Leave out the count of the bits and the checksum, which read all blocks. */
    NO_VERIFY
}
