package bloomfilter;

/** What a filter's fill says about the keys in it: sections 9 and 11 of FORMAT.md. */
final class Estimate {
    /** How small a number of keys' share may be to be left out. */
    private static final double NEGLIGIBLE = 1e-18;

    /** By how many standard deviations the fill must exceed what the capacity explains. */
    private static final double SURE = 5;

    private static final double ALL_HASHES = 0x1p64;

    /** Of absent keys, the share that is let through. */
    final double rate;

    /** Set in one block. */
    final double bits;
    final double variance;

    private Estimate(double rate, double bits, double variance) {
        this.rate = rate;
        this.bits = bits;
        this.variance = variance;
    }

    /** The number of different keys. A full filter is taken for one that misses half a bit. */
    static double cardinality(Header header) {
        double share = Math.min(header.bitsSet(), header.bits() - 0.5) / header.bits();
        double hit = -Math.expm1(header.k() * Math.log1p(-1 / blockBits(header)));
        return Math.log1p(-share) / Math.log1p(-hit / header.blocks());
    }

    /** The rate to be expected with the keys that are in it now. */
    static double rate(Header header) {
        return of(header, cardinality(header)).rate;
    }

    /** Whether it surely holds more keys than it was sized for. */
    static boolean overCapacity(Header header) {
        if (cardinality(header) <= header.n()) {
            return false;
        }
        double blocks = header.blocks();
        Estimate full = of(header, header.n());
        return header.bitsSet()
                > blocks * full.bits + SURE * Math.sqrt(blocks * full.variance);
    }

    private static double blockBits(Header header) {
        return 1L << header.log2BlockBits();
    }

    /**
     * With n keys: a sum over the number of keys in a block, which is binomial, from the likeliest
     * number outwards both ways.
     */
    static Estimate of(Header header, double n) {
        Sums sums = new Sums(blockBits(header), header.k());
        double blocks = header.blocks();
        if (blocks == 1) {
            sums.add(1, Math.ceil(n));
            return sums.mean(n);
        }
        double middle = Math.floor(n / blocks);
        double weight = 1;
        for (double j = middle; weight > NEGLIGIBLE; j++) {
            sums.add(weight, j);
            weight *= (n - j) / (blocks - 1) / (j + 1);
        }
        weight = 1;
        for (double j = middle; j >= 1; j--) {
            // The weight of j keys is that of j - 1 times this.
            weight /= (n - j + 1) / (blocks - 1) / j;
            if (weight <= NEGLIGIBLE) {
                break;
            }
            sums.add(weight, j - 1);
        }
        return sums.mean(n);
    }

    /** Weighted sums over blocks with different numbers of keys. */
    private static final class Sums {
        private final double bits;
        private final int k;

        /** The logarithms of the shares of bits, and of pairs, that one key leaves empty. */
        private final double step1;
        private final double step2;
        private double total;
        private double rate;
        private double share;
        private double squares;

        Sums(double bits, int k) {
            this.bits = bits;
            this.k = k;
            step1 = k * Math.log1p(-1 / bits);
            step2 = k * Math.log1p(-2 / bits);
        }

        void add(double weight, double keys) {
            double empty1 = Math.exp(keys * step1);
            double empty2 = Math.exp(keys * step2);
            double mean = 1 - empty1;
            double variance =
                    Math.max(empty1 / bits + (1 - 1 / bits) * empty2 - empty1 * empty1, 0);
            total += weight;
            rate += weight * normalMoment(mean, variance, k);
            share += weight * mean;
            squares += weight * (variance + mean * mean);
        }

        /** Two different keys of one hash can't be told apart, either. */
        Estimate mean(double n) {
            double mean = share / total;
            double found = rate / total;
            double collision = Math.min(n / ALL_HASHES, 1);
            return new Estimate(found + (1 - found) * collision, mean * bits,
                    (squares / total - mean * mean) * bits * bits);
        }
    }

    /** The expected k-th power of a normal share of set bits. */
    private static double normalMoment(double mean, double variance, int k) {
        if (mean <= 0) {
            return 0;
        }
        double ratio = variance / (mean * mean);
        double sum = 1;
        double term = 1;
        for (int i = 0; i + 2 <= k; i += 2) {
            term *= ratio * (k - i) * (k - i - 1) / (i + 2);
            sum += term;
        }
        return sum * Math.pow(mean, k);
    }
}
