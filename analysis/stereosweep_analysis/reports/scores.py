"""Means of a score table, score[measure, subject, template, rephrasing, replicate, item], of one measure at a time."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from ..glossary import title_of

SUBJECTS_AT_ONCE = 64
CONFIDENCE = 0.95
NO_INTERVAL = "no interval: there is one wording"
# Where a probe has several measures.
PREFERRED = ("ilps_star prior_word", "share", "option_text", "rating", "effect_size")


class Means(NamedTuple):
    """Over templates and rephrasings, replicates averaged first: [subject, item], NaN where there is no score."""

    measure: str
    unit: str
    description: str
    subjects: list[str]
    items: list[str]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray  # templates (or rephrasings) that the interval counts
    interval: str  # how `low` and `high` were computed

    @property
    def lines(self):
        """What the lines of a picture are."""
        return "No interval: there is one wording." if self.interval == NO_INTERVAL else f"Lines: {self.interval}."

    @property
    def label(self):
        """The measure in words, with its unit."""
        return _label(self.measure, self.unit)


def texts(dataset, name, axis):
    """The coordinate as a list of texts; empty texts where the file lacks it."""
    if name not in dataset.coords and name not in dataset:
        return [""] * dataset.sizes[axis]
    return [str(value) for value in dataset[name].values]


def measures_of(statistics):
    return [str(name) for name in statistics["measure"].values]


def recommended_measure(statistics):
    """The one that a reader should see first."""
    measures = measures_of(statistics)
    return next((name for name in PREFERRED if name in measures), measures[0])


def measure_label(statistics, measure):
    """The measure in words, with its unit where the file names one."""
    units = dict(zip(measures_of(statistics), texts(statistics, "measure_units", "measure"), strict=True))
    return _label(measure, units.get(measure, ""))


def _label(measure, unit):
    return title_of("measure", measure) + (f" ({unit})" if unit not in ("", "1") else "")


def interval_text(variable):
    """What an interval's lower end says of itself."""
    return str(variable.attrs.get("long_name", "")).removeprefix("lower end of the ")


def cells(statistics, measure, subjects):
    """[subject, template, rephrasing, item] of a slice of subjects, replicates averaged; NaN where there is no score.

    The replicate "mean" counts only where the others have no score.
    """
    part = statistics["score"].sel(measure=measure).isel(subject=subjects)
    labels = [str(label) for label in part["replicate"].values]
    values = part.transpose("subject", "template", "rephrasing", "replicate", "item").values
    if len(labels) == 1 or "mean" not in labels:
        return nan_mean(values, 3)
    mean = labels.index("mean")
    others = nan_mean(np.delete(values, mean, 3), 3)
    return np.where(np.isfinite(others), others, values[:, :, :, mean])


def nan_mean(values, axis):
    """Mean of the numbers; NaN without one, and no warning."""
    good = np.isfinite(values)
    count = good.sum(axis)
    return np.divide(np.where(good, values, 0.0).sum(axis), count, out=np.full(count.shape, np.nan), where=count > 0)


def slices(count):
    """Slices of at most SUBJECTS_AT_ONCE places."""
    return [slice(first, first + SUBJECTS_AT_ONCE) for first in range(0, count, SUBJECTS_AT_ONCE)]


def t_interval(values):
    """Student's t interval of means over the second axis: ([..., n]) -> low, high, n; NaN with fewer than two."""
    good = np.isfinite(values)
    n = good.sum(1)
    mean = nan_mean(values, 1)
    squares = np.where(good, (values - np.expand_dims(mean, 1)) ** 2, 0.0).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(squares / (n - 1) / n)
        reach = stats.t.ppf(0.5 + CONFIDENCE / 2, np.maximum(n - 1, 1)) * error
    reach = np.where(n > 1, reach, np.nan)
    return mean - reach, mean + reach, n


def measure_means(statistics, measure):
    """Means of all subjects and items, with the file's own intervals where `statistics.means` asked for them."""
    num_subjects, num_items = statistics.sizes["subject"], statistics.sizes["item"]
    mean, low, high = (np.full((num_subjects, num_items), np.nan) for _ in range(3))
    n = np.zeros((num_subjects, num_items), dtype=int)
    over = "templates" if statistics.sizes["template"] > 1 else "rephrasings"
    for part in slices(num_subjects):
        values = cells(statistics, measure, part)
        mean[part] = nan_mean(values.reshape(len(values), -1, num_items), 1)
        wordings = nan_mean(values, 2) if over == "templates" else nan_mean(values, 1)
        low[part], high[part], n[part] = t_interval(wordings)
    interval = f"{100 * CONFIDENCE:g} % interval (Student's t over {over})" if np.isfinite(low).any() else NO_INTERVAL
    asked = _asked_means(statistics, measure)
    if asked is not None:
        mean, low, high, n = asked
        interval = interval_text(statistics["mean_score_low"])
    place = measures_of(statistics).index(measure)
    units, descriptions = (texts(statistics, f"measure_{name}", "measure") for name in ("units", "description"))
    return Means(
        measure, units[place], descriptions[place], texts(statistics, "subject", "subject"),
        texts(statistics, "item", "item"), mean, low, high, n, interval,
    )  # fmt: skip


def _asked_means(statistics, measure):
    if "mean_score_low" not in statistics:
        return None
    axis = statistics["mean_score"].dims[0]
    if measure not in [str(name) for name in statistics[axis].values]:
        return None
    chosen = statistics[["mean_score", "mean_score_low", "mean_score_high", "mean_score_n"]].sel({axis: measure})
    return [chosen[name].transpose("subject", "item").values for name in chosen.data_vars]
