"""What the job's statistics compared: contrasts, correlations, agreement with people."""

import numpy as np

from ..glossary import title_of
from ..pictures.dots import Dot, interval_dots
from ..pictures.plane import alignment_scatter
from .blocks import Paragraph, Picture, Points
from .scores import interval_text, measure_label, recommended_measure, texts
from .tables import Column, interval_columns, interval_words, make_table, number_text, p_text, smallest_p_text

MOST_MARKS = 3  # items that share a contrast's row


class _Contrasts:
    """Rows of the axis `contrast`, and their order: the measure that a reader should see first, then smallest p, then
    largest effect."""

    def __init__(self, statistics):
        fields = ("left", "right", "difference", "low", "high", "effect", "num_templates", "p", "p_max_t", "p_holm")
        self.numbers = {field: statistics[f"contrast_{field}"].values for field in fields}
        self.names, self.measures, self.items = (
            texts(statistics, f"contrast_{part}", "contrast") for part in ("name", "measure", "item")
        )
        max_t = self.numbers["p_max_t"]
        self.adjusted = np.where(np.isfinite(max_t), max_t, self.numbers["p_holm"])
        size = np.nan_to_num(np.abs(self.numbers["effect"]), nan=-1.0)
        best = recommended_measure(statistics)
        self.measure = best if best in self.measures else (self.measures or [""])[0]
        others = [measure != self.measure for measure in self.measures]
        self.order = [int(row) for row in np.lexsort((-size, self.numbers["p"], others))]  # NaN stands last
        finite = np.isfinite(self.numbers["difference"])
        self.shown = [row for row in self.order if self.measures[row] == self.measure and finite[row]]

    def interval(self, row):
        """(difference, low, high)"""
        return tuple(float(self.numbers[field][row]) for field in ("difference", "low", "high"))


def contrast_points(statistics):
    """The contrasts with the smallest p, in words."""
    if "contrast_difference" not in statistics:
        return []
    rows = _Contrasts(statistics)
    best = [row for row in rows.shown if np.isfinite(rows.adjusted[row])][:3]
    if not best:
        return []
    points = [
        f"{rows.names[row]}, {rows.items[row]}: "
        f"{interval_words(*rows.interval(row))} (adjusted p {p_text(rows.adjusted[row])})"
        for row in best
    ]
    title = measure_label(statistics, rows.measure)
    return [Paragraph(smallest_p_text(f"Contrasts in {title}", rows.adjusted[best[0]])), Points(points)]


def contrast_blocks(statistics):
    """Contrasts that the job asked for: dots with intervals, and a table with adjusted p."""
    if "contrast_difference" not in statistics:
        return []
    rows = _Contrasts(statistics)
    interval = interval_text(statistics["contrast_low"])
    family = str(statistics["contrast_p_holm"].attrs.get("long_name", "")).removeprefix("p after Holm, ")
    columns = [
        Column("contrast"),
        Column("measure"),
        Column("item"),
        Column("left", "mean of the left side", "number"),
        Column("right", "mean of the right side", "number"),
        Column("difference", "left minus right, in the measure's unit", "number"),
        *interval_columns(interval),
        Column("effect", "difference in standard deviations of the templates' differences", "number"),
        Column("n", "templates, or pairs of them", "number"),
        Column("p", "two-sided, signs of templates flipped", "p"),
        Column("adjusted p", f"max-T or Holm, {family}", "p"),
    ]
    cells = [
        (
            *(part[row] for part in (rows.names, rows.measures, rows.items)),
            *(float(rows.numbers[field][row]) for field in ("left", "right", "difference", "low", "high", "effect")),
            int(rows.numbers["num_templates"][row]),
            float(rows.numbers["p"][row]),
            float(rows.adjusted[row]),
        )
        for row in rows.order
    ]
    table = make_table("All contrasts", columns, cells, f"{rows.measure} first, smallest p first.")
    return [*_contrast_picture(rows, measure_label(statistics, rows.measure), interval), table]


def _contrast_picture(rows, title, interval):
    """One row a contrast, a mark for each of few items; with more items one row an item, below its contrast's name."""
    if not rows.shown:
        return []
    num_items = len({rows.items[row] for row in rows.shown})
    dots = [
        Dot(rows.items[row], *rows.interval(row), group=rows.names[row])
        if num_items > MOST_MARKS
        else Dot(rows.names[row], *rows.interval(row), series=rows.items[row] if num_items > 1 else "")
        for row in rows.shown
    ]
    figure = interval_dots(dots, f"difference in {title}", 0.0)
    caption = f"Contrasts in {title}, left minus right, smallest p first. Lines: {interval}."
    return [Picture(figure, f"Contrasts in {title}", caption)]


def correlation_blocks(statistics):
    """Correlations over subjects that the job asked for."""
    if "correlation_coefficient" not in statistics:
        return []
    fields = ("coefficient", "low", "high", "n", "p", "p_holm")
    numbers = {field: statistics[f"correlation_{field}"].values for field in fields}
    labels = [
        texts(statistics, f"correlation_{part}", "correlation")
        for part in ("row", "column", "measure", "method", "among", "name")
    ]
    order = np.argsort(numbers["p"], kind="stable")
    interval = interval_text(statistics["correlation_low"])
    columns = [
        Column("one side"),
        Column("other side"),
        Column("measure"),
        Column("method"),
        Column("among"),
        Column("name"),
        Column("coefficient", kind="number"),
        *interval_columns(interval),
        Column("n", "subjects with both scores", "number"),
        Column("p", "two-sided, subjects shuffled", "p"),
        Column("adjusted p", "Holm, in its family", "p"),
    ]
    rows = [
        (
            *(label[row] for label in labels),
            *(float(numbers[field][row]) for field in fields[:3]),
            int(numbers["n"][row]),
            *(float(numbers[field][row]) for field in fields[4:]),
        )
        for row in order
    ]
    table = make_table("All correlations", columns, rows, "Smallest p first.")
    drawn = [row for row in rows if np.isfinite(row[6]) and row[4] == "all"]
    if not drawn:
        return [table]
    several = len({row[2:4] for row in drawn}) > 1
    dots = [
        Dot(f"{row[0]} and {row[1]}", *row[6:9], series=f"{row[2]}, {row[3]}" if several else "", group=row[5])
        for row in drawn
    ]
    figure = interval_dots(dots, "correlation over all subjects", 0.0)
    return [Picture(figure, "Correlations", f"Correlations over all subjects. Lines: {interval}."), table]


def people_blocks(statistics, means):
    """Agreement of scores of groups on pairs with people's means."""
    if "human_mean" not in statistics or "tau_pooled" not in statistics:
        return []
    variants, priors = ([str(label) for label in statistics[axis].values] for axis in ("variant", "prior"))
    fields = {
        "tau_pooled": Column("tau-b", "rank correlation of scores and people's means, all groups and pairs", "number"),
        "tau_pooled_n": Column("n", "cells that are rated and scored", "number"),
        "tau_pooled_p_items": Column("p items", "trait pairs shuffled: cite this one or the next", "p"),
        "tau_pooled_p_groups": Column("p groups", "groups shuffled", "p"),
        "precision_at_3_mean": Column("P@3", "a group's three highest and lowest traits on people's side", "number"),
        "precision_at_3_chance": Column("P@3 by chance", "of scores in random order", "number"),
    }
    chosen = {field: statistics[field].transpose("variant", "prior").values for field in fields}
    rows = [
        (variant, prior, *(chosen[field][i, j].item() for field in fields))
        for i, variant in enumerate(variants)
        for j, prior in enumerate(priors)
    ]
    columns = [Column("measure"), Column("prior"), *fields.values()]
    source = str(statistics.attrs.get("human_ratings", ""))
    return [
        _people_picture(statistics, *_variant_of(means.measure, variants, priors)),
        make_table("Agreement of each measure", columns, rows, f"Ratings: {source}."),
    ]


def table_of_people_blocks(statistics):
    """Agreement with a table of people (`statistics.people`): tau-b with intervals, by rows of cells."""
    if "people_tau" not in statistics:
        return []
    fields = ("tau", "tau_low", "tau_high", "n", "tau_p_items", "tau_p_subjects")
    numbers = {field: statistics[f"people_{field}"].values for field in fields}
    measure_axis, *_ = statistics["people_tau"].dims
    measures, groups, rows_of = (texts(statistics, axis, axis) for axis in (measure_axis, "people_group", "people_row"))
    interval = interval_text(statistics["people_tau_low"])
    rows = []
    for place in np.ndindex(numbers["tau"].shape):
        if np.isfinite(numbers["tau"][place]):
            values = [numbers[field][place].item() for field in fields]
            rows.append((measures[place[0]], groups[place[1]], rows_of[place[2]], *values))
    columns = [
        Column("measure"),
        Column("people"),
        Column("cells"),
        Column("tau-b", "rank correlation of scores and people's means", "number"),
        *interval_columns(interval),
        Column("n", "cells that are rated and scored", "number"),
        Column("p items", "two-sided, items shuffled", "p"),
        Column("p subjects", "two-sided, subjects shuffled", "p"),
    ]
    table = make_table("Agreement with a table of people", columns, rows)
    dots = [
        Dot(", ".join([title_of("measure", row[0]), row[2], *([row[1]] if len(groups) > 1 else [])]), *row[3:6])
        for row in rows
        if row[2] == rows_of[0] or len(measures) == 1
    ]
    if not dots:
        return [table]
    caption = f"Rank correlation with people's means. Lines: {interval}."
    return [Picture(interval_dots(dots, "tau-b with people", 0.0), "Agreement with people", caption), table]


def _people_picture(statistics, variant, prior):
    scores = statistics["mean_pair_score"].sel(variant=variant, prior=prior).transpose("group", "pair")
    people = statistics["human_mean"].transpose("group", "pair")
    labels = [f"{group}: {pair}" for group in scores["group"].values for pair in scores["pair"].values]
    figure = alignment_scatter(
        people.values.ravel(),
        scores.values.ravel(),
        labels,
        texts(statistics, "pair_dimension", "pair") * scores.sizes["group"],
        ("people: mean rating (0 left pole, 100 right pole)", measure_label(statistics, f"{variant} {prior}")),
        50.0,
    )
    tau = number_text(float(statistics["tau_pooled"].sel(variant=variant, prior=prior)))
    caption = f"People's mean ratings and the model's scores, one mark a group and trait pair; tau-b {tau}."
    return Picture(figure, "Agreement with people", caption)


def _variant_of(measure, variants, priors):
    parts = measure.split(" ")
    variant = parts[0] if parts[0] in variants else variants[0]
    return variant, parts[1] if len(parts) > 1 and parts[1] in priors else priors[0]
