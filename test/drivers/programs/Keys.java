// Asks by JDBC, by text and as statements that are prepared at once, in binary; "keys.py" says what.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

final class Keys {
    static String answer(Connection c, String sql, Object key) {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            s.setObject(1, key);
            ResultSet r = s.executeQuery();
            r.next();
            return String.valueOf(r.getBoolean(1));
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    static List<Object> read(Connection c, String sql) throws SQLException {
        List<Object> keys = new ArrayList<>();
        ResultSet r = c.createStatement().executeQuery(sql);
        while (r.next()) {
            keys.add(r.getObject(1));
        }
        return keys;
    }

    public static void main(String[] arguments) throws Exception {
        String[] modes = {"", "&prepareThreshold=-1&binaryTransfer=true", "&stringtype=unspecified"};
        List<Connection> connections = new ArrayList<>();
        for (String mode : modes) {
            connections.add(DriverManager.getConnection(arguments[0] + mode));
        }
        List<List<Object>> keys = new ArrayList<>(Collections.nCopies(modes.length, null));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split("\t");
            for (int i = 0; i < modes.length; i++) {
                if (parts[1].equals("read")) {
                    keys.set(i, read(connections.get(i), parts[2]));
                    continue;
                }
                StringBuilder answers = new StringBuilder("JDBC" + modes[i] + "\t" + parts[0] + "\t" + parts[1]);
                for (Object key : keys.get(i)) {
                    answers.append("\t").append(answer(connections.get(i), parts[2], key));
                }
                System.out.println(answers);
            }
        }
    }
}
