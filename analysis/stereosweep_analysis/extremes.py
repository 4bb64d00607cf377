"""Which groups a model scores highest, lowest, and with most and least agreement with itself (StereoMap, table 9).

From the score table of any probe: `score[measure, subject, template, rephrasing, replicate, item]`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from .open import ResultError, require_label

LISTS = ("highest mean", "lowest mean", "highest variance", "lowest variance")


class Extreme(NamedTuple):
    """`variance` of the subject's scores, divisor n - 1; None with one score."""

    item: str
    list: str
    rank: int
    subject: str
    mean: float
    variance: float | None
    scores: int


def extremes(
    statistics: xr.Dataset, measure: str | None = None, items: Sequence[str] | None = None, number: int = 10
) -> tuple[str, list[Extreme]]:
    """(measure, [Extreme]): for each item `number` subjects a list, over prompt forms, rephrasings and replicates.

    Scores that do not exist are left out; a subject without one is in no list. Equal values: in the file's order.
    Raises ResultError.
    """
    if "score" not in statistics or "item" not in statistics["score"].dims:
        raise ResultError("the statistics hold no score table: run 'stereosweep stats DIR' first")
    table = statistics["score"]
    measure = measure or str(table["measure"].values[0])
    require_label(statistics, "measure", measure)
    table = table.sel(measure=measure)
    replicates = [str(label) for label in table["replicate"].values]
    if len(replicates) > 1 and "mean" in replicates:
        table = table.isel(replicate=[place for place, label in enumerate(replicates) if label != "mean"])
    for item in items or ():
        require_label(statistics, "item", item)
    subjects = [str(subject) for subject in table["subject"].values]
    found = []
    for item in items or [str(item) for item in table["item"].values]:
        scores = table.sel(item=item).transpose("subject", ...).values.reshape(len(subjects), -1)
        rows = []
        for subject, values in zip(subjects, scores, strict=True):
            values = values[np.isfinite(values)]
            if values.size:
                variance = float(values.var(ddof=1)) if values.size > 1 else None
                rows.append((subject, float(values.mean()), variance, int(values.size)))
        for name in LISTS:
            sign = -1 if name.startswith("highest") else 1
            measured = [row[1] if name.endswith("mean") else row[2] for row in rows]
            ranked = sorted((sign * value, place) for place, value in enumerate(measured) if value is not None)
            found += [
                Extreme(item, name, rank, *rows[place]) for rank, (_, place) in enumerate(ranked[:number], start=1)
            ]
    if not found:
        raise ResultError(f"no score of the measure '{measure}' exists")
    return measure, found
