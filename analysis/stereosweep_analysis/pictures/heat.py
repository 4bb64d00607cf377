"""Heat map of any means [row, column]."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize, TwoSlopeNorm

from ..labels import literal
from .style import DIVERGING, PAGE, PAGE_HEIGHT, RISING, Drawn, left_out_text, page_style, symmetric_limit, wrapped

ROW_HEIGHT = 0.155
HEAD_HEIGHT = 0.045  # inches of a turned letter
LEAST_HEIGHT = 2.2
MOST_COLUMNS = 34
LONGEST_HEAD = 34
LONGEST_GROUP = 14
NO_NUMBER = "0.85"
MOST_VECTORS = 2000  # cells; more are drawn as pixels
MOST_ROWS_OF_LONG_BAR = 16


def heat_map(values, rows, columns, label, groups=None, centre=None, ends=None):
    """`rows`, `columns`: names; `groups`: of the rows, which a line divides; `centre`: value of the colour white (None:
    a scale from the least to the greatest value); `ends`: least and greatest value on the
    scale (default: those of `values`). At most as many rows as a page has, and MOST_COLUMNS columns,
    those farthest from the others' mean."""
    values = np.asarray(values, dtype=float)
    groups = groups or [""] * len(rows)
    longest = max(len(literal(name, LONGEST_HEAD)) for name in columns)
    kept = _kept(values, int((PAGE_HEIGHT - 0.5 - HEAD_HEIGHT * longest) / ROW_HEIGHT))
    across = _kept(values[kept].T, MOST_COLUMNS)
    left_out = left_out_text(rows=len(rows) - len(kept), columns=len(columns) - len(across))
    values, columns = values[np.ix_(kept, across)], [columns[place] for place in across]
    rows, groups = [rows[place] for place in kept], [groups[place] for place in kept]
    with page_style():
        names, heads = [_words(name, 40) for name in rows], [_words(name, LONGEST_HEAD) for name in columns]
        longest = max(map(len, heads))
        is_turned = longest > 4
        wide = 1.1 + 0.065 * max(map(len, names)) + (0.34 if is_turned else 0.075 * longest) * len(columns)
        high = 0.5 + ROW_HEIGHT * len(rows) + (HEAD_HEIGHT * longest if is_turned else 0.2)
        dots = 200 if values.size > MOST_VECTORS else None  # an inch, where cells are pixels
        figure, axes = plt.subplots(figsize=(min(max(wide, 3.2), PAGE), max(high, LEAST_HEIGHT)), dpi=dots)
        finite = values[np.isfinite(values)]
        ends = ends or ((finite.min(), finite.max()) if finite.size else (0, 1))
        if centre is None:
            norm, colours = Normalize(*ends), RISING
        else:
            limit = symmetric_limit(np.array(ends) - centre)
            norm, colours = TwoSlopeNorm(centre, centre - limit, centre + limit), DIVERGING
        axes.set_facecolor(NO_NUMBER)
        image = axes.pcolormesh(
            np.ma.masked_invalid(values), cmap=colours, norm=norm, edgecolors="white", linewidth=0.4,
            rasterized=values.size > MOST_VECTORS,
        )  # fmt: skip
        axes.invert_yaxis()
        axes.set_yticks(np.arange(len(rows)) + 0.5, names)
        turn = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if is_turned else {}
        axes.set_xticks(np.arange(len(columns)) + 0.5, heads, **turn)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        borders = [place for place in range(1, len(groups)) if groups[place] != groups[place - 1]]
        if 0 < len(borders) < len(groups) / 2:  # more would be lines between single rows
            for place in borders:
                axes.axhline(place, color="0.25", linewidth=0.8)
            for first, end in pairwise([0, *borders, len(groups)]):
                name = _words(groups[first], LONGEST_GROUP)
                axes.text(len(columns) + 0.15, (first + end) / 2, name, va="center", fontsize=7, style="italic")
        shrink = 0.6 if len(rows) > MOST_ROWS_OF_LONG_BAR else 1.0
        bar = figure.colorbar(image, ax=axes, location="right", shrink=shrink, aspect=30, pad=0.02)
        bar.set_label(wrapped(label, max(shrink * ROW_HEIGHT * len(rows), LEAST_HEIGHT - 0.3)))
        bar.outline.set_visible(False)
    return Drawn(figure, left_out, kept, across)


def _words(name, longest):
    """A label with blanks between its words, which a table of the user's may join by "_"."""
    return literal(str(name).replace("_", " "), longest)


def _kept(values, most):
    """Places of the rows farthest from the others' mean, in order."""
    if len(values) <= most:
        return np.arange(len(values))
    good = np.isfinite(values)
    mean = np.where(good, values, 0.0).sum(0) / np.maximum(good.sum(0), 1)
    reach = np.where(good, np.abs(values - mean), 0.0).max(1)
    return np.sort(np.argsort(-reach, kind="stable")[:most])
