"""Whether a run of bench/run wrote what its figures promise: check.py BENCH OUT [FIGURE...].

Each table named in a figure's program is there, and ours has a number in each of its
rows; the report tells of each table. Of all figures also: each plot named in plots/draw.py is a
drawing, and one build was compared with another.
"""

import glob
import math
import os
import re
import sys
import xml.dom.minidom

sys.dont_write_bytecode = True
BENCH, OUT, *FIGURES = sys.argv[1:]
sys.path.insert(0, os.path.join(BENCH, "lib"))

from table import Results  # noqa: E402 (the path comes first)

failed = passed = 0


def check(name, problems):
    global failed, passed
    problems = list(problems)
    passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{'not ' if problems else ''}ok - {name}")
    for problem in problems:
        print(f"# {problem}")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def names(pattern, files):
    return [name for path in sorted(glob.glob(os.path.join(BENCH, files)))
            for name in re.findall(pattern, read(path))]


def is_number(text):
    """Of any sign: on a busy machine a quick run's difference of two times may be negative."""
    return text != "" and math.isfinite(float(text))


def wrong_rows(path):
    """Rows without a number, unless a rival was capped or refused and says so."""
    if not os.path.exists(path):
        yield "there is no such table"
        return
    results = Results(path)
    if not results.rows:
        yield "it has no row"
    for row in results.rows:
        ours = row.get("contender", row.get("scan", "")).startswith(("bloomfilter", "bloom_"))
        if not is_number(row["median"]) and (ours or not row["note"]):
            yield "\t".join(row.values())


def wrong_drawing(path):
    if not os.path.exists(path):
        yield "there is no such plot"
        return
    drawn = xml.dom.minidom.parse(path).getElementsByTagName("path")
    if len(drawn) < 3:
        yield f"only {len(drawn)} paths"


def wrong_ratios(path):
    """Of a build against itself: each line ends in median, least and most."""
    lines = read(path).splitlines()[1:]
    if len(lines) < 9:
        yield f"only {len(lines)} lines"
    for line in lines:
        if not all(is_number(number) and float(number) > 0 for number in line.split()[-3:]):
            yield line


def main():
    tables = [table for figure in FIGURES or "*" for table in names(r'Table\(run, "(\w+)"', f"fig{figure}_*.py")]
    report = read(OUT, "results.md")
    # One needs a header that is in no package: bench/run --fuse.
    for name in set(tables) - {"fig5_fuse"}:
        check(f"table {name}", wrong_rows(os.path.join(OUT, "results", f"{name}.tsv")))
        check(f"report on {name}", [] if name in report else ["not a word"])
    check("there are tables to look for", [] if tables else [FIGURES])
    if not FIGURES:
        check_all(tables)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


def check_all(tables):
    plots = names(r'Plot\(run, results, f?"([\w{}]+)"', "plots/draw.py")
    for name in plots:
        found = glob.glob(os.path.join(OUT, "plots", re.sub(r"{\w+}", "*", name) + ".svg"))
        check(f"plot {name}", (problem for path in found or [name] for problem in wrong_drawing(path)))
    check("one build against another", wrong_ratios(os.path.join(OUT, "against")))
    check("there are tables and plots to look for", [] if len(tables) > 8 and len(plots) > 6 else [tables, plots])


sys.exit(main())
