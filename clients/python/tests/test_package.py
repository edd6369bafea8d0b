"""What is installed: from the sources, and from a source distribution elsewhere."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from . import support

PROJECT = os.path.join(support.HERE, "..")
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
        self.source = self.unpack_source()

    def unpack_source(self):
        """The source distribution's folder, unpacked where there is no repository."""
        run("-W", "ignore", "setup.py", "-q", "egg_info", "-e", self.folder,
            "sdist", "-d", self.folder, folder=PROJECT)
        (name,) = [name for name in os.listdir(self.folder) if name.endswith(".tar.gz")]
        with tarfile.open(os.path.join(self.folder, name)) as archive:
            archive.extractall(self.folder)
        return os.path.join(self.folder, name.removesuffix(".tar.gz"))

    def build(self, target, **environment):
        library = os.path.join(self.folder, target)
        run("-W", "ignore", "setup.py", "-q", "build", "--build-base", library + ".work",
            "--build-lib", library, folder=self.source, **environment)
        return library

    def ask(self, library, *options):
        path = os.path.join(self.folder, "f.bloom")
        with open(path, "wb") as file:
            file.write(support.integers([1]))
        return run(*options, "-c", PROGRAM.format(path), folder=self.folder, PYTHONPATH=library)

    def test_a_source_distribution_needs_a_compiler_only(self):
        for name in ("LICENSE", "LICENSE.xxHash", "core/xxhash.h", "core/bf_format.h", "text/bf_text.h", "lib/libbloomfilter.h",
                     "feed/feed_page.c", "native/native.h", "src/bloomfilter/py.typed"):
            self.assertTrue(os.path.isfile(os.path.join(self.source, name)), name)
        # Its own xxhash.h comes first, whether the system has one or not.
        setup = os.path.join(self.source, "setup.py")
        with open(setup, encoding="utf-8") as file:
            text = file.read()
        with open(setup, "w", encoding="utf-8") as file:
            file.write(text.replace('"/usr/include"', '"/nowhere"'))
        done = self.ask(self.build("lib"), "-W", "error")
        self.assertEqual(done.stdout, "True\n")

    def test_without_a_compiler_one_line_says_so(self):
        with self.assertRaises(AssertionError) as caught:
            self.build("lib", CC="/bin/false")
        lines = str(caught.exception).strip().split("\n")
        self.assertIn("bloomfilter for Python needs a C compiler", lines[-1])
        self.assertNotIn("Traceback", str(caught.exception))

    def test_a_wheel_has_the_licences_and_needs_no_package(self):
        try:
            import wheel  # noqa: F401
        except ImportError:
            self.skipTest("wheel is not installed")
        run("-W", "ignore", "setup.py", "-q", "bdist_wheel", "-d", self.folder,
            folder=self.source)
        (name,) = [name for name in os.listdir(self.folder) if name.endswith(".whl")]
        self.assertIn("abi3" if sys.version_info >= (3, 11) else "cp3", name)
        with zipfile.ZipFile(os.path.join(self.folder, name)) as archive:
            names = archive.namelist()
            (metadata,) = [name for name in names if name.endswith("/METADATA")]
            needs = [line for line in archive.read(metadata).decode().split("\n")
                     if line.startswith("Requires-Dist") and "extra" not in line]
        self.assertEqual(needs, [])
        for wanted in ("/LICENSE", "/LICENSE.xxHash", "bloomfilter/py.typed"):
            self.assertTrue(any(name.endswith(wanted) for name in names), wanted)
        self.assertFalse([name for name in names if name.endswith((".c", ".h"))])
        shutil.rmtree(self.source)
