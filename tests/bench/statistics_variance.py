"""Shares and components of variance of a score table, and the reliability of subjects' means."""

import itertools
import math

import numpy

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


def components_of(values, several):
    """[source] but for the residual: value by expected mean squares."""
    averaged = values.mean(axis=(RUN, REPLICATE))  # [subject, template, rephrasing, item]
    sources = [(averaged, effect) for effect in ((0,), (3,), (0, 3), (1,), (2,))] + [None]
    if several:
        by_run = values.mean(axis=REPLICATE).transpose(0, 2, 3, 1, 4)  # [run, template, rephrasing, subject, item]
        by_run = by_run.reshape(*by_run.shape[:3], -1)
        sources += [(by_run, (0,)), (by_run, (0, 3))]
    has_error = max(values.shape[TEMPLATE], values.shape[REPHRASING]) > 1
    return [numpy.nan if source is None or not has_error else component_of(*source) for source in sources]


def mean_square(table, effect):
    """Of an effect: deviations of means by inclusion and exclusion, over degrees of freedom."""
    rest = 0
    for size in range(len(effect) + 1):
        for part in itertools.combinations(effect, size):
            others = tuple(axis for axis in range(table.ndim) if axis not in part)
            rest = rest + (-1) ** (len(effect) - size) * table.mean(axis=others, keepdims=True)
    count = table.size // math.prod(table.shape[axis] for axis in effect)
    return (rest**2).sum() * count / math.prod(table.shape[axis] - 1 for axis in effect)


def component_of(table, effect):
    present = [axis for axis in range(table.ndim) if table.shape[axis] > 1]
    if not set(effect) <= set(present):
        return numpy.nan
    others = [axis for axis in present if axis not in effect]
    total = sum((-1) ** size * mean_square(table, (*effect, *more))
                for size in range(len(others) + 1) for more in itertools.combinations(others, size))
    return total / math.prod(table.shape[axis] for axis in others)


def check_shares(report, number, found, whole, several):
    """`found`: variables without their prefix; the complete table inside, and how ill-conditioned it is, or None."""
    values = complete_part(whole)
    status = NO_VALUES if not values.size else CONSTANT if numpy.ptp(values) == 0 else UNBALANCED if values.size < whole.size else 0
    report.same("variance: status", number, found["status"], status)
    report.same("variance: n", number, found["n"], values.size)
    report.same("variance: left out", number, found["num_left_out"], (~numpy.isnan(whole)).sum() - values.size)
    length = len(found["share"])
    shares, degrees, components, scale = numpy.full(length, numpy.nan), numpy.zeros(length, int), numpy.full(length, numpy.nan), None
    if status in (0, UNBALANCED):
        scale = float(numpy.abs(values).max() / values.std())
        shares, degrees = shares_of(values, several), degrees_of(values.shape, several)
        rest = ((values - values.mean()) ** 2).sum() * shares[-1] / degrees[-1] if degrees[-1] else numpy.nan
        components = numpy.array([*components_of(values, several), rest])
    report.numbers("variance: share", number, found["share"], shares, 1, scale or 1, what=str(values.shape))
    report.numbers("variance: component", number, found["component"], components, numpy.var(values) if values.size else 1, (scale or 1) ** 2)
    inside = (found["component_low"] <= found["component"]) & (found["component"] <= found["component_high"])
    report.same("variance: components inside their intervals", number, inside | numpy.isnan(components), numpy.ones(length, bool))
    report.same("variance: degrees", number, found["degrees"], degrees)
    return values, scale


def check(report, number, data, table, statistics, seed):
    for measure in range(table.length("measure")):
        whole = table.values[measure].astype(numpy.longdouble)[numpy.newaxis]
        found = {name[len("variance_"):]: values[measure] for name, values in data.items()
                 if name.startswith("variance_") and name != "variance_source"}
        check_shares(report, number, found, whole, False)
        for name in ("relative", "absolute"):
            ours = data[f"subject_variance_{name}"][measure]
            report.same("variance: reliability is a share", number, numpy.isnan(ours) or -1e-9 <= ours <= 1 + 1e-9, True)
