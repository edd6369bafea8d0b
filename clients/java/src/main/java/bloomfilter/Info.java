package bloomfilter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A filter, or the open parts of a set taken as one, by its headers. How many keys it has and what
 * rate it keeps now is told by SQL's bloom_stats and by {@code bloomfilter info}.
 */
public final class Info {
    private final int kind;
    private final List<Header> headers;

    Info(int kind, List<Header> headers) {
        this.kind = kind;
        this.headers = headers;
    }

    /** Keys that it was sized for, of all open parts. */
    public long n() {
        return headers.stream().mapToLong(h -> h.n).reduce(0, Info::sum);
    }

    /** Stops at the largest number: each of two addends may be near it. */
    private static long sum(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    /** The rate that it was sized for; the highest of the parts. */
    public double p() {
        return headers.stream().mapToDouble(h -> h.p).max().getAsDouble();
    }

    public long bits() {
        return headers.stream().mapToLong(h -> h.first.bits()).sum();
    }

    /** Of all files, headers included. */
    public long bytes() {
        return headers.stream().mapToLong(h -> h.bytes).sum();
    }

    /** Bits of a key; the first part's. */
    public int hashes() {
        return headers.get(0).first.probes;
    }

    /** Bits of a block; the first part's. */
    public int blockBits() {
        return 1 << headers.get(0).first.log2BlockBits;
    }

    public long blocks() {
        return headers.stream().mapToLong(h -> h.first.blocks).sum();
    }

    /** The seed of the hash, signed as in SQL. */
    public long seed() {
        return headers.get(0).seed;
    }

    public KeyType keyType() {
        return KeyType.ofKind(kind);
    }

    /** The key types of a row's columns; empty for other keys. */
    public List<KeyType> columns() {
        return KeyType.columns(kind);
    }

    public long bitsSet() {
        return headers.stream().mapToLong(h -> h.first.bitsSet).sum();
    }

    /** The share of bits that are set; close to 1/2 when n keys are in. */
    public double fill() {
        return (double) bitsSet() / bits();
    }

    /** Which part this is; 0 for a whole set. */
    public int part() {
        return headers.size() == 1 ? headers.get(0).part : 0;
    }

    /** Parts of the whole set, open or not. */
    public int parts() {
        return headers.get(0).parts;
    }

    /** 1, or 2 of an exact filter. */
    public int formatVersion() {
        return headers.get(0).levels.size() == 1 ? 1 : 2;
    }

    /** Of an exact filter: keys that it knows and that are no members, as it was planned. */
    public long others() {
        return headers.stream().mapToLong(h -> h.others).reduce(0, Info::sum);
    }

    /** 16 hexadecimal digits, as the command line has them; the same are the same bytes. */
    public String checksum() {
        long whole = headers.get(0).checksum;
        for (Header header : headers.subList(1, headers.size())) {
            whole = Xxh64.of(ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(whole).putLong(header.checksum).array(), 0);
        }
        return String.format(Locale.ROOT, "%016x", whole);
    }

    /** The open parts one by one. */
    public List<Info> filters() {
        return headers.stream().map(header -> new Info(header.kind, List.of(header)))
                .collect(Collectors.toUnmodifiableList());
    }
}
