"""Figure 6: the rate that filters have, over the one they were asked for.

For each p and fill: measured, and expected by the core's own arithmetic. Where no
affordable number of absent keys would let enough through to measure, only theory
is given.
"""

import math
import subprocess

from measure import Samples
from run import Run
from table import Table

RATES = ["0.1", "0.01", "0.001", "1e-4", "1e-5", "1e-6", "1e-7"]


def main():
    run = Run()
    table = Table(run, "fig6_accuracy", "false-positive rate over the rate asked for",
                  ["p", "fill", "what"])
    keys = run.choose(20_000, 200_000)
    most = run.choose(2e6, 1.5e9)
    for p in RATES:
        lines = subprocess.run([run.program("accuracy"), str(keys), p, f"{most:.0f}", str(run.choose(1, 4))],
                               capture_output=True, text=True, check=True).stdout.splitlines()
        for line in lines:
            fill, *numbers = line.split("\t")
            measured, expected, found, asked, estimated = map(float, numbers)
            if not math.isnan(measured):
                # Two standard errors of a count.
                error = 2 * math.sqrt(found) / asked
                spread = [measured - error, measured, measured + error]
                table.add(p, fill, "measured", unit="of p", samples=Samples(spread).scaled(1 / float(p)),
                          note=f"{found:.0f} of {asked:.0f}; min and max are two standard errors")
            table.add(p, fill, "expected", unit="of p", samples=expected / float(p))
            table.add(p, fill, "cardinality", unit="of keys", samples=estimated)
    table.write()


if __name__ == "__main__":
    main()
