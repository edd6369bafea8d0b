import bloomfilter.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * What look-ups of integers cost in Java, the contenders in turns in one process.
 *
 * <p>Questions KEYS ROUNDS CONTENDER... A contender is a file that holds 1 to KEYS; or HashSet or
 * Guava, which are filled with them. Prints contender, operation and ns per look-up of each round.
 */
public final class Questions {
    private static final int ASKED = 500_000;

    /** Rounds before those that count, for the compiler. */
    private static final int WARM_UP = 5;

    private static final Random RANDOM = new Random(1);

    private static int found;

    /** Ways to look up all keys; their names are a contender and the begin of an operation. */
    private static final Map<String, Consumer<long[]>> WAYS = new LinkedHashMap<>();

    private Questions() {
    }

    public static void main(String[] arguments) throws IOException {
        int count = Integer.parseInt(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        for (int i = 2; i < arguments.length; i++) {
            LongPredicate contender = create(arguments[i], count);
            WAYS.put(arguments[i] + "\t", keys -> askSingly(contender, keys));
        }
        for (int i = -WARM_UP; i < rounds; i++) {
            measure("there", () -> RANDOM.longs(ASKED, 1, count + 1), i >= 0);
            measure("absent", () -> RANDOM.longs(ASKED), i >= 0);
        }
    }

    private static LongPredicate create(String contender, int count) throws IOException {
        switch (contender) {
            case "HashSet":
                Set<Long> set = new HashSet<>();
                for (long key = 1; key <= count; key++) {
                    set.add(key);
                }
                return set::contains;
            case "Guava":
                var guava = com.google.common.hash.BloomFilter.create(Funnels.longFunnel(), count, 0.01);
                for (long key = 1; key <= count; key++) {
                    guava.put(key);
                }
                return guava::mightContain;
            default:
                BloomFilter filter = BloomFilter.open(Path.of(contender));
                WAYS.put(contender + "\tbatch ", filter::containsMany);
                return filter::contains;
        }
    }

    private static void askSingly(LongPredicate contender, long[] keys) {
        for (long key : keys) {
            found += contender.test(key) ? 1 : 0;
        }
    }

    /** Asks for others each time: what was just asked is in the processor's cache. */
    private static void measure(String operation, Supplier<LongStream> sample, boolean told) {
        WAYS.forEach((name, run) -> {
            long[] keys = sample.get().toArray();
            long start = System.nanoTime();
            run.accept(keys);
            double nanoseconds = (System.nanoTime() - start) / (double) ASKED;
            if (told) {
                System.out.printf("%s%s\t%.2f%n", name, operation, nanoseconds);
            }
        });
    }
}
