"""How much the wording matters: one line a subject over all wordings."""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from .style import LETTER, PAGE, SERIES, page_style, wrapped

MOST_PANELS = 4
MOST_NAMED = 4  # wordings whose names fit below a panel
LONGEST_LINE = 18  # of a panel's title
MOST_VECTORS = 1000  # points of a panel; more are drawn as pixels


def wording_lines(values, wordings, items, label):
    """`values`: [line, wording, item]; a panel for each of the items whose medians move most."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="All-NaN")
        medians = np.nanmedian(values, 0)  # [wording, item]
        moves = np.nan_to_num(np.nanmax(medians, 0) - np.nanmin(medians, 0))
    chosen = np.argsort(-moves, kind="stable")[:MOST_PANELS]
    with page_style():
        figure, panels = plt.subplots(
            1, len(chosen), figsize=(PAGE, 2.6), sharey=True, squeeze=False, gridspec_kw={"wspace": 0.05}, dpi=200
        )
        for axes, place in zip(panels[0], chosen, strict=True):
            order = np.argsort(medians[:, place], kind="stable")
            lines = values[:, order, place]
            axes.plot(lines.T, color="0.75", linewidth=0.5, rasterized=lines.size > MOST_VECTORS)
            axes.plot(medians[order, place], color=SERIES[1], linewidth=1.8, marker="o", markersize=3)
            axes.set_title(wrapped(literal(items[place], 2 * LONGEST_LINE), (LONGEST_LINE + 0.5) * LETTER))
            if len(wordings) <= MOST_NAMED:
                names = [literal(wordings[index], 16) for index in order]
                axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
            else:
                axes.set_xlabel(f"{len(wordings)} wordings, sorted")
            axes.set_axisbelow(True)
            axes.grid(axis="y", color="0.92", linewidth=0.6)
        panels[0][0].set_ylabel(label)
    return figure
