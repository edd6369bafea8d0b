package bloomfilter;

import java.math.BigDecimal;

/**
 * The shortest plain decimal of a number, as numeric keys have it.
 *
 * <p>On digits as text: BigDecimal divides by ten once for each zero at the end, which took
 * seconds for the longest numerics. What is too long is refused before it is expanded.
 */
final class Decimal {
    private static final int WHOLE_DIGITS = 131072;
    private static final int FRACTION_DIGITS = 16383;

    /** PostgreSQL reads no numeric with this exponent, not even of zero. */
    private static final long END_EXPONENT = Integer.MAX_VALUE / 2;

    /** Bits that no numeric has. */
    private static final long MOST_BITS = (WHOLE_DIGITS + FRACTION_DIGITS) * 10L / 3;

    private final String text;
    private int at;

    private Decimal(String text) {
        this.text = text;
    }

    /** Of a decimal with or without an exponent; null if it is none that numeric has. */
    static String ofText(String text) {
        Decimal decimal = new Decimal(text);
        boolean negative = decimal.take('-');
        if (!negative) {
            decimal.take('+');
        }
        String whole = decimal.digits();
        String fraction = decimal.take('.') ? decimal.digits() : "";
        long exponent = decimal.exponent();
        if (whole.length() + fraction.length() == 0 || decimal.at != text.length()
                || Math.abs(exponent) >= END_EXPONENT
                || fraction.length() - exponent > FRACTION_DIGITS) {
            return null;
        }
        return plain(negative, whole + fraction, fraction.length() - exponent);
    }

    /** Null if it is out of numeric's range. */
    static String of(BigDecimal value) {
        if (value.unscaledValue().bitLength() > MOST_BITS) {
            return null;
        }
        String digits = value.unscaledValue().abs().toString();
        return plain(value.signum() < 0, digits, value.scale());
    }

    /** The digits with a point before the last so many of them. */
    private static String plain(boolean negative, String digits, long scale) {
        int first = 0;
        int end = digits.length();
        while (first < end && digits.charAt(first) == '0') {
            first++;
        }
        if (first == end) {
            return "0";
        }
        // Where the point is, counted from the first digit.
        long point = digits.length() - scale;
        while (end > Math.max(point, first) && digits.charAt(end - 1) == '0') {
            end--;
        }
        if (point - first > WHOLE_DIGITS || end - point > FRACTION_DIGITS) {
            return null;
        }
        return spell(negative, digits, first, end, (int) point);
    }

    private static String spell(boolean negative, String digits, int first, int end, int point) {
        StringBuilder plain = new StringBuilder(negative ? "-" : "");
        if (point <= first) {
            plain.append('0');
        } else {
            plain.append(digits, first, Math.min(point, end))
                    .append("0".repeat(Math.max(point - end, 0)));
        }
        if (end > point) {
            plain.append('.').append("0".repeat(Math.max(first - point, 0)))
                    .append(digits, Math.max(first, point), end);
        }
        return plain.toString();
    }

    private boolean take(char character) {
        boolean there = at < text.length() && text.charAt(at) == character;
        at += there ? 1 : 0;
        return there;
    }

    private String digits() {
        int begin = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return text.substring(begin, at);
    }

    /** 0 where none is written; one that is too large whatever its digits are then. */
    private long exponent() {
        if (!take('e') && !take('E')) {
            return 0;
        }
        boolean negative = take('-');
        if (!negative) {
            take('+');
        }
        String digits = digits();
        if (digits.isEmpty()) {
            return END_EXPONENT;
        }
        long value = 0;
        for (int i = 0; i < digits.length() && value < END_EXPONENT; i++) {
            value = value * 10 + digits.charAt(i) - '0';
        }
        return negative ? -value : value;
    }
}
