package bloomfilter;

import static bloomfilter.KeyValueException.require;

import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/**
 * A key as its type and its bytes: section 3 of FORMAT.md.
 *
 * <p>Equal in SQL means equal bytes. A value that PostgreSQL's type can't have is refused: to
 * answer "no" for it would hide a mistake of the caller.
 */
public final class Key {
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final long CANONICAL_NAN = 0x7ff8000000000000L;

    /** What PostgreSQL's types can hold, in days since 1970-01-01. */
    private static final long FIRST_DAY = -2440588;
    private static final long LAST_DATE = 2145042905;
    private static final long LAST_TIMESTAMP_DAY = 106762939;

    /** What stands before a column's bytes: its type and its length. */
    static final int COLUMN_HEAD = 5;

    final int kind;
    final byte[] bytes;

    private Key(KeyType type, byte[] bytes) {
        this(type.number(), bytes);
    }

    private Key(int kind, byte[] bytes) {
        this.kind = kind;
        this.bytes = bytes;
    }

    public KeyType type() {
        return KeyType.ofKind(kind);
    }

    /** The key bytes, a copy. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * The type's name and the bytes in hexadecimal, "-" for none: what {@code bloomfilter explain
     * --bytes} and SQL's bloom_explain take, to say how the key is looked up.
     */
    public String describe() {
        StringBuilder text = new StringBuilder(type() + " ");
        for (byte one : bytes) {
            text.append(String.format(Locale.ROOT, "%02x", one));
        }
        return bytes.length == 0 ? text + "-" : text.toString();
    }

    /** The key of a value of one of Java's own types; see the README for the list. */
    public static Key of(Object value) {
        if (value instanceof Key) {
            return (Key) value;
        }
        if (value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte) {
            return integer(((Number) value).longValue());
        }
        if (value instanceof String) {
            return text((String) value);
        }
        if (value instanceof byte[]) {
            return bytea((byte[]) value);
        }
        if (value instanceof UUID) {
            return uuid((UUID) value);
        }
        if (value instanceof BigDecimal) {
            return numeric((BigDecimal) value);
        }
        if (value instanceof Double || value instanceof Float) {
            return floating(((Number) value).doubleValue());
        }
        if (value instanceof InetAddress) {
            return inet((InetAddress) value);
        }
        return ofTime(value);
    }

    private static Key ofTime(Object value) {
        if (value instanceof LocalDate) {
            return date((LocalDate) value);
        }
        if (value instanceof LocalDateTime) {
            return timestamp((LocalDateTime) value);
        }
        if (value instanceof OffsetDateTime) {
            return timestamptz((OffsetDateTime) value);
        }
        if (value instanceof ZonedDateTime) {
            return timestamptz(((ZonedDateTime) value).toInstant());
        }
        if (value instanceof Instant) {
            return timestamptz((Instant) value);
        }
        throw new KeyTypeException("an object of type "
                + (value == null ? "null" : value.getClass().getName()) + " is not a key");
    }

    /** smallint, integer and bigint. */
    public static Key integer(long value) {
        return new Key(KeyType.INTEGER, integerBytes(value));
    }

    public static Key text(String value) {
        return new Key(KeyType.TEXT, textBytes(value));
    }

    public static Key bytea(byte[] value) {
        return new Key(KeyType.BYTEA, value.clone());
    }

    public static Key uuid(UUID value) {
        return new Key(KeyType.UUID, ByteBuffer.allocate(16).putLong(value.getMostSignificantBits())
                .putLong(value.getLeastSignificantBits()).array());
    }

    public static Key numeric(BigDecimal value) {
        return new Key(KeyType.NUMERIC, Decimal.plain(value).getBytes(StandardCharsets.US_ASCII));
    }

    /** double precision; for a value of a column of type real see {@link #real}. */
    public static Key floating(double value) {
        return new Key(KeyType.FLOAT, integerBytes(floatBits(value)));
    }

    /**
     * A value of a column of type real. Right for what getFloat of a driver gives, and for
     * getDouble, which gives the double that is nearest to the value's text: another number.
     */
    public static Key real(double value) {
        float nearest = (float) value;
        require(Float.isInfinite(nearest) == Double.isInfinite(value) && (nearest == 0) == (value == 0),
                "value is outside of real's range");
        return floating(nearest);
    }

    /** LocalDate.MIN and MAX are the infinities, as in PostgreSQL's JDBC driver. */
    public static Key date(LocalDate value) {
        if (value.equals(LocalDate.MAX) || value.equals(LocalDate.MIN)) {
            return infinity(KeyType.DATE, value.equals(LocalDate.MAX));
        }
        requireRange(value.toEpochDay(), LAST_DATE);
        return new Key(KeyType.DATE, integerBytes(value.toEpochDay()));
    }

    /** LocalDateTime.MIN and MAX are the infinities, as in PostgreSQL's JDBC driver. */
    public static Key timestamp(LocalDateTime value) {
        if (value.equals(LocalDateTime.MAX) || value.equals(LocalDateTime.MIN)) {
            return infinity(KeyType.TIMESTAMP, value.equals(LocalDateTime.MAX));
        }
        return moment(KeyType.TIMESTAMP, value.toEpochSecond(ZoneOffset.UTC), value.getNano());
    }

    /** OffsetDateTime.MIN and MAX are the infinities, as in PostgreSQL's JDBC driver. */
    public static Key timestamptz(OffsetDateTime value) {
        if (value.equals(OffsetDateTime.MAX) || value.equals(OffsetDateTime.MIN)) {
            return infinity(KeyType.TIMESTAMPTZ, value.equals(OffsetDateTime.MAX));
        }
        return timestamptz(value.toInstant());
    }

    /** Instant.MIN and MAX are the infinities. */
    public static Key timestamptz(Instant value) {
        if (value.equals(Instant.MAX) || value.equals(Instant.MIN)) {
            return infinity(KeyType.TIMESTAMPTZ, value.equals(Instant.MAX));
        }
        return moment(KeyType.TIMESTAMPTZ, value.getEpochSecond(), value.getNano());
    }

    /** An address with the longest prefix, as inet has when none is written. */
    public static Key inet(InetAddress address) {
        return inet(address, address.getAddress().length * 8);
    }

    public static Key inet(InetAddress address, int prefix) {
        require(!(address instanceof Inet6Address) || ((Inet6Address) address).getScopeId() == 0,
                "PostgreSQL's inet has no zones");
        return inet(address.getAddress(), prefix);
    }

    /**
     * An address of 4 or 16 bytes. For IPv4-mapped IPv6 addresses: InetAddress turns them into
     * IPv4 ones, which are other keys.
     */
    public static Key inet(byte[] address, int prefix) {
        require(address.length == 4 || address.length == 16, "an address has 4 or 16 bytes");
        if (prefix < 0 || prefix > address.length * 8) {
            throw new KeyValueException("prefix length " + prefix + " is out of range");
        }
        byte[] bytes = new byte[2 + address.length];
        bytes[0] = (byte) (address.length == 4 ? 4 : 6);
        bytes[1] = (byte) prefix;
        System.arraycopy(address, 0, bytes, 2, address.length);
        return new Key(KeyType.INET, bytes);
    }

    /** macaddr of 6 bytes, macaddr8 of 8; with ff fe in the middle, in SQL, the 8 equal the 6. */
    public static Key macaddr(byte[] address) {
        require(address.length == 6 || address.length == 8, "a MAC address has 6 or 8 bytes");
        if (address.length == 6 || !isNarrow(address)) {
            return new Key(KeyType.MACADDR, address.clone());
        }
        return new Key(KeyType.MACADDR, ByteBuffer.allocate(6).put(address, 0, 3).put(address, 5, 3).array());
    }

    /** Whether a MAC address of 8 bytes stands for one of 6. */
    static boolean isNarrow(byte[] address) {
        return address[3] == (byte) 0xff && address[4] == (byte) 0xfe;
    }

    /** A key of one to six columns, as SQL's {@code ROW(...)}; each as {@link #of} takes it. */
    public static Key row(Object... columns) {
        List<KeyType> types = new ArrayList<>();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Object value : columns) {
            Key column = of(value);
            byte[] head = ByteBuffer.allocate(COLUMN_HEAD).order(ByteOrder.LITTLE_ENDIAN)
                    .put((byte) column.kind).putInt(column.bytes.length).array();
            types.add(column.type());
            bytes.write(head, 0, head.length);
            bytes.write(column.bytes, 0, column.bytes.length);
        }
        return new Key(KeyType.kindOfRow(types), bytes.toByteArray());
    }

    /**
     * Key bytes that the caller made; bytes that no key of the type has are refused. A text loses
     * the blanks at its end.
     */
    public static Key raw(KeyType type, byte[] bytes) {
        byte[] own = bytes.clone();
        own = type == KeyType.TEXT ? RawKey.withoutBlanks(own) : own;
        return new Key(RawKey.kind(type, own), own);
    }

    static byte[] integerBytes(long value) {
        byte[] bytes = new byte[8];
        LONG.set(bytes, 0, value);
        return bytes;
    }

    /** There is one zero, and one NaN. */
    static long floatBits(double value) {
        if (value == 0.0) {
            return 0;
        }
        return value != value ? CANONICAL_NAN : Double.doubleToRawLongBits(value);
    }

    /** UTF-8. String.getBytes alone would put "?" for an unpaired surrogate: another key. */
    static byte[] textBytes(String value) {
        for (int i = 0; i < value.length(); i++) {
            if (!Character.isSurrogate(value.charAt(i))) {
                continue;
            }
            require(i + 1 < value.length() && Character.isSurrogatePair(value.charAt(i), value.charAt(i + 1)),
                    "text has an unpaired surrogate");
            i++;
        }
        return RawKey.withoutBlanks(value.getBytes(StandardCharsets.UTF_8));
    }

    private static Key infinity(KeyType type, boolean positive) {
        return new Key(type, integerBytes(positive ? Long.MAX_VALUE : Long.MIN_VALUE));
    }

    /** Microseconds, mod 2^64: PostgreSQL's last years lie past 2^63 of them. */
    private static Key moment(KeyType type, long seconds, int nanos) {
        require(nanos % 1000 == 0, "PostgreSQL's timestamps have no nanoseconds");
        requireRange(Math.floorDiv(seconds, 86400), LAST_TIMESTAMP_DAY);
        return new Key(type, integerBytes(seconds * 1_000_000 + nanos / 1000));
    }

    private static void requireRange(long days, long last) {
        require(days >= FIRST_DAY && days <= last, "value is outside of the range of PostgreSQL's type");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Key && ((Key) other).kind == kind
                && Arrays.equals(((Key) other).bytes, bytes);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, Arrays.hashCode(bytes));
    }

    /** The type alone: keys may be secrets that a log must not show. */
    @Override
    public String toString() {
        return KeyType.describe(kind) + " key";
    }
}
