"""Intersections of a score table: order, dominance, emergence, interaction."""


import numpy
import scipy.stats
from statistics_contrasts import adjusted
from statistics_draws import crossed_t, mean_error
from statistics_means import condition, mean
from statistics_tables import CONSTANT, NO_VALUES, OK, TOO_FEW

NEITHER, FIRST, SECOND, UNKNOWN = range(4)
THRESHOLD = 0.1


def ask(random, table, folder):
    return {"intersections": "all"} if "intersection" in table.coordinates[1]["kind"] else {}


def parts_of(table):
    """(subject, first part, second part, other order) of each intersection; None: not scored."""
    kinds, firsts, seconds = (table.coordinates[1][name] for name in ("kind", "first", "second"))
    places = {(kind, first, second): place for place, (kind, first, second) in enumerate(zip(kinds, firsts, seconds))}
    for place, kind in enumerate(kinds):
        if kind == "intersection":
            yield (place, places.get(("group", firsts[place], "")), places.get(("group", seconds[place], "")),
                   places.get(("intersection", seconds[place], firsts[place])))


def check(report, number, data, table, statistics, seed):
    if "intersections" not in statistics:
        return
    parts, inference = list(parts_of(table)), statistics["inference"]
    for measure in range(table.length("measure")):
        cells = mean(table.values[measure], axis=3)  # [subject, template, rephrasing, item]
        taus = check_order(report, number, data, measure, cells, parts)
        check_dominance(report, number, data, measure, table, parts, taus, inference)
        check_emergence(report, number, data, measure, table, cells, parts, inference)


def correlation(cells, left, right):
    """tau-b over items, how many, and why there is none."""
    if right is None:
        return numpy.nan, 0, NO_VALUES
    here = ~(numpy.isnan(cells[left]) | numpy.isnan(cells[right]))
    sides = [mean(numpy.where(here, cells[place], numpy.nan), axis=(0, 1)).astype(float) for place in (left, right)]
    sides = [side[~numpy.isnan(side)] for side in sides]
    if sides[0].size < 2:
        return numpy.nan, sides[0].size, TOO_FEW if sides[0].size else NO_VALUES
    if min(numpy.ptp(side) for side in sides) == 0:
        return numpy.nan, sides[0].size, CONSTANT
    return scipy.stats.kendalltau(*sides).statistic, sides[0].size, OK


def check_order(report, number, data, measure, cells, parts):
    taus = []
    for place, (subject, first, second, reverse) in enumerate(parts):
        found = [correlation(cells, subject, other) for other in (reverse, first, second)]
        taus.append([tau for tau, _, _ in found])
        taus[-1].append(max(taus[-1][1:]) if not numpy.isnan(taus[-1][1:]).any() else numpy.nan)
        report.numbers("order: tau", number, data["order_tau"][measure, place], taus[-1], 1)
        report.same("order: n", number, data["order_tau_n"][measure, place, :3], [n for _, n, _ in found])
        report.same("order: status", number, data["order_tau_status"][measure, place, :3], [why for _, _, why in found])
    taus = numpy.array(taus, float)
    both = numpy.array([reverse is not None for *_, reverse in parts])
    for name, some in (("order_mean", taus), ("order_mean_both", taus[both])):
        report.numbers("order: mean", number, data[name][measure], mean(some, axis=0), 1)
        report.same("order: mean, n", number, data[name + "_n"][measure], (~numpy.isnan(some)).sum(axis=0))
    return taus


def check_dominance(report, number, data, measure, table, parts, taus, inference):
    domains = table.coordinates[1]["domain"]
    ranks = list(dict.fromkeys(domains))
    pairs = {}
    for (_, first, second, _), (_, tau_first, tau_second, _) in zip(parts, taus):
        if not numpy.isnan(tau_first + tau_second):
            one, other = (first, tau_first), (second, tau_second)
            if ranks.index(domains[first]) > ranks.index(domains[second]):
                one, other = other, one
            pairs.setdefault((domains[one[0]], domains[other[0]]), []).append((one[0], other[0], one[1], other[1]))
    for place, label in enumerate(data.get("domain_pair", [])):
        found = {name: data[name][measure, place] for name in data if name.startswith("dominance")}
        rows = pairs.get(tuple(label.split(" x ")), [])
        expected, why, rule, beyond = numpy.full(3, numpy.nan), NO_VALUES, UNKNOWN, UNKNOWN
        ends, counts = (numpy.nan, numpy.nan), [0, 0, 0]
        if rows:
            places = [list(dict.fromkeys(row[side] for row in rows)) for side in (0, 1)]
            counts = [len(rows), *map(len, places)]
            tau_first, tau_second = (numpy.mean([row[side] for row in rows]) for side in (2, 3))
            expected = numpy.array([tau_first, tau_second, tau_first - tau_second])
            rule = FIRST if expected[2] >= THRESHOLD - 1e-12 else SECOND if expected[2] <= 1e-12 - THRESHOLD else NEITHER
            why = TOO_FEW
            if min(counts[1:]) > 1:
                orders = numpy.full((2, *counts[1:]), numpy.nan)
                for row in rows:
                    at = places[0].index(row[0]), places[1].index(row[1])
                    orders[int(not numpy.isnan(orders[(0, *at)])), *at] = row[2] - row[3]
                groups = mean(orders, axis=0)
                varies = numpy.nanstd(groups.astype(float), ddof=1) > 1e-12 * abs(expected[2])
                error = mean_error(groups)
                why = OK if varies else CONSTANT
                if varies and error[0] > 0 and error[1] > 0:
                    half = scipy.stats.t.ppf((1 + inference["confidence"]) / 2, error[1]) * numpy.sqrt(float(error[0]))
                    ends = max(expected[2] - half, -2), min(expected[2] + half, 2)
                    beyond = FIRST if found["dominance_low"] > 0 else SECOND if found["dominance_high"] < 0 else NEITHER
                elif varies:
                    why = TOO_FEW
        for name, value in zip(("tau_first", "tau_second", "difference"), expected):
            report.numbers("dominance: " + name.replace("_", " "), number, found["dominance_" + name], value, 1)
        report.numbers("dominance: interval", number, (found["dominance_low"], found["dominance_high"]), ends, 1)
        for name, value in (("", rule), ("_beyond_zero", beyond), ("_status", why)):
            report.same("dominance: rule and status", number, found["dominance" + name], value)
        report.same("dominance: n", number, [found["dominance_num_" + name] for name in ("intersections", "first", "second")], counts)


def check_emergence(report, number, data, measure, table, cells, parts, inference):
    kinds = table.coordinates[1]["kind"]
    baseline = kinds.index("baseline") if "baseline" in kinds else None
    unit = numpy.abs(cells[~numpy.isnan(cells)]).max(initial=0)
    scale = condition(table.values[measure])
    tested = []
    for place, (subject, first, second, _) in enumerate(parts):
        for item in range(cells.shape[3]):
            found = {name: data[name][measure, place, item] for name in data if name.startswith(("emerge_", "interaction"))}
            three = [cells[other, :, :, item] if other is not None and None not in (first, second) else numpy.full(cells.shape[1:3], numpy.nan)
                     for other in (subject, first, second)]
            base = cells[baseline, :, :, item] if baseline is not None else numpy.zeros_like(three[0])
            here = ~numpy.isnan(sum(three) + base)
            three = [numpy.where(here, one, numpy.nan) for one in three]
            rows = [three[0] - three[1], three[0] - three[2], three[0] - three[1] - three[2] + base]
            check_row(report, number, found, three, rows, tested, (inference, unit, scale))
    for statistic in ("emerge", "interaction"):
        family = [found for found in tested if not numpy.isnan(found[statistic + "_p"])]
        if family:
            holm = adjusted(numpy.array([found[statistic + "_p"] for found in family]), "holm")
            report.numbers(statistic + ": p by Holm", number, [found[statistic + "_p_holm"] for found in family], holm)


def check_row(report, number, found, three, rows, tested, settings):
    inference, unit, scale = settings
    here = ~numpy.isnan(rows[0])
    present = here.any(axis=1)
    names = ("emerge_score", "emerge_first", "emerge_second", "emerge_max", "emerge_min", "interaction")
    expected = numpy.full(6, numpy.nan)
    if here.any():
        to_first, to_second, beyond = (row[here].mean() for row in rows)
        expected = [*(one[here].mean() for one in three), min(to_first, to_second), max(to_first, to_second), beyond]
    for name, value in zip(names, expected):
        report.numbers("emergence and interaction", number, found[name], value, 4 * unit)
    report.same("emergence: cells", number, (found["emerge_num_templates"], found["emerge_num_cells"]), (present.sum(), here.sum()))
    tested.append(found)
    statuses, tests, p = [NO_VALUES if not here.any() else TOO_FEW] * 3, numpy.full((3, 3), numpy.nan), numpy.nan
    if present.sum() > 1:
        side = 1 if expected[3] > 0 else -1 if expected[4] < 0 else 0
        for place, row in enumerate(rows):
            row = numpy.where(numpy.abs(row) <= 2.3e-16 * (sum(numpy.abs(one) for one in three) + unit), 0, row)
            varies = numpy.std(row[here].astype(float), ddof=1) > 1e-12 * abs(row[here].mean())
            statuses[place], tests[place, 0] = CONSTANT, 1 if row[here].mean() == 0 else numpy.nan
            if varies:
                tests[place] = crossed_t(row.astype(float), inference["confidence"])
                statuses[place] = TOO_FEW if numpy.isnan(tests[place, 1]) else OK
        p = 1.0 if side == 0 else tests[:2, 0].max()
    report.same("emergence: status", number, (found["emerge_status"], found["interaction_status"]),
                (statuses[0] or statuses[1], statuses[2]), what=f"{[row.tolist() for row in rows]}")
    report.numbers("emergence: p", number, found["emerge_p"], p, 1, scale, what=f"{[row.tolist() for row in rows]}")
    report.numbers("interaction: p", number, found["interaction_p"], tests[2, 0], 1, scale, what=f"{rows[2].tolist()}")
    report.numbers("interaction: interval", number, (found["interaction_low"], found["interaction_high"]), tests[2, 1:],
                   4 * unit, scale, what=f"{rows[2].tolist()}")
