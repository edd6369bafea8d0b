package bloomfilter;

import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/** Runs all tests and prints one line that counts them. */
public final class RunTests {
    private RunTests() {
    }

    public static void main(String[] arguments) {
        Result result = JUnitCore.runClasses(KeysTest.class, FilterTest.class);
        for (Failure failure : result.getFailures()) {
            System.out.println(failure.getTestHeader() + "\n" + failure.getTrace());
        }
        System.out.println((result.getRunCount() - result.getFailureCount()) + " passed, "
                + result.getFailureCount() + " failed");
        System.exit(result.wasSuccessful() ? 0 : 1);
    }
}
