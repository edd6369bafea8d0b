package bloomfilter;

import java.time.LocalDate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of dates and timestamps, which needs no time zone and no DateStyle. */
final class TimeText {
    private static final String DATE_FORM = "([0-9]{4,7})-([0-9]{2})-([0-9]{2})";
    private static final String CLOCK_FORM =
            "([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.([0-9]{1,6}))?";
    private static final String OFFSET_FORM =
            "(?:Z|([+-])([0-9]{2})(?:([0-9]{2})|:([0-9]{2})(?::([0-9]{2}))?)?)";
    private static final String BC_FORM = "(?<bc> [bB][cC])?";

    private static final Pattern DATE = Pattern.compile(DATE_FORM + BC_FORM);
    private static final Pattern TIMESTAMP =
            Pattern.compile(DATE_FORM + "[ T]" + CLOCK_FORM + BC_FORM);
    private static final Pattern TIMESTAMPTZ =
            Pattern.compile(DATE_FORM + "[ T]" + CLOCK_FORM + OFFSET_FORM + BC_FORM);

    private static final int DAY = 86400;
    private static final int END_OFFSET = 16 * 3600;

    private TimeText() {
    }

    static Key date(String text) {
        Key infinity = infinity(KeyType.DATE, text);
        return infinity != null ? infinity : Key.days(day(matched(DATE, text,
                "it must be a date such as 2024-02-29, 0044-03-15 BC, infinity or -infinity")));
    }

    static Key timestamp(String text) {
        Key infinity = infinity(KeyType.TIMESTAMP, text);
        return infinity != null ? infinity : moment(KeyType.TIMESTAMP, matched(TIMESTAMP, text,
                "it must be a timestamp such as 2024-02-29 12:34:56.789"), 0);
    }

    static Key timestamptz(String text) {
        Key infinity = infinity(KeyType.TIMESTAMPTZ, text);
        if (infinity != null) {
            return infinity;
        }
        Matcher fields = matched(TIMESTAMPTZ, text, "it must be a timestamp with an offset from"
                + " UTC, such as 2024-02-29 12:34:56.789+01");
        return moment(KeyType.TIMESTAMPTZ, fields, offset(fields));
    }

    private static Matcher matched(Pattern pattern, String text, String reason) {
        Matcher matcher = pattern.matcher(text);
        KeyText.require(matcher.matches(), reason);
        return matcher;
    }

    private static Key infinity(KeyType type, String text) {
        boolean minus = text.startsWith("-");
        boolean named = KeyText.isWord(minus ? text.substring(1) : text, "infinity");
        return named ? Key.infinity(type, !minus) : null;
    }

    /** Days from 1970. The year before 1 is 1 BC. */
    private static long day(Matcher fields) {
        int year = number(fields, 1);
        KeyText.require(year != 0, "there is no year 0");
        return LocalDate.of(fields.group("bc") == null ? year : 1 - year, number(fields, 2),
                number(fields, 3)).toEpochDay();
    }

    /** The range is that of the instant: the offset may lead into it. */
    private static Key moment(KeyType type, Matcher fields, int offset) {
        String fraction = fields.group(7) == null ? "" : fields.group(7);
        int micros = Integer.parseInt((fraction + "000000").substring(0, 6));
        int clock = clock(fields, micros);
        return Key.moment(type, day(fields) * DAY + clock - offset, micros * 1000);
    }

    /** Seconds since midnight; 24:00:00 is the next one. */
    private static int clock(Matcher fields, int micros) {
        int minute = number(fields, 5);
        int second = number(fields, 6);
        int clock = (number(fields, 4) * 60 + minute) * 60 + second;
        KeyText.require(minute < 60 && second < 60 && (clock < DAY || clock == DAY && micros == 0),
                "there is no such time of the day");
        return clock;
    }

    /** Seconds that Z, +02, +0230, -04:30 or +05:53:28 is ahead of UTC. */
    private static int offset(Matcher fields) {
        int minute = number(fields, 10) + number(fields, 11);
        int second = number(fields, 12);
        int ahead = (number(fields, 9) * 60 + minute) * 60 + second;
        KeyText.require(minute < 60 && second < 60 && ahead < END_OFFSET,
                "offsets from UTC are less than 16 hours");
        return "-".equals(fields.group(8)) ? -ahead : ahead;
    }

    /** 0 for a group that is not there. */
    private static int number(Matcher fields, int group) {
        return fields.group(group) == null ? 0 : Integer.parseInt(fields.group(group));
    }
}
