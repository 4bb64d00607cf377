"""Curves: the elbow of k-means, the detection of words, what rounds of a sweep know."""

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from .style import COLUMN, MARKS, MOST_SERIES, PAGE, QUIET, SERIES, Drawn, left_out_text, page_style

DASHES = ("-", (0, (5, 1.2)), (0, (2.5, 1)), (0, (5, 1, 1.2, 1)))  # lines that cross often differ in more than colour


def elbow_curves(inertia, sources, elbows):
    """`inertia`: [source, number of clusters - 1]; `elbows`: the number at each source's elbow (0: none)."""
    with page_style():
        figure, axes = plt.subplots(figsize=(COLUMN * 1.2, 2.3))
        for place, source in enumerate(sources[:MOST_SERIES]):
            values = inertia[place] / inertia[place][0] if inertia[place][0] else inertia[place]
            numbers = np.arange(1, len(values) + 1)
            axes.plot(numbers, values, color=SERIES[place], marker=MARKS[place], markersize=3.5, label=literal(source))
            elbow = int(elbows[place])
            if 0 < elbow <= len(values):
                axes.plot(elbow, values[elbow - 1], "o", markersize=10, markerfacecolor="none", color=SERIES[place])
        axes.set_xlabel("number of clusters")
        axes.set_ylabel("inertia / inertia of one cluster")
        axes.set_xticks(np.arange(1, inertia.shape[1] + 1))
        axes.set_ylim(0)
        axes.legend()
    return figure


def detection_curves(false_rates, true_rates, kinds, names):
    """`..._rates`: [name, kind, threshold]; one panel a kind, one line a name, chance on the diagonal."""
    with page_style():
        figure, panels = plt.subplots(1, len(kinds), figsize=(PAGE, 3.2), sharey=True, squeeze=False)
        for place, (axes, kind) in enumerate(zip(panels[0], kinds, strict=True)):
            for row, name in enumerate(names[:MOST_SERIES]):
                x, y = false_rates[row, place], true_rates[row, place]
                good = np.isfinite(x) & np.isfinite(y)
                axes.plot(
                    x[good], y[good], color=SERIES[row], linestyle=DASHES[row % len(DASHES)], label=literal(name, 34)
                )
            axes.plot([0, 1], [0, 1], color=QUIET, linewidth=0.7, linestyle=":")
            axes.set_title(literal(kind))
            axes.set_xlabel("share of other words that are detected")
            axes.set_aspect("equal")
            axes.set_xlim(-0.02, 1.02)
            axes.set_ylim(-0.02, 1.02)
        panels[0][0].set_ylabel("share of the group's words")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return Drawn(figure, left_out_text(lines_beyond_the_eighth=len(names[MOST_SERIES:])))


def round_intervals(passes, difference, low, high, labels):
    """All [row, round]: one panel a row, its interval after each round against the passes until then (log)."""
    columns = min(4, len(labels))
    height = -(-len(labels) // columns)
    visits = np.unique(passes[np.isfinite(difference)])
    ticks = np.unique(visits[np.linspace(0, len(visits) - 1, 4).astype(int)]) if len(visits) else visits
    with page_style():
        figure, panels = plt.subplots(height, columns, figsize=(PAGE, 0.4 + 1.5 * height), sharex=True, squeeze=False)
        for axes in panels.ravel()[len(labels) :]:
            axes.set_visible(False)
        for row, axes in enumerate(panels.ravel()[: len(labels)]):
            there = np.isfinite(difference[row])
            at, mean = passes[row][there], difference[row][there]
            ends = np.abs(np.stack([low[row][there], high[row][there]]) - mean)
            axes.axhline(0, color=QUIET, linewidth=0.7, linestyle=":")
            axes.errorbar(at, mean, ends, fmt="o", markersize=3, linewidth=1, color=SERIES[0])
            axes.set_xscale("log")
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
            axes.set_title(literal(labels[row], 30), fontsize="small")
        figure.supxlabel("passes until the round", fontsize="small")
        figure.supylabel("difference", fontsize="small")
    return figure
