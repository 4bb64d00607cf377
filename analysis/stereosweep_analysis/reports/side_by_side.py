"""Several runs of the same kind of probe: their means of the same subjects and items, in one picture and one table."""

import numpy as np

from ..pictures.dots import Dot, interval_dots
from ..pictures.plane import pair_scatter
from .blocks import Paragraph, Picture, Points
from .findings import is_signed
from .scores import interval_text, measure_label, measure_means, measures_of, recommended_measure, texts
from .tables import Column, interval_columns, interval_words, make_table, p_text, smallest_p_text

MOST_ROWS = 30
MOST_POINTS = 5


def shared_measure(runs):
    """The measure that all runs have, the recommended one first; None where there is none."""
    known = [measures_of(run.statistics) for run in runs]
    best = recommended_measure(runs[0].statistics)
    return next((name for name in [best, *known[0]] if all(name in names for names in known)), None)


def comparison_blocks(runs, comparison=None):
    """Where the runs differ most. Subjects and items are paired by their labels; what one run lacks is counted."""
    if len(runs) < 2:
        return []
    measure = shared_measure(runs)
    if measure is None:
        return [Paragraph("These runs have no measure in common: there is nothing to set side by side.")]
    all_means = [measure_means(run.statistics, measure) for run in runs]
    places = [
        {(subject, item): (i, j) for i, subject in enumerate(means.subjects) for j, item in enumerate(means.items)}
        for means in all_means
    ]
    shared = [cell for cell in places[0] if all(cell in other for other in places)]
    dropped = sum(len(place) for place in places) - len(runs) * len(shared)
    if not shared:
        return [Paragraph("These runs share no subject and item: there is nothing to set side by side.")]
    table = np.array(
        [[means.mean[place[cell]] for cell in shared] for means, place in zip(all_means, places, strict=True)]
    )
    with np.errstate(invalid="ignore"):
        spread = np.nan_to_num(table.max(0) - table.min(0), nan=-1.0)
    order = np.argsort(-spread, kind="stable")
    return [
        *_pictures(runs, all_means, places, [shared[cell] for cell in order], table[:, order]),
        _table(runs, all_means[0], [shared[cell] for cell in order], table[:, order], _note(dropped, comparison)),
    ]


def difference_blocks(comparison, measure):
    """Differences of two runs with intervals and p, by `stereosweep stats FOLDER`; measures as in the runs."""
    if comparison is None or "run_difference" not in comparison or measure not in measures_of(comparison):
        return []
    chosen = comparison.sel(measure=measure)
    fields = ("difference", "low", "high", "num_templates", "p", "p_max_t", "p_holm")
    dims = ("run_pair", "subject", "item")
    numbers = {field: chosen[f"run_{field}"].transpose(*dims).values for field in fields}
    adjusted = np.where(np.isfinite(numbers["p_max_t"]), numbers["p_max_t"], numbers["p_holm"])
    labels = [texts(comparison, axis, axis) for axis in dims]
    size = np.nan_to_num(np.abs(numbers["difference"]), nan=-1.0)
    order = np.lexsort((-size.ravel(), numbers["p"].ravel()))  # NaN stands last
    rows = []
    for place in (np.unravel_index(index, adjusted.shape) for index in order):
        if np.isfinite(numbers["difference"][place]):
            names = (label[index] for label, index in zip(labels, place, strict=True))
            ends = (float(numbers[field][place]) for field in ("difference", "low", "high"))
            count = int(numbers["num_templates"][place])
            rows.append((*names, *ends, count, float(numbers["p"][place]), float(adjusted[place])))
    interval = interval_text(comparison["run_low"])
    columns = [
        Column("runs"),
        Column("subject"),
        Column("item"),
        Column("difference", "of the means over the cells that both runs have", "number"),
        *interval_columns(interval),
        Column("n", "templates", "number"),
        Column("p", "two-sided, signs of templates flipped", "p"),
        Column("adjusted p", "max-T or Holm among all contrasts and items of one measure", "p"),
    ]
    several = len(labels[0]) > 1
    which = "each pair of runs" if several else labels[0][0]
    title = measure_label(comparison, measure)
    own = 0 if several else 1  # one pair stands in the caption
    table = make_table(
        f"Differences in {title}: {which}", columns[own:], [row[own:] for row in rows], "Smallest p first."
    )
    if not rows:
        return [table]
    dots = [
        Dot(f"{subject}: {item}", *ends, group=pair if several else "")
        for pair, subject, item, *ends in (row[:6] for row in rows[:MOST_ROWS])
    ]
    caption = f"Differences in {title}: {which}; smallest p first. Lines: {interval}."
    figure = interval_dots(dots, f"difference in {title}", 0.0, MOST_ROWS)
    return [*_points(rows, several), Picture(figure, "Differences between runs", caption), table]


def _points(rows, several):
    """The differences with the smallest p, in words."""
    best = [row for row in rows[:MOST_POINTS] if np.isfinite(row[-1])]
    if not best:
        return []
    points = [
        f"{', '.join(row[:2] if several else row[1:2])}: {row[2]}, "
        f"{interval_words(*row[3:6])} (adjusted p {p_text(row[-1])})"
        for row in best
    ]
    head = "Differences between runs" if several else f"Differences ({best[0][0]})"
    return [Paragraph(smallest_p_text(head, best[0][-1])), Points(points)]


def _pictures(runs, all_means, places, shared, table):
    label = all_means[0].label
    dots = []
    for subject, item in shared[:MOST_ROWS]:
        for run, means, place in zip(runs, all_means, places, strict=True):
            at = place[subject, item]
            numbers = (float(array[at]) for array in (means.mean, means.low, means.high))
            dots.append(Dot(f"{subject}: {item}", *numbers, series=run.label))
    figure = interval_dots(dots, label, 0.0 if is_signed(all_means[0]) else None, MOST_ROWS)
    caption = (
        f"The {min(len(shared), MOST_ROWS)} means that differ most between the runs. {all_means[0].lines}"
    )
    pictures = [Picture(figure, "Runs side by side", caption)]
    if len(runs) == 2 and np.isfinite(table).all(0).sum() > 2:
        names = [f"{subject}: {item}" for subject, item in shared]
        figure = pair_scatter(table[0], table[1], names, (f"{runs[0].label}: {label}", f"{runs[1].label}: {label}"))
        caption = "Every mean of one run against that of the other; on the line they are equal."
        pictures.append(Picture(figure, "One run against the other", caption))
    return pictures


def _note(dropped, comparison):
    notes = [f"{dropped} means of subjects and items that not all runs have are left out."] if dropped else []
    if comparison is None:
        notes.append("Tests of the differences: the report of a sweep's folder.")
    return " ".join(notes)


def _table(runs, means, shared, table, note):
    columns = [Column("subject"), Column("item"), *(Column(run.label, kind="number") for run in runs)]
    columns.append(Column("range", "greatest minus least", "number"))
    rows = [
        (*cell, *map(float, table[:, place]), float(table[:, place].max() - table[:, place].min()))
        for place, cell in enumerate(shared)
    ]
    return make_table(f"Means of all runs: {means.label}", columns, rows, note)
