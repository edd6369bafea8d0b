"""The one thing that pyproject.toml can't say: the optional extension module.

It is compiled from the C core that the PostgreSQL extension is made of.  The
core lies outside of this folder in the repository, and in `core/` in a source
distribution.  Where it, a compiler or xxhash.h is missing, the package is
installed without the module and works the same, more slowly.
"""

import os
import shutil

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
CORE_PLACES = [
    os.path.join(HERE, "core"),
    os.path.join(HERE, "..", "..", "src", "core"),
]
CORE_UNITS = ["bf_avx2.c", "bf_bits.c", "bf_filter.c", "bf_format.c", "bf_hash.c",
              "bf_kernel.c", "bf_key.c", "bf_portable.c"]


def find_core():
    """The folder of the C core, or None."""
    for place in CORE_PLACES:
        if os.path.isfile(os.path.join(place, "bf_format.h")):
            return place
    return None


def copy_core(target):
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(find_core())):
        if name.endswith((".c", ".h")):
            shutil.copy(os.path.join(find_core(), name), target)


class BuildExt(build_ext):
    """Compiles a copy of the core: sources above this folder would put their
    objects outside of the build folder."""

    def build_extension(self, ext):
        staged = os.path.join(self.build_temp, "core")
        copy_core(staged)
        ext.include_dirs.append(staged)
        ext.sources += [os.path.join(staged, unit) for unit in CORE_UNITS]
        super().build_extension(ext)


class Sdist(sdist):
    """Puts the core into the source distribution."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if find_core():
            copy_core(os.path.join(base_dir, "core"))


NATIVE = Extension(
    "bloomfilter._native",
    sources=["src/bloomfilter/_native.c"],
    extra_compile_args=["-fvisibility=hidden"] if os.name == "posix" else [],
    optional=True,
)

setup(
    ext_modules=[NATIVE] if find_core() else [],
    cmdclass={"build_ext": BuildExt, "sdist": Sdist},
)
