"""Figure 7: the readers, each beside its language's set and a usual Bloom package.

Ours are measured by their own bench programs, which print the best of some rounds;
each program runs several times, in turns with the others. Packages are asked by
small programs in bench/readers. "1 MB" is the size at which all are compared;
"124 MB" is ours at 100 million keys.
"""

import os
import re
import shutil
import subprocess
import sys

from languages import GO, build_java, build_node, build_python, output
from measure import Samples
from run import Run
from table import Table

# What 1 MB and 124 MB hold at 1 %, and what the sets beside them hold.
KEYS = {"1 MB": 800_000, "124 MB": 100_000_000}
SET_KEYS = 4_000_000


def fields(text):
    """The lines of bench/readers: (contender, operation, ns)."""
    return [(name, operation, float(ns)) for name, operation, ns in
            (line.split("\t") for line in text.splitlines())]


class Python:
    name = "Python"
    ROWS = {"set": "set", "BloomFilter": "bloomfilter", "WatchedBloomFilter": "bloomfilter, watched"}

    def __init__(self, run):
        self.run, self.folder = run, build_python(run)

    def ours(self, size):
        text = output(self.folder, "/usr/bin/python3", "bench.py", KEYS[size],
                      self.run.choose(300_000, SET_KEYS), PYTHONPATH="build/lib")
        found = []
        for line in text.splitlines()[2:]:
            name = line[:28].strip()
            numbers = re.findall(r"(\d+) ns", line)
            for operation, ns in zip(("there", "absent", "batch there"), numbers):
                found.append((self.ROWS[name], operation, float(ns)))
        return found

    def package(self, keys, rounds):
        script = os.path.join(self.run.tree, "bench", "readers", "flor_filter.py")
        return fields(output(self.folder, "/usr/bin/python3", script, min(keys, 200_000), rounds))


class Java:
    name = "Java"
    ROWS = {"HashSet, there": ("HashSet", "there"), "HashSet, not there": ("HashSet", "absent"),
            "BloomFilter, there": ("bloomfilter", "there"),
            "BloomFilter, not there": ("bloomfilter", "absent"),
            "BloomFilter batch, there": ("bloomfilter", "batch there"),
            "BloomFilter batch, not there": ("bloomfilter", "batch absent"),
            "BloomFilter, text of 36, not there": ("bloomfilter", "text absent")}

    def __init__(self, run):
        self.run = run
        self.folder, self.path = build_java(run)

    def ours(self, size):
        text = output(self.folder, "java", "-Xmx2g", "-cp", self.path, "bloomfilter.Bench",
                      size.split()[0], self.run.choose(500_000, SET_KEYS))
        rows = re.findall(r"^(.*?)\s+([\d.]+) ns", text, re.MULTILINE)
        return [(*self.ROWS[name], float(ns)) for name, ns in rows if name in self.ROWS]

    def package(self, keys, rounds):
        script = os.path.join(self.run.tree, "bench", "readers", "Guava.java")
        jars = "/usr/share/java/guava.jar:/usr/share/java/failureaccess.jar"
        return fields(output(self.folder, "java", "-cp", jars, script, keys, rounds))


class Go:
    name = "Go"
    ROWS = {"Int64Copy/members": ("bloomfilter", "there"),
            "Int64Copy/others": ("bloomfilter", "absent"),
            "Int64Batch/members": ("bloomfilter", "batch there"),
            "Int64Batch/others": ("bloomfilter", "batch absent"),
            "Strings/single": ("bloomfilter", "text absent"),
            "Map/members": ("map", "there"), "Map/others": ("map", "absent")}

    def __init__(self, run):
        self.run, self.folder = run, os.path.join(run.tree, "clients", "go")

    def ours(self, size):
        text = output(self.folder, "go", "test", "-run", "^$", "-bench",
                      "Int64Copy|Int64Batch|Strings|Map", "-benchtime", self.run.choose("20ms", "300ms"),
                      BENCH_KEYS=str(KEYS[size]), **GO)
        rows = re.findall(r"^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op", text, re.MULTILINE)
        return [(*self.ROWS[name], float(ns)) for name, ns in rows if name in self.ROWS]

    def package(self, keys, rounds):
        script = os.path.join(self.run.tree, "bench", "readers", "willf_bloom.go")
        return fields(output(self.folder, "go", "run", script, keys, rounds,
                             GO111MODULE="off", GOPATH="/usr/share/gocode"))


class Node:
    name = "Node.js"
    KINDS = {"integers, members": "there", "integers, others": "absent", "texts, members": "text there"}
    ASKED = {"contains": ("bloomfilter", ""), "containsMany": ("bloomfilter", "batch "),
             "Set.has": ("Set", "")}

    def __init__(self, run):
        self.run, self.folder = run, build_node(run)
        self.modules = os.path.join(run.work, "npm")
        # Where npm's registry can't be reached the others are still worth measuring.
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
               "--prefix", self.modules, "bloom-filters@3", "bloomfilter@0"]
        if (shutil.which("npm") is None or
                subprocess.run(npm, cwd=run.work, capture_output=True, check=False).returncode != 0):
            print("    npm can't install others' filters: Node.js stands alone", file=sys.stderr)

    def ours(self, size):
        text = output(self.folder, "node", "bench/bench.js", int(size.split()[0]) * 1_000_000 // 64)
        rows = re.findall(r"^(\w+, \w+): (\S+)\s+([\d.]+) ns", text, re.MULTILINE)
        found = []
        for kind, asked, ns in rows:
            # Strings of 1 MB are asked beside the packages, in one process.
            measured_there = size == "1 MB" and kind.startswith("texts")
            if kind in self.KINDS and asked in self.ASKED and not measured_there:
                contender, prefix = self.ASKED[asked]
                found.append((contender, prefix + self.KINDS[kind], float(ns)))
        return found

    def package(self, keys, rounds):
        script = os.path.join(self.run.tree, "bench", "readers", "bloom_filters.cjs")
        reader = os.path.join(self.folder, "lib", "index.js")
        return fields(output(self.folder, "node", script, reader, min(keys, self.run.choose(10_000, keys)),
                             rounds * 3, NODE_PATH=os.path.join(self.modules, "node_modules")))


class Library:
    name = "C"

    def __init__(self, run):
        self.run, self.program = run, os.path.join(run.work, "library")
        source, built = os.path.join(run.tree, "src", "lib"), os.path.join(run.work, "lib")
        output(source, "make", "-s", f"BUILD={built}")
        output(os.path.join(run.tree, "bench", "readers"), "g++", "-std=c++17", "-O2", "-I", source,
               "library.cc", "-o", self.program, os.path.join(built, "libbloomfilter.a"),
               "-lbloom", "-lm", "-pthread")

    def ours(self, size):
        return fields(output(self.run.work, self.program, self.run.choose(300_000, KEYS[size]), 3))

    def package(self, keys, rounds):
        return []                       # libbloom is in the same program


def gather(samples, language, size, rows):
    for contender, operation, ns in rows:
        samples.setdefault((language, size, operation, contender), Samples()).values.append(ns)


def main():
    run = Run()
    table = Table(run, "fig7_readers", "readers", ["language", "size", "operation", "contender"])
    languages = [language(run) for language in (Library, Python, Java, Go, Node)]
    samples = {}
    for _ in range(run.choose(1, 2)):
        for size in run.choose(["1 MB"], ["1 MB", "124 MB"]):
            for language in languages:
                gather(samples, language.name, size, language.ours(size))
    for language in languages:
        keys = run.choose(50_000, KEYS["1 MB"])
        gather(samples, language.name, "1 MB", language.package(keys, run.rounds))
    for key, found in samples.items():
        table.add(*key, unit="bytes" if "bytes" in key else "ns", samples=found)
    table.write()


if __name__ == "__main__":
    main()
