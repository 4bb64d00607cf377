"""Correlations of items and dimensions over subjects, and the subjects at their ends."""

import itertools
import math
import warnings

import numpy
import scipy.special
import scipy.stats
from statistics_contrasts import adjusted
from statistics_draws import below, quantiles, usable, weights
from statistics_means import condition, mean
from statistics_tables import CONSTANT, NO_VALUES, OK, TOO_FEW

PAIRINGS, SUBJECTS = 5 << 40, 6 << 40
METHODS = {"spearman": scipy.stats.spearmanr, "pearson": scipy.stats.pearsonr, "kendall": scipy.stats.kendalltau}


def ask(random, table, folder):
    items, dimensions = table.labels[5], sorted(set(table.coordinates[5]["dimension"]) - {""})
    asked = {"extremes": {"of": {"item": items}, "most": 3}} if random.random() < 0.5 else {}
    if len(items) < 2 or random.random() < 0.3:
        return asked
    methods = random.permutation(list(METHODS))[: random.integers(1, 4)].tolist()
    rows = {"item": items}
    if dimensions and random.random() < 0.5:
        rows["item.dimension"] = dimensions
    return asked | {"correlations": [{"name": "each", "rows": rows, "method": methods}]}


def sides_of(table, rows):
    """Sets of items, each once."""
    own = numpy.array(table.coordinates[5]["dimension"])
    sides = [[place] for place in range(len(table.labels[5]))]
    for name in rows.get("item.dimension", []):
        items = numpy.flatnonzero(own == name).tolist()
        sides += [items] if items not in sides else []
    return sides


def scores_of(values, sides):
    """[subject, side]"""
    cells = mean(values, axis=3)
    return numpy.stack([mean(cells[..., side], axis=(1, 2, 3)) for side in sides], axis=1).astype(float)


def equalised(values):
    """Numbers that differ by rounding alone become equal."""
    values = values.copy()
    order = numpy.argsort(values, kind="stable")
    for before, after in itertools.pairwise(order):
        if values[after] - values[before] <= 1e-12 * numpy.abs(values).max():
            values[after] = values[before]
    return values


def coefficient(left, right, method):
    if len(left) < 2 or numpy.ptp(left) == 0 or numpy.ptp(right) == 0:
        return math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return METHODS[method](left, right)[0]


def orders(seed, draws, count):
    """[draw, place]: Fisher and Yates from the last place down."""
    order = numpy.tile(numpy.arange(count), (draws, 1))
    streams = numpy.arange(draws, dtype=numpy.uint64) ^ numpy.uint64(PAIRINGS)
    for left in range(count, 1, -1):
        with_whom = below(left, seed, streams, left)
        rows = numpy.arange(draws)
        order[rows, left - 1], order[rows, with_whom] = order[rows, with_whom], order[rows, left - 1].copy()
    return order


def shuffled(left, right, method, seed, draws):
    """Two-sided p."""
    exact = len(left) <= 8
    every = numpy.array(list(itertools.permutations(range(len(left))))) if exact else orders(seed, draws, len(left))
    if method == "kendall":
        signs = numpy.sign(left[:, None] - left[None, :])
        values = numpy.array([(signs * numpy.sign(moved[:, None] - moved[None, :])).sum() for moved in right[every]])
        observed, rounding = (signs * numpy.sign(right[:, None] - right[None, :])).sum(), 0.5
    else:
        if method == "spearman":
            left, right = scipy.stats.rankdata(left), scipy.stats.rankdata(right)
        left, right = left - left.mean(), right - right.mean()
        values, observed = right[every] @ left, right @ left
        rounding = 1e-12 * math.sqrt((left**2).sum() * (right**2).sum())
    fewer = min((values >= observed - rounding).sum(), (values <= observed + rounding).sum())
    return min(1, 2 * fewer / len(every)) if exact else min(1, 2 * (fewer + 1) / (len(every) + 1))


def interval(left, right, method, seed, replicates, confidence):
    values = []
    for times in weights(seed, SUBJECTS, len(left), replicates):
        drawn = numpy.repeat(numpy.arange(len(left)), times)
        values.append(coefficient(left[drawn], right[drawn], method))
    finite = usable(numpy.array(values))
    return (math.nan, math.nan) if finite is None else tuple(quantiles(finite, confidence))


def z_interval(r, n, method, confidence):
    if method == "kendall" or n < 4 or abs(r) >= 1 - 1e-14:
        return math.nan, math.nan
    half = scipy.special.ndtri((1 + confidence) / 2) * math.sqrt((1 + (r * r / 2 if method == "spearman" else 0)) / (n - 3))
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def check(report, number, data, table, statistics, seed):
    if "extremes" in statistics:
        check_extremes(report, number, data, table)
    if "correlations" not in statistics:
        return
    asked, inference = statistics["correlations"][0], statistics["inference"]
    sides = sides_of(table, asked["rows"])
    row = 0
    families = {}
    for measure in range(table.length("measure")):
        values = table.values[measure]
        scores, unit = scores_of(values, sides), numpy.abs(values[~numpy.isnan(values)]).max(initial=0)
        ours = data["correlation_score"][measure]
        report.numbers("correlations: score", number, ours, scores, unit)
        for (first, second), method in itertools.product(itertools.combinations(range(len(sides)), 2), asked["method"]):
            both = numpy.isfinite(ours[:, [first, second]]).all(axis=1)
            left, right = equalised(ours[both, first]), equalised(ours[both, second])
            found = {name[len("correlation_"):]: array[row] for name, array in data.items()
                     if name.startswith("correlation_") and len(array) == len(data["correlation"])
                     and name not in ("correlation_score", "correlation_side")}
            family = (method, "" if inference["family"] == "all" else measure)
            p = check_row(report, number, found, left, right, method, inference, seed, condition(values))
            families.setdefault(family, []).append((p, found["p_holm"], found["p_yekutieli"]))
            row += 1
    report.same("correlations: rows", number, len(data["correlation"]), row)
    for rows in families.values():
        p, holm, yekutieli = numpy.array([one for one in rows if not numpy.isnan(one[0])], float).reshape(-1, 3).T
        if len(p):
            report.numbers("correlations: p by Holm", number, holm, adjusted(p, "holm"))
            report.numbers("correlations: p by Yekutieli", number, yekutieli, adjusted(p, "yekutieli"))


def check_row(report, number, found, left, right, method, inference, seed, scale):
    """p as the program gives it."""
    n = len(left)
    status = NO_VALUES if n == 0 else TOO_FEW if n < 3 else CONSTANT if numpy.ptp(left) == 0 or numpy.ptp(right) == 0 else OK
    report.same("correlations: status", number, found["status"], status)
    report.same("correlations: n", number, found["n"], n)
    if status != OK:
        for name in ("coefficient", "low", "high", "low_z", "high_z", "p", "p_holm", "p_yekutieli", "p_formula"):
            report.numbers("correlations: " + name.split("_")[0], number, found[name], math.nan)
        return math.nan
    scale = max(scale, *(numpy.abs(side).max() / side.std() for side in (left, right))) if method == "pearson" else 1
    r = coefficient(left, right, method)
    report.numbers("correlations: coefficient", number, found["coefficient"], r, 1, scale)
    confidence = inference["confidence"]
    ends = interval(left, right, method, seed, inference["replicates"], confidence)
    if not numpy.isnan(ends[0]) or not numpy.isnan(found["low"]):
        report.numbers("correlations: interval", number, [found["low"], found["high"]], ends, 1, scale**2)
    by_z = z_interval(found["coefficient"], n, method, confidence)
    report.numbers("correlations: interval by z", number, [found["low_z"], found["high_z"]], by_z, 1, 10)
    report.numbers("correlations: p", number, found["p"], shuffled(left, right, method, seed, inference["draws"]))
    return found["p"]


def check_extremes(report, number, data, table):
    for measure in range(table.length("measure")):
        values = table.values[measure]
        unit = numpy.abs(values[~numpy.isnan(values)]).max(initial=0)
        means = scores_of(values, [[item] for item in range(table.length("item"))]).T
        ours = data["extreme_mean"][measure]
        report.numbers("extremes: mean", number, ours, means, unit)
        places = numpy.zeros(ours.shape, int)
        for row, place in zip(ours, places):
            here = ~numpy.isnan(row)
            known = equalised(row[here])
            place[here] = [1 + (known > one).sum() for one in known]
        report.same("extremes: place", number, data["extreme_place"][measure], places)
        rounds = numpy.stack([mean(values[..., replicate, :], axis=(1, 2)) for replicate in range(values.shape[3])], axis=-1)
        rounds = rounds.swapaxes(0, 1).astype(numpy.longdouble)  # [item, subject, round]
        count = (~numpy.isnan(rounds)).sum(axis=-1)
        report.same("extremes: rounds", number, data["extreme_rounds"][measure], count)
        squares = numpy.nansum((rounds - mean(rounds, axis=2)[..., None]) ** 2, axis=-1)
        variance = numpy.where(count > 1, squares / numpy.maximum(count - 1, 1), numpy.nan)
        report.numbers("extremes: variance", number, data["extreme_variance"][measure], variance, unit**2 + 1e-300)
