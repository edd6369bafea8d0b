"""drivers.py: what lines.py, first.py and keys.py share: the programs and the drivers that they use.

Most are those of the system; those of node and Go are unpacked from Debian's
packages in a scratch folder, as to install them takes much that has nothing to do with them.
"""
import functools
import glob
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")

NODE_PACKAGES = ["node-pg", "node-split2", "node-xtend", "node-readable-stream", "node-inherits",
                 "node-safe-buffer", "node-string-decoder", "node-util-deprecate"]
JDBC = "/usr/share/java/postgresql.jar"


def psql(sql, database=None):
    """Its output; in the database of PGDATABASE if none is named."""
    command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database or os.environ["PGDATABASE"],
               "-c", "set client_min_messages = warning", "-c", sql]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def write_program(name, marks, folder):
    """A program of programs/ in the folder, with the text of each mark in its place."""
    program = read("test", "drivers", "programs", name)
    for mark, text in marks.items():
        program, count = re.subn("(//|#) %s$" % mark, lambda _: text, program, flags=re.M)
        assert count == 1, "%s has one %s" % (name, mark)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    return path


@functools.cache
def downloaded(packages):
    """A folder that lives as long as this program."""
    folder = tempfile.TemporaryDirectory()
    subprocess.run(["apt-get", "download", "-q", *packages], cwd=folder.name, check=True, stdout=subprocess.DEVNULL)
    return folder


def unpack(packages, folder):
    for package in glob.glob(os.path.join(downloaded(tuple(packages)).name, "*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)


def node_command(program, folder):
    unpack(NODE_PACKAGES, folder)
    # ES modules are not looked for in NODE_PATH.
    os.symlink("usr/share/nodejs", os.path.join(folder, "node_modules"))
    return ["node", program]


def java_command(program, folder, *classes):
    path = ":".join([JDBC, folder, *classes])
    # Each runs for a second.
    options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    subprocess.run(["javac", *("-J" + option for option in options), "-cp", path, "-d", folder, program], check=True)
    return ["java", *options, "-cp", path, os.path.splitext(os.path.basename(program))[0]]


def go_command(program, folder, packages):
    unpack(packages, folder)
    binary = os.path.splitext(program)[0]
    subprocess.run(["env", "GO111MODULE=off", "GOFLAGS=", "GOPATH=%s/usr/share/gocode" % folder,
                    "go", "build", "-o", binary, program], check=True)
    return [binary]
