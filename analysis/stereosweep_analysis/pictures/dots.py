"""Dot plots with intervals: one row a label, one mark a series; also side by side with common rows."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from . import style
from .style import LETTER, MARKS, MOST_SERIES, PAGE, PAGE_HEIGHT, QUIET, SERIES, page_style, plain_rows, wrapped

ROW_HEIGHT = 0.19
HEAD = 0.9  # inches of legend and axis
MOST_ROWS = int((PAGE_HEIGHT - HEAD) / ROW_HEIGHT)  # of a page, lines of groups among them
LONGEST_LABEL = 56
LONGEST_OF_PANELS = 30


class Dot(NamedTuple):
    """`low`, `high`: NaN without an interval. `group`: rows of one group stand together under its name."""

    label: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    series: str = ""
    group: str = ""


def strongest(dots, centre=0.0, most=MOST_ROWS):
    """The rows whose values lie farthest from `centre`, in their order, and how many rows are left out. With the lines
    of their groups they are at most `most`."""
    reach = {}
    for dot in dots:
        row = (dot.group, dot.label)
        distance = abs(dot.value - centre)
        reach[row] = max(reach.get(row, 0.0), distance if np.isfinite(distance) else 0.0)
    kept, groups = set(), {""}
    for row in sorted(reach, key=lambda row: -reach[row]):
        if len(kept) + len(groups | {row[0]}) > most:
            break
        kept.add(row)
        groups.add(row[0])
    return [dot for dot in dots if (dot.group, dot.label) in kept], len(reach) - len(kept)


def interval_dots(dots, x_label, centre=0.0, most=MOST_ROWS):
    """Rows from above in the order of `dots`; `centre`: where a line is drawn (None: nowhere). Series beyond the
    eighth are counted and not drawn."""
    kept, left_out = strongest(dots, centre or 0.0, most)
    return _drawn([("", kept, {})], x_label, kept, left_out, centre)


def dot_panels(panels, x_label):
    """`panels`: [(title, dots, {series: value of a dashed line})]; rows that all panels share stand at one height."""
    every = [dot for _, dots, _ in panels for dot in dots]
    return _drawn(panels, x_label, *strongest(every, float(np.mean([dot.value for dot in every]))))


def _drawn(panels, x_label, kept, left_out, centre=None):
    every = sorted({dot.series for _, dots, _ in panels for dot in dots})  # the same colours in every picture
    series = every[:MOST_SERIES]
    heights, ticks, heads = rows_of(kept)
    longest = LONGEST_LABEL if len(panels) == 1 else LONGEST_OF_PANELS
    labels = [literal(label, longest) for _, label in ticks + heads]
    wide = (PAGE - LETTER * max(map(len, labels)) - 0.3) / len(panels)
    with page_style():
        high = HEAD + ROW_HEIGHT * len(labels)
        figure, all_axes = plt.subplots(1, len(panels), figsize=(PAGE, high), sharey=True, sharex=True, squeeze=False)
        for axes, (title, dots, lines) in zip(all_axes[0], panels, strict=True):
            _mark_series(axes, dots, series, heights)
            if centre is not None:
                axes.axvline(centre, color=QUIET, linewidth=0.7, zorder=0)
            for colour, name in zip(SERIES, series, strict=False):
                if name in lines:
                    axes.axvline(lines[name], color=colour, linewidth=0.9, linestyle="--", zorder=0)
            axes.set_title(literal(title))
            plain_rows(axes)
            axes.set_xlabel(wrapped(x_label, wide))
        first = all_axes[0][0]
        first.set_yticks([height for height, _ in ticks], labels[: len(ticks)])
        names = {"style": "italic", "color": "0.3"}
        first.set_yticks([height for height, _ in heads], labels[len(ticks) :], minor=True, **names)
        first.set_ylim(min(height for height, _ in ticks) - 0.7, 0.9)
        if len(series) > 1:
            legend = first.get_legend_handles_labels()
            figure.legend(*legend, loc="outside upper center", ncols=_legend_columns(series))
    missing = style.left_out_text(weaker_rows=left_out, series_beyond_the_eighth=len(every) - len(series))
    return style.Drawn(figure, missing)


def _mark_series(axes, dots, series, heights):
    """Marks and lines of the dots whose rows have a height, those of one row side by side in the order of `series`."""
    for place, name in enumerate(series):
        shift = 0.0 if len(series) == 1 else min(0.3, 0.08 * len(series)) * (1 - 2 * place / (len(series) - 1))
        chosen = [dot for dot in dots if dot.series == name and (dot.group, dot.label) in heights]
        y = np.array([heights[dot.group, dot.label] for dot in chosen]) + shift
        value, low, high = (np.array([getattr(dot, field) for dot in chosen]) for field in ("value", "low", "high"))
        axes.hlines(y, low, high, color=SERIES[place], linewidth=1.3)
        axes.plot(value, y, MARKS[place], color=SERIES[place], markersize=4, linestyle="none", label=literal(name))


def _legend_columns(series):
    """As many as fit on a page: a mark takes five letters."""
    return max(1, min(len(series), int(PAGE / LETTER / (max(map(len, series)) + 5))))


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
