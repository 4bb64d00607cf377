"""Scores as pandas tables: one row a number, with its interval, count and labels."""

from collections.abc import Sequence

import pandas as pd
import xarray as xr

from .open import PathLike, ResultError, require_label
from .reports.runs import open_runs
from .reports.scores import measure_means, why_no_means
from .reports.side_by_side import shared_measure
from .views import texts

COLUMNS = ["measure", "unit", "subject", "kind", "domain", "item", "left", "right", "mean", "low", "high", "n"]


def scores(path: PathLike, measure: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Means over templates and rephrasings of a run (its directory or PROBE.stats.h5): one row a subject and item.

    They are computed by the program where the statistics lack them and it can be found.

    The columns are COLUMNS; `attrs["interval"]` says what low and high are. Subjects and items without a score are left
    out. `measure`: one or several, one after the other; default: the one that the report shows. Raises ResultError.
    """
    (run,) = open_runs([path])
    names = [measure] if measure is None or isinstance(measure, str) else measure
    tables = [_table(run.statistics, name) for name in names]
    table = pd.concat(tables, ignore_index=True)
    table.attrs["interval"] = tables[0].attrs["interval"]
    return table


def _table(statistics: xr.Dataset, measure: str | None) -> pd.DataFrame:
    if measure is not None:
        require_label(statistics, "measure", measure)
    means = measure_means(statistics, measure)
    if means is None:
        of_measure = f" of {measure}" if measure else ""
        raise ResultError(f"the statistics hold no means{of_measure}: {why_no_means(statistics)}")
    kinds, domains = (texts(statistics, f"subject_{name}", "subject") for name in ("kind", "domain"))
    left, right = (texts(statistics, f"item_{name}", "item") for name in ("left", "right"))
    numbers = (means.mean, means.low, means.high, means.n)
    rows = [
        (
            *(means.measure, means.unit, subject, kinds[i], domains[i], item, left[j], right[j]),
            *(array[i, j] for array in numbers),
        )
        for i, subject in enumerate(means.subjects)
        for j, item in enumerate(means.items)
        if means.n[i, j]
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table.attrs["interval"] = means.interval
    return table


def compare(*paths: PathLike, measure: str | None = None) -> pd.DataFrame:
    """Means of several runs (or of a sweep's folder) side by side: index subject, item; one column a run.

    Only subjects and items that all runs have. `measure`: default: the recommended one that all runs have. Raises
    ResultError.
    """
    runs = open_runs(paths)
    measure = measure or shared_measure(runs)
    columns = {run.label: _table(run.statistics, measure).set_index(["subject", "item"])["mean"] for run in runs}
    return pd.concat(columns, axis=1, join="inner")
