import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.util.Random;

/** Debian's libguava-java: Guava KEYS ROUNDS prints contender, operation, ns per look-up. */
public final class Guava {
    private static final int ASKED = 500_000;
    private static final int WARM_UP = 5;

    private Guava() {
    }

    public static void main(String[] arguments) {
        int count = Integer.parseInt(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        BloomFilter<Long> filter = BloomFilter.create(Funnels.longFunnel(), count, 0.01);
        for (long key = 0; key < count; key++) {
            filter.put(key);
        }
        long[] there = new Random(1).longs(ASKED, 0, count).toArray();
        long[] absent = new Random(2).longs(ASKED, count, Long.MAX_VALUE).toArray();
        for (int i = -WARM_UP; i < rounds; i++) {
            measure("there", filter, there, i >= 0);
            measure("absent", filter, absent, i >= 0);
        }
    }

    private static void measure(String operation, BloomFilter<Long> filter, long[] keys, boolean told) {
        int found = 0;
        long start = System.nanoTime();
        for (long key : keys) {
            found += filter.mightContain(key) ? 1 : 0;
        }
        double nanoseconds = (System.nanoTime() - start) / (double) ASKED;
        if (told || found < 0) {
            System.out.printf("Guava\t%s\t%.2f%n", operation, nanoseconds);
        }
    }
}
