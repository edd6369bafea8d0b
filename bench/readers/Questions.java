import bloomfilter.BloomFilter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;

/** Questions FOLLOWED PLAIN PAIRS: a line for each pair, ns per look-up of random integers in each file. */
public final class Questions {
    private static final int ASKED = 1_000_000;

    /** Pairs before those that count, for the compiler. */
    private static final int WARM_UP = 5;

    private Questions() {
    }

    public static void main(String[] arguments) throws IOException {
        BloomFilter followed = BloomFilter.open(Path.of(arguments[0]));
        BloomFilter plain = BloomFilter.open(Path.of(arguments[1]));
        int pairs = Integer.parseInt(arguments[2]);
        long[] keys = new Random().longs(ASKED).toArray();
        for (int i = -WARM_UP; i < pairs; i++) {
            String line = String.format("%.3f %.3f", measure(followed, keys), measure(plain, keys));
            if (i >= 0) {
                System.out.println(line);
            }
        }
    }

    private static double measure(BloomFilter file, long[] keys) {
        int found = 0;
        long start = System.nanoTime();
        for (long key : keys) {
            found += file.contains(key) ? 1 : 0;
        }
        double nanoseconds = (System.nanoTime() - start) / (double) ASKED;
        return found < 0 ? 0 : nanoseconds;
    }
}
