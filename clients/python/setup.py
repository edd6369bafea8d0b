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
NATIVE_UNITS = ["bytes.c", "keys.c", "module.c", "prober.c"]
CORE_UNITS = ["bf_avx2.c", "bf_bits.c", "bf_estimate.c", "bf_filter.c", "bf_format.c", "bf_hash.c",
              "bf_hashlist.c", "bf_kernel.c", "bf_key.c", "bf_portable.c", "bf_rate.c",
              "bf_sizing.c"]

# Equal sizes on all machines need arithmetic that is not contracted.
C_OPTIONS = ["-fvisibility=hidden", "-ffp-contract=off"]


def first_file(*places):
    """The first of these files that there is, or None."""
    return next((place for place in places if place and os.path.isfile(place)), None)


def find_core():
    """The folder of the C core, or None."""
    header = first_file(os.path.join(HERE, "core", "bf_format.h"),
                        os.path.join(ROOT, "src", "core", "bf_format.h"))
    return header and os.path.dirname(header)


def find_xxhash():
    """xxhash.h: the source distribution's, or the system's; None if there is none."""
    folders = [os.path.join(HERE, "core"), os.environ.get("XXHASH_INCLUDE"),
               sysconfig.get_config_var("INCLUDEDIR"), "/usr/include", "/usr/local/include"]
    return first_file(*(folder and os.path.join(folder, "xxhash.h") for folder in folders))


def copy_core(target):
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(find_core())):
        if name.endswith((".c", ".h")):
            copy(os.path.join(find_core(), name), os.path.join(target, name))


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
    """Compiles a copy of the core: sources above this folder would put their
    objects outside of the build folder."""

    def build_extension(self, ext):
        staged = os.path.join(self.build_temp, "core")
        copy_core(staged)
        ext.include_dirs += [staged, "native"]
        if find_xxhash():
            ext.include_dirs.append(os.path.dirname(find_xxhash()))
        ext.sources += [os.path.join(staged, unit) for unit in CORE_UNITS]
        super().build_extension(ext)


class Sdist(sdist):
    """Puts the core, xxhash.h and the headers into the source distribution."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if not find_xxhash():
            raise SystemExit("a source distribution carries xxhash.h: install libxxhash-dev, "
                             "or say its folder with XXHASH_INCLUDE")
        copy_core(os.path.join(base_dir, "core"))
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
    ext_modules=[NATIVE] if find_core() else [],
    cmdclass={"build_ext": BuildExt, "sdist": Sdist},
)
