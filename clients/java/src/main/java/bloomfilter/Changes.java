package bloomfilter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Keys that were changed by day since their list was published: the table behind the parts of a
 * followed file. doc/FEED.md, section 7, describes it.
 */
final class Changes {
    private static final int COUNT = 608;
    private static final int SLOT = 32;
    private static final int TAG = 8;
    private static final int STATE = 24;
    private static final VarHandle WORDS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final ByteBuffer page;

    /** The slots, and behind them their bits; empty where there is none. */
    private final ByteBuffer table;
    private final int slots;
    private final int shift;

    Changes(ByteBuffer page, ByteBuffer table, int log2Slots) {
        this.page = page;
        this.table = table;
        slots = table.limit() / (SLOT + 1);
        shift = Long.SIZE - log2Slots;
    }

    /** Bytes of a table with so many slots, given as their log2; 0 of none; -1 if there can be no such table. */
    static long bytes(int log2Slots) {
        return log2Slots == 0 ? 0 : log2Slots < 10 || log2Slots > 22 ? -1 : (SLOT + 1L) << log2Slots;
    }

    /** Keys that were changed; 0 of most files, and then the table isn't looked at. */
    long count() {
        return (long) WORDS.getAcquire(page, COUNT);
    }

    /** Whether the bit of a hash is set in a table that is there: else no entry has this hash. */
    private boolean mayHave(long hash) {
        long bit = hash >>> shift - 3;
        return ((long) WORDS.getAcquire(table, slots * SLOT + (int) (bit / Long.SIZE) * Long.BYTES) >>> bit & 1) != 0;
    }

    /**
     * The answer for a key that was changed, else null. A slot's state is loaded before its key is
     * compared, as the follower stores it last. The key is made only for its tag.
     */
    Boolean ask(long hash, Supplier<byte[]> key) {
        if (count() == 0 || slots > 0 && !mayHave(hash)) {
            return null;
        }
        byte[] tag = null;
        for (int i = 0; i < slots; i++) {
            int at = ((int) (hash >>> shift) + i & slots - 1) * SLOT;
            long state = (long) WORDS.getAcquire(table, at + STATE);
            if (state == 0) {
                return null;
            }
            if (table.getLong(at) != hash) {
                continue;
            }
            tag = tag == null ? tagOf(key.get()) : tag;
            byte[] there = new byte[tag.length];
            table.duplicate().position(at + TAG).get(there);
            if (Arrays.equals(tag, there)) {
                return (state & 1) != 0;
            }
        }
        throw new ChangesException();
    }

    private static byte[] tagOf(byte[] key) {
        try {
            return Arrays.copyOf(MessageDigest.getInstance("SHA-256").digest(key), STATE - TAG);
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
