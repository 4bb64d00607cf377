"""Shares of variance of a score table, and how many templates and rephrasings are enough."""

import math

import numpy
import scipy.stats

RUN, SUBJECT, TEMPLATE, REPHRASING, REPLICATE, ITEM = AXES = range(6)
NO_VALUES, CONSTANT, UNBALANCED = 1, 2, 3  # VarianceStatus


def ask(random, table, folder):
    return {"variance_shares": "all"}


def complete_part(values):
    """Drops the label that lacks the largest share of its cells while cells are missing."""
    while values.size and numpy.isnan(values).any():
        worst = None
        for axis in (TEMPLATE, SUBJECT, REPHRASING, REPLICATE, ITEM, RUN):
            missing = numpy.isnan(values).sum(axis=tuple(other for other in AXES if other != axis))
            label = int(numpy.argmax(missing))
            share = int(missing[label]) * values.shape[axis]  # over a number that all have
            if worst is None or share > worst[0]:
                worst = (share, axis, label)
        values = numpy.delete(values, worst[2], axis=worst[1])
    return values


def means(values, *axes):
    """Over all but some axes, as wide as the values."""
    return values.mean(axis=tuple(axis for axis in AXES if axis not in axes), keepdims=True)


def shares_of(values, several):
    """Of each source, as in the analysis of variance of a balanced table."""
    values = values - values.mean()
    values = values - values.mean()
    subject, item, both = means(values, SUBJECT), means(values, ITEM), means(values, SUBJECT, ITEM)
    parts = [subject, item, both - subject - item, *(means(values, axis) for axis in (TEMPLATE, REPHRASING, REPLICATE))]
    if several:
        run = means(values, RUN)
        parts += [run, means(values, RUN, SUBJECT, ITEM) - both - run]
    parts.append(values - sum(parts))
    squares = numpy.array([(part**2).sum() * (values.size // part.size) for part in parts])
    total = (values**2).sum()
    if not total > 0:
        return numpy.full(len(parts), numpy.nan)
    shares = numpy.where(squares < 1e-12 * total, 0, squares / total)
    return numpy.where(shares > 1 - 1e-12, 1, shares)


def degrees_of(shape, several):
    runs, subjects, templates, rephrasings, replicates, items = shape
    degrees = [subjects - 1, items - 1, (subjects - 1) * (items - 1), templates - 1, rephrasings - 1, replicates - 1]
    if several:
        degrees += [runs - 1, (runs - 1) * (subjects * items - 1)]
    return [*degrees, math.prod(shape) - 1 - sum(degrees)]


def logits(shares):
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.log(shares / (1 - shares))


def interval_of(values, several, shares, confidence):
    """Jackknife of logits over templates and over rephrasings, with Satterthwaite's degrees of freedom."""
    variance, fourth, count = 0, 0, 0
    for axis in (TEMPLATE, REPHRASING):
        length = values.shape[axis]
        if length > 2:
            with numpy.errstate(invalid="ignore"):
                left_out = logits(numpy.array([shares_of(numpy.delete(values, label, axis=axis), several) for label in range(length)]))
                own = (length - 1) / length * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
            variance, fourth, count = variance + own, fourth + own**2 / (length - 1), count + 1
    centre = logits(shares)
    low, high = numpy.full((2, len(shares)), numpy.nan)
    for place in numpy.flatnonzero(numpy.isfinite(centre) & numpy.isfinite(variance)) if count else []:
        half = 0
        if fourth[place] > 0:
            degrees = float(variance[place] ** 2 / fourth[place])
            half = scipy.stats.t.ppf((1 + confidence) / 2, degrees) * numpy.sqrt(variance[place])
        low[place], high[place] = 1 / (1 + numpy.exp(half - centre[place])), 1 / (1 + numpy.exp(-half - centre[place]))
    return low, high


def interaction(values, axis):
    """Mean square of subjects x an axis within items, other axes averaged."""
    cells = means(values, SUBJECT, axis, ITEM)
    rest = cells - cells.mean(axis=SUBJECT, keepdims=True) - cells.mean(axis=axis, keepdims=True)
    rest = rest + cells.mean(axis=(SUBJECT, axis), keepdims=True)
    return (rest**2).sum() / (values.shape[ITEM] * (values.shape[SUBJECT] - 1) * (values.shape[axis] - 1))


def check_shares(report, number, found, whole, several, confidence):
    """`found`: variables without their prefix; the complete table inside, and how ill-conditioned it is, or None."""
    values = complete_part(whole)
    status = NO_VALUES if not values.size else CONSTANT if numpy.ptp(values) == 0 else UNBALANCED if values.size < whole.size else 0
    report.same("variance: status", number, found["status"], status)
    report.same("variance: n", number, found["n"], values.size)
    report.same("variance: left out", number, found["num_left_out"], (~numpy.isnan(whole)).sum() - values.size)
    length = len(found["share"])
    shares, degrees, ends, scale = numpy.full(length, numpy.nan), numpy.zeros(length, int), numpy.full((2, length), numpy.nan), None
    if status in (0, UNBALANCED):
        scale = float(numpy.abs(values).max() / values.std())
        shares, degrees = shares_of(values, several), degrees_of(values.shape, several)
        ends = interval_of(values, several, shares, confidence)
    report.numbers("variance: share", number, found["share"], shares, 1, scale or 1, what=str(values.shape))
    given = numpy.array([found["share_low"], found["share_high"]])
    ends = numpy.where(shares == 1, given, ends)  # with or without the last bits
    inner = shares[(shares > 0) & (shares < 1)]  # a logit multiplies rounding by one over the share, or over the rest
    factor = (scale or 1) / min(inner.min(initial=1), (1 - inner).min(initial=1)) if status in (0, UNBALANCED) else 1
    report.numbers("variance: interval", number, given, ends, 1, factor, what=str(shares))
    report.same("variance: degrees", number, found["degrees"], degrees)
    return values, scale


def check(report, number, data, table, statistics, seed):
    for measure in range(table.length("measure")):
        whole = table.values[measure].astype(numpy.longdouble)[numpy.newaxis]
        found = {name[len("variance_"):]: values[measure] for name, values in data.items()
                 if name.startswith("variance_") and name != "variance_source"}
        values, scale = check_shares(report, number, found, whole, False, statistics["inference"]["confidence"])
        deviation, unit = numpy.nan, numpy.abs(values).max(initial=0)
        if scale and values.shape[SUBJECT] > 1:
            by_both = means(values, SUBJECT, ITEM)
            between = ((by_both - by_both.mean(axis=SUBJECT, keepdims=True)) ** 2).sum()
            deviation = numpy.sqrt(between / (values.shape[ITEM] * (values.shape[SUBJECT] - 1)))
        report.numbers("variance: deviation of subjects", number, found["subject_deviation"], deviation, unit)
        for axis, name in ((TEMPLATE, "template"), (REPHRASING, "rephrasing")):
            errors, enough, ours = numpy.full(whole.shape[axis], numpy.nan), -1, data[f"enough_{name}s"][measure]
            if not numpy.isnan(deviation) and values.shape[axis] > 1:
                square = interaction(values, axis)
                errors = numpy.sqrt(square / numpy.arange(1, whole.shape[axis] + 1))
                if deviation > 1e-12 * unit:
                    wanted = square / (0.05 * deviation) ** 2
                    near = abs(ours - wanted) < 1 + 1e-9 * wanted and abs(wanted - round(float(wanted))) < 1e-9 * wanted * scale
                    enough = ours if near else max(1, math.ceil(wanted))  # a whole number but for rounding
                    enough = -1 if enough > 2**31 - 1 else enough
            report.numbers(f"variance: error with so many {name}s", number, data[name + "_error"][measure], errors, unit)
            report.same(f"variance: enough {name}s", number, ours, enough)
