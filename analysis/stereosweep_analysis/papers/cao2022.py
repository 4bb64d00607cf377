"""Tables 6 and A11 to A13 of Cao et al. (NAACL 2022): agreement with people over all groups, and by group."""

import numpy as np

from ..open import ResultError
from .table import PaperTable


def _names(statistics):
    """[(variant, prior, column)]: "ilps_star prior_word", as the measures of the score table are called."""
    return [
        (variant, prior, f"{variant} {prior}")
        for variant in map(str, statistics["variant"].values)
        for prior in map(str, statistics["prior"].values)
    ]


def _overall(statistics):
    columns = (
        "tau_pooled",
        "tau_pooled_p_items",
        "tau_pooled_p_groups",
        "precision_at_3_mean",
        "precision_at_3_chance",
    )
    rows = [
        (name, *(float(statistics[column].sel(variant=variant, prior=prior)) for column in columns))
        for variant, prior, name in _names(statistics)
    ]
    head = ("measure", "tau-b", "p items", "p groups", "P@3", "chance")
    note = "tau-b over all groups and trait pairs; p by shuffled trait pairs and groups, two-sided, not adjusted."
    return PaperTable("6", "Agreement with people over all groups", head, rows, note)


def _by_group(statistics, number, title, variable, prior):
    variants = [str(variant) for variant in statistics["variant"].values]
    values = statistics[variable].sel(prior=prior).transpose("group", "variant").values
    groups = [str(group) for group in statistics["group"].values]
    rows = [(group, *map(float, row)) for group, row in zip(groups, values, strict=True) if np.isfinite(row).any()]
    mean = np.nanmean([row[1:] for row in rows], axis=0) if rows else []
    return PaperTable(number, title, ("group", *variants), [*rows, ("mean", *map(float, mean))], f"Prior: {prior}.")


def tables(statistics):
    """Of an association result with ratings. Raises ResultError."""
    if "tau_pooled" not in statistics:
        raise ResultError("no agreement with people: run 'stereosweep stats DIR statistics.human_ratings=TABLE' first")
    prior = str(statistics["prior"].values[0])
    return [
        _overall(statistics),
        _by_group(statistics, "A11", "Kendall's tau-b by group", "tau", prior),
        _by_group(statistics, "A12", "Precision of the three highest scores by group", "precision_top_3", prior),
        _by_group(statistics, "A13", "Precision of the three lowest scores by group", "precision_bottom_3", prior),
    ]
