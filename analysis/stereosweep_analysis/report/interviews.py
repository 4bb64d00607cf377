"""How often a model declined to answer, by subject and by form of the prompt."""

import numpy as np

from ..pictures.dots import Dot, interval_dots
from .blocks import Picture
from .scores import texts
from .tables import Column, interval_columns, make_table


def refusal_blocks(statistics):
    """Shares of the texts that decline, or rate nothing."""
    if "subject_refused_share" not in statistics:
        return []
    columns = [
        Column("of"),
        Column("label"),
        Column("texts", "texts that were asked for ratings", "number"),
        Column("declines", "share of texts that decline to answer", "number"),
        *interval_columns("interval over more draws of the same prompts (Clopper and Pearson)"),
        Column("no rating", "share of texts without any rating", "number"),
    ]
    rows = []
    for axis in ("template", "subject"):
        counts = statistics[f"{axis}_rated_texts"].values
        fields = ("refused_share", "refused_low", "refused_high", "unrated_share")
        numbers = [statistics[f"{axis}_{field}"].values for field in fields]
        for place, label in enumerate(texts(statistics, axis, axis)):
            rows.append((axis, label, int(counts[place]), *(float(values[place]) for values in numbers)))
    table = make_table("Texts that decline to answer", columns, rows)
    dots = [Dot(row[1], *row[3:6]) for row in rows if row[0] == "subject" and np.isfinite(row[3])]
    dots.sort(key=lambda dot: -dot.value)
    if not any(dot.value > 0 for dot in dots):
        return [table]
    caption = "Share of the texts about each subject that decline to answer. Lines: interval over more draws."
    return [Picture(interval_dots(dots, "share that declines", None), "Refusals", caption), table]
