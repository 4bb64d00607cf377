"""Figures of a statistics dataset. Every function returns a matplotlib figure."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from .aggregate import order_by_domain
from .glossary import title_of
from .labels import literal, pole_names, source_name, words_of
from .open import ResultError, require_label
from .pictures.plane import alignment_scatter
from .pictures.style import DIVERGING
from .reports.scores import why_no_means
from .tables import number_text, p_text
from .views import measures_of, recommended_measures, texts

MOST_TITLES = 2  # of tests above one picture
UNDEFINED = "0.85"
MAX_ROWS = 80
SUBJECTS = ("groups", "intersections", "all")


def default_measure(statistics: xr.Dataset) -> str:
    """The recommended one of those whose means the file has, else the first. Raises ResultError where it has none."""
    if "mean_score" not in statistics:
        raise ResultError(f"the statistics hold no means of the scores: {why_no_means(statistics)}")
    known = [str(name) for name in statistics[statistics["mean_score"].dims[0]].values]
    return next((name for name in recommended_measures(statistics) if name in known), known[0])


def mean_scores(statistics: xr.Dataset, measure: str) -> xr.DataArray:
    """[subject, item] of one measure, of single words where there are sets of words, too. Raises ResultError."""
    default_measure(statistics)
    axis = str(statistics["mean_score"].dims[0])
    require_label(statistics, axis, measure)
    scores = statistics["mean_score"].sel({axis: measure}).transpose("subject", "item")
    for of, kind in (("subject", "word sets"), ("item", "weat")):
        if f"{of}_kind" in statistics.coords:
            scores = scores.isel({of: np.flatnonzero(scores[f"{of}_kind"].values != kind)})
    return scores


def subtitle(statistics: xr.Dataset, measure: str) -> str:
    return f"{source_name(statistics)} · {literal(title_of('measure', measure))}"


def unit(statistics: xr.Dataset, measure: str) -> str:
    """Of the scores: nat, or 1 for effect sizes."""
    units = dict(zip(measures_of(statistics), texts(statistics, "measure_units", "measure"), strict=True))[measure]
    return "effect size" if units == "1" else units or "nat"


def is_contexts(statistics: xr.Dataset) -> bool:
    return str(statistics.attrs.get("schema", "")).endswith("/contexts")


def _rows_of(scores: xr.DataArray, subjects: str | None) -> tuple[np.ndarray, str]:
    """Subjects to draw, by domain, and what is left out. Default: the groups, or intersections where there are none;
    the strongest ones of more than MAX_ROWS."""
    kinds = scores["subject_kind"].values if "subject_kind" in scores.coords else None
    chosen = np.arange(scores.sizes["subject"])
    if kinds is not None and subjects != "all" and "word" not in kinds:
        wanted = (subjects or ("groups" if (kinds == "group").any() else "intersections")).removesuffix("s")
        chosen = chosen[kinds == wanted]
        if not chosen.size:
            raise ResultError(f"the result has no {wanted}s: see --subjects")
    rows = chosen
    if len(rows) > MAX_ROWS:
        strength = np.nan_to_num(np.abs(scores.values[rows])).max(axis=1)
        rows = np.sort(rows[np.argsort(-strength, kind="stable")[:MAX_ROWS]])
    left_out = []
    other = scores.sizes["subject"] - len(chosen)
    if kinds is not None and other and chosen.size:
        kind = "group" if kinds[chosen[0]] == "intersection" else "intersection"
        left_out.append(f"{other} {kind}{'' if other == 1 else 's'} (--subjects all)")
    if weaker := len(chosen) - len(rows):
        left_out.append(f"the {weaker} weakest of {len(chosen)} rows")
    return order_by_domain(scores, rows), "not drawn: " + ", ".join(left_out) if left_out else ""


def _blocks(labels: Sequence[str] | np.ndarray) -> list[tuple[str, int, int]]:
    """(label, first, end) of every run of equal labels."""
    starts = [0] + [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]] + [len(labels)]
    return [(labels[first], first, end) for first, end in pairwise(starts)]


def _symmetric_limit(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return max(float(np.quantile(finite, 0.98)), 1e-12) if finite.size else 1.0


def heat_maps(statistics: xr.Dataset, measure: str | None = None, subjects: str | None = None) -> dict[str, Figure]:
    """{name: heat map}: one; of WEFAT tests one for all that share their target words."""
    scores = mean_scores(statistics, measure or default_measure(statistics))
    if not is_contexts(statistics) or "test_x_words" not in statistics.coords:
        return {"heat-map": heat_map(statistics, measure, subjects)}
    targets = words_of(statistics, "x")
    parts: dict[tuple[str, ...], list[str]] = {}
    for item in map(str, scores["item"].values):
        parts.setdefault(tuple(targets[item]), []).append(item)
    figures: dict[str, Figure] = {}
    for words, items in parts.items():
        rows = np.flatnonzero(np.isin(statistics["subject"].values.astype(str), words))
        columns = np.flatnonzero(np.isin(statistics["item"].values.astype(str), items))
        name = "heat-map" if len(parts) == 1 else f"heat-map-{len(figures) + 1}"
        figures[name] = heat_map(statistics.isel(item=columns, subject=rows), measure, subjects)
    return figures


def _headline(statistics: xr.Dataset, scores: xr.DataArray) -> str:
    """What the picture shows: of WEFAT tests their title, or both titles of two."""
    if not is_contexts(statistics):
        return "How the model associates groups with traits"
    titles = list(dict.fromkeys(str(title) for title in scores["item_dimension"].values if str(title)))
    if len(titles) in (1, MOST_TITLES):
        return "\n".join(map(literal, titles))
    tests = [str(item) for item in scores["item"].values]
    return literal(tests[0]) if len(tests) == 1 else "To which of two sets of words is each word nearer?"


def heat_map(statistics: xr.Dataset, measure: str | None = None, subjects: str | None = None) -> Figure:
    """Groups (by domain) x trait pairs (by dimension); red leans to the pole above, blue to the one below."""
    measure = measure or default_measure(statistics)
    scores = mean_scores(statistics, measure)
    rows, left_out = _rows_of(scores, subjects)
    values = scores.values[rows]
    limit = _symmetric_limit(values)
    poles = [list(map(literal, names)) for names in pole_names(statistics, scores)]
    figure, axes = plt.subplots(
        figsize=(max(8.0, 3.2 + 0.46 * values.shape[1]), max(4.5, 3.6 + 0.2 * len(rows))), layout="constrained"
    )
    axes.set_facecolor(UNDEFINED)
    image = axes.imshow(
        np.ma.masked_invalid(values), aspect="auto", cmap=DIVERGING, norm=TwoSlopeNorm(0.0, -limit, limit)
    )
    axes.set_yticks(range(len(rows)), map(literal, scores["subject"].values[rows]), fontsize=8)
    axes.tick_params(length=0)
    top = axes.secondary_xaxis("top")
    top.tick_params(length=0)
    is_narrow = values.shape[1] <= 2
    for side, names, align in ((axes, poles[0], "right"), (top, poles[1], "left")):
        turn: dict[str, Any] = {} if is_narrow else {"rotation": 50, "ha": align}
        side.set_xticks(range(values.shape[1]), names, fontsize=9, **turn)
    for spine in [*axes.spines.values(), *top.spines.values()]:
        spine.set_visible(False)
    for _, first, _ in _blocks(scores["item_dimension"].values)[1:]:
        axes.axvline(first - 0.5, color="white", linewidth=3)
    domains = scores["subject_domain"].values if "subject_domain" in scores.coords else np.full(len(scores), "")
    for domain, first, end in _blocks(domains[rows]):
        if first > 0:
            axes.axhline(first - 0.5, color="white", linewidth=2.5)
        axes.text(
            values.shape[1] - 0.35,
            (first + end - 1) / 2,
            literal(domain),
            va="center",
            fontsize=8,
            style="italic",
            color="0.3",
        )
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=45, pad=0.02, extend="both")
    in_unit = unit(statistics, measure)
    if is_contexts(statistics):
        label = f"{in_unit}: red words are nearer to the set above (A), blue ones to the set below (B)"
    else:
        label = f"trait-pair score ({in_unit}): red leans to the pole above, blue to the one below"
    bar.set_label(label, fontsize=9)
    bar.outline.set_visible(False)
    title = f"{_headline(statistics, scores)}\n{subtitle(statistics, measure)}"
    if left_out:
        title += f"\n{left_out}"
    if np.isnan(values).any():
        title += "\ngrey: no score exists (see stereosweep show --status)"
    axes.set_title(title, fontsize=11, loc="left", pad=12)
    return figure


def _tau_text(statistics: xr.Dataset, reference: xr.DataArray, measure: str, count: int) -> str:
    """What the program found for its own ratings; of others only how many cells there are."""
    if "people_tau" not in statistics or not np.array_equal(people_means(statistics), reference, equal_nan=True):
        return f"{count} cells"
    axis = statistics["people_tau"].dims[0]
    here = {axis: measure, "people_group": "all", "people_row": "pooled"}
    tau, p = (float(statistics[name].sel(here)) for name in ("people_tau", "people_tau_p_cite"))
    return f"Kendall's τ-b = {number_text(tau)} (p = {p_text(p)}, {count} cells; p: items or subjects shuffled)"


def people_means(statistics: xr.Dataset) -> xr.DataArray:
    """[subject, item] of all annotators."""
    return statistics["people_mean"].sel(people_group="all").transpose("subject", "item")


def _scatter(
    statistics: xr.Dataset, reference: xr.DataArray, measure: str | None, middle: float, x_label: str, headline: str
) -> Figure:
    measure = measure or default_measure(statistics)
    scores = mean_scores(statistics, measure)
    reference = reference.sel(subject=scores["subject"], item=scores["item"]).transpose("subject", "item")
    cells = np.isfinite(reference.values) & np.isfinite(scores.values)
    poles = np.where(reference.values > middle, *reversed(pole_names(statistics, scores)))
    names = [f"{group}: {pole}" for group, row in zip(scores["subject"].values, poles, strict=True) for pole in row]
    dimensions = np.broadcast_to(scores["item_dimension"].values, scores.shape)
    found = _tau_text(statistics, reference, measure, int(cells.sum()))
    return alignment_scatter(
        reference.values.ravel(), scores.values.ravel(), names, dimensions.ravel(),
        (x_label, f"model: trait-pair score ({unit(statistics, measure)}), right pole minus left pole"), middle,
        f"{headline}\n{subtitle(statistics, measure)}\n{found}",
    ).figure  # fmt: skip


def human_scatter(statistics: xr.Dataset, ratings: xr.DataArray, measure: str | None = None) -> Figure:
    """Every rated (group, trait pair): human mean against the model's score."""
    return _scatter(
        statistics, ratings, measure, 50.0,
        "people: mean rating (0 = left pole, 100 = right pole)", "Do model and people agree?",
    )  # fmt: skip


def recovery_scatter(statistics: xr.Dataset, planted: xr.DataArray, measure: str | None = None) -> Figure:
    """Planted association against the measured score: a truth test of the whole program."""
    middle = 50.0 if float(np.nanmax(planted.values)) > 1 and float(np.nanmin(planted.values)) >= 0 else 0.0
    return _scatter(
        statistics, planted, measure, middle,
        "planted association of the group with the right pole", "Does the sweep recover what was planted?",
    )  # fmt: skip


def save_figures(made: dict[str, Figure], out: Path) -> None:
    """Writes NAME.png in the folder and prints its path, with what the picture leaves out."""
    out.mkdir(parents=True, exist_ok=True)
    for name, figure in made.items():
        path = out / f"{name}.png"
        figure.savefig(path, dpi=200)
        title = figure.axes[0].get_title(loc="left")
        plt.close(figure)
        print(path, *(f"({line})" for line in title.splitlines() if line.startswith("not drawn")))
