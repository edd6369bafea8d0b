package bloomfilter;

import static bloomfilter.KeyValueException.require;

import java.math.BigDecimal;

/**
 * A numeric in its one spelling: no exponent, no zeros that say nothing.
 *
 * <p>Not by stripTrailingZeros: that takes a time that grows with the square of the number of digits,
 * and callers pass on what strangers wrote.
 */
final class Decimal {
    /** What numeric can store: digits before the point, and behind it. */
    private static final int WHOLE_DIGITS = 131072;
    private static final int FRACTION_DIGITS = 16383;

    private static final double DIGITS_PER_BIT = Math.log10(2);
    private static final String TOO_LONG = "value has more digits than numeric can store";

    private Decimal() {
    }

    /** The length is checked before digits are made. */
    static String plain(BigDecimal value) {
        if (value.signum() == 0) {
            return "0";
        }
        double fewest = (value.unscaledValue().bitLength() - 1) * DIGITS_PER_BIT;
        require(fewest <= WHOLE_DIGITS + FRACTION_DIGITS, TOO_LONG);
        long point = (long) value.precision() - value.scale();
        require(point <= WHOLE_DIGITS && point > -FRACTION_DIGITS, TOO_LONG);
        String text = value.toPlainString();
        int end = text.length();
        if (value.scale() > 0) {
            while (text.charAt(end - 1) == '0') {
                end--;
            }
            int dot = text.indexOf('.');
            require(end - 1 - dot <= FRACTION_DIGITS, TOO_LONG);
            end = end - 1 == dot ? dot : end;
        }
        return text.substring(0, end);
    }
}
