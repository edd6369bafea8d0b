package bloomfilter;

import java.util.Locale;

/** What a look-up of one key computes and sees: section 16 of FORMAT.md. */
final class Explanation {
    /** Bytes of a key that are shown. */
    private static final int SHOWN = 64;

    private final StringBuilder text = new StringBuilder();

    private Explanation() {
    }

    /**
     * The lines for a key.
     *
     * @param header the part's, as it is now
     * @param part the filter that the key belongs to, or any of its set if that is not open
     */
    static String of(Header header, Part part, Key key, long hash, boolean isOpen) {
        Explanation lines = new Explanation();
        byte[] bytes = key.ownBytes();
        lines.add("filter", hex(header.checksum)).add("kind", Kind.describe(key.kind()))
                .add("length", String.valueOf(bytes.length)).add("bytes", hex(bytes))
                .add("seed", hex(header.seed)).add("hash", hex(hash))
                .add("part", Hash.part(hash, header.parts) + " of " + header.parts)
                .add("block", Hash.reduce(hash, header.first.blocks) + " of " + header.first.blocks);
        if (isOpen) {
            lines.add("probes", part.probes(hash));
            lines.text.append(part.explainUpper(hash));
        }
        String answer = part.contains(hash) ? "true" : "false";
        lines.add("answer", isOpen ? answer : "other part");
        return lines.text.substring(0, lines.text.length() - 1);
    }

    private Explanation add(String name, String value) {
        text.append(String.format(Locale.ROOT, "%-10s", name)).append(value).append('\n');
        return this;
    }

    private static String hex(long word) {
        return String.format(Locale.ROOT, "%016x", word);
    }

    private static String hex(byte[] bytes) {
        StringBuilder digits = new StringBuilder();
        for (int i = 0; i < Math.min(bytes.length, SHOWN); i++) {
            digits.append(String.format(Locale.ROOT, "%02x", bytes[i]));
        }
        if (bytes.length == 0) {
            return "-";
        }
        return bytes.length > SHOWN ? digits + "..." : digits.toString();
    }
}
