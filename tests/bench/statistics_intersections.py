"""Intersections of a score table: order, dominance, emergence, interaction."""


import numpy
import scipy.stats
from statistics_contrasts import adjusted
from statistics_draws import FIRST_GROUPS, SECOND_GROUPS, flipped, max_t, quantiles, usable, weights, within_rounding
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
        check_dominance(report, number, data, measure, table, parts, taus, inference, seed)
        check_emergence(report, number, data, measure, table, cells, parts, inference, seed)


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


def check_dominance(report, number, data, measure, table, parts, taus, inference, seed):
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
                times = [weights(seed, stream, count, inference["replicates"])
                         for stream, count in zip((FIRST_GROUPS, SECOND_GROUPS), counts[1:])]
                factors = numpy.array([times[0][:, places[0].index(row[0])] * times[1][:, places[1].index(row[1])] for row in rows])
                total = factors.sum(axis=0)
                sums = factors.T @ numpy.array([row[2] - row[3] for row in rows])
                finite = usable(numpy.where(total > 0, sums / numpy.maximum(total, 1), numpy.nan))
                if finite is not None:
                    ends, why = tuple(quantiles(finite, inference["confidence"])), OK
                    beyond = FIRST if found["dominance_low"] > 0 else SECOND if found["dominance_high"] < 0 else NEITHER
        for name, value in zip(("tau_first", "tau_second", "difference"), expected):
            report.numbers("dominance: " + name.replace("_", " "), number, found["dominance_" + name], value, 1)
        report.numbers("dominance: interval", number, (found["dominance_low"], found["dominance_high"]), ends, 1)
        for name, value in (("", rule), ("_beyond_zero", beyond), ("_status", why)):
            report.same("dominance: rule and status", number, found["dominance" + name], value)
        report.same("dominance: n", number, [found["dominance_num_" + name] for name in ("intersections", "first", "second")], counts)


def z_of(differences):
    """[template, rephrasing]: mean over its standard error, templates as clusters."""
    here = ~numpy.isnan(differences)
    values = numpy.where(here, differences, 0)
    present = here.any(axis=1)
    rest = (values.sum(axis=1) - here.sum(axis=1) * values.sum() / here.sum())[present]
    error = numpy.sqrt((rest**2).sum() * present.sum() / (present.sum() - 1))
    return values.sum() / error if error > 1e-12 * numpy.abs(values.sum(axis=1)).sum() else numpy.nan


def check_emergence(report, number, data, measure, table, cells, parts, inference, seed):
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
            check_row(report, number, found, three, rows, tested, (inference, seed, unit, scale))
    if not tested:
        return
    draws = inference["draws"]
    sums = [[numpy.where(numpy.isnan(row), 0, row).sum(axis=1) for row in rows] for _, rows, _ in tested]
    of_parts = max_t([one for both in sums for one in both[:2]], seed, draws).reshape(-1, 2)
    of_interactions = max_t([three[2] for three in sums], seed, draws)
    holm = adjusted(numpy.array([found["interaction_p"] for found, _, _ in tested]), "holm")
    for (found, _, side), two, own, one in zip(tested, of_parts, of_interactions, holm):
        both = 1 if side == 0 else numpy.fmax(found["emerge_p"], numpy.fmax(two[0], two[1]))
        report.numbers("emergence: p by max-T", number, found["emerge_p_max_t"], both)
        report.numbers("interaction: p by Holm", number, found["interaction_p_holm"], one)
        report.numbers("interaction: p by max-T", number, found["interaction_p_max_t"],
                       1 if numpy.isnan(own) else max(found["interaction_p"], own))


def check_row(report, number, found, three, rows, tested, settings):
    inference, seed, unit, scale = settings
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
    status = NO_VALUES if not here.any() else TOO_FEW if present.sum() < 2 else OK
    zs, p, interaction_p = numpy.full(3, numpy.nan), numpy.nan, numpy.nan
    if status == OK:
        zs = numpy.array([z_of(row) for row in rows])
        is_tie = abs(to_first - to_second) <= 1e-12 * numpy.abs(expected[:3]).sum()
        larger, smaller = (0, 1) if to_first < to_second else (1, 0)
        z_max = numpy.fmin(zs[0], zs[1]) if is_tie else zs[larger]
        z_min = numpy.fmax(zs[0], zs[1]) if is_tie else zs[smaller]
        side = 1 if expected[3] > 0 else -1 if expected[4] < 0 else 0
        sums = [numpy.where(here, row, 0).sum(axis=1)[present] for row in rows]

        def largest(some, more):
            return max(flipped(one, seed, inference["draws"], more) for one in some)

        rounding = 4e-16 * 4 * unit * here.sum()
        p = 1.0 if side == 0 else within_rounding(found["emerge_p"], lambda more: largest(sums[:2], more), rounding)
        interaction_p = within_rounding(found["interaction_p"], lambda more: largest(sums[2:], more), rounding)
        status = CONSTANT if numpy.isnan(zs).any() else OK
        tested.append((found, rows, side))
        zs = numpy.array([z_max, z_min, zs[2]])
    report.same("emergence: status", number, found["emerge_status"], status, what=f"{[row.tolist() for row in rows]}")
    for name, value in zip(("emerge_max_z", "emerge_min_z", "interaction_z"), zs):
        report.numbers("emergence and interaction: z", number, found[name], value, 1, scale * (1 + numpy.abs(value)),
                       what=f"{[row.tolist() for row in rows]}")
    report.numbers("emergence: p", number, found["emerge_p"], p, what=f"{[row.tolist() for row in rows]}")
    report.numbers("interaction: p", number, found["interaction_p"], interaction_p, what=f"{rows[2].tolist()}")
