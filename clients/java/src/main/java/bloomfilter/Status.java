package bloomfilter;

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

    /** So many looks may be missed, and a clock may be ahead by so much. */
    private static final int MISSED_LOOKS = 3;
    private static final Duration AHEAD = Duration.ofMinutes(1);

    /** Null where nobody follows it. */
    private final Followed file;
    private final String list;
    private final UUID identity;
    private final long serial;
    private final Place place;
    private final Instant trueAt;
    private final long changes;

    /** Reads the page. */
    Status(Followed page) {
        list = page == null ? null : page.name();
        identity = page == null ? null : page.identity();
        serial = page == null ? 0 : page.serial();
        place = page == null ? Place.NONE : page.place;
        file = place == Place.NONE ? null : page;
        changes = page == null || page.changes == null ? 0 : page.changes.count();
        trueAt = place == Place.HERE ? moment(Followed.TRUE_AT) : null;
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
        return list;
    }

    /** The list's identity. */
    public UUID identity() {
        return identity;
    }

    /** Microseconds since 1970 of its publish: all that this serial has is found, and a later one is greater. */
    public long serial() {
        return serial;
    }

    public Place place() {
        return place;
    }

    /** What was committed before is in it; known where the place is HERE. */
    public Instant trueAt() {
        return trueAt;
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

    /** When the reason came. */
    public Instant since() {
        return moment(Followed.SINCE);
    }

    /** What is wrong, one of the reasons of {@code bloomfilter status}; empty where nothing is. */
    public String reason() {
        String said = said();
        return said.isEmpty() ? isAhead() ? "clock" : isOld() ? "old" : "" : said;
    }

    /** It in a sentence. */
    public String message() {
        if (!said().isEmpty()) {
            return file.said(Followed.TEXT, Followed.TEXT_BYTES);
        }
        return isAhead() ? "the last look is " + -age().toSeconds() + " s in the future"
                : isOld() ? "no look for " + age().toSeconds() + " s" : "";
    }

    private String said() {
        return file == null ? "" : file.said(Followed.WORD, Followed.WORD_BYTES);
    }

    private boolean isAhead() {
        return age() != null && age().compareTo(AHEAD.negated()) < 0;
    }

    /** What a follower that is no more can't write into its page. */
    private boolean isOld() {
        return age() != null && !every().isZero() && age().dividedBy(MISSED_LOOKS).compareTo(every()) > 0;
    }

    /** Keys that were changed by day since the list was published. */
    public long changes() {
        return changes;
    }

    /** Whether another file took the place of this one. */
    public boolean isSuperseded() {
        return word(Followed.SUPERSEDED) != 0;
    }
}
