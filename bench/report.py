"""Writes results.md from results/*.tsv: ratios first, then every figure."""

import glob
import os

from measure import tell
from run import Run
from table import Results

# The figures' tables: what is below each other, what beside each other.
LAYOUT = {
    "fig1_point": ("keys", "clients"), "fig1_memory": ("keys", "contender", "lookups"),
    "fig2_scan": ("rows", "keys", "processes"), "fig2_overhead": ("scan",),
    "fig2_semijoin": ("keys",),
    "fig3_build": ("type", "keys", "processes"), "fig3_bytes": ("type", "keys"),
    "fig4_batch": ("keys", "batch", "way"), "fig5_core": ("size", "operation", "unit"),
    "fig5_fuse": ("size", "operation", "unit"), "fig5_urls": ("urls", "operation", "unit"), "fig6_accuracy": ("p", "fill"),
    "fig7_readers": ("language", "size", "contender"), "fig8_live": ("keys", "what", "clients", "unit"),
    "fig9_scaling": ("what", "case", "unit"), "fig10_partitions": ("partitions", "what", "unit"),
    "fig11_publish": ("keys", "what", "unit"), "fig12_hosts": ("what", "contender", "unit"),
    "fig13_changes": ("what", "unit"),
    "without_wal": ("what", "unit"), "without_places": ("what", "unit"), "without_hints": ("what", "unit"),
}
ACROSS = {"fig2_overhead": "unit", "fig6_accuracy": "what", "fig1_memory": "unit",
          "fig7_readers": "operation", "fig11_publish": "processes", "fig12_hosts": "case"}


class Everything:
    """All tables there are; a comparison of what is not there is left out."""

    def __init__(self, folder):
        paths = {name: os.path.join(folder, name + ".tsv") for name in LAYOUT}
        self.tables = {name: Results(path) for name, path in paths.items() if os.path.exists(path)}

    def value(self, table, **wanted):
        return self.tables[table].value(**wanted) if table in self.tables else None

    def last(self, table, name, **wanted):
        """The largest size for which there is a result: tables are in rising order."""
        found = self.sizes(table, name, **wanted)
        return found[-1] if found else None

    def sizes(self, table, name, **wanted):
        """All sizes for which there is a result."""
        rows = self.tables[table].select(**wanted) if table in self.tables else []
        return list(dict.fromkeys(row[name] for row in rows if row["median"]))


class Ratios:
    """Lines of the table of ratios; above 1 we are better."""

    def __init__(self, everything):
        self.everything = everything
        self.lines = []
        self.first = []
        self.lost = []

    def add(self, instead, where, table, ours, theirs, larger_is_better=False, what="time", first=False):
        mine = self.everything.value(table, **ours)
        other = self.everything.value(table, **theirs)
        if not mine or not other:
            return
        ratio = mine / other if larger_is_better else other / mine
        line = f"| {instead} | {where} | {what} | **{tell('', ratio)}** |"
        self.lines.append(line)
        if first:
            self.first.append(line)
        if ratio < 1:
            self.lost.append(f"- {instead}, {where}: {tell('', ratio)} ({what})")

    def among(self, instead, where, table, ours, theirs, common, **options):
        """Rows that differ by the contender only."""
        self.add(instead, where, table, {**common, "contender": ours}, {**common, "contender": theirs}, **options)


def point_ratios(ratios, all_of):
    for theirs, instead in (("B-tree", "`EXISTS` by B-tree"), ("hash index", "`EXISTS` by hash index"),
                            ("contrib bloom", "index of contrib's `bloom`"),
                            ("= ANY (array)", "`= ANY` of an array in the plan"),
                            ("whole detoast", "a `bytea` that is detoasted whole")):
        for clients in ("1", "2", "4"):
            keys = all_of.last("fig1_point", "keys", contender=theirs, clients=clients)
            if keys:
                asked = f"point look-ups, {keys} keys, {clients} connection{'' if clients == '1' else 's'}"
                ratios.among(instead, asked, "fig1_point", "bloomfilter", theirs,
                             {"keys": keys, "clients": clients}, larger_is_better=True, what="look-ups/s",
                             first=theirs in ("B-tree", "whole detoast"))


def scan_ratios(ratios, all_of):
    for theirs, ours in (("hash semi-join", "bloomfilter"), ("index nested loop", "bloomfilter"),
                         ("join", "bloomfilter, then join"), ("hash anti-join", "not bloomfilter"),
                         ("NOT IN", "not bloomfilter")):
        instead = "join without a prefilter" if theirs == "join" else theirs
        for processes in ("serial", "parallel"):
            found = [row for row in all_of.tables["fig2_scan"].select(contender=theirs, processes=processes)
                     if row["median"]] if "fig2_scan" in all_of.tables else []
            for row in found[-1:]:
                ratios.among(instead, f"{row['rows']} rows, {row['keys']} keys, {processes}", "fig2_scan", ours,
                             theirs, {name: row[name] for name in ("rows", "keys", "processes")},
                             first=processes == "serial")


def semi_join_ratios(ratios, all_of):
    keys = all_of.last("fig2_semijoin", "keys")
    for memory in ("4MB", "1GB"):
        for ours in ("list", "live"):
            ratios.among(f"hash semi-join, work_mem {memory}", f"2m rows, {keys} keys, {ours}", "fig2_semijoin", ours,
                         f"hash semi-join, work_mem {memory}", {"keys": keys}, first=ours == "list")


def build_ratios(ratios, all_of):
    for theirs in ("CREATE INDEX", "array_agg", "hll_add_agg", "count(key)"):
        for kind in ("bigint", "uuid", "text"):
            for processes in ("serial", "parallel"):
                common = {"type": kind, "processes": processes}
                keys = all_of.last("fig3_build", "keys", contender=theirs, **common)
                if keys and (kind == "bigint" or processes == "serial"):
                    ratios.among(theirs, f"building from {keys} {kind}, {processes}", "fig3_build",
                                 "bloom_agg(key, n)", theirs, {**common, "keys": keys},
                                 first=kind == "bigint" and theirs in ("CREATE INDEX", "count(key)"))
    for theirs in ("CREATE INDEX", "array_agg"):
        keys = all_of.last("fig3_bytes", "keys", contender=theirs, type="bigint")
        if keys:
            ratios.among(theirs, f"{keys} bigint", "fig3_bytes", "bloom_agg(key, n)", theirs,
                         {"type": "bigint", "keys": keys}, what="bytes", first=True)


def batch_ratios(ratios, all_of):
    for way in ("one call", "many calls"):
        keys = all_of.last("fig4_batch", "keys", way=way)
        for batch in ("10", "1000", "10000"):
            if keys:
                ratios.among("`= ANY` on the B-tree", f"{batch} keys per call, {way}, {keys} keys", "fig4_batch",
                             "bloom_contains_each", "= ANY, B-tree", {"keys": keys, "batch": batch, "way": way},
                             larger_is_better=True, what="keys/s", first=batch == "1000")


def core_ratios(ratios, all_of):
    sizes = all_of.tables["fig5_core"].values("size") if "fig5_core" in all_of.tables else []
    for size in dict.fromkeys(sizes[:1] + sizes[-1:]):
        for operation in all_of.tables["fig5_core"].values("operation", size=size, unit="ns/key"):
            ratios.among("the textbook's filter in C", f"{operation}, {size}", "fig5_core", "bloomfilter",
                         "textbook", {"size": size, "operation": operation, "unit": "ns/key"},
                         first=size == sizes[-1] and operation.startswith("contains"))
    for size in all_of.sizes("fig5_fuse", "size"):
        for operation in all_of.tables["fig5_fuse"].values("operation", size=size):
            what = {"bytes": "bytes", "rate": "false positives"}.get(operation, "time")
            ratios.among("`binary_fuse8`", f"{operation}, {size}", "fig5_fuse", "bloomfilter", "binary_fuse8",
                         {"size": size, "operation": operation}, what=what)
    for theirs in ("unordered_map", "unordered_set", "textbook"):
        urls = all_of.last("fig5_urls", "urls", contender=theirs)
        for operation, what in (("add", "time"), ("find", "time"), ("memory", "bytes")):
            if urls:
                ratios.among(f"`{theirs}`", f"{operation}, {urls} URLs", "fig5_urls", "bloomfilter", theirs,
                             {"urls": urls, "operation": operation}, what=what,
                             first=theirs == "unordered_map")


def reader_ratios(ratios, all_of):
    if "fig7_readers" not in all_of.tables:
        return
    table = all_of.tables["fig7_readers"]
    largest = table.values("size")[-1]
    for row in table.select():
        if row["contender"].startswith("bloomfilter") or row["operation"] == "bytes":
            continue
        common = {name: row[name] for name in ("language", "size", "operation")}
        ratios.among(f"{row['language']}: {row['contender']}", f"{row['operation']}, filter of {row['size']}",
                     "fig7_readers", "bloomfilter", row["contender"], common,
                     first=row["operation"] == "there" and row["size"] == largest)


# Of figure 8: what, by how many connections, its unit, and the others.
LIVE = [("look-up", clients, "1/s", ("EXISTS, B-tree", "stored value", "list")) for clients in ("2", "4")] + [
    ("loop in PL/pgSQL", "1", "us", ("EXISTS, B-tree", "list")),
    ("batch of 100", "4", "keys/s", ("stored value, by chunks", "list")),
    ("batch of 1000", "4", "keys/s", ("stored value, by chunks", "list")),
    ("scan", "1", "ns/row", ("stored value, copied",)),
    ("scan above an empty function", "1", "ns/row", ("stored value, copied",)),
    ("build, serial", "1", "s", ("B-tree", "bloom_agg")),
    ("build, parallel", "1", "s", ("bloom_agg",)),
    ("size", "1", "bytes", ("B-tree",)),
    ("COPY, random keys", "1", "s", ("B-tree",)),
    ("COPY, ascending keys", "1", "s", ("B-tree",)),
]


def live_ratios(ratios, all_of):
    for what, clients, unit, others in LIVE:
        for theirs in others:
            common = {"what": what, "clients": clients, "unit": unit}
            keys = all_of.last("fig8_live", "keys", contender=theirs, **common)
            if keys:
                asked = f", {clients} connections" if clients != "1" else ""
                ratios.among(theirs, f"live filter, {what}, {keys} keys{asked}", "fig8_live", "live", theirs,
                             {**common, "keys": keys}, larger_is_better=unit.endswith("/s"), what=unit,
                             first=theirs != "bloom_agg")


def limit_lines(all_of):
    """What each hot path is bound by, what of it is ours, and the ratio of the two."""
    lines = []

    def add(path, limit, floor, ours, unit):
        if floor and ours:
            lines.append(f"| {path} | {limit} | {tell(' ' + unit, floor)} | {tell(' ' + unit, ours)} "
                         f"| {tell('', ours / floor)} |")

    # By two connections: with one, the core sleeps between two statements and has to wake up.
    def microseconds(**wanted):
        rate = all_of.value("fig1_point", clients=2, **wanted)
        return 2e6 / rate if rate else None

    keys = all_of.last("fig1_point", "keys", contender="bloomfilter")
    add(f"point look-up, {keys} keys", "a statement that asks nothing, `SELECT :k`",
        microseconds(contender="SELECT :k"), microseconds(contender="bloomfilter", keys=keys), "us")
    scans = {row["scan"]: float(row["median"]) for row in
             (all_of.tables["fig2_overhead"].rows if "fig2_overhead" in all_of.tables else [])}
    for scan, ns in scans.items():
        if scan.startswith("bloomfilter"):
            size, column = scan[len("bloomfilter "):].split(", ")
            add(f"scan, filter {size}, keys {column}", "a row through an empty C function",
                scans[f"empty function, {column}"], ns, "ns")
            miss = scans.get(f"one miss, {size}")
            lines.append(f"| - its overhead over the empty function | one miss of memory of that size "
                         f"| {tell(' ns', miss)} | {ns - scans[f'empty function, {column}']:.1f} ns | |")
    for processes in ("serial", "parallel"):
        for keys in all_of.sizes("fig3_build", "keys", type="bigint")[-2:]:
            common = {"type": "bigint", "keys": keys, "processes": processes}
            for ours, given in (("bloom_agg(key, n)", ""), ("bloom_agg(key)", ", n absent")):
                add(f"build, {keys} bigint, {processes}{given}", "`count(key)`",
                    all_of.value("fig3_build", contender="count(key)", **common),
                    all_of.value("fig3_build", contender=ours, **common), "ns")
    largest = all_of.last("fig4_batch", "keys", way="in C")
    rates = [all_of.value("fig4_batch", keys=largest, way=way, contender=who, batch=batch) for way, who, batch in
             (("in C", "bf_contains_hashes", 0), ("many calls", "bloom_contains_each", 1000))]
    if all(rates):
        add(f"batch of 1000, {largest} keys", "the same loop in C", 1e9 / rates[0], 1e9 / rates[1], "ns")
    for size in all_of.tables["fig5_core"].values("size") if "fig5_core" in all_of.tables else []:
        miss = all_of.value("fig5_core", size=size, operation="one miss")
        for operation in ("contains chained", "contains there", "batch there", "add batch"):
            add(f"core, {operation}, {size}", "one miss, by a pointer chase", miss,
                all_of.value("fig5_core", size=size, operation=operation, contender="bloomfilter",
                             unit="ns/key"), "ns")
    return lines


def efficiency_lines(all_of):
    """Serial time over parallel time and processes."""
    if "fig3_build" not in all_of.tables:
        return []
    table = all_of.tables["fig3_build"]
    processes = max(int(table.head["machine"].split(" cores")[0].split()[-1]), 2)
    lines = []
    for kind in table.values("type"):
        for contender in ("count(key)", "bloom_agg(key, n)", "bloom_agg(key)", "hll_add_agg", "CREATE INDEX"):
            for keys in all_of.sizes("fig3_build", "keys", type=kind, contender=contender)[-2:]:
                times = [table.value(type=kind, keys=keys, contender=contender, processes=p)
                         for p in ("serial", "parallel")]
                if all(times):
                    lines.append(f"| {contender}, {keys} {kind} | {100 * times[0] / times[1] / processes:.0f} % |")
    return lines


def cell(rows):
    """Median and spread, and why there is none."""
    if not rows:
        return ""
    row = rows[0]
    if not row["median"]:
        return row["note"] or "-"
    low, middle, high = (float(row[name]) for name in ("min", "median", "max"))
    spread = f" ({tell('', low)}-{tell('', high)})" if low != high else ""
    return tell("", middle) + spread


def notes(results):
    """What was noted of each contender: plans, caps, errors, sources."""
    for contender in results.values("contender") if "contender" in results.names else ():
        found = dict.fromkeys(row["note"] for row in results.select(contender=contender) if row["note"])
        if found:
            yield f"- {contender}: {' / '.join(found)}\n"


def figure(name, results, plots):
    """One table of results, with its plots, its provenance and its notes."""
    down, across = LAYOUT[name], ACROSS.get(name, "contender")
    columns = results.values(across)
    yield f"### {name}: {results.head['title']}\n\n"
    yield from (f"![{plot}](plots/{plot})\n\n" for plot in plots)
    yield "".join(f"- {key}: {text}\n" for key, text in results.head.items() if key != "title") + "\n"
    units = results.values("unit")
    if len(units) == 1:
        yield f"In {units[0]}, median (least-most).\n\n"
    yield "| " + " | ".join([*down, *(column or "value" for column in columns)]) + " |\n"
    yield "|" + "---|" * (len(down) + len(columns)) + "\n"
    for values in dict.fromkeys(tuple(row[key] for key in down) for row in results.rows):
        rows = results.select(**dict(zip(down, values)))
        cells = [cell([row for row in rows if row[across] == column]) for column in columns]
        yield "| " + " | ".join([*values, *cells]) + " |\n"
    yield "\n"
    yield from notes(results)
    yield "\n"


HEAD = """# Benchmarks

Made by `bench/run`; do not edit. All contenders of a comparison ran in turns in
one run on one machine; numbers are medians, with the least and the most in
brackets. A look-up of ours may answer *perhaps* for a key that is not there, at
the rate asked for; exact stores do not. Data: [results/](results).

Switched off, for all contenders alike: JIT (`jit`), `autovacuum` (tables are vacuumed
when they are made), and durability (`fsync`). A server as installed compiles long
queries first, and vacuums beside them.

What a figure ran on, and when, stands above its table.

## What you would pick instead, and how many times as good this is

Above 1 this is better, below 1 the other.

| instead of | where | what | ratio |
|---|---|---|---|
"""

LIMITS = """
## Limits

What bounds each hot path, measured in the same run, and how far it is.

| path | limit | limit's | ours | ours / limit |
|---|---|---|---|---|
"""

ALL = """
## All ratios

| instead of | where | what | ratio |
|---|---|---|---|
"""

EFFICIENCY = """
Parallel efficiency: serial time over parallel time, over the processes.

| what | efficiency |
|---|---|
"""

LOST = """
## Where it loses

Every line below 1 of the ratios further down, which are of the largest sizes, for readers of all.

"""


def main():
    run = Run()
    all_of = Everything(run.results)
    ratios = Ratios(all_of)
    for add in (point_ratios, scan_ratios, semi_join_ratios, build_ratios, batch_ratios, core_ratios,
                reader_ratios, live_ratios):
        add(ratios, all_of)
    plots = sorted(os.path.basename(path) for path in
                   glob.glob(os.path.join(run.tree, "bench", "plots", "*.svg")))
    with open(os.path.join(run.tree, "bench", "results.md"), "w", encoding="ascii") as file:
        file.write(HEAD)
        file.write("\n".join(ratios.first) + "\n")
        file.write(LOST + ("\n".join(ratios.lost) or "None.") + "\n")
        file.write(LIMITS + "\n".join(limit_lines(all_of)) + "\n")
        file.write(EFFICIENCY + "\n".join(efficiency_lines(all_of)) + "\n")
        file.write(ALL + "\n".join(ratios.lines) + "\n\n## Figures\n\n")
        shown = set()
        for name, results in all_of.tables.items():
            mine = [plot for plot in plots if plot.split("_")[0] == name.split("_")[0] and plot not in shown]
            shown.update(mine)
            file.writelines(figure(name, results, mine))


if __name__ == "__main__":
    main()
