"""Means of subjects and items as the statistics file has them, of one measure at a time."""

from typing import NamedTuple

import numpy as np

from ..views import measure_label, measures_of, recommended_measure, texts

NO_INTERVAL = "no interval: too few wordings"
TO_ASK = "'stereosweep stats DIR --means' (or statistics.means of the job) computes them with their intervals"
NOT_TO_ASK = "this run asked no more of a row once it was known, so that subjects stand in different wordings"
SUBJECTS_AT_ONCE = 64


class Means(NamedTuple):
    """Over templates and rephrasings: [subject, item], NaN where there is no score."""

    measure: str
    unit: str
    description: str
    subjects: list[str]
    items: list[str]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray  # cells (template, rephrasing)
    interval: str  # how `low` and `high` were computed
    label: str  # the measure in words, with its unit

    @property
    def lines(self):
        """What the lines of a picture are."""
        return "No interval: too few wordings." if self.interval == NO_INTERVAL else f"Lines: {self.interval}."


def asks_in_rounds(statistics):
    """Whether the run stopped asking of a contrast once it was known."""
    return "num_rounds" in statistics.attrs


def why_no_means(statistics):
    """Why there are no means, or how they are asked for."""
    return NOT_TO_ASK if asks_in_rounds(statistics) else TO_ASK


def interval_text(text):
    """What the definition of an interval's lower end says of the interval."""
    return str(text).removeprefix("lower end of the ")


def slices(count):
    """Slices of at most SUBJECTS_AT_ONCE places."""
    return [slice(first, first + SUBJECTS_AT_ONCE) for first in range(0, count, SUBJECTS_AT_ONCE)]


def measured_means(statistics):
    """Measures whose means the file has, the recommended one first; none where nobody asked for means."""
    if "mean_score" not in statistics:
        return []
    axis = statistics["mean_score"].dims[0]
    names = [str(name) for name in statistics[axis].values]
    best = recommended_measure(statistics)
    return sorted(names, key=lambda name: name != best)


def measure_means(statistics, measure=None):
    """Means of all subjects and items, by default of the measure that a reader should see first; None where the file
    has no means of it."""
    known = measured_means(statistics)
    measure = measure or next(iter(known), None)
    if measure not in known:
        return None
    axis = statistics["mean_score"].dims[0]
    names = ("mean_score", "mean_score_low", "mean_score_high", "mean_score_n")
    mean, low, high, n = (statistics[name].sel({axis: measure}).transpose("subject", "item").values for name in names)
    place = measures_of(statistics).index(measure)
    units, descriptions = (texts(statistics, f"measure_{name}", "measure") for name in ("units", "description"))
    has_interval = bool(np.isfinite(low).any())
    return Means(
        measure, units[place], descriptions[place], texts(statistics, "subject", "subject"),
        texts(statistics, "item", "item"), mean, low, high, n,
        interval_text(statistics["mean_score_low"].attrs.get("long_name", "")) if has_interval else NO_INTERVAL,
        measure_label(statistics, measure),
    )  # fmt: skip
