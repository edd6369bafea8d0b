package bloomfilter;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Replaces a set in a folder as the C library does. */
final class SetWriter {
    private final Path folder;
    private final int parts;
    private int generation;

    /** Of the parts that are there now. */
    List<String> names = List.of();

    SetWriter(Path folder, int parts) {
        this.folder = folder;
        this.parts = parts;
    }

    /** Writes a set of the integers from 0 on, then its manifest, then deletes the old parts. */
    void publish(int keys) throws IOException {
        List<String> before = names;
        names = new ArrayList<>();
        generation++;
        List<byte[]> filters = Support.set(parts, Support.integers(0, keys));
        for (int i = 0; i < parts; i++) {
            names.add(String.format("g%d-%d.bloom", generation, i));
            Files.write(folder.resolve(names.get(i)), filters.get(i));
        }
        Support.replace(folder.resolve("manifest"),
                ("bloomfilter-set 1\n" + String.join("\n", names) + "\n")
                        .getBytes(StandardCharsets.UTF_8));
        for (String name : before) {
            Files.delete(folder.resolve(name));
        }
    }
}
