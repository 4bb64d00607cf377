"""What a statistics file found, as tables and pictures; by the variables that the file holds, whatever the probe."""

import numpy as np

from ..pictures.dots import Dot, interval_dots
from ..pictures.heat import heat_map
from ..pictures.plane import alignment_scatter, cluster_plane
from ..pictures.wordings import wording_lines
from .blocks import Paragraph, Picture, Points
from .scores import cells, nan_mean, slices, texts
from .svg import inline_svg
from .tables import Column, make_table, number_text, p_text

MOST_STRONG = 5
MOST_SUBJECTS_OF_LINES = 200


def with_unit(means):
    return f"{means.measure}" + (f" ({means.unit})" if means.unit not in ("", "1") else "")


def poles(statistics):
    """[(left, right)] of the items; ("", "") where an item has none."""
    return list(zip(texts(statistics, "item_left", "item"), texts(statistics, "item_right", "item"), strict=True))


def has_two_poles(statistics):
    """Scores lie on both sides of 0: the items' poles are each other's opposite."""
    return all(left and right for left, right in poles(statistics))


def strongest(statistics, means):
    """The cells farthest from 0 (of ratings: from the mean of their item), in words."""
    signed = means.unit == "nat" or means.measure == "effect_size"
    centre = np.zeros(len(means.items)) if signed else nan_mean(means.mean, 0)
    distance = np.where(np.isfinite(means.mean), np.abs(means.mean - centre), -1.0)
    order = np.argsort(-distance, axis=None, kind="stable")[:MOST_STRONG]
    rows = []
    for subject, item in zip(*np.unravel_index(order, distance.shape), strict=True):
        if distance[subject, item] < 0:
            continue
        value = means.mean[subject, item]
        left, right = poles(statistics)[item]
        towards = (right or means.items[item]) if value >= centre[item] else (left or f"less {means.items[item]}")
        interval = ""
        if np.isfinite(means.low[subject, item]):
            interval = f", {number_text(means.low[subject, item])} to {number_text(means.high[subject, item])}"
        against = "" if signed else f"; the mean of all is {number_text(centre[item])}"
        rows.append(f"{means.subjects[subject]}: {towards} ({number_text(value)}{interval}{against})")
    return rows


def means_table(statistics, means):
    """One row a subject and item."""
    kinds, domains = (texts(statistics, f"subject_{name}", "subject") for name in ("kind", "domain"))
    sides = poles(statistics)
    rows = []
    for subject, item in np.ndindex(means.mean.shape):
        if means.n[subject, item] == 0:
            continue
        rows.append(
            (means.subjects[subject], kinds[subject], domains[subject], means.items[item], *sides[item],
             *(float(array[subject, item]) for array in (means.mean, means.low, means.high)),
             int(means.n[subject, item]))
        )  # fmt: skip
    rows.sort(key=lambda row: -abs(row[6]) if np.isfinite(row[6]) else 0.0)
    columns = (
        Column("subject"), Column("kind"), Column("domain"), Column("item"), Column("left pole"), Column("right pole"),
        Column("mean", "mean over templates and rephrasings, replicates averaged first", "number"),
        Column("low", means.interval, "number"), Column("high", "its upper end", "number"),
        Column("n", "how many wordings it is made of", "number"),
    )  # fmt: skip
    return make_table(f"Mean scores: {with_unit(means)}", columns, rows)


def means_picture(statistics, means, name):
    """Heat map of subjects x items; dots where there is one item."""
    signed = means.unit == "nat" or means.measure == "effect_size"
    domains = texts(statistics, "subject_domain", "subject")
    kept = [place for place in range(len(means.subjects)) if means.n[place].any()]
    order = sorted(kept, key=lambda place: (list(dict.fromkeys(domains)).index(domains[place]), place))
    if not order:
        return []
    columns = [f"{left} \u2013 {right}" if left and right and signed else item
               for item, (left, right) in zip(means.items, poles(statistics), strict=True)]  # fmt: skip
    label = with_unit(means)
    caption = f"Mean {label} of each subject (rows) and item (columns); grey: no score."
    if signed:
        caption += " Orange leans to the right pole, purple to the left one."
    if len(columns) == 1:
        dots = [
            Dot(means.subjects[place], *(float(array[place, 0]) for array in (means.mean, means.low, means.high)),
                group=domains[place])
            for place in order
        ]  # fmt: skip
        figure = interval_dots(dots, label, 0.0 if signed else None)
        caption = f"Mean {label} of each subject on {columns[0]}. Lines: {means.interval}."
    else:
        figure = heat_map(
            means.mean[order], [means.subjects[place] for place in order], columns, label,
            [domains[place] for place in order], 0.0 if signed else None,
        )  # fmt: skip
    top = "; ".join(strongest(statistics, means)[:3])
    return [Picture(inline_svg(figure, name, f"Mean scores, {label}", f"{caption} Farthest out: {top}."), caption)]


def contrast_blocks(statistics, name):
    """Contrasts that the job asked for: dots with intervals, and a table with adjusted p."""
    if "contrast_difference" not in statistics:
        return []
    fields = ("difference", "low", "high", "effect", "num_templates", "p", "p_max_t", "p_holm")
    columns = {field: statistics[f"contrast_{field}"].values for field in fields}
    names, measures, items = (texts(statistics, f"contrast_{part}", "contrast") for part in ("name", "measure", "item"))
    adjusted = np.where(np.isfinite(columns["p_max_t"]), columns["p_max_t"], columns["p_holm"])
    order = sorted(range(len(names)), key=lambda row: (not np.isfinite(columns["p"][row]), columns["p"][row]))
    rows = [
        (names[row], measures[row], items[row], *(float(columns[field][row]) for field in fields[:4]),
         int(columns["num_templates"][row]), float(columns["p"][row]), float(adjusted[row]))
        for row in order
    ]  # fmt: skip
    interval = str(statistics["contrast_low"].attrs.get("long_name", "")).removeprefix("lower end of the ")
    family = str(statistics["contrast_p_holm"].attrs.get("long_name", "")).removeprefix("p after Holm, ")
    table = make_table(
        "All contrasts", (
            Column("contrast"), Column("measure"), Column("item"),
            Column("difference", "left minus right, in the measure's unit", "number"),
            Column("low", interval, "number"),
            Column("high", "its upper end", "number"),
            Column("effect", "difference in standard deviations of the templates' differences", "number"),
            Column("n", "templates, or pairs of them", "number"),
            Column("p", "two-sided, signs of templates flipped", "p"),
            Column("adjusted p", f"max-T or Holm, {family}", "p"),
        ), rows,
    )  # fmt: skip
    blocks = [table]
    measure = measures[order[0]] if order else ""
    chosen = [row for row in order if measures[row] == measure and np.isfinite(columns["difference"][row])]
    if chosen:
        several = len({items[row] for row in chosen}) > 1
        dots = [
            Dot(names[row], *(float(columns[field][row]) for field in fields[:3]), series=items[row] if several else "")
            for row in chosen
        ]  # fmt: skip
        figure = interval_dots(dots, f"difference in {measure}", 0.0)
        caption = f"Contrasts in {measure}, smallest p first. Lines: {interval}."
        blocks.insert(0, Picture(inline_svg(figure, name, f"Contrasts in {measure}", caption), caption))
    return blocks


def contrast_points(statistics):
    """The contrasts with the smallest adjusted p, in words."""
    if "contrast_difference" not in statistics:
        return []
    p = np.where(
        np.isfinite(statistics["contrast_p_max_t"].values),
        statistics["contrast_p_max_t"].values, statistics["contrast_p_holm"].values,
    )  # fmt: skip
    names, measures, items = (texts(statistics, f"contrast_{part}", "contrast") for part in ("name", "measure", "item"))
    difference = statistics["contrast_difference"].values
    best = [row for row in np.argsort(p, kind="stable")[:3] if np.isfinite(p[row])]  # NaN stands last
    return [
        f"Contrast {names[row]} in {measures[row]}, {items[row]}: {number_text(difference[row])} "
        f"(adjusted p {p_text(p[row])})"
        for row in best
    ]


def people_blocks(statistics, means, name):
    """Agreement of an association's (or contexts') scores with people's means."""
    if "human_mean" not in statistics or "tau_pooled" not in statistics:
        return []
    scores = statistics["mean_pair_score"]
    variants, priors = ([str(label) for label in statistics[axis].values] for axis in ("variant", "prior"))
    fields = {
        "tau_pooled": ("tau-b", "rank correlation of scores and people's means, all groups and trait pairs", "number"),
        "tau_pooled_n": ("n", "cells that are rated and scored", "number"),
        "tau_pooled_p_items": ("p items", "trait pairs shuffled: cite this one or the next", "p"),
        "tau_pooled_p_groups": ("p groups", "groups shuffled", "p"),
        "precision_at_3_mean": ("P@3", "share of a group's three highest and lowest traits on people's side", "number"),
        "precision_at_3_chance": ("P@3 by chance", "of scores in random order", "number"),
    }
    rows = [
        (variant, prior, *(statistics[field].sel(variant=variant, prior=prior).item() for field in fields))
        for variant in variants
        for prior in priors
    ]
    table = make_table(
        "Agreement with people's ratings",
        (Column("measure"), Column("prior"), *(Column(*entry) for entry in fields.values())),
        rows, str(statistics.attrs.get("human_ratings", "")),
    )  # fmt: skip
    variant, prior = _variant_of(means.measure, variants, priors)
    chosen = scores.sel(variant=variant, prior=prior).transpose("group", "pair")
    people = statistics["human_mean"].transpose("group", "pair")
    groups = chosen.sizes["group"]
    labels = [f"{group}: {pair}" for group in chosen["group"].values for pair in chosen["pair"].values]
    figure = alignment_scatter(
        people.values.ravel(), chosen.values.ravel(), labels, texts(statistics, "pair_dimension", "pair") * groups,
        ("people: mean rating (0 left pole, 100 right pole)", f"model: {variant}"), 50.0,
    )  # fmt: skip
    tau = float(statistics["tau_pooled"].sel(variant=variant, prior=prior))
    caption = f"People's mean ratings and the model's scores, one mark a group and pair; tau-b {number_text(tau)}."
    return [Picture(inline_svg(figure, name, "Agreement with people", caption), caption), table]


def _variant_of(measure, variants, priors):
    parts = measure.split(" ")
    variant = parts[0] if parts[0] in variants else variants[0]
    return variant, parts[1] if len(parts) > 1 and parts[1] in priors else priors[0]


def cluster_blocks(statistics, name):
    """Subjects in the plane of the first two dimensions, with their clusters."""
    if "cluster_point" not in statistics or statistics.sizes.get("dimension", 0) < 2:
        return []
    point = statistics["cluster_point"]
    source_axis, axis, _ = point.dims
    source = str(statistics[source_axis].values[0])
    points = point.sel({source_axis: source}).values[:, :2]
    of = statistics[f"cluster_of_{axis}"].sel({source_axis: source}).values
    dimensions = [str(label) for label in statistics["dimension"].values]
    limits = statistics["cluster_limit"].sel({source_axis: source}).values[:2]
    subjects = [str(label) for label in statistics[axis].values]
    figure = cluster_plane(points, subjects, of, dimensions[:2], limits if np.isfinite(limits).all() else None)
    caption = (
        f"Mean {dimensions[0]} and {dimensions[1]} of each subject by {source}; marks and colours are clusters "
        "(k-means), crosses their centres, dotted lines where high begins."
    )
    rows = [
        (subject, *map(float, points[place]), "none" if of[place] < 0 else str(int(of[place]) + 1))
        for place, subject in enumerate(subjects)
    ]
    columns = (Column("subject"), *(Column(label, kind="number") for label in dimensions[:2]), Column("cluster"))
    note = "Clusters are fitted to these very scores: that they differ is no finding by itself."
    return [
        Picture(inline_svg(figure, name, f"{dimensions[0]} and {dimensions[1]}", caption), caption),
        make_table(f"Clusters by {source}", columns, rows, note),
    ]


def wording_blocks(statistics, means, name):
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
    values = np.concatenate([cells(statistics, means.measure, part) for part in slices(len(means.subjects))])
    values = values[:subjects].reshape(subjects, len(wordings), -1)
    mean = nan_mean(values, 0)
    spread = np.sqrt(nan_mean((mean - nan_mean(mean, 0)) ** 2, 0))
    items = np.argsort(-np.nan_to_num(spread), kind="stable")[:4]
    figure = wording_lines(values[:, :, items], wordings, [means.items[item] for item in items], with_unit(means))
    caption = (
        "How much the wording matters: every grey line is a subject, the orange one their mean, wordings are sorted by "
        f"it. Of {len(means.items)} items, those whose means move most."
    )
    return [Picture(inline_svg(figure, name, "Scores by wording", caption), caption)]


def finding_points(statistics, means):
    """The answer first: a few sentences."""
    blocks = []
    strong = strongest(statistics, means)
    if strong:
        blocks += [Paragraph(f"Farthest out by {with_unit(means)} (mean and {means.interval}):"), Points(strong)]
    contrasts = contrast_points(statistics)
    if contrasts:
        blocks += [Paragraph("Contrasts with the smallest adjusted p:"), Points(contrasts)]
    return blocks
