package bloomfilter;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * inet as PostgreSQL prints it.
 *
 * <p>Not InetAddress.getByName: it asks a name server for what is no address, and turns
 * IPv4-mapped IPv6 addresses into IPv4 ones.
 */
final class InetText {
    private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,2}");
    private static final Pattern GROUP = Pattern.compile("[0-9a-fA-F]{1,4}");

    private InetText() {
    }

    static Key parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        byte[] bytes = address.indexOf(':') < 0 ? version4(address) : version6(address);
        KeyText.require(bytes != null
                        && (slash < 0 || NUMBER.matcher(text.substring(slash + 1)).matches()),
                "it must be an address such as 192.168.1.5, 10.0.0.0/8 or 2001:db8::1/64");
        return Key.inet(bytes,
                slash < 0 ? bytes.length * 8 : Integer.parseInt(text.substring(slash + 1)));
    }

    /** The 4 bytes, or null. */
    private static byte[] version4(String text) {
        String[] numbers = text.split("\\.", -1);
        byte[] bytes = new byte[4];
        if (numbers.length != 4) {
            return null;
        }
        for (int i = 0; i < 4; i++) {
            if (!NUMBER.matcher(numbers[i]).matches() || Integer.parseInt(numbers[i]) > 255) {
                return null;
            }
            bytes[i] = (byte) Integer.parseInt(numbers[i]);
        }
        return bytes;
    }

    /** The 16 bytes, or null. */
    private static byte[] version6(String text) {
        int gap = text.indexOf("::");
        List<Integer> before = groups(gap < 0 ? text : text.substring(0, gap), gap < 0);
        List<Integer> after = groups(gap < 0 ? "" : text.substring(gap + 2), true);
        if (before == null || after == null) {
            return null;
        }
        int given = before.size() + after.size();
        if (gap < 0 ? given != 8 : given > 7) {
            return null;
        }
        byte[] bytes = new byte[16];
        put(bytes, 0, before);
        put(bytes, 8 - after.size(), after);
        return bytes;
    }

    /** The 16-bit groups of one side of the gap; null if one is none. */
    private static List<Integer> groups(String text, boolean atEnd) {
        List<Integer> groups = new ArrayList<>();
        String[] fields = text.isEmpty() ? new String[0] : text.split(":", -1);
        for (int i = 0; i < fields.length; i++) {
            if (GROUP.matcher(fields[i]).matches()) {
                groups.add(Integer.parseInt(fields[i], 16));
                continue;
            }
            byte[] tail = atEnd && i == fields.length - 1 ? version4(fields[i]) : null;
            if (tail == null) {
                return null;
            }
            groups.add((tail[0] & 0xff) << 8 | tail[1] & 0xff);
            groups.add((tail[2] & 0xff) << 8 | tail[3] & 0xff);
        }
        return groups;
    }

    private static void put(byte[] bytes, int group, List<Integer> groups) {
        for (int i = 0; i < groups.size(); i++) {
            bytes[2 * (group + i)] = (byte) (groups.get(i) >> 8);
            bytes[2 * (group + i) + 1] = (byte) (int) groups.get(i);
        }
    }
}
