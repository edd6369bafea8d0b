package bloomfilter;

import java.math.BigDecimal;

/**
 * A decimal number as it is written: a sign, digits, a point, digits, an exponent.
 *
 * <p>Not BigDecimal: that takes a time that grows with the square of the number of digits to read
 * a number and to leave out its last zeros, and callers pass on what strangers wrote.
 */
final class Decimal {
    /** What numeric can store: digits before the point, and behind it. */
    private static final int WHOLE_DIGITS = 131072;
    private static final int FRACTION_DIGITS = 16383;

    /** PostgreSQL reads no numeric with this exponent, not even of zero. */
    private static final long END_EXPONENT = Integer.MAX_VALUE / 2;

    private static final double DIGITS_PER_BIT = Math.log10(2);

    private final boolean negative;

    /** Those before the point and behind it, and how many there are before it. */
    private final String digits;
    private final int whole;
    private final long exponent;

    private Decimal(boolean negative, String digits, int whole, long exponent) {
        this.negative = negative;
        this.digits = digits;
        this.whole = whole;
        this.exponent = exponent;
    }

    /** A number by the grammar of numeric, or null. */
    static Decimal read(String text) {
        int begin = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
        int point = endOfDigits(text, begin);
        boolean hasPoint = point < text.length() && text.charAt(point) == '.';
        int end = hasPoint ? endOfDigits(text, point + 1) : point;
        String fraction = hasPoint ? text.substring(point + 1, end) : "";
        Long exponent = end == text.length() ? Long.valueOf(0) : readExponent(text, end);
        if (point - begin + fraction.length() == 0 || exponent == null) {
            return null;
        }
        return new Decimal(text.startsWith("-"), text.substring(begin, point) + fraction,
                point - begin, exponent);
    }

    private static int endOfDigits(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return at;
    }

    /** What stands behind an e, or null; beyond all ranges any number will do. */
    private static Long readExponent(String text, int from) {
        if (text.charAt(from) != 'e' && text.charAt(from) != 'E') {
            return null;
        }
        boolean signed = text.startsWith("-", from + 1) || text.startsWith("+", from + 1);
        int begin = from + (signed ? 2 : 1);
        if (begin >= text.length() || endOfDigits(text, begin) != text.length()) {
            return null;
        }
        long value = 0;
        for (int at = begin; at < text.length() && value < END_EXPONENT; at++) {
            value = value * 10 + text.charAt(at) - '0';
        }
        return text.charAt(from + 1) == '-' ? -value : value;
    }

    /** The same, without zeros at its end; the length is checked before digits are made. */
    static Decimal of(BigDecimal value) {
        if (value.signum() == 0) {
            return new Decimal(false, "0", 1, 0);
        }
        double fewest = (value.unscaledValue().bitLength() - 1) * DIGITS_PER_BIT;
        if (fewest > WHOLE_DIGITS + FRACTION_DIGITS) {
            throw new KeyValueException("value has more digits than numeric can store");
        }
        String digits = value.unscaledValue().abs().toString();
        int last = endWithoutZeros(digits);
        return new Decimal(value.signum() < 0, digits.substring(0, last), last,
                digits.length() - last - (long) value.scale());
    }

    boolean isZero() {
        return skipZeros() == digits.length();
    }

    private int skipZeros() {
        int at = 0;
        while (at < digits.length() && digits.charAt(at) == '0') {
            at++;
        }
        return at;
    }

    /** Behind the last digit that is not 0, of which there is one. */
    private static int endWithoutZeros(String digits) {
        int last = digits.length();
        while (digits.charAt(last - 1) == '0') {
            last--;
        }
        return last;
    }

    /** As numeric's key has it: no exponent, no zeros that say nothing. */
    String plain() {
        int first = skipZeros();
        long point = whole + exponent;
        requireStorable(first, point);
        if (first == digits.length()) {
            return "0";
        }
        int last = endWithoutZeros(digits);
        StringBuilder plain = new StringBuilder(negative ? "-" : "");
        if (point <= first) {
            plain.append("0.").append("0".repeat((int) (first - point)));
            return plain.append(digits, first, last).toString();
        }
        if (point >= last) {
            plain.append(digits, first, last);
            return plain.append("0".repeat((int) (point - last))).toString();
        }
        plain.append(digits, first, (int) point);
        return plain.append('.').append(digits, (int) point, last).toString();
    }

    /** Zeros count behind the point, as they do in PostgreSQL, and not before it. */
    private void requireStorable(int first, long point) {
        if (Math.abs(exponent) >= END_EXPONENT) {
            throw new KeyValueException("its exponent is out of numeric's range");
        }
        if (digits.length() - point > FRACTION_DIGITS) {
            throw new KeyValueException("it has more digits after the point than numeric can have");
        }
        if (first < digits.length() && point - first > WHOLE_DIGITS) {
            throw new KeyValueException(
                    "it has more digits before the point than numeric can have");
        }
    }
}
