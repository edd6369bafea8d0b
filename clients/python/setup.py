"""What pyproject.toml can't say: the extension module, and files from elsewhere.

The module is compiled from the C core that the PostgreSQL extension is made of.
The core, xxhash.h and the licences lie outside of this folder in the repository;
a source distribution carries them, so that it builds with a C compiler and
nothing else.  Where there is no compiler the package is installed without the
module, says so when it is imported, and is slower.
"""

import os
import shutil
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
NATIVE_UNITS = ["bytes.c", "keys.c", "module.c", "prober.c", "text.c"]
CORE_UNITS = ["bf_avx2.c", "bf_bits.c", "bf_estimate.c", "bf_filter.c", "bf_format.c", "bf_hash.c",
              "bf_hashlist.c", "bf_kernel.c", "bf_key.c", "bf_portable.c", "bf_rate.c",
              "bf_sizing.c"]

# The folders of C sources, by a file that is in them.
HEADERS = {"core": "bf_format.h", "text": "bf_text.h"}

# Equal sizes on all machines need arithmetic that is not contracted.
C_OPTIONS = ["-fvisibility=hidden", "-ffp-contract=off"]


def first_file(*places):
    """The first of these files that there is, or None."""
    return next((place for place in places if place and os.path.isfile(place)), None)


def find_source(folder):
    """The folder `core` or `text` of the C sources, or None."""
    header = first_file(*(os.path.join(place, folder, HEADERS[folder])
                          for place in (HERE, os.path.join(ROOT, "src"))))
    return header and os.path.dirname(header)


def find_xxhash():
    """xxhash.h: the source distribution's, or the system's; None if there is none."""
    folders = [os.path.join(HERE, "core"), os.environ.get("XXHASH_INCLUDE"),
               sysconfig.get_config_var("INCLUDEDIR"), "/usr/include", "/usr/local/include"]
    return first_file(*(folder and os.path.join(folder, "xxhash.h") for folder in folders))


def copy_sources(target):
    """The C sources, in their folders; returns the paths of those to compile."""
    units = []
    for folder in HEADERS:
        os.makedirs(os.path.join(target, folder), exist_ok=True)
        for name in sorted(os.listdir(find_source(folder))):
            if name.endswith((".c", ".h")):
                copy(os.path.join(find_source(folder), name), os.path.join(target, folder, name))
            if name in CORE_UNITS or (folder == "text" and name.endswith(".c")):
                units.append(os.path.join(target, folder, name))
    return units


def copy(source, target):
    """Only what is new, so that a second build compiles nothing."""
    if not os.path.isfile(target) or os.path.getmtime(target) != os.path.getmtime(source):
        shutil.copy2(source, target)


def gather_licences():
    """Ours, and the notice of xxHash, which the compiled module contains."""
    if os.path.isfile(os.path.join(ROOT, "bloomfilter.control")):
        copy(os.path.join(ROOT, "LICENSE"), os.path.join(HERE, "LICENSE"))
    notice = os.path.join(HERE, "LICENSE.xxHash")
    if find_xxhash() and not os.path.isfile(notice):
        with open(find_xxhash(), encoding="utf-8") as header:
            comment = header.read().split("*/", 1)[0]
        lines = [line.removeprefix("/*").removeprefix(" *").strip() for line in comment.split("\n")]
        with open(notice, "w", encoding="utf-8") as file:
            file.write("\n".join(lines).strip() + "\n")


class BuildExt(build_ext):
    """Compiles a copy of the sources: sources above this folder would put their
    objects outside of the build folder."""

    def build_extension(self, ext):
        staged = os.path.join(self.build_temp, "sources")
        ext.sources += copy_sources(staged)
        ext.include_dirs += [os.path.join(staged, folder) for folder in HEADERS] + ["native"]
        if find_xxhash():
            ext.include_dirs.append(os.path.dirname(find_xxhash()))
        super().build_extension(ext)


class Sdist(sdist):
    """Puts the C sources, xxhash.h and our header into the source distribution."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if not find_xxhash():
            raise SystemExit("a source distribution carries xxhash.h: install libxxhash-dev, "
                             "or say its folder with XXHASH_INCLUDE")
        copy_sources(base_dir)
        copy(find_xxhash(), os.path.join(base_dir, "core", "xxhash.h"))
        copy(os.path.join(HERE, "native", "native.h"),
             os.path.join(base_dir, "native", "native.h"))


NATIVE = Extension(
    "bloomfilter._native",
    sources=[os.path.join("native", unit) for unit in NATIVE_UNITS],
    depends=[os.path.join("native", "native.h")],
    extra_compile_args=C_OPTIONS if os.name == "posix" else [],
    optional=True,
)

gather_licences()
setup(
    ext_modules=[NATIVE] if all(map(find_source, HEADERS)) else [],
    cmdclass={"build_ext": BuildExt, "sdist": Sdist},
)
