"""Figure 5: the core in C, against the textbook's filter and C++'s own sets.

The filter of 500 MB is larger than many a cache, not than all: the pointer chase
beside it says what a miss costs on this machine at each size.
"""

import os
import re
import subprocess

from measure import Samples, interleave
from run import MILLION, Run, name_of
from table import Table

# Published elsewhere for unordered_map and 10 million such URLs, and for a filter at 1e-4.
PUBLISHED = "published elsewhere: map 1599.5 MB, 13.3 s; filter at 1e-4 22.85 MB"
URL_RATE = 1e-4
EVENTS = "cycles,instructions,cache-misses"


def lines_of(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def megabytes(size):
    return f"{float(size) / 1e6:.3g} MB"


def add_lines(table, lines):
    """Of each operation and contender all rounds; our filter's bytes."""
    size = next(value for operation, contender, value in lines if (operation, contender) == ("bytes", "bloomfilter"))
    label = megabytes(size)
    samples = {}
    for operation, contender, value in lines:
        samples.setdefault((operation, contender), Samples()).values.append(float(value))
    for (operation, contender), found in samples.items():
        unit = {"bytes": "bytes", "rate": "false positives"}.get(operation, "ns/key")
        table.add(label, operation, contender, unit=unit, samples=found)
    return size


def core_at(run, table, keys):
    """All operations at one size, and the chase through as many bytes; the size in words."""
    size = add_lines(table, lines_of(run.program("core"), "time", keys, 0.01, 2 * run.rounds + 1))
    label = megabytes(size)
    chase = lines_of(run.program("chase"), size, 5)
    table.add(label, "one miss", "pointer chase", unit="ns", samples=Samples(float(line[0]) for line in chase))
    return label


def counted_by_perf(command):
    """{event: count}, or nothing where the machine does not count."""
    try:
        done = subprocess.run(["perf", "stat", "-x", ",", "-e", EVENTS, *command],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return {}
    found = re.findall(r"^(\d+),[^,]*,([\w-]+)", done.stderr, re.MULTILINE)
    return {event: int(count) for count, event in found}


def counted_by_callgrind(command):
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *command],
                          capture_output=True, text=True, check=True)
    return {"instructions": int(re.search(r"Collected : (\d+)", done.stderr).group(1))}


def events_per_key(run, table, label):
    """What a run with keys takes more than one without leaves the operation's own part."""
    count = counted_by_perf if counted_by_perf(["true"]) else counted_by_callgrind
    tool = "perf" if count is counted_by_perf else "callgrind"
    keys = run.choose(20_000, 100_000)
    none = count([run.program("core"), "count", "add", "bloomfilter", "0"])
    for operation in ("contains there", "contains absent", "batch there", "add", "add batch"):
        for contender in ("bloomfilter", "portable C", "textbook"):
            if operation == "add" and contender == "portable C":
                continue                # one at a time it is plain C anyway
            some = count([run.program("core"), "count", operation, contender, str(keys)])
            for event in none:
                table.add(label, operation, contender, unit=f"{event}/key",
                          samples=(some[event] - none[event]) / keys, note=tool)


def remembered(run, container, count):
    """Seconds to add, to find and to miss; bytes; the share of the absent found."""
    return [float(value) for value in lines_of(run.program("urls"), container, count, URL_RATE)[0]]


def urls(run, table, count, containers):
    last = {}

    def seconds(container):
        last.setdefault(container, []).append(remembered(run, container, count))
        return last[container][-1][0]

    interleave({name: (lambda name=name: seconds(name)) for name in containers}, run.rounds, budget=45)
    for name, results in last.items():
        for index, (operation, unit) in enumerate(
                (("add", "s"), ("find", "s"), ("miss", "s"), ("memory", "bytes"), ("rate", "false positives"))):
            values = Samples(result[index] for result in results)
            table.add(name_of(count), operation, name, unit=unit, samples=values,
                      note=PUBLISHED if name == "unordered_map" and operation in ("add", "memory") else "")


def fuse(run):
    """Where its header was given: see bench/c/fuse.c."""
    if not os.path.exists(run.program("fuse")):
        return
    table = Table(run, "fig5_fuse", "beside a binary fuse filter, which can't be added to",
                  ["size", "operation", "contender"])
    for keys in run.choose([20_000], [100_000, 10 * MILLION, 100 * MILLION]):
        add_lines(table, lines_of(run.program("fuse"), keys, 2 * run.rounds + 1))
    table.write()


def main():
    run = Run()
    core = Table(run, "fig5_core", "the core in C", ["size", "operation", "contender"])
    small = core_at(run, core, 100_000)
    core_at(run, core, run.choose(200_000, 10 * MILLION))
    core_at(run, core, run.choose(1_000_000, 403 * MILLION))
    events_per_key(run, core, small)
    core.write()
    fuse(run)
    remember = Table(run, "fig5_urls", "URLs remembered", ["urls", "operation", "contender"])
    urls(run, remember, run.choose(50_000, 10 * MILLION),
         ("unordered_map", "unordered_set", "textbook", "bloomfilter"))
    # What the sets would take ten times the memory for.
    urls(run, remember, run.choose(500_000, 100 * MILLION), ("textbook", "bloomfilter"))
    remember.write()


if __name__ == "__main__":
    main()
