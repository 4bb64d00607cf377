"""Several runs of the same kind of probe: their means of the same subjects and items, in one picture and one table."""

import numpy as np

from ..pictures.dots import Dot, interval_dots
from ..pictures.plane import pair_scatter
from ..tables import Column, Table
from .blocks import Paragraph, Points, picture_of
from .head import answers_of, warning_blocks
from .means import is_signed
from .scores import asks_in_rounds, measure_means, measured_means, why_no_means
from .shown import points

MOST_ROWS = 30


def shared_measure(runs):
    """The measure whose means all runs have, the recommended one first; None where there is none."""
    known = [measured_means(run.statistics) for run in runs]
    return next((name for name in known[0] if all(name in names for names in known)), None)


def comparison_blocks(runs, comparison=None):
    """Where the runs differ most. Subjects and items are paired by their labels; what one run lacks is counted."""
    if len(runs) < 2:
        return []
    measure = shared_measure(runs)
    if measure is None:
        reason = "These runs have means of no common measure: there is nothing to set side by side."
        of_run = next((run.statistics for run in runs if asks_in_rounds(run.statistics)), runs[0].statistics)
        return [Paragraph(f"{reason} {why_no_means(of_run)}.")]
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
    shared, table = [shared[cell] for cell in order], table[:, order]
    columns = [Column("subject"), Column("item"), *(Column(run.label, kind="number") for run in runs)]
    rows = [(*cell, *map(float, table[:, place])) for place, cell in enumerate(shared)]
    notes = ["Those that differ most come first."]
    notes += [f"{dropped} means of subjects and items that not all runs have are left out."] if dropped else []
    notes += ["Tests of the differences: the report of a sweep's folder."] if comparison is None else []
    made = Table(f"Means of all runs: {all_means[0].label}", columns, rows, " ".join(notes), 2)
    return [*_pictures(runs, all_means, places, shared, table), made]


def difference_head(found):
    """What the comparison of runs comes to: its answers, or the differences with the smallest p, and its warnings."""
    answers = answers_of(found)
    blocks = [Points(answers, "answer")] if answers else []
    for finding in found:
        blocks += points(finding.tables[0]) if finding.name == "run_difference" and not finding.answers else []
    return [*blocks, *warning_blocks(list(dict.fromkeys(text for finding in found for text in finding.warnings)))]


def _pictures(runs, all_means, places, shared, table):
    label = all_means[0].label
    dots = []
    for subject, item in shared[:MOST_ROWS]:
        for run, means, place in zip(runs, all_means, places, strict=True):
            numbers = (float(array[place[subject, item]]) for array in (means.mean, means.low, means.high))
            dots.append(Dot(f"{subject}: {item}", *numbers, series=run.label))
    drawn = interval_dots(dots, label, 0.0 if is_signed(all_means[0]) else None, MOST_ROWS)
    caption = f"The {min(len(shared), MOST_ROWS)} means that differ most between the runs. {all_means[0].lines}"
    pictures = [picture_of(drawn, "Runs side by side", caption)]
    if len(runs) == 2 and np.isfinite(table).all(0).sum() > 2:
        names = [f"{subject}: {item}" for subject, item in shared]
        drawn = pair_scatter(table[0], table[1], names, (f"{runs[0].label}: {label}", f"{runs[1].label}: {label}"))
        caption = "Every mean of one run against that of the other; on the line they are equal."
        pictures.append(picture_of(drawn, "One run against the other", caption))
    return pictures
