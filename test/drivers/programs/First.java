// Runs what clients/java/README.md shows; "first.py" puts it in.

import bloomfilter.BloomFilter;
import bloomfilter.WatchedBloomFilter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.Arrays;

final class First {
    public static void main(String[] arguments) throws Exception {
        // BLOCK

        // What the block's "if" asks.
        boolean known = customers.contains(42);
        System.out.println(known + " " + Arrays.toString(found));
    }
}
