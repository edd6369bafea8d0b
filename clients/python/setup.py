"""What pyproject.toml can't say: the extension module, and files from elsewhere.

The module is compiled from the library libbloomfilter.  Its sources, xxhash.h and the
licences lie outside of this folder in the repository; a source distribution carries
them, so that it builds with a C compiler and nothing else.
"""

import os
import shutil
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    try:
        from wheel.bdist_wheel import bdist_wheel
    except ImportError:
        bdist_wheel = None

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
VERSION = open(os.path.join(HERE, "src", "bloomfilter", "_version.py")).read().split('"')[-2]

# The folders of C sources, and the units of them that are not needed.
FOLDERS = ("core", "text", "feed", "lib")
FEED_UNITS = ("feed_page", "feed_part", "feed_sum")

# From 3.11 on the stable interface has all that the module uses: one wheel for all of them.
STABLE = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
NEEDS = ("bloomfilter for Python needs a C compiler, Python's headers and xxhash.h "
         "(Debian: gcc python3-dev libxxhash-dev)")


def first_file(*places):
    """The first of these files that there is, or None."""
    return next((place for place in places if place and os.path.isfile(place)), None)


def find_xxhash():
    """xxhash.h: the source distribution's, or the system's; None if there is none."""
    folders = [os.path.join(HERE, "core"), os.environ.get("XXHASH_INCLUDE"),
               sysconfig.get_config_var("INCLUDEDIR"), "/usr/include", "/usr/local/include"]
    return first_file(*(folder and os.path.join(folder, "xxhash.h") for folder in folders))


def is_needed(folder, name):
    return name.endswith((".c", ".h")) and (folder != "feed" or name[:-2] in FEED_UNITS)


def copy_sources(target):
    """The C sources, in their folders; returns the paths of those to compile."""
    units = []
    for folder in FOLDERS:
        source = next(place for place in (os.path.join(HERE, folder), os.path.join(ROOT, "src", folder))
                      if os.path.isdir(place))
        os.makedirs(os.path.join(target, folder), exist_ok=True)
        for name in sorted(filter(lambda name: is_needed(folder, name), os.listdir(source))):
            copy(os.path.join(source, name), os.path.join(target, folder, name))
            if name.endswith(".c"):
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
        ext.include_dirs += [os.path.join(staged, folder) for folder in FOLDERS] + ["native"]
        if find_xxhash():
            ext.include_dirs.append(os.path.dirname(find_xxhash()))
        try:
            super().build_extension(ext)
        except Exception as error:
            raise SystemExit(f"{NEEDS}: {error}") from None


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


commands = {"build_ext": BuildExt, "sdist": Sdist}
if bdist_wheel and STABLE:
    class StableWheel(bdist_wheel):
        def finalize_options(self):
            self.py_limited_api = "cp311"
            super().finalize_options()

    commands["bdist_wheel"] = StableWheel

gather_licences()
setup(
    ext_modules=[Extension(
        "bloomfilter._native",
        sources=[os.path.join("native", unit) for unit in ("filter.c", "keys.c", "module.c")],
        depends=[os.path.join("native", "native.h")],
        define_macros=[("BLOOMFILTER_VERSION", f'"{VERSION}"')]
        + ([("Py_LIMITED_API", "0x030b0000")] if STABLE else []),
        py_limited_api=STABLE,
        # Equal sizes on all machines need arithmetic that is not contracted.
        extra_compile_args=["-std=c11", "-fvisibility=hidden", "-ffp-contract=off", "-pthread"],
        # A library of the same name in the process is another one.
        extra_link_args=["-pthread"] + (["-Wl,-Bsymbolic"] if sys.platform == "linux" else []),
    )],
    cmdclass=commands,
)
