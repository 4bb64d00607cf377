"""Dot plots side by side with common rows: one panel a kind of sentence."""

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from .dots import ROW_HEIGHT, mark_series, rows_of, strongest
from .style import MOST_SERIES, PAGE, SERIES, Drawn, left_out_text, page_style, plain_rows


def dot_panels(panels, x_label):
    """`panels`: [(title, dots, {series: value of a dashed line})]; rows that all panels share stand at one height.
    Series have their colours in the order of the alphabet."""
    every = [dot for _, dots, _ in panels for dot in dots]
    kept, left_out = strongest(every, float(np.mean([dot.value for dot in every])))
    heights, ticks, heads = rows_of(kept)
    series = sorted({dot.series for dot in every})[:MOST_SERIES]  # the same colours in every picture
    with page_style():
        high = 0.9 + ROW_HEIGHT * (len(ticks) + len(heads))
        figure, all_axes = plt.subplots(1, len(panels), figsize=(PAGE, high), sharey=True, sharex=True, squeeze=False)
        for axes, (title, dots, lines) in zip(all_axes[0], panels, strict=True):
            mark_series(axes, dots, series, heights)
            for place, name in enumerate(series):
                if name in lines:
                    axes.axvline(lines[name], color=SERIES[place], linewidth=0.9, linestyle="--", zorder=0)
            axes.set_title(literal(title))
            plain_rows(axes)
            axes.set_xlabel(x_label)
        first = all_axes[0][0]
        labels = [(height, literal(label, 30)) for height, label in ticks]
        labels += [(height, literal(name, 30)) for height, name in heads]
        first.set_yticks([height for height, _ in labels], [label for _, label in labels])
        for tick in first.get_yticklabels()[len(ticks) :]:
            tick.set(style="italic", color="0.3")
        first.set_ylim(min(height for height, _ in ticks) - 0.7, 0.9)
        if len(series) > 1:
            figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return Drawn(figure, left_out_text(weaker_rows=left_out))
