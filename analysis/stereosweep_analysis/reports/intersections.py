"""How intersections of two groups differ from their parts: emergent scores, and which domain dominates."""

import numpy as np

from ..pictures.bars import supported_bars
from ..pictures.dots import Dot, interval_dots
from .blocks import Picture
from .scores import interval_text, measure_label, texts
from .tables import Column, interval_columns, make_table

MOST_DRAWN = 24
SMALL = 0.05  # adjusted p of a filled bar
FIELDS = ("score", "first", "second", "max", "min", "num_templates", "p", "p_max_t")


def intersection_blocks(statistics):
    """Of the first measure that the job asked for."""
    if "emerge_score" not in statistics:
        return []
    axis = statistics["emerge_score"].dims[0]
    measure = measure_label(statistics, texts(statistics, axis, axis)[0])
    return [
        *_emergence(statistics, axis, measure),
        *_single_traits(statistics, axis, measure),
        *_dominance(statistics, axis, measure),
    ]


def _emergence(statistics, axis, measure):
    numbers = {
        field: statistics[f"emerge_{field}"].isel({axis: 0}).transpose("intersection", "item").values
        for field in FIELDS
    }
    names, items = texts(statistics, "intersection", "intersection"), texts(statistics, "item", "item")
    beyond = np.maximum(numbers["max"], -numbers["min"])  # above the larger part's, or below the smaller one's
    order = np.lexsort(
        (-np.nan_to_num(beyond.ravel(), nan=-np.inf), np.nan_to_num(numbers["p_max_t"].ravel(), nan=2.0))
    )
    places = [np.unravel_index(place, beyond.shape) for place in order]
    places = [place for place in places if np.isfinite(beyond[place]) and beyond[place] > 0]
    rows = [
        (
            names[i],
            items[j],
            *(float(numbers[field][i, j]) for field in ("score", "first", "second")),
            float(beyond[i, j]),
            int(numbers["num_templates"][i, j]),
            *(float(numbers[field][i, j]) for field in ("p", "p_max_t")),
        )
        for i, j in places
    ]
    columns = [
        Column("intersection"),
        Column("item"),
        Column("score", "mean of the intersection", "number"),
        Column("first part", "mean of its first group", "number"),
        Column("second part", "mean of its second group", "number"),
        Column("beyond", "above the larger part's score, or below the smaller one's, by this much", "number"),
        Column("n", "templates with all three", "number"),
        Column("p", "two-sided, of a score beyond both parts', signs of templates flipped", "p"),
        Column("adjusted p", "max-T over all rows of the measure", "p"),
    ]
    table = make_table(f"Scores beyond both parts: {measure}", columns, rows, "Smallest adjusted p first.")
    if not rows:
        return [table]
    dots = [
        Dot(f"{row[0]}: {row[1]}", value, series=series)
        for row in rows[:MOST_DRAWN]
        for series, value in zip(("intersection", "first part", "second part"), row[2:5], strict=True)
    ]
    caption = f"Intersections whose score lies beyond both parts', smallest adjusted p first ({len(rows)} in all)."
    return [Picture(interval_dots(dots, measure_label(statistics, measure), 0.0), "Emergent scores", caption), table]


def _single_traits(statistics, axis, measure):
    """Single traits (poles) whose score rises most above both parts': the largest increases."""
    if "pole_emerge_max" not in statistics:
        return []
    increase, adjusted = (
        statistics[f"pole_emerge_{name}"].isel({axis: 0}).transpose("intersection", "pole").values.ravel()
        for name in ("max", "p_max_t")
    )
    order = [place for place in np.argsort(-increase, kind="stable")[:MOST_DRAWN] if increase[place] > 0]
    if not order:
        return []
    names, poles = texts(statistics, "intersection", "intersection"), texts(statistics, "pole", "pole")
    labels = [f"{names[place // len(poles)]}: {poles[place % len(poles)]}" for place in order]
    figure = supported_bars(
        labels, increase[order], adjusted[order] < SMALL,
        f"{measure_label(statistics, measure)}, above the larger part's",
        (f"adjusted p < {SMALL:g}", "larger, or no p"),
    )  # fmt: skip
    risen = int((increase > 0).sum())
    caption = (
        f"Traits of intersections that rise above both parts': the largest of {risen:,}. Which are largest is mostly "
        "noise where the bar is empty; p by max-T over all."
    )
    return [Picture(figure, "Emergent traits", caption)]


def _dominance(statistics, axis, measure):
    if "dominance_difference" not in statistics:
        return []
    fields = ("tau_first", "tau_second", "difference", "low", "high")
    numbers = {field: statistics[f"dominance_{field}"].isel({axis: 0}).values for field in fields}
    counts = statistics["dominance_num_intersections"].isel({axis: 0}).values
    first, second = (texts(statistics, f"domain_pair_{side}", "domain_pair") for side in ("first", "second"))
    interval = interval_text(statistics["dominance_low"])
    columns = [
        Column("first domain"),
        Column("second domain"),
        Column("tau-b with first", "mean rank correlation of intersections with their part of this domain", "number"),
        Column("tau-b with second", kind="number"),
        Column("difference", "above 0 the first domain dominates", "number"),
        *interval_columns(interval),
        Column("n", "intersections", "number"),
    ]
    rows = [
        (first[row], second[row], *(float(numbers[field][row]) for field in fields), int(counts[row]))
        for row in range(len(first))
    ]
    dots = [Dot(f"{row[0]} minus {row[1]}", *row[4:7]) for row in rows if np.isfinite(row[4])]
    table = make_table(f"Which domain an intersection follows: {measure}", columns, rows)
    if not dots:
        return [table]
    caption = f"Mean tau-b of intersections with their first part minus that with their second. Lines: {interval}."
    return [Picture(interval_dots(dots, "difference of mean tau-b", 0.0), "Dominance", caption), table]
