"""Subjects of a score table in clusters."""

import itertools
import warnings

import numpy
import scipy.stats
from statistics_contrasts import adjusted
from statistics_means import condition, mean
from statistics_tables import CONSTANT, NO_VALUES, OK, TOO_FEW

try:
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score
except ImportError:
    KMeans = adjusted_rand_score = None

LOW, MIDDLE, HIGH, WITHIN_ERROR = 1, 2, 3, 4


def ask(random, table, folder):
    if not any(table.coordinates[5]["dimension"]) or random.random() < 0.5:
        return {}
    return {"clusters": {"number": str(random.choice(["elbow", "2", "3"])), "max_clusters": int(random.integers(1, 5)),
                         "high_above": str(random.choice(["mean", "median", "0.1"])), "start": str(random.choice(["plus_plus", "random"]))}}


def points_of(table, values):
    """[subject, dimension]"""
    own = numpy.array(table.coordinates[5]["dimension"])
    cells = mean(values, axis=3)
    return numpy.stack([mean(cells[..., own == name], axis=(1, 2, 3)) for name in dict.fromkeys(own[own != ""])], axis=1).astype(float)


def partitions(count, number):
    """Labels of all partitions of so many points into so many clusters."""
    def extend(labels, used):
        if len(labels) == count:
            if used == number:
                yield labels
            return
        for label in range(min(used + 1, number)):
            yield from extend([*labels, label], max(used, label + 1))
    return extend([], 0)


def inertia(points, labels):
    labels = numpy.asarray(labels)
    return sum(((points[labels == one] - points[labels == one].mean(axis=0)) ** 2).sum() for one in set(labels.tolist()))


def least_inertia(points, number):
    """Of all partitions, or of many runs of sklearn; None: of neither."""
    if len(points) <= 7:
        return min(inertia(points, labels) for labels in partitions(len(points), number))
    if KMeans is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = KMeans(number, n_init=10, random_state=0, tol=0).fit((points - points.mean(axis=0)).astype(float)).labels_
    return inertia(points, labels)


def check(report, number, data, table, statistics, seed):
    if "clusters" not in statistics:
        return
    asked = statistics["clusters"]
    chosen = {}
    for measure in range(table.length("measure")):
        values = table.values[measure]
        points = points_of(table, values)
        unit = numpy.abs(values[~numpy.isnan(values)]).max(initial=0)
        report.numbers("clusters: point", number, data["cluster_point"][measure], points, unit)
        complete = numpy.flatnonzero(~numpy.isnan(points).any(axis=1))
        exact = points[complete].astype(numpy.longdouble)
        distinct = len(numpy.unique(points[complete], axis=0))
        curve, scale = [], condition(values)
        for k in range(1, data["num_clusters"].size + 1):
            labels, ours = data["cluster"][measure, k - 1], data["cluster_inertia"][measure, k - 1]
            status = NO_VALUES if not complete.size else TOO_FEW if distinct < k else OK
            report.same("clusters: status", number, data["cluster_status"][measure, k - 1], status)
            report.same("clusters: in none", number, labels[[place not in complete for place in range(len(points))]], -1)
            if status != OK:
                report.numbers("clusters: inertia", number, ours, numpy.nan)
                continue
            curve += [ours] if k <= asked["max_clusters"] else []
            total = inertia(exact, numpy.zeros(len(exact))) + (1e-15 * unit) ** 2 / 1e-12
            report.numbers("clusters: inertia of the labels", number, ours, inertia(exact, labels[complete]), total, scale)
            best = least_inertia(exact, k)
            if best is not None:  # sklearn may have found a worse one
                best = ours if len(exact) > 7 and best > ours else best
                report.numbers("clusters: inertia", number, ours, best, total, scale)
        chosen[measure] = check_chosen(report, number, data, measure, asked, points, complete, curve, unit, scale)
    check_rand(report, number, data, chosen)


def elbow_of(curve):
    if len(curve) < 3:
        return 0, 0, TOO_FEW if curve else NO_VALUES
    curve = numpy.array(curve)
    if not curve[0] > curve[-1]:
        return 0, 0, CONSTANT
    bends = curve[:-2] - 2 * curve[1:-1] + curve[2:]
    depths = (curve[0] - curve[1:-1]) / (curve[0] - curve[-1]) - numpy.arange(1, len(curve) - 1) / (len(curve) - 1)
    return numpy.argmax(bends) + 2, numpy.argmax(depths) + 2, OK


def check_chosen(report, number, data, measure, asked, points, complete, curve, unit, scale):
    """The cluster of each subject, -1: none."""
    second, kneedle, status = elbow_of(curve)
    report.same("clusters: elbow and status", number, (data["elbow_second_difference"][measure], data["elbow_kneedle"][measure],
                                                       data["elbow_status"][measure]), (second, kneedle, status))
    k = second if asked["number"] == "elbow" else int(asked["number"])
    k = k if k and data["cluster_status"][measure, k - 1] == OK else 0
    report.same("clusters: number", number, data["cluster_number"][measure], k)
    labels = data["cluster"][measure, k - 1] if k else numpy.full(len(points), -1)
    report.same("clusters: of subject", number, data["cluster_of_subject"][measure], labels)
    some = points[complete]
    rule = {"mean": lambda: mean(some, axis=0), "median": lambda: numpy.median(some, axis=0)}
    limits = numpy.full(points.shape[1], float(asked["high_above"])) if asked["high_above"] not in rule else \
        rule[asked["high_above"]]() if complete.size else numpy.full(points.shape[1], numpy.nan)
    report.numbers("clusters: limit", number, data["cluster_limit"][measure], limits, unit)
    if "cluster_centre" not in data:
        return labels
    ps = []
    for place in range(data["cluster_size"].shape[1]):
        members = points[labels == place]
        report.same("clusters: size", number, data["cluster_size"][measure, place], [len(members)] * points.shape[1])
        centre = mean(members, axis=0) if len(members) else numpy.full(points.shape[1], numpy.nan)
        report.numbers("clusters: centre", number, data["cluster_centre"][measure, place], centre, unit)
        sides = numpy.where(numpy.isnan(centre), 0, numpy.where(centre > limits, HIGH, LOW))
        near = numpy.abs(centre - limits) <= 1e-14 * unit  # equal but for rounding
        sides[(data["cluster_spread_p"][measure] > 0.05) & (sides > 0)] = WITHIN_ERROR
        found = data["cluster_side"][measure, place]
        report.same("clusters: side", number, found, numpy.where(near & (sides != WITHIN_ERROR), found, sides))
        ps += check_tests(report, number, data, measure, place, members, scale)
    defined = [one for one in ps if not numpy.isnan(one[0])]
    if defined:
        report.numbers("clusters: p of t by Holm", number, [holm for _, holm in defined],
                       adjusted(numpy.array([p for p, _ in defined], float), "holm"))
    return labels


def check_tests(report, number, data, measure, place, members, scale):
    """(p, p after Holm) of each pair of dimensions, as the program gives them."""
    pairs = list(itertools.combinations(range(members.shape[1]), 2))
    for pair, (first, second) in enumerate(pairs):
        found = {name: data["cluster_t" + name][measure, place, pair] for name in ("", "_difference", "_p", "_p_holm", "_status")}
        differences = members[:, first] - members[:, second]
        status = NO_VALUES if not len(members) else TOO_FEW if len(members) < 2 else OK
        if status == OK and differences.std(ddof=1) <= 1e-12 * numpy.abs(members[:, [first, second]]).max():
            status = CONSTANT
        t, p = numpy.nan, numpy.nan
        if status == OK:
            t, p = scipy.stats.ttest_rel(members[:, first], members[:, second])
        # rounding of the differences over their deviation
        factor = scale if status != OK else max(scale, numpy.abs(members).max() / differences.std()) * (1 + abs(t)) * len(members)
        report.same("clusters: status of t", number, found["_status"], status)
        report.numbers("clusters: t", number, found[""], t, 1, factor)
        report.numbers("clusters: p of t", number, found["_p"], p, 0, factor)
    is_within = data["cluster_spread_p"][measure] > 0.05
    return [(numpy.nan if is_within[[*sides]].any() else data["cluster_t_p"][measure, place, pair],
             data["cluster_t_p_holm"][measure, place, pair]) for pair, sides in enumerate(pairs)]


def check_rand(report, number, data, chosen):
    for left, right in itertools.product(chosen, repeat=2):
        here = (chosen[left] >= 0) & (chosen[right] >= 0)
        status = OK if here.sum() > 1 else TOO_FEW if here.any() else NO_VALUES
        report.same("clusters: status of Rand index", number, data["cluster_rand_status"][left, right], status)
        if adjusted_rand_score or status != OK:
            expected = adjusted_rand_score(chosen[left][here], chosen[right][here]) if status == OK else numpy.nan
            report.numbers("clusters: adjusted Rand index", number, data["cluster_rand"][left, right], expected, 1)
