"""Bars from zero, with those that a test supports set apart."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch

from ..labels import literal
from .dots import HEAD, LONGEST_LABEL, ROW_HEIGHT
from .style import LETTER, PAGE, QUIET, SERIES, page_style, plain_rows, wrapped


def supported_bars(labels, values, is_supported, x_label, names):
    """One row a label, from above; `is_supported`: filled bars, others are outlines; `names`: of both kinds."""
    with page_style():
        figure, axes = plt.subplots(figsize=(PAGE, HEAD + ROW_HEIGHT * len(labels)))
        fill = np.where(is_supported, SERIES[0], "white")
        axes.barh(-np.arange(len(labels)), values, height=0.62, color=fill, edgecolor=SERIES[0], linewidth=0.9)
        axes.axvline(0, color=QUIET, linewidth=0.7)
        axes.set_yticks(-np.arange(len(labels)), [literal(label, LONGEST_LABEL) for label in labels])
        axes.set_ylim(-len(labels) + 0.4, 0.6)
        plain_rows(axes)
        axes.set_xlabel(wrapped(x_label, PAGE - LETTER * min(max(map(len, labels)), LONGEST_LABEL) - 0.3))
        kinds = [Patch(facecolor=colour, edgecolor=SERIES[0], label=name)
                 for colour, name in zip((SERIES[0], "white"), names, strict=True)]  # fmt: skip
        figure.legend(handles=kinds, loc="outside upper center", ncols=2)
    return figure
