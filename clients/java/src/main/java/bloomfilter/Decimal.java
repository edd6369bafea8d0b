package bloomfilter;

import java.math.BigDecimal;

/**
 * A numeric in its one spelling: no exponent, no zeros that say nothing.
 *
 * <p>Not by BigDecimal's own methods: these take a time that grows with the square of the number of
 * digits to leave out the last zeros, and callers pass on what strangers wrote.
 */
final class Decimal {
    /** What numeric can store: digits before the point, and behind it. */
    private static final int WHOLE_DIGITS = 131072;
    private static final int FRACTION_DIGITS = 16383;

    private static final double DIGITS_PER_BIT = Math.log10(2);

    private Decimal() {
    }

    /** The length is checked before digits are made. */
    static String plain(BigDecimal value) {
        if (value.signum() == 0) {
            return "0";
        }
        double fewest = (value.unscaledValue().bitLength() - 1) * DIGITS_PER_BIT;
        require(fewest <= WHOLE_DIGITS + FRACTION_DIGITS);
        String digits = value.unscaledValue().abs().toString();
        int last = digits.length();
        while (digits.charAt(last - 1) == '0') {
            last--;
        }
        long point = (long) digits.length() - value.scale();
        require(point <= WHOLE_DIGITS && last - point <= FRACTION_DIGITS);
        String sign = value.signum() < 0 ? "-" : "";
        if (point <= 0) {
            return sign + "0." + "0".repeat((int) -point) + digits.substring(0, last);
        }
        if (point >= last) {
            return sign + digits.substring(0, last) + "0".repeat((int) point - last);
        }
        return sign + digits.substring(0, (int) point) + '.' + digits.substring((int) point, last);
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new KeyValueException("value has more digits than numeric can store");
        }
    }
}
