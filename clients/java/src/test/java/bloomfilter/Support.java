package bloomfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** What the tests share: golden rows, and a builder that is slow and simple. */
final class Support {
    static final Path VECTORS =
            Path.of(System.getProperty("bloomfilter.vectors", "../../test/vectors"));

    private Support() {
    }

    /** The rows of a golden file, by column name. */
    static List<Map<String, String>> rows(String name) throws IOException {
        List<String> lines = Arrays.asList(Files.readString(VECTORS.resolve(name)).split("\n"));
        String[] columns = lines.get(0).substring(1).split("\t", -1);
        List<Map<String, String>> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split("\t", -1);
            Map<String, String> row = new LinkedHashMap<>();
            for (int i = 0; i < columns.length; i++) {
                row.put(columns[i], fields[i]);
            }
            rows.add(row);
        }
        return rows;
    }

    static byte[] hex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    static int[] numbers(String list) {
        return list.equals("-") ? new int[0] : Arrays.stream(list.split(",")).mapToInt(Integer::parseInt).toArray();
    }

    static List<byte[]> keyList(String text) {
        List<byte[]> keys = new ArrayList<>();
        if (!text.equals("-")) {
            for (String key : text.split(",", -1)) {
                keys.add(hex(key));
            }
        }
        return keys;
    }

    /** The shape of a filter to build. */
    static final class Shape {
        KeyType type = KeyType.INTEGER;
        List<KeyType> columns = List.of();
        int part = 0;
        int parts = 1;
        long seed = 0;
        long n = 100;
        int k = 7;
        int log2BlockBits = 9;
        int blocks = 4;
    }

    static byte[] build(List<byte[]> keys, Shape shape) {
        byte[] body = new byte[shape.blocks << (shape.log2BlockBits - 3)];
        for (byte[] key : keys) {
            long hash = Xxh64.of(key, shape.seed);
            if (Hash.part(hash, shape.parts) == shape.part) {
                add(body, shape, hash);
            }
        }
        return seal(shape, body);
    }

    private static void add(byte[] body, Shape shape, long hash) {
        int start = (int) Hash.reduce(hash, shape.blocks) << (shape.log2BlockBits - 3);
        long probe = hash;
        for (int i = 0; i < shape.k; i++) {
            probe *= 0x9e3779b97f4a7c15L;
            int bit = (int) (probe >>> (64 - shape.log2BlockBits));
            body[start + (bit >> 3)] |= 1 << (bit & 7);
        }
    }

    /** Header and checksums around blocks; p does not matter here. */
    static byte[] seal(Shape shape, byte[] body) {
        ByteBuffer bytes = ByteBuffer.allocate(64 + body.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0x464d4c42).put((byte) 1).put((byte) shape.k).put((byte) shape.log2BlockBits);
        bytes.put((byte) shape.type.number()).putInt(shape.blocks).putShort((short) shape.part);
        bytes.putShort((short) shape.parts).putLong(shape.seed).putLong(shape.n).putDouble(0.01);
        bytes.position(64);
        bytes.put(body).flip();
        int kind = shape.columns.isEmpty() ? 0 : Kind.ofRow(shape.columns);
        bytes.putInt(48, kind & ~0xff | 1);
        Part.seal(bytes, bytes);
        return bytes.array();
    }

    static List<byte[]> integers(long from, long to) {
        List<byte[]> keys = new ArrayList<>();
        LongStream.range(from, to).forEach(value -> keys.add(Key.integerBytes(value)));
        return keys;
    }

    /** A small filter of some integers. */
    static byte[] integerFilter(long from, long to) {
        return build(integers(from, to), new Shape());
    }

    static BloomFilter filterOf(KeyType type, Object... values) throws IOException {
        List<byte[]> keys = new ArrayList<>();
        for (Object value : values) {
            keys.add(Key.of(value).bytes());
        }
        Shape shape = new Shape();
        shape.type = type;
        return BloomFilter.fromBytes(build(keys, shape));
    }

    /** Replaces a file as a good writer does. */
    static void replace(Path path, byte[] bytes) throws IOException {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        Files.write(fresh, bytes);
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }
}
