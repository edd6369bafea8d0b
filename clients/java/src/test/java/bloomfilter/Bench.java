package bloomfilter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
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

    /** What the extension gives a key at 1 %, in bits. */
    private static final double BITS_PER_KEY = 9.92;

    private final Random random = new Random(1);
    private final Set<Long> set = new HashSet<>();
    private final long[] members = new long[ASKED];
    private final long[] strangers = new long[ASKED];
    private double base;

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
        long before = usedMemory();
        fillSet(inSet);
        long setBytes = usedMemory() - before;
        long start = System.nanoTime();
        BloomFilter filter = BloomFilter.open(path);
        System.out.printf("filter %d MB, opened and verified in %.2f s; HashSet of %d Longs;"
                + " (times the set's)%n", megabytes, (System.nanoTime() - start) / 1e9, inSet);

        base = measure(() -> countSet(members));
        report("HashSet, there", base);
        report("HashSet, not there", measure(() -> countSet(strangers)));
        report("BloomFilter, there", measure(() -> countOne(filter, members)));
        report("BloomFilter, not there", measure(() -> countOne(filter, strangers)));
        report("BloomFilter batch, there", measure(() -> countBatch(filter, members)));
        report("BloomFilter batch, not there", measure(() -> countBatch(filter, strangers)));
        BloomFilter mapped = BloomFilter.open(path, ReadOption.MAP);
        report("mapped, there", measure(() -> countOne(mapped, members)));
        report("mapped batch, there", measure(() -> countBatch(mapped, members)));
        measureTexts(path);
        System.out.printf("memory: HashSet %.0f bits per key, filter %.1f%n",
                setBytes * 8.0 / inSet, BITS_PER_KEY);
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
            long hash = Xxh64.of(Key.integerBytes(key), 0);
            int start = (int) Hash.reduce(hash, blocks) * 64;
            for (int bit : Support.positions(hash, shape.k, shape.log2BlockBits)) {
                body[start + (bit >> 3)] |= 1 << (bit & 7);
            }
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

    private static long usedMemory() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** The best of some rounds, after those that the compiler needs. */
    private double measure(LongSupplier round) {
        double best = Double.MAX_VALUE;
        long sink = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long start = System.nanoTime();
            sink += round.getAsLong();
            best = Math.min(best, (System.nanoTime() - start) / (double) ASKED);
        }
        if (sink == Long.MIN_VALUE) {
            System.out.println("never");
        }
        return best;
    }

    private void report(String name, double nanoseconds) {
        System.out.printf("%-36s %6.1f ns (%.2f)%n", name, nanoseconds, nanoseconds / base);
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

    /** Texts and objects, with the key type of the file changed. */
    private void measureTexts(Path path) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        List<UUID> uuids = random.longs(ASKED).mapToObj(bits -> new UUID(bits, ~bits))
                .collect(Collectors.toList());
        List<String> texts = uuids.stream().map(UUID::toString).collect(Collectors.toList());
        BloomFilter text = retyped(bytes, KeyType.TEXT);
        report("BloomFilter, text of 36, not there",
                measure(() -> texts.stream().filter(text::contains).count()));
        BloomFilter uuid = retyped(bytes, KeyType.UUID);
        report("BloomFilter, UUID, not there",
                measure(() -> uuids.stream().filter(uuid::contains).count()));
    }

    private static BloomFilter retyped(byte[] bytes, KeyType type) throws IOException {
        bytes[7] = (byte) type.ordinal();
        return BloomFilter.fromBytes(Support.sealHeader(bytes), ReadOption.NO_VERIFY);
    }
}
