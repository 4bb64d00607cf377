"""Contrasts of a score table."""

import numpy
import scipy.stats
from statistics_draws import crossed_t, flipped, max_t, welch, within_rounding
from statistics_means import condition, mean
from statistics_tables import AXES, CONSTANT, NO_VALUES, OK, TOO_FEW

try:
    from statsmodels.stats.multitest import multipletests
except ImportError:
    multipletests = None

SIDES = AXES[1:5]


def ask(random, table, folder):
    sides = set(table.coordinates[1]["side"])
    templates = table.length("template")
    subject, voice = table.labels[1][0], table.labels[3]
    contrasts = [{"name": "zero", "left": {"subject": subject}}, {"name": "one", "each": "subject", "right": "rest"}]
    if len(sides) == 2:
        contrasts.append({"name": "sides", "left": {"subject.side": "a"}, "right": {"subject.side": "b"}})
        contrasts.append({"name": "by template", "each": "template.pair", "left": {"subject.side": "a"}, "right": {"subject.side": "b"}})
    if templates > 1:
        pro, anti = {"template.stereotype": "pro"}, {"template.stereotype": "anti"}
        contrasts.append({"name": "paired", "left": pro, "right": anti, "paired": "template.pair"})
        contrasts.append({"name": "cross", "left": {"subject": subject, **pro}, "right": {"subject": subject, **anti},
                          "minus": {"left": pro, "right": anti}, "paired": "template.pair"})
        contrasts.append({"name": "less", "left": {"subject": subject}, "minus": {"left": {"subject": table.labels[1][-1]}}})
    if len(voice) > 1:
        contrasts.append({"name": "voices", "left": {"rephrasing": voice[0]}, "right": {"rephrasing": voice[1:]}})
    chosen = [contrast for contrast in contrasts if random.random() < 0.7]
    for contrast in chosen:
        contrast["cells"] = "all"  # plain means, also where cells are missing
    return {"contrasts": chosen} if chosen else {}


def expand(table, contrasts):
    """(name, left, right or None, minus or None, paired) of every row; a side: {axis: mask}."""
    for contrast in contrasts:
        each = contrast.get("each")
        labels = list(dict.fromkeys(table.named(each))) if each else [None]
        for label in labels:
            own = {each: label} if each else {}
            left = masks(table, contrast.get("left", {}), own)
            right = contrast.get("right", "zero")
            if right == "rest":
                kinds = table.named("subject.kind")
                right = {**left, "subject": ~left["subject"] & numpy.isin(kinds, kinds[left["subject"]])}
            else:
                right = None if right == "zero" else masks(table, right, own)
            minus = None
            if "minus" in contrast:
                other = contrast["minus"].get("right")
                minus = (masks(table, contrast["minus"]["left"]), other and masks(table, other))
            name = contrast["name"] + (f": {label}" if each else "")
            yield name, left, right, minus, contrast.get("paired")


def masks(table, *selections):
    taken = {axis: numpy.ones(table.length(axis), bool) for axis in SIDES}
    for selection in selections:
        for name, labels in selection.items():
            taken[name.split(".")[0]] &= numpy.isin(table.named(name), labels)
    return taken


def compared(table, values, sides, paired):
    """Of each side the means [block, column, item] and of each of its subjects [subject, item]; names of the blocks."""
    names = table.named(paired or "template")
    common = set(names[sides[0]["template"]]).intersection(*(names[side["template"]] for side in sides))
    blocks = [name for name in dict.fromkeys(names) if name in common]
    agree = all((side["rephrasing"] == sides[0]["rephrasing"]).all() for side in sides)
    columns = [[place] for place in numpy.flatnonzero(sides[0]["rephrasing"])] if agree else [range(len(sides[0]["rephrasing"]))]
    cells, subjects = [], []
    for side in sides:
        chosen = values.copy()
        for axis, name in enumerate(SIDES):
            chosen[tuple([slice(None)] * axis + [~side[name]])] = numpy.nan
        chosen[:, ~numpy.isin(names, blocks)] = numpy.nan
        chosen = mean(chosen, axis=3)  # replicates first
        cells.append(numpy.array([[mean(chosen[:, names == block][:, :, list(column)], axis=(0, 1, 2)) for column in columns]
                                  for block in blocks]).reshape(len(blocks), len(columns), values.shape[-1]))
        subjects.append(mean(chosen, axis=(1, 2))[side["subject"]])
    return cells, subjects, blocks


def check(report, number, data, table, statistics, seed):
    if "contrasts" not in statistics:
        return
    inference = statistics["inference"]
    families, place = {}, 0
    for measure in range(table.length("measure")):
        values = table.values[measure]
        scale = condition(values)
        for name, left, right, minus, paired in expand(table, statistics["contrasts"]):
            sides = [side for side in (left, right, *(minus or ())) if side]
            cells, subjects, blocks = compared(table, values, sides, paired)
            terms = iter(cells)
            on_left = next(terms)
            on_right = next(terms) if right else numpy.zeros_like(on_left)
            if minus:
                on_left = on_left - on_right
                on_right = next(terms) - (next(terms) if minus[1] else 0)
            tests_subjects = right and not minus and not (left["subject"] & right["subject"]).any()
            for item in range(table.length("item")):
                row = {key[len("contrast_"):]: value[place] for key, value in data.items() if key.startswith("contrast_")}
                assert (row["name"], row["measure"], row["item"]) == (name, table.labels[0][measure], table.labels[5][item])
                place += 1
                pool = [means[:, item][~numpy.isnan(means[:, item])] for means in subjects[:2]] if tests_subjects else None
                blocks_sums = check_row(report, number, row, (on_left[..., item], on_right[..., item]), pool, inference, seed,
                                        scale, numpy.abs(values[~numpy.isnan(values)]).max(initial=0))
                if blocks_sums is not None:
                    key = {"contrast": (name, measure), "measure": measure, "all": 0}[inference["family"]]
                    families.setdefault(key, []).append((row, tuple(blocks), blocks_sums))
    assert place == len(data["contrast"])
    for family in families.values():
        check_family(report, number, family, inference, seed)


def check_row(report, number, row, sides, pool, inference, seed, scale, unit):
    """Sums of the blocks, 0 without cells; None where there is no test."""
    left, right = sides
    differences = left - right
    here = ~numpy.isnan(differences)
    sums = numpy.where(here, differences, 0).sum(axis=1)
    present = here.any(axis=1)
    counts = {"num_templates": present.sum(), "num_rephrasings": here.any(axis=0).sum(), "num_cells": here.sum(),
              "num_possible": here.size}
    for name, value in counts.items():
        report.same("contrast: " + name, number, row[name], value)
    status = NO_VALUES if not here.any() else TOO_FEW if present.sum() < 2 else OK
    expected = dict.fromkeys(("left", "right", "difference"), numpy.nan)
    if here.any():
        expected = {"left": left[here].mean(), "right": right[here].mean(), "difference": differences[here].mean()}
    for name, value in expected.items():
        report.numbers("contrast: " + name, number, row[name], value, unit)
    none = (numpy.nan,) * 3
    if pool is not None and here.any():
        of_subjects = welch(row["difference"], pool, inference["confidence"]) if min(map(len, pool)) > 1 else none
        report.numbers("contrast: p and interval of subjects", number, (row["p_subjects"], row["subjects_low"], row["subjects_high"]),
                       of_subjects, unit, scale, what=str(pool))
    p, effect, interval = numpy.nan, numpy.nan, (numpy.nan, numpy.nan)
    if status == OK:
        means = mean(differences[present], axis=1)
        deviation = means.std(ddof=1)
        effect = means.mean() / deviation if deviation > 1e-12 * abs(means.mean()) else numpy.nan
        scale = max(scale, unit / deviation) if deviation > 0 else scale  # what rounding of the sides is multiplied by
        rounding = 4e-16 * unit * here.sum()
        p = within_rounding(row["p_flip"], lambda more: flipped(sums[present], seed, inference["draws"], more), rounding)
        interval = (p, p) if present.sum() <= 44 else drawn_interval(p, inference)
        spread, size = numpy.ptp(differences[here]), unit + numpy.abs(differences[here]).max()
        if spread == 0:
            status = CONSTANT
            report.numbers("contrast: p of what does not vary", number, row["p"], 1 if differences[here][0] == 0 else numpy.nan)
        elif spread > 1e-9 * size:
            expected = crossed_t(differences, inference["confidence"])
            status = TOO_FEW if numpy.isnan(expected[0]) else OK
            report.numbers("contrast: p and interval", number, (row["p"], row["low"], row["high"]), expected, unit, scale,
                           what=f"{differences}")
        else:  # rounding decides
            status = row["status"]
    report.same("contrast: status", number, row["status"], status)
    report.numbers("contrast: effect", number, row["effect"], effect, 1, scale * (1 + abs(effect)), what=f"{differences} {scale}")
    report.numbers("contrast: p of flipped signs", number, row["p_flip"], p, what=f"{differences}")
    report.numbers("contrast: interval of p", number, (row["p_flip_low"], row["p_flip_high"]), interval)
    return None if numpy.isnan(p) else sums


def drawn_interval(p, inference):
    """Clopper and Pearson, by the beta distribution: scipy's binomtest searches the ends to 2e-12 only."""
    draws = inference["draws"]
    reached = round(p * (draws + 1)) - 1
    outside = (1 - inference["confidence"]) / 2
    low = scipy.stats.beta.ppf(outside, reached, draws - reached + 1) if reached > 0 else 0.0
    high = scipy.stats.beta.isf(outside, reached + 1, draws - reached) if reached < draws else 1.0
    return low, high


def adjusted(p, method):
    if multipletests:
        return multipletests(p, method={"holm": "holm", "benjamini_hochberg": "fdr_bh", "yekutieli": "fdr_by"}[method])[1]
    if method == "holm":
        order = numpy.argsort(p, kind="stable")
        steps = numpy.maximum.accumulate((len(p) - numpy.arange(len(p))) * p[order])
        return numpy.minimum(1, steps)[numpy.argsort(order)]
    return scipy.stats.false_discovery_control(p, method={"benjamini_hochberg": "bh", "yekutieli": "by"}[method])


def check_family(report, number, family, inference, seed):
    tested = [row for row, _, _ in family if not numpy.isnan(row["p"])]
    p = numpy.array([row["p"] for row in tested])
    for method in ("holm", "benjamini_hochberg", "yekutieli"):
        found = [row["p_" + method] for row in tested]
        if tested:
            report.numbers("contrast: p adjusted, " + method, number, found, adjusted(p, method))
        report.same("contrast: no adjusted p below its own", number, sum(found < p), 0)
    flips = numpy.array([row["p_flip"] for row, _, _ in family])
    expected = numpy.full(len(family), numpy.nan)
    if len({tuple(sorted(blocks)) for _, blocks, _ in family}) == 1:
        expected = max_t([sums for _, _, sums in family], seed, inference["draws"])
        expected = numpy.fmax(flips, numpy.where(numpy.isnan(expected), 1, expected))
    report.numbers("contrast: p adjusted, max-T", number, [row["p_flip_max_t"] for row, _, _ in family], expected)
