"""Means, their intervals and coefficients of variation of a score table."""

import numpy
import scipy.stats
from statistics_draws import REPHRASINGS, TEMPLATES, bca, crossed, rescaled, weights
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
    inference = statistics["inference"]
    replicates = inference["replicates"]
    rows = weights(seed, TEMPLATES, table.length("template"), replicates)
    columns = weights(seed, REPHRASINGS, table.length("rephrasing"), replicates)
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
            found = {name: data["mean_score_" + name][measure, subject, item]
                     for name in ("low", "high", "low_bca", "high_bca", "status")}
            check_interval(report, number, found, cells[subject, :, :, item], (rows, columns), inference["confidence"])
        check_variation(report, number, data, measure, values)


def check_interval(report, number, found, cells, draws, confidence):
    present = cells[~numpy.isnan(cells)]
    ends, corrected, status = None, None, OK
    unit = numpy.abs(present).max(initial=0)
    if present.size < 2:
        status = TOO_FEW if present.size else NO_VALUES
    elif numpy.ptp(present) == 0:
        status, ends, corrected = CONSTANT, (present[0], present[0]), (present[0], present[0])
    else:
        replicates = crossed(cells, *draws)
        ends = rescaled(replicates, present.mean(), cells, confidence)
        corrected = bca(replicates, present.mean(), cells, confidence)
        status = None if corrected is None else OK
    none = (numpy.nan, numpy.nan)
    report.numbers("mean: interval", number, (found["low"], found["high"]), ends or none, unit)
    report.numbers("mean: BCa interval", number, (found["low_bca"], found["high_bca"]), corrected or none, unit)
    if status is None:  # scipy gives NaN without a reason
        status = found["status"] if found["status"] in (TOO_FEW, CONSTANT) else TOO_FEW
    report.same("mean: status", number, found["status"], status)


def check_variation(report, number, data, measure, values):
    for over, axes in OVER.items():
        averaged = mean(values, axis=tuple(axis - 1 for axis in axes), keepdims=True)
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
