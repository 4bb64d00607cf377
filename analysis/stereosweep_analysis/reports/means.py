"""Means of subjects on items as pictures, and how single scores move with the wording."""

import numpy as np

from ..pictures.dots import Dot, interval_dots
from ..pictures.heat import heat_map
from ..pictures.style import left_out_text
from ..pictures.wordings import MOST_PANELS, wording_lines
from ..views import texts
from .blocks import Picture, picture_of

MOST_SUBJECTS_OF_LINES = 200
MOST_SERIES_OF_DOTS = 3
LONGEST_POLES = 32  # letters of both poles below a heat map's column
LEAST_FILLED = 0.5  # of a heat map


def is_signed(means):
    """0 says that the model leans to neither pole."""
    return means.unit == "nat" or means.measure == "effect_size"


def means_picture(statistics, means):
    """Heat map of subjects x items, unless most of it would be empty; dots with intervals where there are few items."""
    domains = texts(statistics, "subject_domain", "subject")
    first = {domain: place for place, domain in reversed(list(enumerate(domains)))}
    order = sorted(np.flatnonzero((means.n > 0).any(1)), key=lambda place: (first[domains[place]], place))
    if not order or (means.n[order] > 0).mean() < LEAST_FILLED:
        return []
    label = means.label
    centre = 0.0 if is_signed(means) else None
    if len(means.items) <= MOST_SERIES_OF_DOTS:
        drawn = interval_dots(_dots(means, order, domains), label, centre)
        return [picture_of(drawn, f"Mean scores, {label}", f"Mean {label} of each subject. {means.lines}")]
    sides = list(zip(*(texts(statistics, f"item_{side}", "item") for side in ("left", "right")), strict=True))
    columns = [f"{left} \u2013 {right}" for left, right in sides]
    if not is_signed(means) or max(map(len, columns)) > LONGEST_POLES or not all(map(all, sides)):
        columns = means.items
    kinds = texts(statistics, "subject_kind", "subject")
    pictures = []
    every_kind = list(dict.fromkeys(kinds[place] for place in order))
    ends = (np.nanmin(means.mean[order]), np.nanmax(means.mean[order]))
    for kind in every_kind:
        rows = [place for place in order if kinds[place] == kind]
        names, groups = ([of[place] for place in rows] for of in (means.subjects, domains))
        drawn = heat_map(means.mean[rows], names, columns, label, groups, centre, ends)
        caption = f"Mean {label} of each {kind or 'subject'} (rows) and item (columns); grey: no score."
        kinds_of = " and of ".join(f"{name}s" for name in every_kind)
        caption += f" The pictures of {kinds_of} have the same scale of colours." if len(every_kind) > 1 else ""
        if is_signed(means):
            caption += " Red leans to the right pole, blue to the left one."
        picture = picture_of(drawn, f"Mean scores of each {kind or 'subject'}, {label}", caption)
        cells = [[(names[row], means.items[column]) for column in drawn.columns] for row in drawn.rows]
        pictures.append(picture._replace(cells=cells))
    return pictures


def _dots(means, order, domains):
    return [
        Dot(
            means.subjects[place],
            *(float(array[place, item]) for array in (means.mean, means.low, means.high)),
            series=means.items[item] if len(means.items) > 1 else "",
            group=domains[place],
        )
        for place in order
        for item in range(len(means.items))
    ]


def wording_blocks(statistics, measure, label):
    """Single scores by wording, where there are several; of several runs of one prompt each is a line."""
    templates, rephrasings, items = (texts(statistics, axis, axis) for axis in ("template", "rephrasing", "item"))
    wordings = [
        template if len(rephrasings) == 1 else rephrasing if len(templates) == 1 else f"{template}, {rephrasing}"
        for template in templates
        for rephrasing in rephrasings
    ]
    if len(wordings) < 2:
        return []
    part = statistics["score"].sel(measure=measure).isel(subject=slice(MOST_SUBJECTS_OF_LINES))
    replicates = [str(name) for name in part["replicate"].values]
    if len(replicates) > 1:
        part = part.isel(replicate=[place for place, name in enumerate(replicates) if name != "mean"])
    scores = part.transpose("subject", "replicate", "template", "rephrasing", "item").values
    figure = wording_lines(scores.reshape(-1, len(wordings), len(items)), wordings, items, label)
    left_out = statistics.sizes["subject"] - part.sizes["subject"]
    caption = (
        "How much the wording matters: every grey line is a subject, the orange one joins their medians; wordings are "
        f"sorted by them. Items whose medians move most ({min(MOST_PANELS, len(items))} of {len(items)}). "
        f"{left_out_text(subjects=left_out)}"
    ).strip()
    return [Picture(figure, "Scores by wording", caption)]
