"""What all pictures share: sizes in inches for print, colours that colour-blind people tell apart, marks."""

import contextlib
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

PAGE = 6.3  # inches between the margins of a paper
COLUMN = 3.2  # one of two columns
PAGE_HEIGHT = 8.8  # inches for a picture, with room for its caption
DOTS_PER_INCH = 300
LETTER = 0.066  # inches, mean width of a letter of 8 points
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")  # Okabe and Ito 2008
MARKS = "osD^vP*X"
QUIET = "0.45"
DIVERGING = "RdBu_r"  # of all signed scores: blue below 0, red above, apart for colour-blind people
RISING = "YlGn"  # of scores without a middle: far from the ground where they are high, also on a dark one
BELOW, ABOVE = "#2166ac", "#b2182b"  # near its ends
MOST_SERIES = len(SERIES)
SINGULAR = re.compile(r"(?<!serie)s(?= (?:beyond|beside)|$)")  # what goes from the end of a plural


class Drawn(NamedTuple):
    """`left_out`: what the data hold and the figure does not show, in sentences; `rows`, `columns`: places of what a
    heat map shows."""

    figure: Figure
    left_out: str = ""
    rows: Sequence[int] = ()
    columns: Sequence[int] = ()


def left_out_text(**counts):
    """ "3 rows and 1 name are not drawn." of the counts above 0 of things in the plural; empty without any."""
    named = [(count, name.replace("_", " ")) for name, count in counts.items() if count]
    parts = [f"{count:,} {SINGULAR.sub('', name) if count == 1 else name}" for count, name in named]
    return f"{' and '.join(parts)} {'is' if sum(counts.values()) == 1 else 'are'} not drawn." if parts else ""


@contextlib.contextmanager
def page_style():
    """Letters of 8 points on white, thin lines."""
    settings = {
        "font.size": 8, "axes.titlesize": 8.5, "axes.labelsize": 8, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5,
        "legend.fontsize": 7.5, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.2,
        "figure.constrained_layout.use": True, "font.family": "sans-serif", "figure.max_open_warning": 0,
        "font.sans-serif": ["Arial", "Helvetica", "Liberation Sans", "DejaVu Sans"],
    }  # fmt: skip
    with plt.rc_context(settings):
        yield


def save(figure, path):
    """Writes the figure as its ending says, with letters that stay letters, and closes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
        figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)


def plain_rows(axes):
    """Rows with names at their left: no ticks there, a grid of numbers behind."""
    axes.tick_params(axis="y", which="both", length=0)
    axes.grid(axis="x", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def wrapped(text, inches):
    """The text in lines of about this width."""
    return textwrap.fill(text, max(int(inches / LETTER), 12), break_on_hyphens=False)


def symmetric_limit(values):
    """Largest distance from 0 of the finite numbers (1 without any): both ends of a diverging scale."""
    import numpy as np

    finite = np.abs(values[np.isfinite(values)])
    return max(float(finite.max()), 1e-12) if finite.size else 1.0
