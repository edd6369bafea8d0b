package bloomfilter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;

/** What the tests share: files of the vectors. */
final class Support {
    private Support() {
    }

    /** The filter or file of a row of the vectors. */
    static byte[] vector(String vectors, String name) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("../../test/vectors", vectors));
        List<String> columns = Arrays.asList(lines.get(0).split("\t"));
        int column = Math.max(columns.indexOf("filter_hex"), columns.indexOf("file_hex"));
        return hex(lines.stream().filter(line -> line.startsWith(name + "\t")).findFirst().orElseThrow().split("\t")[column]);
    }

    /** A row of filters.tsv. */
    static BloomFilter filter(String name) throws IOException {
        return BloomFilter.fromBytes(vector("filters.tsv", name));
    }

    static byte[] hex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (Character.digit(text.charAt(2 * i), 16) << 4 | Character.digit(text.charAt(2 * i + 1), 16));
        }
        return bytes;
    }

    /** Replaces a file as a good writer does. */
    static void replace(Path path, byte[] bytes) throws IOException {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        Files.write(fresh, bytes);
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }
}
