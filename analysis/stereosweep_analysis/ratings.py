"""Tables of mean ratings, one row per group and trait pair; tabs, semicolons or commas between columns."""

import csv
from pathlib import Path

import numpy as np
import xarray as xr

from .open import PathLike, ResultError

GROUP_COLUMNS = ("group_in_groups_tsv_plural", "group")
MEAN_COLUMNS = ("mean", "mean_recomputed", "mean_published")


def read_ratings(path: PathLike, statistics: xr.Dataset) -> xr.DataArray:
    """The table's means on the axes of a statistics dataset: [subject, item]; NaN where there is none.

    Columns: group (or group_in_groups_tsv_plural), pair, mean (or mean_recomputed, mean_published).
    Names are compared without regard to capitals. Raises ResultError.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            head = file.readline()
            file.seek(0)
            separator = next((candidate for candidate in "\t;," if candidate in head), "\t")
            rows = list(csv.DictReader(file, delimiter=separator))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ResultError(f"'{path}' cannot be read as a table in UTF-8: {error}") from error
    columns = rows[0].keys() if rows else ()
    group_column = next((name for name in GROUP_COLUMNS if name in columns), None)
    mean_column = next((name for name in MEAN_COLUMNS if name in columns), None)
    if group_column is None or mean_column is None or "pair" not in columns:
        raise ResultError(f"'{path}' lacks a column group, pair or mean; it has {list(columns)}")
    groups = {str(name).casefold(): place for place, name in enumerate(statistics["subject"].values)}
    pairs = {str(name).casefold(): place for place, name in enumerate(statistics["item"].values)}
    means = np.full((len(groups), len(pairs)), np.nan)
    for number, row in enumerate(rows, start=2):
        group = groups.get(str(row[group_column]).casefold())
        pair = pairs.get(str(row["pair"]).casefold())
        if group is None or pair is None:
            continue
        if np.isfinite(means[group, pair]):
            raise ResultError(f"'{path}' line {number}: '{row[group_column]}' is rated twice on '{row['pair']}'")
        try:
            mean = float(row[mean_column])
        except (TypeError, ValueError):
            mean = np.nan
        if not np.isfinite(mean):
            raise ResultError(f"'{path}' line {number}: '{row[mean_column]}' is no number")
        means[group, pair] = mean
    if np.isnan(means).all():
        raise ResultError(f"'{path}' rates no group and trait pair of this result")
    coords = {"subject": statistics["subject"].values, "item": statistics["item"].values}
    return xr.DataArray(means, dims=("subject", "item"), coords=coords, name="people_mean")
