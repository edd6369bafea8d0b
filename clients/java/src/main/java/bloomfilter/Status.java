package bloomfilter;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * Which content of which list a followed file has, and how fresh it is. Null and 0 are what isn't
 * known; of a filter that nobody follows nothing is.
 */
public final class Status {
    /** Whose word the serial is. */
    public enum Place {
        /** Nobody follows the filter. */
        NONE,
        /** The file is where its follower keeps it: the serial is that of the bits. */
        HERE,
        /** The file is of before this boot: the serial is the one that was saved. */
        OTHER_BOOT,
        /** A copy, a backup or another mount: the serial is the one that it was made with. */
        COPY
    }

    private final Followed file;

    Status(Followed file) {
        this.file = file;
    }

    private long word(int at) {
        return file == null ? 0 : file.word(at);
    }

    private Instant moment(int at) {
        long microseconds = word(at);
        return microseconds <= 0 ? null : Instant.EPOCH.plus(microseconds, ChronoUnit.MICROS);
    }

    private Duration duration(int at) {
        return Duration.of(Math.max(0, word(at)), ChronoUnit.MICROS);
    }

    /** The list's name. */
    public String list() {
        return file == null ? null : file.text(Followed.NAME, Followed.NAME_BYTES);
    }

    /** The list's identity. */
    public UUID identity() {
        if (file == null) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.wrap(file.bytes(Followed.IDENTITY, 16));
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    /** Microseconds since 1970 of its publish: all that this serial has is found, and a later one is greater. */
    public long serial() {
        return file == null ? 0 : file.serial();
    }

    public Place place() {
        return file == null ? Place.NONE : file.place();
    }

    /** What was committed before is in it. */
    public Instant trueAt() {
        return moment(Followed.TRUE_AT);
    }

    /** The follower's last look that went well. */
    public Instant looked() {
        return moment(Followed.LOOKED);
    }

    /** Since that look; below zero: a clock is wrong. Null where nobody looked yet. */
    public Duration age() {
        if (looked() == null) {
            return null;
        }
        Duration age = Duration.between(looked(), Instant.now());
        long then = word(Followed.LOOKED_BOOT);
        Duration boot = Duration.of(Followed.uptime() - then, ChronoUnit.MICROS);
        return place() == Place.HERE && then != 0 && boot.compareTo(age) > 0 ? boot : age;
    }

    /** Between two looks. */
    public Duration every() {
        return duration(Followed.EVERY);
    }

    /** Between two manifests of the exporter at most; 0 where none is promised. */
    public Duration heartbeat() {
        return duration(Followed.HEARTBEAT);
    }

    /** When signed content is not to be trusted any more. */
    public Instant expires() {
        return moment(Followed.EXPIRES);
    }

    /** Looks that failed since the last one that went well. */
    public long failures() {
        return word(Followed.FAILURES);
    }

    /** When the first of them was. */
    public Instant since() {
        return moment(Followed.SINCE);
    }

    /** What is wrong, one of the words of {@code bloomfilter status}; empty where nothing is. */
    public String word() {
        return file == null ? "" : file.text(Followed.WORD, Followed.WORD_BYTES);
    }

    /** Why. */
    public String text() {
        return file == null ? "" : file.text(Followed.TEXT, Followed.TEXT_BYTES);
    }

    /** Whether another file took the place of this one. */
    public boolean isSuperseded() {
        return word(Followed.SUPERSEDED) != 0;
    }
}
