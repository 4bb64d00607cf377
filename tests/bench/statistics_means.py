"""Means, their intervals and coefficients of variation of a score table."""

import numpy
import scipy.sparse.csgraph
import scipy.stats
from statistics_draws import mean_error, student
from statistics_tables import CONSTANT, NO_VALUES, NOT_APPLICABLE, OK, TOO_FEW

OVER = {"wording": (4,), "template": (3, 4), "rephrasing": (2, 4), "replicate": (2, 3)}  # axes that are averaged


def mean(values, axis=None, keepdims=False):
    """Of what exists, exactly but for the last bits."""
    here = ~numpy.isnan(values)
    count = here.sum(axis=axis, keepdims=keepdims)
    total = numpy.where(here, values, 0).astype(numpy.longdouble).sum(axis=axis, keepdims=keepdims)
    return numpy.where(count > 0, total / numpy.maximum(count, 1), numpy.nan)


def condition(values):
    """Largest score over the scores' standard deviation: what rounding of the scores is multiplied by."""
    values = values[~numpy.isnan(values)]
    spread = values.std() if values.size else 0
    return 1.0 if spread <= 1e-12 * numpy.abs(values).max(initial=0) else max(1.0, numpy.abs(values).max() / spread)


def ask(random, table, folder):
    return {"means": "all", "variation": {"over": list(OVER)}}


def check(report, number, data, table, statistics, seed):
    confidence = statistics["inference"]["confidence"]
    for measure in range(table.length("measure")):
        values = table.values[measure]
        applicable = (table.statuses[measure] != NOT_APPLICABLE).any(axis=3).sum(axis=(1, 2))
        cells = mean(values, axis=3)
        present = (~numpy.isnan(cells)).sum(axis=(1, 2))
        unit = numpy.abs(values[~numpy.isnan(values)]).max(initial=0)
        report.numbers("mean", number, data["mean_score"][measure], mean(cells, axis=(1, 2)), unit)
        report.same("mean: n", number, data["mean_score_n"][measure], present)
        report.numbers("mean: coverage", number, data["mean_score_coverage"][measure],
                       numpy.where(applicable > 0, present / numpy.maximum(applicable, 1), numpy.nan))
        for subject, item in numpy.ndindex(present.shape):
            found = {name: data["mean_score_" + name][measure, subject, item] for name in ("low", "high", "status")}
            check_interval(report, number, found, cells[subject, :, :, item], confidence)
        check_deviations(report, number, {name: data["mean_score_" + name][measure] for name in ("deviation", "deviation_low", "deviation_high", "p", "p_holm", "rank")},
                         cells, unit, confidence)
        check_variation(report, number, data, measure, values)


def check_interval(report, number, found, cells, confidence):
    """Of complete tables: the two-way analysis of variance where each effect is far above the rest; else its centre."""
    present = cells[~numpy.isnan(cells)]
    one = (~numpy.isnan(cells)).any(axis=1).sum() < 2  # template
    status = NO_VALUES if not present.size else TOO_FEW if one else CONSTANT if numpy.ptp(present) == 0 else OK
    if status == OK:
        half, unit = (found["high"] - found["low"]) / 2, numpy.abs(present).max()
        report.numbers("mean: middle of the interval", number, found["low"] + half, present.mean(), unit)
        if cells.shape[1] == 1 and numpy.isfinite(cells).all():
            expected = scipy.stats.t.ppf((1 + confidence) / 2, present.size - 1) * scipy.stats.sem(present)
            report.numbers("mean: interval of one rephrasing", number, half, expected, unit)
    else:
        report.numbers("mean: interval", number, (found["low"], found["high"]), (numpy.nan, numpy.nan), 1)
    report.same("mean: status", number, found["status"], status)


def effects_of(scores):
    """Of units [unit, cell] by least squares, from the mean of the units that chains of shared cells join; rests; how many are
    joined. NaN: a unit that is alone."""
    units, cells = numpy.nonzero(~numpy.isnan(scores))
    values = scores[units, cells]
    first = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_array((numpy.ones(len(units)), (units, scores.shape[0] + cells)), [sum(scores.shape)] * 2), directed=False)[1]
    design = numpy.zeros((len(values), sum(scores.shape)))
    design[numpy.arange(len(values)), units] = design[numpy.arange(len(values)), scores.shape[0] + cells] = 1
    solution = numpy.linalg.lstsq(design, values - values.mean(), rcond=None)[0]
    rests = numpy.full(scores.shape, numpy.nan)
    rests[units, cells] = values - values.mean() - design @ solution
    joined = first[: scores.shape[0], None] == first[: scores.shape[0]]
    count = joined.sum(axis=1)
    effects = solution[: scores.shape[0]] - joined @ solution[: scores.shape[0]] / count
    return numpy.where(count > 1, effects, numpy.nan), rests, count


def check_deviations(report, number, found, cells, unit, confidence):
    """What cells add to them by the weights of each unit; Holm and the order by the p that stand there."""
    if numpy.isnan(cells).all():
        return
    rephrasings = cells.shape[2]
    scores = numpy.moveaxis(cells, 3, 1).reshape(-1, cells.shape[1] * rephrasings).astype(float)
    effects, rests, count = effects_of(scores)
    report.numbers("mean: deviation", number, found["deviation"].ravel(), effects, unit)
    present = ~numpy.isnan(scores)
    in_cells = present.sum(axis=0)
    with numpy.errstate(all="ignore"):
        shared = (present * (1 - 1 / in_cells)[None]).sum(axis=1, where=present) * count / (count - 1)
        weights = numpy.where(shared > 1 + 1e-12, 1 / numpy.sqrt(shared * (shared - 1)), 0)
        of_all = numpy.nansum(weights[:, None] * rests / count[:, None], axis=0)
    for place in range(len(scores)):
        parts = numpy.where(in_cells > 1, weights[place] * rests[place] - of_all, numpy.nan)
        n = (~numpy.isnan(parts)).sum()
        parts *= numpy.sqrt(n * (n - 1))
        table = parts.reshape(-1, rephrasings)
        expected = (numpy.nan,) * 3
        if weights[place] > 0 and (~numpy.isnan(table)).any(axis=1).sum() > 1:
            spread = numpy.nanmax(parts) - numpy.nanmin(parts)
            if spread > 1e-12 * unit and spread < 1e-7 * unit:
                continue  # rounding of the scores counts
            expected = student(effects[place], mean_error(table), confidence) if spread > 1e-12 * unit else expected
        report.numbers("mean: p and interval of deviation", number,
                       [found[name].ravel()[place] for name in ("p", "deviation_low", "deviation_high")], expected, unit,
                       condition(scores[place]) if not numpy.isnan(expected[0]) else 1)
    p = found["p"].ravel()
    tested = numpy.flatnonzero(~numpy.isnan(p))
    order = tested[numpy.argsort(p[tested], kind="stable")]
    adjusted = numpy.minimum(numpy.maximum.accumulate(p[order] * (order.size - numpy.arange(order.size))), 1)
    report.numbers("mean: Holm", number, found["p_holm"].ravel()[order], adjusted, 1)
    ranks = found["rank"].ravel()
    report.same("mean: ranks", number, numpy.sort(ranks), numpy.arange(1, ranks.size + 1))
    report.same("mean: order", number, p[tested[numpy.argsort(ranks[tested])]], p[order])


def check_variation(report, number, data, measure, values):
    for over, axes in OVER.items():
        inner = values if over == "replicate" else mean(values, axis=3, keepdims=True)  # cells count once
        averaged = mean(inner, axis=tuple(axis - 1 for axis in axes), keepdims=True)
        for subject, item in numpy.ndindex(values.shape[0], values.shape[4]):
            parts = averaged[subject, ..., item]
            parts = parts[~numpy.isnan(parts)]
            place = (measure, subject, item)
            name = f"variation_over_{over}"
            status = NO_VALUES if not parts.size else TOO_FEW if parts.size < 2 else CONSTANT if parts.mean() == 0 else OK
            expected = scipy.stats.variation(parts, ddof=1) if status == OK else numpy.nan
            report.same("coefficient of variation: n", number, data[name + "_n"][place], parts.size)
            report.same("coefficient of variation: status", number, data[name + "_status"][place], status)
            report.numbers("coefficient of variation", number, data[name][place], expected, 1,
                           1 if status != OK else numpy.abs(parts).max() / abs(parts.mean()), what=f"{over} {parts}")
