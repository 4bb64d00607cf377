"""The scores themselves: what lies farthest out, means as a table and a picture, and how they move with the wording."""

import numpy as np

from ..pictures.dots import Dot, interval_dots
from ..pictures.heat import heat_map
from ..pictures.wordings import wording_lines
from .blocks import Paragraph, Picture, Points
from .scores import NO_INTERVAL, cells, nan_mean, slices, texts
from .tables import Column, interval_columns, interval_words, make_table, number_text

MOST_STRONG = 5
MOST_SUBJECTS_OF_LINES = 200
MOST_SERIES_OF_DOTS = 3
LONGEST_POLES = 32  # letters of both poles below a heat map's column
LEAST_FILLED = 0.5  # of a heat map


def poles(statistics):
    """[(left, right)] of the items; ("", "") where an item has none."""
    return list(zip(texts(statistics, "item_left", "item"), texts(statistics, "item_right", "item"), strict=True))


def is_signed(means):
    """0 says that the model leans to neither pole."""
    return means.unit == "nat" or means.measure == "effect_size"


def centres(statistics, means):
    """Of each item what its scores are held against, and its name: 0, the baseline subject, or the mean of all."""
    if is_signed(means):
        return np.zeros(len(means.items)), ""
    kinds = texts(statistics, "subject_kind", "subject")
    if "baseline" in kinds:
        return means.mean[kinds.index("baseline")], "baseline"
    return nan_mean(means.mean, 0), "mean of all"


def distances(statistics, means):
    """[subject, item]: how far each mean lies from its centre; -1 without a mean. Of two roles of one sentence (a
    baseline job) only the first counts: the other is its complement."""
    centre, name = centres(statistics, means)
    distance = np.where(np.isfinite(means.mean), np.abs(means.mean - centre), -1.0)
    if name == "baseline":
        distance[:, 1:] = -1.0
    return distance


def strongest(statistics, means, most=MOST_STRONG):
    """The means farthest from their centres, in words."""
    centre, against = centres(statistics, means)
    distance = distances(statistics, means)
    sides = poles(statistics)
    rows = []
    for place in np.argsort(-distance, axis=None, kind="stable")[:most]:
        subject, item = np.unravel_index(place, distance.shape)
        value = means.mean[subject, item]
        if distance[subject, item] < 0 or (against and not np.isfinite(centre[item])):
            continue
        left, right = sides[item]
        towards = means.items[item]
        if is_signed(means) and left and right:
            towards = f"{right} rather than {left}" if value >= 0 else f"{left} rather than {right}"
        numbers = interval_words(value, means.low[subject, item], means.high[subject, item])
        rest = f"; {against} {number_text(centre[item])}" if against else ""
        rows.append(f"{means.subjects[subject]}: {towards} ({numbers}{rest})")
    return rows


def finding_points(statistics, means):
    """The answer first: a few sentences."""
    strong = strongest(statistics, means)
    if not strong:
        return [Paragraph(f"No score exists in {means.label}: see the statuses.", "warning")]
    count = int((distances(statistics, means) >= 0).sum())
    interval = means.interval if means.interval == NO_INTERVAL else f"mean and {means.interval}"
    head = f"Farthest out of {count:,} means by {means.label}; {interval}."
    return [Paragraph(f"{head} The farthest of many lie there partly by chance."), Points(strong)]


def means_table(statistics, means):
    """One row a subject and item, the strongest first."""
    kinds, domains = (texts(statistics, f"subject_{name}", "subject") for name in ("kind", "domain"))
    sides = poles(statistics)
    distance = distances(statistics, means)
    rows = []
    for place in np.argsort(-distance, axis=None, kind="stable"):
        subject, item = np.unravel_index(place, distance.shape)
        if means.n[subject, item] == 0:
            continue
        numbers = (float(array[subject, item]) for array in (means.mean, means.low, means.high))
        labels = (means.subjects[subject], kinds[subject], domains[subject], means.items[item], *sides[item])
        rows.append((*labels, *numbers, int(means.n[subject, item])))
    columns = [
        Column("subject"),
        Column("kind"),
        Column("domain"),
        Column("item"),
        Column("left pole"),
        Column("right pole"),
        Column("mean", "mean over templates and rephrasings, replicates averaged first", "number"),
        *interval_columns(means.interval),
        Column("n", "how many wordings it is made of", "number"),
    ]
    filled = [place for place in range(len(columns)) if not columns[place].is_text or any(row[place] for row in rows)]
    if means.interval == NO_INTERVAL:
        filled = [place for place in filled if columns[place].title not in ("low", "high")]
    if all(row[3] == f"{row[4]} - {row[5]}" for row in rows):  # the item's name says its poles
        filled = [place for place in filled if columns[place].title not in ("left pole", "right pole")]
    return make_table(
        f"Mean scores: {means.label}",
        [columns[place] for place in filled],
        [tuple(row[place] for place in filled) for row in rows],
    )


def means_picture(statistics, means):
    """Heat map of subjects x items, unless most of it would be empty; dots with intervals where there are few items."""
    domains = texts(statistics, "subject_domain", "subject")
    first = {domain: place for place, domain in reversed(list(enumerate(domains)))}
    order = sorted(np.flatnonzero((means.n > 0).any(1)), key=lambda place: (first[domains[place]], place))
    if not order or (means.n[order] > 0).mean() < LEAST_FILLED:
        return []
    more = "Farthest out: " + "; ".join(strongest(statistics, means, 3)) + "."
    label = means.label
    if len(means.items) <= MOST_SERIES_OF_DOTS:
        figure = interval_dots(_dots(means, order, domains), label, 0.0 if is_signed(means) else None)
        return [
            Picture(figure, f"Mean scores, {label}", f"Mean {label} of each subject. {means.lines}", more)
        ]
    sides = poles(statistics)
    columns = [f"{left} \u2013 {right}" for left, right in sides]
    if not is_signed(means) or max(map(len, columns)) > LONGEST_POLES or not all(map(all, sides)):
        columns = means.items
    kinds = texts(statistics, "subject_kind", "subject")
    pictures = []
    for kind in dict.fromkeys(kinds[place] for place in order):
        rows = [place for place in order if kinds[place] == kind]
        figure = heat_map(
            means.mean[rows],
            [means.subjects[place] for place in rows],
            columns,
            label,
            [domains[place] for place in rows],
            0.0 if is_signed(means) else None,
        )
        caption = f"Mean {label} of each {kind or 'subject'} (rows) and item (columns); grey: no score."
        if is_signed(means):
            caption += " Orange leans to the right pole, purple to the left one."
        pictures.append(Picture(figure, f"Mean scores of each {kind or 'subject'}, {label}", caption, more))
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


def wording_blocks(statistics, means):
    """How scores move with the wording, where there are several."""
    templates, rephrasings = (texts(statistics, axis, axis) for axis in ("template", "rephrasing"))
    wordings = [
        template if len(rephrasings) == 1 else rephrasing if len(templates) == 1 else f"{template}, {rephrasing}"
        for template in templates
        for rephrasing in rephrasings
    ]
    if len(wordings) < 2:
        return []
    subjects = min(len(means.subjects), MOST_SUBJECTS_OF_LINES)
    parts = [cells(statistics, means.measure, part) for part in slices(subjects)]
    values = np.concatenate(parts)[:subjects].reshape(subjects, len(wordings), -1)
    mean = nan_mean(values, 0)
    spread = np.sqrt(nan_mean((mean - nan_mean(mean, 0)) ** 2, 0))
    items = np.argsort(-np.nan_to_num(spread), kind="stable")[:4]
    label = means.label
    figure = wording_lines(values[:, :, items], wordings, [means.items[item] for item in items], label)
    caption = (
        "How much the wording matters: every grey line is a subject, the orange one their mean; wordings are sorted by "
        f"it. Items whose means move most ({len(items)} of {len(means.items)})."
    )
    return [Picture(figure, "Scores by wording", caption)]
