"""Shares of variance of a score table, and how many templates and rephrasings are enough."""

import math

import numpy
from statistics_tables import AXES

SUBJECT, TEMPLATE, REPHRASING, REPLICATE, ITEM = range(5)
NO_VALUES, CONSTANT, UNBALANCED = 1, 2, 3  # VarianceStatus


def ask(random, table, folder):
    return {"variance_shares": "all"}


def complete_part(values):
    """Drops the label that lacks the largest share of its cells while cells are missing."""
    while values.size and numpy.isnan(values).any():
        worst = None
        for axis in (TEMPLATE, SUBJECT, REPHRASING, REPLICATE, ITEM):
            missing = numpy.isnan(values).sum(axis=tuple(other for other in range(5) if other != axis))
            label = int(numpy.argmax(missing))
            share = int(missing[label]) * values.shape[axis]  # over a number that all have
            if worst is None or share > worst[0]:
                worst = (share, axis, label)
        values = numpy.delete(values, worst[2], axis=worst[1])
    return values


def means(values, *axes):
    """Over all but some axes, as wide as the values."""
    return values.mean(axis=tuple(axis for axis in range(5) if axis not in axes), keepdims=True)


def deviations(values):
    """Of each source, as in the analysis of variance of a balanced table, from exact sums."""
    values = values - values.mean()
    values = values - values.mean()
    subject, item, both = means(values, SUBJECT), means(values, ITEM), means(values, SUBJECT, ITEM)
    others = [means(values, axis) for axis in (TEMPLATE, REPHRASING, REPLICATE)]
    return [subject, item, both - subject - item, *others, values - both - sum(others)]


def interaction(values, axis):
    """Mean square of subjects x an axis within items, other axes averaged."""
    cells = means(values, SUBJECT, axis, ITEM)
    rest = cells - cells.mean(axis=SUBJECT, keepdims=True) - cells.mean(axis=axis, keepdims=True)
    rest = rest + cells.mean(axis=(SUBJECT, axis), keepdims=True)
    return (rest**2).sum() / (values.shape[ITEM] * (values.shape[SUBJECT] - 1) * (values.shape[axis] - 1))


def check(report, number, data, table, statistics, seed):
    for measure in range(table.length("measure")):
        whole = table.values[measure].astype(numpy.longdouble)
        values = complete_part(whole)
        present = (~numpy.isnan(whole)).sum()
        found = {name: data[name][measure] for name in data if AXES[0] not in name and name.startswith(("variance_", "enough_", "template_error", "rephrasing_error"))
                 and name not in ("variance_source",)}
        status = NO_VALUES if not values.size else CONSTANT if numpy.ptp(values) == 0 else UNBALANCED if values.size < whole.size else 0
        report.same("variance: status", number, found["variance_status"], status)
        report.same("variance: n", number, found["variance_n"], values.size)
        report.same("variance: left out", number, found["variance_num_left_out"], present - values.size)
        shares, degrees, deviation = numpy.full(7, numpy.nan), numpy.zeros(7, int), numpy.nan
        errors = {axis: numpy.full(whole.shape[axis], numpy.nan) for axis in (TEMPLATE, REPHRASING)}
        enough = {TEMPLATE: -1, REPHRASING: -1}
        scale = 1.0
        if status in (0, UNBALANCED):
            scale = float(numpy.abs(values).max() / values.std())
            squares = numpy.array([(part**2).sum() * (values.size // part.size) for part in deviations(values)])
            degrees[:6] = [values.shape[0] - 1, values.shape[4] - 1, (values.shape[0] - 1) * (values.shape[4] - 1),
                           values.shape[1] - 1, values.shape[2] - 1, values.shape[3] - 1]
            degrees[6] = values.size - 1 - degrees[:6].sum()
            shares = numpy.where(degrees > 0, squares / squares.sum(), 0)
            if values.shape[SUBJECT] > 1:
                by_both = means(values, SUBJECT, ITEM)
                between = ((by_both - by_both.mean(axis=SUBJECT, keepdims=True)) ** 2).sum()
                deviation = numpy.sqrt(between / (values.shape[ITEM] * (values.shape[SUBJECT] - 1)))
                for axis in errors:
                    if values.shape[axis] > 1:
                        square = interaction(values, axis)
                        errors[axis] = numpy.sqrt(square / numpy.arange(1, whole.shape[axis] + 1))
                        if deviation > 1e-12 * numpy.abs(values).max():
                            wanted = square / (0.05 * deviation) ** 2
                            near = wanted < 2**31 and abs(wanted - round(float(wanted))) < 1e-9 * wanted * scale
                            ours = found["enough_templates" if axis == TEMPLATE else "enough_rephrasings"]
                            enough[axis] = ours if near and abs(ours - wanted) < 1.5 else max(1, math.ceil(wanted))
                            enough[axis] = -1 if enough[axis] > 2**31 - 1 else enough[axis]
        report.numbers("variance: share", number, found["variance_share"], shares, 1, scale, what=str(values.shape))
        report.same("variance: degrees", number, found["variance_degrees"], degrees)
        unit = numpy.abs(values).max(initial=0)
        report.numbers("variance: deviation of subjects", number, found["variance_subject_deviation"], deviation, unit)
        for axis, name in ((TEMPLATE, "template"), (REPHRASING, "rephrasing")):
            report.numbers(f"variance: error with so many {name}s", number, found[name + "_error"], errors[axis], unit)
            report.same(f"variance: enough {name}s", number, found[f"enough_{name}s"], enough[axis])
