package bloomfilter;

import java.util.List;

/** What a filter, or a set of parts taken as one, says about itself. */
public final class Info {
    private final int kind;
    private final List<Header> filters;

    Info(int kind, List<Header> filters) {
        this.kind = kind;
        this.filters = filters;
    }

    public KeyType keyType() {
        return Kind.type(kind);
    }

    /** The key types of a row's columns; empty for other keys. */
    public List<KeyType> columns() {
        return Kind.columns(kind);
    }

    /** The headers of the open parts. */
    public List<Header> filters() {
        return filters;
    }

    /** Parts of the whole set, open or not. */
    public int parts() {
        return filters.get(0).parts();
    }

    public long seed() {
        return filters.get(0).seed();
    }

    /** Keys that the open parts were sized for. */
    public long n() {
        return filters.stream().mapToLong(Header::n).sum();
    }

    /** The rate it was sized for; the highest of the parts. */
    public double p() {
        return filters.stream().mapToDouble(Header::p).max().getAsDouble();
    }

    /** Bytes of all files. */
    public long size() {
        return filters.stream().mapToLong(Header::size).sum();
    }

    public long bits() {
        return filters.stream().mapToLong(Header::bits).sum();
    }

    public long bitsSet() {
        return filters.stream().mapToLong(Header::bitsSet).sum();
    }

    /** The share of bits that are set; close to 1/2 when n keys are in. */
    public double fill() {
        return (double) bitsSet() / bits();
    }

    /** The number of keys added, from the bits set; infinite if all of a part are set. */
    public double estimatedKeys() {
        return filters.stream().mapToDouble(Header::estimatedKeys).sum();
    }

    @Override
    public String toString() {
        return String.format("%d %s keys at %s, %d parts, %d bytes", n(), Kind.describe(kind), p(), parts(),
                size());
    }
}
