"""Correlations of items and dimensions over subjects, and the subjects at their ends."""

import itertools
import math
import warnings

import numpy
import scipy.stats
from statistics_contrasts import adjusted
from statistics_draws import below
from statistics_means import condition, mean
from statistics_tables import CONSTANT, NO_VALUES, OK, TOO_FEW

PAIRINGS = 5 << 40
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


def estimates(left, moved, method):
    """Of each row of `moved` with `left`: the correlation and a, b, c of its squared standard error a - b rho + c rho^2."""
    n = len(left)
    if method == "kendall":
        signs = numpy.array([((numpy.sign(left[:, None] - left) * numpy.sign(row[:, None] - row)).sum(axis=1)) for row in moved])
        ties = [(numpy.sign(side[:, None] - side) != 0).sum() for side in (left, moved[0])]
        concordance = signs * (n / math.sqrt(ties[0] * ties[1]))
        tau = concordance.mean(axis=1)
        pairs = n * (n - 1)
        return (tau, (4 * (n - 2) * (concordance**2).mean(axis=1) + 2) / pairs, 8 * (n - 2) * tau / pairs,
                numpy.full(len(moved), (4 * (n - 2) - 2) / pairs))
    if method == "spearman":
        left, moved = scipy.stats.rankdata(left), scipy.stats.rankdata(moved, axis=1)
    x = (left - left.mean()) / left.std()
    y = (moved - moved.mean(axis=1, keepdims=True)) / moved.std(axis=1, keepdims=True)
    return ((x * y).mean(axis=1), ((x * y) ** 2).mean(axis=1) / n, (x * y * (x**2 + y**2)).mean(axis=1) / n,
            ((x**2 + y**2) ** 2).mean(axis=1) / 4 / n)


def shuffled(left, right, method, seed, draws, confidence):
    """Two-sided p of the studentised correlation, and the ends of its interval."""
    exact = len(left) <= 8
    every = numpy.array(list(itertools.permutations(range(len(left))))) if exact else orders(seed, draws, len(left))
    value, zero, linear, square = (float(one[0]) for one in estimates(left, right[None], method))
    all_values, all_zeros, *_ = estimates(left, right[every], method)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        drawn = numpy.where(all_zeros > 0, numpy.abs(all_values) / numpy.sqrt(all_zeros), 0)
    observed = abs(value) / math.sqrt(zero) if zero > 0 else 0.0
    reached = (drawn >= observed * (1 - 1e-9) - 1e-9).sum()
    p = reached / len(every) if exact else (reached + 1) / (len(every) + 1)
    tail = int((1 - confidence) * (len(every) + (not exact)) + 1e-9)
    if tail == 0 or tail - (not exact) >= len(every):
        return p, (math.nan, math.nan)
    quantile = numpy.sort(drawn)[::-1][tail - (not exact)]
    a, half, c = 1 - quantile**2 * square, -value + quantile**2 * linear / 2, value**2 - quantile**2 * zero
    root = math.sqrt(max(0, half**2 - a * c)) / abs(a)
    if a > 0:
        low, high = max(-1, -half / a - root), min(1, -half / a + root)
    elif c <= 0:
        low, high = -1, 1
    else:
        low, high = (min(1, -half / a + root), 1) if value > 0 else (-1, max(-1, -half / a - root))
    if quantile >= observed * (1 - 1e-9) - 1e-9:
        low, high = min(low, 0), max(high, 0)
    return p, (low, high)


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
        for name in ("coefficient", "low", "high", "p", "p_holm", "p_yekutieli", "p_formula"):
            report.numbers("correlations: " + name.split("_")[0], number, found[name], math.nan)
        return math.nan
    scale = max(scale, *(numpy.abs(side).max() / side.std() for side in (left, right))) if method == "pearson" else 1
    r = coefficient(left, right, method)
    report.numbers("correlations: coefficient", number, found["coefficient"], r, 1, scale)
    confidence = inference["confidence"]
    p, ends = shuffled(left, right, method, seed, inference["draws"], confidence)
    report.numbers("correlations: p", number, found["p"], p)
    report.numbers("correlations: interval", number, [found["low"], found["high"]], ends, 1, 100 * scale**2)
    report.same("correlations: p and interval contradict", number,
                not numpy.isnan(ends[0]) and (found["p"] <= 1 - confidence + 1e-12) == (found["low"] <= 0 <= found["high"]), False)
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
