"""What is installed: from a checkout, and from a source distribution elsewhere."""

import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

from . import support

PROJECT = os.path.abspath(os.path.join(support.HERE, ".."))
PROGRAM = "import bloomfilter; print(1 in bloomfilter.BloomFilter.open({!r}))"


def run(*command, folder, **environment):
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def unpack_source(self):
        """The source distribution's folder, unpacked where there is no repository."""
        name = run("-c", f"import backend; print(backend.build_sdist({self.folder!r}))",
                   folder=PROJECT).stdout.strip()
        with tarfile.open(os.path.join(self.folder, name)) as archive:
            archive.extractall(self.folder)
        return os.path.join(self.folder, name.removesuffix(".tar.gz"))

    def ask(self, library):
        path = os.path.join(self.folder, "f.bloom")
        with open(path, "wb") as file:
            file.write(support.integers([1]))
        return run("-W", "error", "-c", PROGRAM.format(path), folder=self.folder, PYTHONPATH=library).stdout

    def test_a_source_distribution_needs_a_compiler_only(self):
        source = self.unpack_source()
        for name in ("LICENSE", "LICENSE.xxHash", "PKG-INFO", "core/xxhash.h", "core/bf_format.h", "text/bf_text.h",
                     "lib/libbloomfilter.h", "feed/feed_page.c", "native/native.h", "src/bloomfilter/py.typed"):
            self.assertTrue(os.path.isfile(os.path.join(source, name)), name)
        # Its own xxhash.h comes first, whether the system has one or not.
        backend = os.path.join(source, "backend.py")
        with open(backend, encoding="utf-8") as file:
            text = file.read()
        with open(backend, "w", encoding="utf-8") as file:
            file.write(text.replace('"/usr/include"', '"/nowhere"'))
        library = os.path.join(self.folder, "lib")
        run("backend.py", library, folder=source)
        self.assertEqual(self.ask(library), "True\n")

    def test_without_a_compiler_one_line_says_so(self):
        for compiler in ("/bin/false", "/nowhere/cc"):
            with self.assertRaises(AssertionError) as caught:
                run("backend.py", self.folder, folder=self.unpack_source(), CC=compiler)
            lines = str(caught.exception).strip().split("\n")
            self.assertIn("bloomfilter for Python needs a C compiler", lines[-1])
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
        self.assertIn("bloomfilter/py.typed", names)
        self.assertFalse([name for name in names if name.endswith((".c", ".h"))])
        with open(os.path.join(library, information, "METADATA"), encoding="utf-8") as file:
            self.assertNotIn("\nRequires-Dist:", file.read())
        with open(os.path.join(library, information, "WHEEL"), encoding="utf-8") as file:
            self.assertIn("abi3" if sys.version_info >= (3, 11) else "Tag: cp3", file.read())
