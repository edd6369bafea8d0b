package bloomfilter;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What keys a filter holds, as one number: the key type, and above it, in 4 bits each, the types
 * of a row's columns. Keys of equal kinds can be compared.
 */
final class Kind {
    static final int NONE = 0;
    static final int MAX_COLUMNS = 6;

    private Kind() {
    }

    static int ofRow(List<KeyType> columns) {
        if (columns.isEmpty() || columns.size() > MAX_COLUMNS) {
            throw new KeyTypeException(
                    "a row has 1 to " + MAX_COLUMNS + " columns, not " + columns.size());
        }
        int kind = KeyType.ROW.number();
        for (int i = 0; i < columns.size(); i++) {
            KeyType column = columns.get(i);
            if (!column.isColumn()) {
                throw new KeyTypeException("a column of a row can't be of type " + column);
            }
            kind |= column.number() << (8 + 4 * i);
        }
        return kind;
    }

    static KeyType type(int kind) {
        return KeyType.ofNumber(kind & 0xff);
    }

    static List<KeyType> columns(int kind) {
        List<KeyType> columns = new ArrayList<>();
        for (int rest = kind >>> 8; (rest & 15) != 0; rest >>>= 4) {
            columns.add(KeyType.ofNumber(rest & 15));
        }
        return columns;
    }

    /** Whether a row has columns, without a gap, and another type has none. */
    static boolean isWhole(int kind) {
        if ((kind & 0xff) != KeyType.ROW.number()) {
            return kind >>> 8 == 0;
        }
        int rest = kind >>> 8;
        while (KeyType.isNumber(rest & 15) && KeyType.ofNumber(rest & 15).isColumn()) {
            rest >>>= 4;
        }
        return rest == 0 && kind >>> 8 != 0;
    }

    /** As messages show it: "integer", "row(integer, text)". */
    static String describe(int kind) {
        if (type(kind) != KeyType.ROW) {
            return type(kind).toString();
        }
        return columns(kind).stream().map(KeyType::toString)
                .collect(Collectors.joining(", ", "row(", ")"));
    }
}
