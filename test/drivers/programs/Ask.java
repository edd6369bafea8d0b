// Asks by JDBC; "lines.py" puts the document's lines in, and the types of the table.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.UUID;

final class Ask {
    interface Question {
        Object ask() throws SQLException;
    }

    interface Setter {
        void set(PreparedStatement s) throws SQLException;
    }

    // Closing the statement gives it back to the driver, which prepares it in the end.
    static Object first(PreparedStatement s, ResultSet r) throws SQLException {
        r.next();
        Object found = r.getObject(1);
        if (found instanceof java.sql.Array) {
            found = Arrays.toString((Object[]) ((java.sql.Array) found).getArray()).replace(" ", "");
        }
        s.close();
        return found;
    }

    static Object lookup(Connection c) throws SQLException {
        PreparedStatement s;
        ResultSet r;
        // LOOKUP
        return first(s, r);
    }

    static Object each(Connection c) throws SQLException {
        PreparedStatement s;
        ResultSet r;
        // EACH
        return first(s, r);
    }

    static Object row(Connection c) throws SQLException {
        PreparedStatement s;
        ResultSet r;
        // ROW
        return first(s, r);
    }

    static String answer(Question question) {
        try {
            return question.ask().toString();
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    static void type(Connection c, String kind, String setter, Setter key) {
        String call = setter.equals("setArray") ? "bloom_contains_each" : "bloom_contains";
        String query = "select " + call + "(filter, ?) from held where kind = '" + kind + "'";
        System.out.println(kind + " " + setter + ": " + answer(() -> {
            PreparedStatement s = c.prepareStatement(query);
            key.set(s);
            return first(s, s.executeQuery());
        }));
    }

    // What the table says that the driver can send without a cast, and what it can't.
    static void askTypes(Connection c) {
        UUID uuid = UUID.fromString("00000000-0000-0000-0000-000000000042");
        type(c, "integer", "setInt", s -> s.setInt(1, 42));
        type(c, "integer", "setLong", s -> s.setLong(1, 43));
        type(c, "numeric", "setBigDecimal", s -> s.setBigDecimal(1, new BigDecimal("1.5")));
        type(c, "float", "setDouble", s -> s.setDouble(1, 1.5));
        type(c, "bytea", "setBytes", s -> s.setBytes(1, "abc".getBytes()));
        type(c, "integer", "setArray", s -> s.setArray(1, c.createArrayOf("bigint", new Long[] {42L, 43L})));
        type(c, "text", "setArray", s -> s.setArray(1, c.createArrayOf("text", new String[] {"a", "b"})));
        type(c, "text", "setString", s -> s.setString(1, "a"));
        type(c, "uuid", "setObject UUID", s -> s.setObject(1, uuid));
        type(c, "date", "setObject LocalDate", s -> s.setObject(1, LocalDate.of(2024, 1, 1)));
        type(c, "timestamp", "setObject LocalDateTime", s -> s.setObject(1, LocalDateTime.of(2024, 1, 1, 0, 0)));
        type(c, "timestamptz", "setObject OffsetDateTime",
                s -> s.setObject(1, OffsetDateTime.of(2024, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC)));
        type(c, "inet", "setObject Types.OTHER", s -> s.setObject(1, "10.0.0.1", Types.OTHER));
        type(c, "date", "setDate", s -> s.setDate(1, Date.valueOf("2024-01-01")));
        type(c, "timestamp", "setTimestamp", s -> s.setTimestamp(1, Timestamp.valueOf("2024-01-01 00:00:00")));
        type(c, "integer", "setString", s -> s.setString(1, "42"));
    }

    public static void main(String[] arguments) throws Exception {
        Connection c = DriverManager.getConnection(arguments[0]);
        if (arguments.length > 1) {
            askTypes(c);
            // The same parameter again, of no type by the URL.
            Connection untyped = DriverManager.getConnection(arguments[0] + "&stringtype=unspecified");
            type(untyped, "integer", "setString, unspecified", s -> s.setString(1, "42"));
            return;
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        while (lines.readLine() != null) {
            System.out.println(answer(() -> lookup(c)) + " " + answer(() -> each(c)) + " " + answer(() -> row(c)));
        }
    }
}
