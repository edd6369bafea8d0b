package bloomfilter;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import org.junit.Test;

/** Java's types as keys, and the errors of those that are none. */
public class KeysTest {
    private static final OffsetDateTime MOMENT =
            OffsetDateTime.of(2024, 2, 29, 12, 34, 56, 789012000, ZoneOffset.UTC);

    @Test
    public void objectsThatAreNoKeys() throws IOException {
        BloomFilter filter = Support.filter("empty");
        for (Object other : Arrays.asList(true, 'c', BigInteger.ONE, LocalTime.NOON, new Object(), new int[1], null)) {
            assertThrows(KeyTypeException.class, () -> filter.contains(other));
            assertThrows(KeyTypeException.class, () -> Key.row(1, other));
        }
        assertThrows(KeyTypeException.class, () -> filter.contains('c'));
        assertThrows(KeyTypeException.class, () -> Key.row(Key.row(1)));
        assertEquals("row(integer, text) key", Key.row(7, "x").toString());
    }

    @Test
    public void widthsOfIntegersAreOneKey() throws IOException {
        BloomFilter filter = Support.filter("integer");
        assertTrue(filter.contains((byte) 42));
        assertTrue(filter.contains((short) 42));
        assertTrue(filter.contains(42));
        assertTrue(filter.contains(42L));
        assertTrue(filter.contains(Integer.valueOf(-1)));
        assertTrue(filter.contains((Object) Short.valueOf((short) -1)));
    }

    @Test
    public void textWithoutUtf8Form() throws IOException {
        BloomFilter filter = Support.filter("text");
        for (String bad : List.of("\ud800", "\udc00", "a\ud800b", "\udc00\ud800")) {
            assertThrows(KeyValueException.class, () -> filter.contains(bad));
        }
        for (String good : List.of("", "\ud83d\ude00", "a\ud83d\ude00b")) {
            assertArrayEquals(good.getBytes(StandardCharsets.UTF_8), Key.textBytes(good));
        }
    }

    /** Some took seconds, a time that grew with the square of the length. */
    @Test(timeout = 20_000)
    public void longNumerics() {
        String zeros = "0".repeat(131071);
        for (String text : List.of("1" + zeros, "9".repeat(131072), "0." + zeros.substring(0, 16382) + "1",
                "9".repeat(131072) + "." + "9".repeat(16383))) {
            Key key = Key.numeric(new BigDecimal(text));
            assertEquals(text, new String(key.bytes(), StandardCharsets.US_ASCII));
        }
        for (BigDecimal bad : List.of(new BigDecimal("1E+131072"), new BigDecimal("1E-16384"),
                new BigDecimal("1E+999999999"), new BigDecimal("1E-999999999"),
                new BigDecimal(BigInteger.ONE.shiftLeft(100_000_000)))) {
            assertThrows(KeyValueException.class, () -> Key.numeric(bad));
        }
        assertEquals(Key.numeric(BigDecimal.ONE), Key.numeric(BigDecimal.ONE.setScale(20000)));
    }

    @Test
    public void timesThatAreOneInstant() {
        Key key = Key.of(MOMENT);
        assertEquals(key, Key.of(MOMENT.withOffsetSameInstant(ZoneOffset.ofHoursMinutes(5, 45))));
        assertEquals(key, Key.of(MOMENT.atZoneSameInstant(ZoneId.of("Europe/Berlin"))));
        assertEquals(key, Key.of(MOMENT.toInstant()));
    }

    @Test
    public void infinitiesAsInTheJdbcDriver() {
        byte[] last = Key.integerBytes(Long.MAX_VALUE);
        byte[] first = Key.integerBytes(Long.MIN_VALUE);
        for (Object value : List.of(LocalDate.MAX, LocalDateTime.MAX, OffsetDateTime.MAX, Instant.MAX)) {
            assertArrayEquals(last, Key.of(value).bytes());
        }
        for (Object value : List.of(LocalDate.MIN, LocalDateTime.MIN, OffsetDateTime.MIN, Instant.MIN)) {
            assertArrayEquals(first, Key.of(value).bytes());
        }
    }

    @Test
    public void timesThatPostgresLacks() {
        List<Object> values = List.of(LocalDate.of(-4713, 11, 23), LocalDate.of(5874898, 1, 1),
                LocalDateTime.of(-4713, 11, 23, 0, 0), LocalDateTime.of(294277, 1, 1, 0, 0),
                LocalDateTime.of(2024, 1, 1, 0, 0, 0, 1), Instant.MAX.minusSeconds(1),
                Instant.ofEpochSecond(0, 999));
        for (Object value : values) {
            assertThrows(value.toString(), KeyValueException.class, () -> Key.of(value));
        }
        Key.of(LocalDate.of(5874897, 12, 31));
        Key.of(LocalDate.of(-4713, 11, 24));
    }

    @Test
    public void addresses() throws IOException {
        assertThrows(KeyValueException.class, () -> Key.inet(new byte[5], 1));
        assertThrows(KeyValueException.class, () -> Key.inet(new byte[4], 33));
        assertThrows(KeyValueException.class, () -> Key.inet(new byte[4], -1));
        assertThrows(KeyValueException.class, () -> Key.macaddr(new byte[7]));
        byte[] linkLocal = InetAddress.getByName("fe80::1").getAddress();
        assertThrows(KeyValueException.class,
                () -> Key.of(Inet6Address.getByAddress(null, linkLocal, 2)));
    }

    @Test
    public void keysDoNotChangeAfterwards() {
        byte[] source = {1, 2, 3};
        Key key = Key.bytea(source);
        source[0] = 9;
        key.bytes()[1] = 9;
        assertArrayEquals(new byte[] {1, 2, 3}, key.bytes());
        assertThrows(KeyTypeException.class, () -> Key.raw(KeyType.NONE, source));
        assertEquals("bytea key", key.toString());
    }

    @Test
    public void realColumns() {
        Key key = Key.real(0.1);
        assertEquals(key, Key.of(0.1f));
        assertNotEquals(key, Key.floating(0.1));
        assertEquals(Key.floating(Double.NaN), Key.real(Double.NaN));
        assertEquals(Key.floating(Double.NaN), Key.of(Double.longBitsToDouble(0xfff8000000000001L)));
        assertEquals(Key.floating(Double.NEGATIVE_INFINITY), Key.real(Double.NEGATIVE_INFINITY));
        assertEquals(Key.floating(0), Key.real(-0.0));
        for (double none : new double[] {1e39, -1e300, 1e-60}) {
            assertThrows(KeyValueException.class, () -> Key.real(none));
        }
    }

}
