"""Dot plots with intervals: one row a label, one mark a series."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from .style import MARKS, MOST_SERIES, PAGE, QUIET, SERIES, page_style

MOST_ROWS = 44
ROW_HEIGHT = 0.19


class Dot(NamedTuple):
    """`low`, `high`: NaN without an interval. `group`: rows of one group stand together under its name."""

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    series: str = ""
    group: str = ""


def strongest(dots, centre=0.0, most=MOST_ROWS):
    """The rows whose values lie farthest from `centre`, in their order, and how many rows are left out."""
    rows = list(dict.fromkeys((dot.group, dot.label) for dot in dots))
    if len(rows) <= most:
        return dots, 0
    reach = {}
    for dot in dots:
        row = (dot.group, dot.label)
        distance = abs(dot.value - centre)
        reach[row] = max(reach.get(row, 0.0), distance if np.isfinite(distance) else 0.0)
    kept = set(sorted(rows, key=lambda row: -reach[row])[:most])
    return [dot for dot in dots if (dot.group, dot.label) in kept], len(rows) - most


def interval_dots(dots, x_label, centre=0.0, most=MOST_ROWS):
    """Rows from above in the order of `dots`; `centre`: where a line is drawn (None: nowhere). Series beyond the
    eighth are not drawn."""
    dots, left_out = strongest(dots, centre or 0.0, most)
    series = list(dict.fromkeys(dot.series for dot in dots))[:MOST_SERIES]
    heights, ticks, heads = rows_of(dots)
    with page_style():
        figure, axes = plt.subplots(figsize=(PAGE, 0.75 + ROW_HEIGHT * (len(ticks) + len(heads))))
        for place, name in enumerate(series):
            shift = 0.0 if len(series) == 1 else min(0.3, 0.08 * len(series)) * (1 - 2 * place / (len(series) - 1))
            chosen = [dot for dot in dots if dot.series == name]
            y = np.array([heights[dot.group, dot.label] for dot in chosen]) + shift
            value, low, high = (np.array([getattr(dot, field) for dot in chosen]) for field in ("value", "low", "high"))
            axes.hlines(y, low, high, color=SERIES[place], linewidth=1.3)
            axes.plot(value, y, MARKS[place], color=SERIES[place], markersize=4, linestyle="none", label=literal(name))
        if centre is not None:
            axes.axvline(centre, color=QUIET, linewidth=0.7, zorder=0)
        axes.set_yticks([height for height, _ in ticks], [literal(label, 56) for _, label in ticks])
        axes.set_ylim(min(height for height, _ in ticks) - 0.7, 0.9)
        for height, name in heads:
            axes.annotate(
                literal(name, 60), (0, height), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", va="center", style="italic", color="0.3",
            )  # fmt: skip
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.92", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(x_label if not left_out else f"{x_label} · {left_out} weaker rows are not drawn")
        if len(series) > 1:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(series), 4))
    return figure


def rows_of(dots):
    """{(group, label): height}, [(height, label)], [(height, group)] from above, a line of its own for a group."""
    heights, ticks, heads = {}, [], []
    height, group = 0.0, ""
    groups = list(dict.fromkeys(dot.group for dot in dots))
    for dot in sorted(dots, key=lambda dot: groups.index(dot.group)):
        if (dot.group, dot.label) in heights:
            continue
        if dot.group != group:
            group = dot.group
            heads.append((height, group))
            height -= 1.0
        heights[dot.group, dot.label] = height
        ticks.append((height, dot.label))
        height -= 1.0
    return heights, ticks, heads
