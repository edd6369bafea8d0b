package bloomfilter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Nanoseconds per look-up, beside a HashSet, as ratios of one run.
 *
 * <p>Bench [MEGABYTES] [KEYS_IN_SET]. The filter's bits are random and half of them are set, as in
 * a full filter of its size at 1 %; 100,000 keys are added so that there are members to ask for.
 * Keys are asked in random order.
 */
public final class Bench {
    private static final int ASKED = 500_000;
    private static final int ROUNDS = 12;

    private final Random random = new Random(1);
    private final Set<Long> set = new HashSet<>();
    private final long[] members = new long[ASKED];
    private final long[] strangers = new long[ASKED];
    private final Map<String, LongSupplier> tasks = new LinkedHashMap<>();

    private Bench() {
    }

    public static void main(String[] arguments) throws IOException {
        int megabytes = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 124;
        int inSet = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 4_000_000;
        Path path = Files.createTempFile("bench", ".bloom");
        try {
            new Bench().run(path, megabytes, inSet);
        } finally {
            Files.delete(path);
        }
    }

    private void run(Path path, int megabytes, int inSet) throws IOException {
        makeKeys();
        Files.write(path, makeFilter(megabytes * 1_000_000 / 64));
        fillSet(inSet);
        long start = System.nanoTime();
        BloomFilter filter = BloomFilter.open(path);
        System.out.printf("filter %d MB, opened and verified in %.2f s; HashSet of %d Longs;"
                + " (times the set's)%n", megabytes, (System.nanoTime() - start) / 1e9, inSet);

        tasks.put("HashSet, there", () -> countSet(members));
        tasks.put("HashSet, not there", () -> countSet(strangers));
        tasks.put("BloomFilter, there", () -> countOne(filter, members));
        tasks.put("BloomFilter, not there", () -> countOne(filter, strangers));
        tasks.put("BloomFilter batch, there", () -> countBatch(filter, members));
        tasks.put("BloomFilter batch, not there", () -> countBatch(filter, strangers));
        BloomFilter mapped = BloomFilter.open(path, ReadOption.MAP);
        tasks.put("mapped, there", () -> countOne(mapped, members));
        addTexts(path);
        measure();
    }

    private void makeKeys() {
        long[] added = random.longs(100_000, 0, Long.MAX_VALUE).toArray();
        for (int i = 0; i < ASKED; i++) {
            members[i] = added[random.nextInt(added.length)];
            strangers[i] = -1 - (random.nextLong() >>> 1);
        }
    }

    private byte[] makeFilter(int blocks) {
        Support.Shape shape = new Support.Shape();
        shape.blocks = blocks;
        byte[] body = new byte[blocks * 64];
        random.nextBytes(body);
        for (long key : members) {
            Support.add(body, shape, Xxh64.of(Key.integerBytes(key), 0));
        }
        return Support.seal(shape, body);
    }

    private void fillSet(int inSet) {
        for (long key : members) {
            set.add(key);
        }
        while (set.size() < inSet) {
            set.add(random.nextLong() >>> 1);
        }
    }

    /** The best of some rounds, the tasks in turn, so that a busy machine is busy for all. */
    private void measure() {
        Map<String, Double> best = new LinkedHashMap<>();
        long sink = 0;
        for (int i = 0; i < ROUNDS; i++) {
            for (Map.Entry<String, LongSupplier> task : tasks.entrySet()) {
                long start = System.nanoTime();
                sink += task.getValue().getAsLong();
                best.merge(task.getKey(), (System.nanoTime() - start) / (double) ASKED, Math::min);
            }
        }
        if (sink == Long.MIN_VALUE) {
            System.out.println("never");
        }
        double base = best.values().iterator().next();
        best.forEach((name, nanoseconds) -> System.out.printf("%-36s %6.1f ns (%.2f)%n", name,
                nanoseconds, nanoseconds / base));
    }

    private long countSet(long[] keys) {
        long count = 0;
        for (long key : keys) {
            count += set.contains(key) ? 1 : 0;
        }
        return count;
    }

    private static long countOne(BloomFilter filter, long[] keys) {
        long count = 0;
        for (long key : keys) {
            count += filter.contains(key) ? 1 : 0;
        }
        return count;
    }

    private static long countBatch(BloomFilter filter, long[] keys) {
        long count = 0;
        for (int from = 0; from < keys.length; from += 1000) {
            for (boolean found : filter.containsMany(Arrays.copyOfRange(keys, from, from + 1000))) {
                count += found ? 1 : 0;
            }
        }
        return count;
    }

    /** Texts, with the key type of the file changed. */
    private void addTexts(Path path) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        bytes[7] = (byte) KeyType.TEXT.ordinal();
        BloomFilter text = BloomFilter.fromBytes(Support.sealHeader(bytes), ReadOption.NO_VERIFY);
        List<String> texts = random.longs(ASKED).mapToObj(bits -> new UUID(bits, ~bits).toString())
                .collect(Collectors.toList());
        tasks.put("BloomFilter, text of 36, not there",
                () -> texts.stream().filter(text::contains).count());
    }
}
