"""Figure 7: the readers, each beside its language's set and usual Bloom packages.

Each contender is asked in a process of its own, as by a program that uses it, several
times in turns with the others. "1 MB" is the size at which all are compared; "124 MB" is
ours at 100 million keys, beside sets and libbloom. Keys are 1 to n, of which sets that
take an integer for its own hash (C++, Java, Python) are fastest.
"""

import os
import shutil
import subprocess
import sys

from languages import Questions, output
from measure import Samples
from run import MILLION, Run, name_of
from table import Table

# The language's set, then packages.
RIVALS = {"C": ["unordered_set", "libbloom"], "Python": ["set", "flor"], "Java": ["HashSet", "Guava"],
          "Go": ["map", "willf/bloom"], "Node.js": ["Set", "bloom-filters", "npm bloomfilter"]}

# JavaScript's Set can't hold more, the others would take 10 GB.
MOST_IN_SET = dict.fromkeys(("Python", "Java", "Node.js"), 16 * MILLION)


def build(run, name, keys, kind="integer", form=""):
    """A filter of 1 to keys, or of texts that seq makes of them."""
    path = os.path.join(run.work, name)
    program = os.path.join(run.tree, "build", "cli", "bloomfilter")
    output(run.work, "sh", "-c", f"seq {form} 1 {keys} | {program} build -t {kind} -n {keys} {path}")
    return path


def install_npm(run, packages):
    """Where npm's registry can't be reached the others are still worth measuring."""
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
           "--prefix", os.path.join(run.work, "npm"), "bloom-filters@3", "bloomfilter@0"]
    if (shutil.which("npm") is None or
            subprocess.run(npm, cwd=run.work, capture_output=True, check=False).returncode != 0):
        print("    npm can't install others' filters: Node.js stands alone", file=sys.stderr)
        del packages[1:]


def contenders(run, sizes):
    """Each size and language, with a contender and its keys."""
    for size, keys in sizes.items():
        file = build(run, f"{keys}.bloom", keys)
        for language, (language_set, *packages) in RIVALS.items():
            yield size, language, keys, file
            yield size, language, min(keys, MOST_IN_SET.get(language, keys)), language_set
            if size == "1 MB" or language == "C":
                yield from ((size, language, keys, package) for package in packages)
    keys = sizes["1 MB"]        # npm's packages know strings only
    yield "1 MB", "Node.js", keys, build(run, "text.bloom", keys, "text", "-f user-%.0f@example.com")


def main():
    run = Run()
    table = Table(run, "fig7_readers", "readers", ["language", "size", "operation", "contender"])
    questions = Questions(run)
    install_npm(run, RIVALS["Node.js"])
    asked = list(contenders(run, run.choose({"1 MB": 50_000}, {"1 MB": 800_000, "124 MB": 100 * MILLION})))
    samples = {}
    for _ in range(run.choose(1, 2)):
        for size, language, keys, contender in asked:
            name = "bloomfilter" if os.path.isabs(contender) else contender
            for (_, operation), found in questions.ask(language, keys, run.rounds, contender).items():
                row = samples.setdefault((language, size, operation, name), Samples(note=f"{name_of(keys)} keys"))
                row.values += found.values
    for key, found in samples.items():
        table.add(*key, unit="bytes" if "bytes" in key else "ns", samples=found)
    table.write()


if __name__ == "__main__":
    main()
