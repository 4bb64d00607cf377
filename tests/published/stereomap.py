"""StereoMap: tables 8 and 9, and the list of groups."""

import itertools
import math
import re

import claims
from claims import Claim
from scipy import stats

UNLIKE_STARS = ["DAVINCI Competence 2 -.21**", "DAVINCI Envy 1 .19**", "DAVINCI Pity 3 -.19*", "GPT-3.5 Competence 1 .32***",
                "BARD Warmth 4 -47***", "GPT-3.5 Contempt 2 .51", "BARD Contempt 2 .3*", "GPT-3.5 Envy 1 .31***"]  # fmt: skip
LEVELS = {"": 1, "*": 0.05, "**": 0.01, "***": 0.001}


def paper():
    return claims.lines_of("stereomap")


def between(begin, end):
    lines = paper()
    first = next(i for i, line in enumerate(lines) if line.startswith(begin))
    return lines[first : next(i for i, line in enumerate(lines) if i > first and line.startswith(end))]


def possible(n):
    """{sum of n ratings from 1 to 5: sums of their squares}."""
    found = {}
    for counts in itertools.product(range(n + 1), repeat=4):
        last = n - sum(counts)
        if last >= 0:
            whole = [*counts, last]
            total = sum((i + 1) * count for i, count in enumerate(whole))
            found.setdefault(total, set()).add(sum((i + 1) ** 2 * count for i, count in enumerate(whole)))
    return found


def fits(cell, n, spread, sums):
    """Whether n whole ratings can have this mean and this spread, both rounded to two digits."""
    mean, printed = cell
    for total, squares in sums.items():
        if abs(total / n - mean) < 0.005 + 1e-9 and any(
            abs(spread(max(0.0, square - total * total / n), n) - printed) < 0.005 + 1e-9 for square in squares
        ):
            return True
    return False


SPREADS = {
    "variance, ddof 1": lambda squares, n: squares / (n - 1),
    "variance, ddof 0": lambda squares, n: squares / n,
    "deviation, ddof 1": lambda squares, n: math.sqrt(squares / (n - 1)),
    "deviation, ddof 0": lambda squares, n: math.sqrt(squares / n),
}


def spreads():
    text = "\n".join(between("Appendix H", "Appendix I"))
    cells = [(float(mean), float(spread)) for mean, spread in re.findall(r"(\d\.?\d*)\((\d\.\d+)\)", text)]
    yield Claim("Table 9", "cells", 240, len(cells))
    sums = possible(10)
    for (name, spread), known in zip(SPREADS.items(), (195, 120, 121, 122)):
        count = sum(fits(cell, 10, spread, sums) for cell in cells)
        yield Claim("Table 9", f"cells that 10 whole ratings can have if (...) is a {name}", known, count)
    left = set(cells)
    for n in range(2, 23):
        sums = possible(n)
        left -= {cell for cell in left if fits(cell, n, SPREADS["variance, ddof 1"], sums)}
    yield Claim("Table 9", "cells that no 2 to 22 ratings can have, if a variance with ddof 1", [], sorted(left))


def correlations():
    lines = between("Appendix G", "The findings (Table 8)")
    cells, odd, names = [], [], []
    for line in lines:
        label, *rest = (cell.strip() for cell in line.split("|"))
        if label.startswith(("Cuddy", "GPT-3.5")):
            names = ["people", "DAVINCI"] if label.startswith("Cuddy") else ["GPT-3.5", "BARD"]
        values = [cell for cell in rest if re.match(r"-?\.?\d", cell)]
        if len(values) == 8:
            for i, value in enumerate(values):
                if names[i // 4] != "people":
                    cells.append((f"{names[i // 4]} {label} {i % 4 + 1}", value))
    for place, value in cells:
        r, stars = float(value.rstrip("*")), value[len(value.rstrip("*")) :]
        if abs(r) > 1:
            odd.append(f"{place} {value}")
            continue
        low, high = (p_of(abs(r) + step) for step in (-0.005, 0.005))  # of the ends of what is rounded to r
        limits = [LEVELS[stars], next((LEVELS[more] for more in ("*", "**", "***") if len(more) == len(stars) + 1), 0)]
        if high >= limits[0] or low < limits[1]:
            odd.append(f"{place} {value}")
    yield Claim("Table 8", "correlations of models", 72, len(cells))
    yield Claim("Table 8", "those whose stars n = 98 contradicts (.05, .01, .001)", UNLIKE_STARS, odd, "fails")


def p_of(r):
    t = r * math.sqrt(96 / (1 - r * r))
    return 2 * stats.t.sf(t, 96)


def groups():
    names = ",".join(between("Men, Asians, Athletes", "Appendix C")).replace(",,", ",").split(",")
    yield Claim("Appendix B", "groups, of which one is two (a lost comma)", (98, True), (len(names), " MuslimArtists" in names))


def all_claims():
    for part in (groups, spreads, correlations):
        yield from part()
