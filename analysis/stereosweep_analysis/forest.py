"""Forest plot of the embedding tests of a contexts job: effects, their interval, the spread of samples."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .labels import literal, source_name
from .open import ResultError
from .pictures.style import ABOVE, BELOW, PAGE, page_style, wrapped
from .tables import p_text

EFFECT, SAMPLES, INTERVAL = "weat", ("weat_mean", "weat_sd"), ("weat_low", "weat_high")
P_VALUES = ("weat_p_targets", "weat_p_attributes", "weat_p_both", "weat_p", "weat_p_holm")
NAMES = ("weat_test", "weat_test_title", "weat_test_family", "weat_family_size")
NAME_WIDTH = 1.75  # inches of a test's name
UNDEFINED = "0.6"


def weat_columns(statistics: xr.Dataset) -> dict[str, np.ndarray]:
    """The tests that compare two target sets, in the file's order: {column: values}."""
    plain = (EFFECT, *SAMPLES, *P_VALUES, *NAMES)
    if "test" in statistics.dims and EFFECT not in statistics:
        raise ResultError("no test compares two target sets: nothing to draw a forest of")
    missing = [name for name in plain if name not in statistics]
    if missing:
        raise ResultError(f"the statistics lack {', '.join(missing)}: are they of a contexts job, and of this version?")
    nothing = np.full(statistics.sizes["weat_test"], np.nan)
    interval = {name: statistics[name].values if name in statistics else nothing for name in INTERVAL}
    return {name: statistics[name].values for name in plain} | interval


def _family_names(columns: dict[str, np.ndarray]) -> tuple[list[str], str]:
    """What stands behind each test's name, and what the title says; one family of all needs no name on every row."""
    families, sizes = columns["weat_test_family"], columns["weat_family_size"]
    if len(set(families)) == 1 and families[0]:
        return [""] * len(families), f"adjusted by Holm in the family “{families[0]}” of {sizes[0]}"
    rows = [f"\n[{family}, {size}]" if family else "\n[no family]"
            for family, size in zip(families, sizes, strict=True)]  # fmt: skip
    return rows, "adjusted by Holm in its family [name, tests]"


def _draw_row(
    axes: Axes, height: float, effect: float, ends: tuple[float, float], samples: tuple[float, float]
) -> None:
    """`ends`: of the interval; `samples`: mean and deviation of single samples' effect sizes."""
    if not np.isfinite(effect):
        axes.text(0, height, "no effect size exists", va="center", ha="center", fontsize=7, color=UNDEFINED)
        return
    color = ABOVE if effect >= 0 else BELOW
    mean, deviation = samples
    band = [mean - deviation, mean + deviation]
    axes.plot(band, [height, height], color="0.85", linewidth=4.5, solid_capstyle="butt")
    axes.plot(ends, [height, height], color=color, linewidth=1.2)
    for end in ends:
        axes.plot([end, end], [height - 0.16, height + 0.16], color=color, linewidth=1.2)
    axes.plot(effect, height, marker="D", markersize=3.6, color=color)


def _row_text(effect: float, low: float, high: float, *p_values: float) -> str:
    if not np.isfinite(effect):
        return ""
    interval = f"[{low:6.3f}, {high:6.3f}]" if np.isfinite(low) else f"{'no interval':>16}"  # a set of one word
    return f"{effect:6.3f} {interval} {' '.join(f'{p_text(p):>7}' for p in p_values)}"


def _names(columns: dict[str, np.ndarray], families: list[str]) -> list[str]:
    """Of the tests, in lines of NAME_WIDTH inches."""
    titled = [
        f"{label}: {title}" if str(title) else str(label)
        for label, title in zip(columns["weat_test"], columns["weat_test_title"], strict=True)
    ]
    return [wrapped(literal(name), NAME_WIDTH) + literal(family) for name, family in zip(titled, families, strict=True)]


def forest(statistics: xr.Dataset) -> Figure:
    """One row per test: diamond and line are the effect and its interval over other words, the grey band the samples'
    mean and one deviation to either side."""
    columns = weat_columns(statistics)
    effect, low, high = (columns[name] for name in (EFFECT, *INTERVAL))
    mean, deviation = (columns[name] for name in SAMPLES)
    heights = -np.arange(len(effect))
    families, adjustment = _family_names(columns)
    names = _names(columns, families)
    confidence = 100 * float(statistics.attrs["confidence"])
    title = [
        source_name(statistics),
        f"lines: {confidence:g} % interval over other words of both kinds · grey: standard deviation over samples",
        "right: effect, interval, two-sided p of target words, attribute words, both, the largest, adjusted",
        literal(adjustment, 120),
    ]
    with page_style():
        lines = max(name.count("\n") + 1 for name in names)
        figure, axes = plt.subplots(figsize=(PAGE, 1.3 + (0.14 + 0.13 * lines) * len(effect)))
        for place, height in enumerate(heights):
            _draw_row(axes, float(height), effect[place], (low[place], high[place]), (mean[place], deviation[place]))
        axes.set_yticks(heights, names)
        axes.set_ylim(-len(effect) + 0.4, 0.6)
        right = axes.secondary_yaxis("right")
        p_values = [columns[name] for name in P_VALUES]
        texts = map(_row_text, effect, low, high, *p_values)
        right.set_yticks(heights, texts, fontsize=6.5, family="monospace")
        reach = np.concatenate([np.abs(effect), np.abs(low), np.abs(high), np.abs(mean) + deviation, [0.5]])
        limit = min(5.0, 1.08 * np.nanmax(reach))
        axes.set_xlim(-limit, limit)
        axes.axvline(0, color="0.4", linewidth=0.7)
        axes.grid(axis="x", color="0.92", linewidth=0.6)
        axes.set_axisbelow(True)
        for side in (axes, right):
            side.tick_params(length=0)
            for spine in side.spines.values():
                spine.set_visible(False)
        axes.set_xlabel("effect size: right, X is nearer\nto A and Y to B")
        figure.suptitle("\n".join(title), fontsize=7, x=0.01, ha="left")
    return figure
