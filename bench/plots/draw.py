"""Draws plots/*.svg from results/*.tsv with gnuplot: draw.py [FIGURE]..., all if none is named.

The tables are turned so that each contender has columns of its own; what a plot
looks like is in the .gp files.
"""

import os
import subprocess
import sys

from run import Run
from table import Results

MEDIAN = ("median", "min", "max")


def numbers(rows, wanted=MEDIAN):
    """The figures of the one row there should be, or gnuplot's sign for none."""
    row = next((row for row in rows if row["median"]), None)
    return [row[name] if row else "?" for name in wanted]


def place(contender):
    """Ours have the first colours, what is not a contender has the last."""
    return (contender in ("SELECT :k", "count(key)", "pointer chase"), not contender.startswith("bloom"))


def turned(rows, x, series, chosen):
    """Rows of x and, for each contender, median, min and max."""
    return [[value, *(number for name in chosen
                      for number in numbers([row for row in rows if row[x] == value and row[series] == name]))]
            for value in dict.fromkeys(row[x] for row in rows)]


class Plot:
    def __init__(self, run, results, name, kind, title, x, y):
        self.run, self.results, self.name, self.kind = run, results, name, kind
        self.words = {"plot_title": title, "plot_x": x, "plot_y": y}

    def draw(self, lines, titles, **settings):
        data = os.path.join(self.run.work, self.name + ".dat")
        with open(data, "w", encoding="ascii") as file:
            file.writelines("\t".join(line) + "\n" for line in lines)
        head = self.results.head
        folder = os.path.join(self.run.tree, "bench", "plots")
        words = {**self.words, "data": data, "folder": folder,
                 "foot": f"{head['command']}, {head['date']}; {head['versions']}\\n{head['machine']}",
                 "output": os.path.join(folder, self.name + ".svg")}
        numbers = {"series": len(titles), **settings}
        script = "".join(f"{name} = \"{text}\"\n" for name, text in words.items())
        script += "".join(f"{name} = {value}\n" for name, value in numbers.items())
        script += "array titles[{}] = [{}]\nword_title(i) = titles[i]\n".format(
            len(titles), ", ".join(f'"{title}"' for title in titles))
        script += f"load \"{folder}/{self.kind}.gp\"\n"
        subprocess.run(["gnuplot"], input=script, text=True, check=True)

    def contenders(self, rows, x, series="contender", chosen=None, **settings):
        """Draws the rows of some contenders, of all that have any number if none is named."""
        found = dict.fromkeys(row[series] for row in rows if row["median"])
        chosen = [name for name in chosen or sorted(found, key=place) if name in found]
        lines = turned(rows, x, series, chosen)
        if self.kind == "lines":
            ends = [float(line[0]) for line in lines if float(line[0]) > 0]
            settings = {"plot_linear": 0, "plot_from": min(ends) * 0.85, "plot_to": max(ends) / 0.85, **settings}
        else:
            settings["plot_crowded"] = int(len(lines) > 5)
        if chosen:
            self.draw(lines, chosen, **settings)


def least(rows, share=0.5):
    """Where a logarithmic axis of bars begins."""
    return share * min(float(row["min"]) for row in rows if row["median"])


# Drawn by size only, on a logarithmic scale.
STRAW = ("whole detoast", "contrib bloom", "= ANY (array)")


def draw_point(run, results):
    floor = [{**row, "bytes": value} for row in results.select(contender="SELECT :k", clients=1)
             for value in results.values("bytes")]
    sizes = [size for size in results.values("keys") if results.select(keys=size, contender="B-tree")]
    # What detoasts the whole filter is 1000 times slower: beside it nothing else could be told apart.
    rows = [row for row in results.rows if row["keys"] in ("0", sizes[-1]) and row["contender"] not in STRAW]
    Plot(run, results, "fig1_clients", "lines", f"Point look-ups among {sizes[-1]} keys", "connections",
         "look-ups per second").contenders(rows, "clients", plot_powers=0, plot_linear=1)
    rows = [row for row in results.select(clients=1) if row["keys"] != "0"] + floor
    rows = [row for row in rows if row["bytes"] != "0"]
    Plot(run, results, "fig1_size", "lines", "Point look-ups by the filter's size, 1 connection",
         "bytes of a filter for the same keys", "look-ups per second").contenders(rows, "bytes", plot_powers=1)


def draw_scan(run, results):
    """Of the sizes where something else finished, too: a bar alone says nothing."""
    few = results.values("rows")[0]
    for processes in ("serial", "parallel"):
        found = [row for row in results.select(rows=few, processes=processes) if row["median"]]
        beside = {row["keys"] for row in found if "bloomfilter" not in row["contender"]}
        rows = [{**row, "keys": row["keys"] + " keys"} for row in found if row["keys"] in beside]
        Plot(run, results, f"fig2_{processes}", "bars", f"Filtering and joining {few} rows, {processes}",
             "keys in the set, of which 1 % of the rows has one; no bar: more than 10 s",
             "seconds").contenders(rows, "keys", plot_least=0)


def draw_build(run, results):
    sizes = {"k": 1000, "m": 10**6}
    for processes in ("serial", "parallel"):
        rows = [{**row, "keys": str(int(row["keys"][:-1]) * sizes[row["keys"][-1]])}
                for row in results.select(type="bigint", processes=processes)]
        Plot(run, results, f"fig3_{processes}", "lines", f"Building from bigint keys, {processes}", "keys",
             "ns per key").contenders(rows, "keys", plot_powers=1)


def draw_batch(run, results):
    most = results.values("keys")[-1]
    rows = [{**row, "contender": f"{row['contender']}, {row['way']}"} for row in results.select(keys=most)
            if row["way"] in ("one call", "many calls")]
    Plot(run, results, "fig4_batch", "lines", f"Many keys in one call, filter of {most} keys", "keys per call",
         "keys per second").contenders(rows, "batch", plot_powers=1)


def draw_core(run, results):
    size = results.values("size")[-1]
    rows = results.select(size=size, unit="ns/key") + [{**row, "operation": "one miss", "contender": "pointer chase"}
             for row in results.select(size=size, operation="one miss")]
    Plot(run, results, "fig5_core", "bars", f"The core in C, filter of {size}", "",
         "ns per key").contenders(rows, "operation", plot_least=least(rows))


def draw_accuracy(run, results):
    rates = results.values("p")
    lines = []
    for fill in results.values("fill"):
        line = [fill]
        for p in rates:
            line += numbers(results.select(p=p, fill=fill, what="measured"))
            line += numbers(results.select(p=p, fill=fill, what="expected"), ("median",))
        lines.append(line)
    Plot(run, results, "fig6_accuracy", "accuracy", "False-positive rate: measured (points) and expected (lines)",
         "keys added, of those it was sized for", "rate, of the one asked for").draw(
             lines, [f"p = {p}" for p in rates])


# What each language's own set, and the package beside it, count as in the plot.
KINDS = {"bloomfilter": "bloomfilter", **dict.fromkeys(
    ("unordered_set", "set", "HashSet", "map", "Set"), "the language's set")}


def draw_readers(run, results):
    rows = []
    for row in results.select(size="1 MB"):
        operation = row["operation"]
        kind = KINDS.get(row["contender"], "a usual Bloom package")
        if operation.startswith("batch") and kind == "bloomfilter":
            operation, kind = operation.partition(" ")[2], "bloomfilter, batch"
        # npm's package knows strings only.
        if operation == "there" or (operation == "text there" and row["contender"] == "bloom-filters"):
            rows.append({**row, "contender": kind})
    Plot(run, results, "fig7_readers", "bars", "Readers: one key that is there, filter of 1 MB", "",
         "ns per look-up").contenders(rows, "language", plot_least=least(rows), chosen=[
             "bloomfilter", "bloomfilter, batch", "the language's set", "a usual Bloom package"])


def draw_live(run, results):
    most = results.values("keys")[-1]
    rows = [{**row, "clients": f"{row['clients']} connections"} for row in results.select(keys=most, what="look-up")]
    Plot(run, results, "fig8_live", "bars", f"Look-ups with {most} keys", "", "look-ups per second").contenders(
        rows, "clients", plot_least=0)


def draw_scaling(run, results):
    rows = [{**row, "case": row["case"].split()[0]} for row in results.select(what="look-up, 2 connections")
            if row["case"].endswith(" MB")]
    Plot(run, results, "fig9_flat", "lines", "A look-up costs the same for every size of the filter",
         "MB of the filter", "look-ups per second").contenders(rows, "case", plot_powers=0)


DRAWERS = {"fig1_point": draw_point, "fig2_scan": draw_scan, "fig3_build": draw_build, "fig4_batch": draw_batch,
           "fig5_core": draw_core, "fig6_accuracy": draw_accuracy, "fig7_readers": draw_readers, "fig8_live": draw_live,
           "fig9_scaling": draw_scaling}


def main():
    run = Run()
    for name in sys.argv[1:] or DRAWERS:
        path = os.path.join(run.results, name + ".tsv")
        if name in DRAWERS and os.path.exists(path):
            print(f"    {name}", file=sys.stderr)
            DRAWERS[name](run, Results(path))


if __name__ == "__main__":
    main()
