package bloomfilter;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The file that names a set's parts: section 16 of FORMAT.md. */
final class Manifest {
    static final String NAME = "manifest";
    private static final String MAGIC = "bloomfilter-set ";
    private static final String FIRST_LINE = MAGIC + "1";
    static final int MAX_PARTS = 65535;

    /** A name of 255 bytes and its line end for each part. */
    static final int MAX_BYTES = 32 + MAX_PARTS * 256;

    /** A name that promises what is in its file, which a part of another build is not. */
    private static final Pattern NAME_WITH_CHECKSUM =
            Pattern.compile(".*\\.([0-9a-f]{16})\\.bloom");

    private Manifest() {
    }

    /** Whether a file that begins so is to be read as one. */
    static boolean isOne(byte[] start) {
        return new String(start, StandardCharsets.ISO_8859_1).startsWith(MAGIC);
    }

    /** The names of the parts' files, in their order. */
    static List<String> names(byte[] bytes) throws InvalidSetException {
        String text = decode(bytes);
        String whole = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        List<String> lines = Arrays.asList(whole.split("\n", -1));
        InvalidSetException.require(lines.get(0).equals(FIRST_LINE),
                "manifest does not begin with the line \"" + FIRST_LINE + "\"");
        List<String> names = lines.stream().skip(1)
                .filter(line -> !line.startsWith("#")).collect(Collectors.toList());
        InvalidSetException.require(!names.isEmpty() && names.size() <= MAX_PARTS,
                "manifest must name 1 to 65535 parts");
        for (String name : names) {
            InvalidSetException.require(isPlainName(name),
                    "manifest has a bad file name: \"" + name + "\"");
        }
        return names;
    }

    /** What its notes tell, "# name value". */
    static Map<String, String> notes(byte[] bytes) throws InvalidSetException {
        return Status.values(Arrays.asList(decode(bytes).split("\n")), "# ");
    }

    private static String decode(byte[] bytes) throws InvalidSetException {
        InvalidSetException.require(bytes.length <= MAX_BYTES, "manifest is too long");
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException error) {
            throw new InvalidSetException("manifest is not UTF-8, as Java's file names need it");
        }
    }

    private static boolean isPlainName(String name) {
        return !name.isEmpty() && !name.equals(".") && !name.equals("..")
                && name.indexOf('/') < 0 && name.indexOf('\0') < 0;
    }

    /** Refuses a part that is another than its name says. */
    static void checkName(String name, Header header) throws InvalidSetException {
        Matcher promised = NAME_WITH_CHECKSUM.matcher(name);
        InvalidSetException.require(!promised.matches()
                        || Long.parseUnsignedLong(promised.group(1), 16) == header.checksum(),
                "is another filter than its name says");
    }
}
