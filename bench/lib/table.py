"""Results as tab-separated files: a few "# name: text" lines, a head, rows."""

import os
import sys
import time

import machine
from measure import Samples, tell

MEASURED = ("unit", "median", "min", "max", "runs", "note")


class Table:
    """A figure's results on their way into results/NAME.tsv."""

    def __init__(self, run, name, title, keys):
        self.path = os.path.join(run.results, name + ".tsv")
        self.keys = keys
        self.started = time.monotonic()
        self.head = {
            "title": title,
            "command": run.command,
            "date": machine.today(),
            "machine": machine.describe(),
            "versions": machine.versions(run.tree),
            "load when it began": machine.load(),
        }
        self.rows = []

    def add(self, *keys, unit, samples, note=""):
        """samples are Samples, or one number that was not measured repeatedly."""
        if not isinstance(samples, Samples):
            samples = Samples([samples])
        notes = "; ".join(part for part in (samples.note, note) if part)
        values = samples.values
        numbers = ["", "", ""]
        if values:
            numbers = [f"{v:.6g}" for v in (samples.median(), min(values), max(values))]
        self.rows.append([*map(str, keys), unit, *numbers, str(len(values)), notes])
        shown = tell("", samples.median()) if values else "-"
        print("   ", *keys, shown, unit, notes and f"({notes})", file=sys.stderr, flush=True)

    def add_all(self, *keys, unit, samples):
        for name, one in samples.items():
            self.add(*keys, name, unit=unit, samples=one)

    def write(self):
        self.head["seconds"] = f"{time.monotonic() - self.started:.0f}"
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w", encoding="ascii") as file:
            for name, text in self.head.items():
                file.write(f"# {name}: {text}\n")
            for row in ([*self.keys, *MEASURED], *self.rows):
                file.write("\t".join(row) + "\n")


class Results:
    """A table that was written: its head, and its rows as dictionaries."""

    def __init__(self, path):
        self.head = {}
        self.rows = []
        names = None
        with open(path, encoding="ascii") as file:
            for line in file:
                line = line.rstrip("\n")
                if line.startswith("# "):
                    name, _, text = line[2:].partition(": ")
                    self.head[name] = text
                elif names is None:
                    names = line.split("\t")
                    self.names = names
                else:
                    self.rows.append(dict(zip(names, line.split("\t"))))

    def select(self, **wanted):
        return [row for row in self.rows
                if all(row[name] == str(value) for name, value in wanted.items())]

    def value(self, **wanted):
        """The median of the one row that is wanted, None where there is none."""
        for row in self.select(**wanted):
            if row["median"]:
                return float(row["median"])
        return None

    def values(self, name, **wanted):
        """The different values of a column, in their order."""
        return list(dict.fromkeys(row[name] for row in self.select(**wanted)))
