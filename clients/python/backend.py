"""Makes wheels and source distributions by Python and a C compiler alone.

pip calls it and fetches nothing for it: this folder installs where there is no network.
The module is compiled from the library libbloomfilter.  Its sources, xxhash.h and the
licences lie outside of this folder in the repository; a source distribution carries them.

    python3 backend.py FOLDER       puts the package into FOLDER, to be imported from there
"""

import base64
import gzip
import hashlib
import io
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
# The distribution is bloomfilter-reader; names of files spell it as the module.
IMPORTED = "bloomfilter_reader"
PACKAGE = os.path.join(HERE, "src", IMPORTED)

# The folders of C sources, and the units of them that are not needed.
FOLDERS = ("core", "text", "feed", "lib")
FEED_UNITS = ("feed_page", "feed_part", "feed_table", "feed_values")

# From 3.11 on the stable interface has all that the module uses: one wheel for all of them.
STABLE = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
NEEDS = ("bloomfilter-reader needs a C compiler, Python's headers and xxhash.h "
         "(Debian: gcc python3-dev libxxhash-dev)")
# Equal sizes on all machines need arithmetic that is not contracted; a library of the same
# name in the process is another one.
FLAGS = ["-std=c11", "-fvisibility=hidden", "-ffp-contract=off", "-pthread", "-g0"] + (
    ["-Wl,-Bsymbolic"] if sys.platform == "linux" else [])


def read(path):
    with open(path, "rb") as file:
        return file.read()


VERSION = read(os.path.join(PACKAGE, "_version.py")).decode().split('"')[-2]
NAME = f"{IMPORTED}-{VERSION}"


# What the package is made of

def files_of(folder):
    return sorted(entry.path for entry in os.scandir(folder) if entry.is_file())


def first(*places):
    """The first of these that there is, or None."""
    return next((place for place in places if place and os.path.exists(place)), None)


def library_sources():
    """The library's files: name in a source distribution, path here."""
    sources = {}
    for folder in FOLDERS:
        place = first(os.path.join(HERE, folder), os.path.join(ROOT, "src", folder))
        names = (os.path.basename(path) for path in files_of(place))
        sources.update((f"{folder}/{name}", os.path.join(place, name)) for name in names
                       if name.endswith((".c", ".h")) and (folder != "feed" or name[:-2] in FEED_UNITS))
    header = first(os.path.join(HERE, "core", "xxhash.h"),
                   *(os.path.join(folder, "xxhash.h") for folder in (
                       os.environ.get("XXHASH_INCLUDE"), sysconfig.get_config_var("INCLUDEDIR"),
                       "/usr/include", "/usr/local/include") if folder))
    if header is None:
        raise SystemExit(NEEDS)
    return {**sources, "core/xxhash.h": header}


def licences():
    """Ours, and the notice of xxHash, which the compiled module contains."""
    notice = read(library_sources()["core/xxhash.h"]).decode().split("*/", 1)[0].split("\n")
    lines = [line.removeprefix("/*").removeprefix(" *").strip() for line in notice]
    return {"LICENSE": read(first(os.path.join(HERE, "LICENSE"), os.path.join(ROOT, "LICENSE"))),
            "LICENSE.xxHash": ("\n".join(lines).strip() + "\n").encode()}


def metadata():
    return (read(os.path.join(HERE, "metadata")).decode().replace("VERSION", VERSION) + "\n").encode() + read(
        os.path.join(HERE, "README.md"))


# The module

def compiler():
    """The command that links what can be imported; CC in the environment takes the compiler's place."""
    own, link = (shlex.split(sysconfig.get_config_var(name)) for name in ("CC", "LDSHARED"))
    return shlex.split(os.environ["CC"]) + link[len(own):] if "CC" in os.environ else link


def compile_module(folder):
    """Puts the extension module into the folder, unless one is there that is newer than its sources."""
    sources = library_sources()
    native = files_of(os.path.join(HERE, "native"))
    target = os.path.join(folder, "_native" + (".abi3.so" if STABLE else sysconfig.get_config_var("EXT_SUFFIX")))
    if os.path.exists(target) and all(os.path.getmtime(path) < os.path.getmtime(target)
                                      for path in [*sources.values(), *native]):
        return
    includes = {os.path.dirname(path) for path in sources.values()} - {"/usr/include"}
    variables = shlex.split(" ".join(sysconfig.get_config_var(name) or "" for name in ("CFLAGS", "CCSHARED")))
    command = [*compiler(), *variables, *shlex.split(os.environ.get("CFLAGS", "")), *FLAGS,
               f'-DBLOOMFILTER_VERSION="{VERSION}"', *(["-DPy_LIMITED_API=0x030b0000"] if STABLE else []),
               "-I" + sysconfig.get_path("include"), *("-I" + include for include in sorted(includes)),
               *(path for path in [*sources.values(), *native] if path.endswith(".c")),
               "-o", target, *shlex.split(os.environ.get("LDFLAGS", ""))]
    try:
        done = subprocess.run(command, check=False).returncode == 0
    except OSError:
        done = False
    if not done:
        raise SystemExit(f"{NEEDS}: {command[0]} failed")


def build_package(folder):
    package = os.path.join(folder, IMPORTED)
    os.makedirs(package, exist_ok=True)
    for path in files_of(PACKAGE):
        shutil.copy2(path, package)
    compile_module(package)


# Wheel and source distribution: the same bytes from the same sources

def tag():
    """Which Python a wheel is for, and which system: Linux with its C library or a later one."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    system = sysconfig.get_platform()
    name, version = platform.libc_ver()
    if name == "glibc" and system.startswith("linux-"):
        system = system.replace("linux", "manylinux_" + version)
    return (("cp311-abi3-" if STABLE else f"{python}-{python}{sys.abiflags}-")
            + system.replace("-", "_").replace(".", "_"))


def sum_of(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    information = NAME + ".dist-info/"
    files = {information + name: text for name, text in licences().items()}
    files[information + "METADATA"] = metadata()
    files[information + "WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: bloomfilter-reader {VERSION}\n"
                                    f"Root-Is-Purelib: false\nTag: {tag()}\n").encode()
    with tempfile.TemporaryDirectory() as folder:
        build_package(folder)
        files.update((IMPORTED + "/" + os.path.basename(path), read(path))
                     for path in files_of(os.path.join(folder, IMPORTED)))
    record = information + "RECORD"
    files[record] = "".join([f"{name},sha256={sum_of(data)},{len(data)}\n" for name, data in sorted(files.items())]
                            + [record + ",,\n"]).encode()
    wheel = f"{NAME}-{tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    files = {**licences(), "PKG-INFO": metadata()}
    files.update((name, read(path)) for name, path in library_sources().items())
    files.update((name, read(os.path.join(HERE, name)))
                 for name in ("backend.py", "metadata", "pyproject.toml", "README.md"))
    files.update((os.path.relpath(path, HERE), read(path))
                 for folder in (PACKAGE, os.path.join(HERE, "native")) for path in files_of(folder))
    sdist = NAME + ".tar.gz"
    with open(os.path.join(sdist_directory, sdist), "wb") as file, \
            gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mtime = len(data), 315532800
            archive.addfile(entry, io.BytesIO(data))
    return sdist


if __name__ == "__main__":
    build_package(sys.argv[1])
