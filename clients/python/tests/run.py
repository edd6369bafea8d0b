"""Runs all tests and prints one line that counts them."""

import sys
import unittest


def main() -> int:
    suite = unittest.defaultTestLoader.discover(
        "tests", top_level_dir=".", pattern="test_*.py"
    )
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    # scripts/test fails for a skip that it doesn't allow.
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    # A test with several failed rows counts once.
    broken = result.failures + result.errors
    failed = len({getattr(test, "test_case", test).id() for test, _ in broken})
    print(f"{result.testsRun - len(result.skipped) - failed} passed, {failed} failed")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
