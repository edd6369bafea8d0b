"""Interleaved runs, and what becomes of them: median, least, most."""

import statistics
import time


class Capped(Exception):
    """A contender that did not finish in the time it was given."""


class Refused(Exception):
    """A contender that ended in an error."""


class Samples:
    """The results of one contender, and why there may be none."""

    def __init__(self, values=(), note=""):
        self.values = list(values)
        self.note = note

    def median(self):
        return statistics.median(self.values)

    def scaled(self, factor):
        return Samples([value * factor for value in self.values], self.note)

    def inverted(self, factor):
        return Samples([factor / value for value in self.values], self.note)

    def above(self, floor):
        """What each is more than the floor's of the same round."""
        return Samples([value - low for value, low in zip(self.values, floor.values)], self.note)

    def over(self, other):
        """How many times the other's of the same round each is: what slows both has no part in it."""
        return Samples([value / base for value, base in zip(self.values, other.values)], other.note)

    def add_note(self, note):
        self.note = "; ".join(part for part in (self.note, note) if part)


def interleave(contenders, rounds, budget=float("inf")):
    """Runs {name: function} in turns, so that the machine's moods meet all alike.

    A function returns a number. One whose runs have taken budget seconds is not
    run again; one that is capped or refused keeps its note instead of a value.
    """
    samples = {name: Samples() for name in contenders}
    spent = dict.fromkeys(contenders, 0.0)
    for _ in range(rounds):
        for name, run in contenders.items():
            if samples[name].note or spent[name] >= budget:
                continue
            start = time.monotonic()
            try:
                samples[name].values.append(run())
            except (Capped, Refused) as problem:
                samples[name] = Samples(note=str(problem))
            spent[name] += time.monotonic() - start
    return samples


def at_rest(run, within=0.05, most=8):
    """Runs until two rates one after the other differ by less than within: what was cold is warm.

    False where most runs did not come to that.
    """
    last = run()
    for _ in range(most - 1):
        rate = run()
        if abs(rate - last) < within * last:
            return True
        last = rate
    return False


def tell(sign, value):
    """A number in three digits."""
    if value >= 100:
        return f"{value:,.0f}{sign}"
    return f"{value:.3g}{sign}"
