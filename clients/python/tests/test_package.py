"""What is installed from a checkout; test/package installs wheel and source distribution."""

import os
import subprocess
import sys

from . import support

PROJECT = os.path.abspath(os.path.join(support.HERE, ".."))
PROGRAM = "import bloomfilter_reader; print(1 in bloomfilter_reader.BloomFilter.open({!r}))"


def run(*command, folder, **environment):
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done


class Package(support.InFolder):
    def ask(self, library):
        with open(self.path, "wb") as file:
            file.write(support.integers([1]))
        return run("-W", "error", "-c", PROGRAM.format(self.path), folder=self.folder, PYTHONPATH=library).stdout

    def test_without_a_compiler_one_line_says_so(self):
        for compiler in ("/bin/false", "/nowhere/cc"):
            with self.assertRaises(AssertionError) as caught:
                run("backend.py", self.folder, folder=PROJECT, CC=compiler)
            lines = str(caught.exception).strip().split("\n")
            self.assertIn("bloomfilter-reader needs a C compiler", lines[-1])
            self.assertNotIn("Traceback", str(caught.exception))

    def test_pip_installs_a_checkout_and_fetches_nothing(self):
        library = os.path.join(self.folder, "lib")
        run("-m", "pip", "install", "--quiet", "--no-index", "--no-cache-dir", "--target", library, PROJECT,
            folder=self.folder)
        self.assertEqual(self.ask(library), "True\n")
        names = [os.path.relpath(os.path.join(folder, name), library)
                 for folder, _, files in os.walk(library) for name in files]
        information = next(name for name in names if name.endswith("dist-info/METADATA")).removesuffix("METADATA")
        for wanted in ("LICENSE", "LICENSE.xxHash"):
            self.assertIn(information + wanted, names)
        self.assertRegex(information, r"^bloomfilter_reader-[0-9.]+\.dist-info/$")
        self.assertIn("bloomfilter_reader/py.typed", names)
        self.assertFalse([name for name in names if name.endswith((".c", ".h"))])
        with open(os.path.join(library, information, "METADATA"), encoding="utf-8") as file:
            self.assertNotIn("\nRequires-Dist:", file.read())
        with open(os.path.join(library, information, "WHEEL"), encoding="utf-8") as file:
            self.assertIn("abi3" if sys.version_info >= (3, 11) else "Tag: cp3", file.read())
