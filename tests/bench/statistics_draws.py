"""The program's random draws and what is drawn with them, computed again: bootstrap weights, random signs, intervals."""

import numpy
import scipy.stats

MASK = (1 << 64) - 1
LOW = numpy.uint64(0xFFFFFFFF)
HALF = numpy.uint64(32)
TEMPLATES, REPHRASINGS = (stream << 40 for stream in (1, 2))


def mix(value):
    """splitmix64's finaliser on an array."""
    with numpy.errstate(over="ignore"):
        value = value + numpy.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return value ^ (value >> numpy.uint64(31))


def below(bound, seed, stream, counter):
    """Uniform in [0, bound): the high half of 64 bits times the bound."""
    bits = mix(mix(mix(numpy.uint64(seed)) ^ numpy.asarray(stream, numpy.uint64)) ^ numpy.asarray(counter, numpy.uint64))
    bound = numpy.asarray(bound, numpy.uint64)
    return (((bits >> HALF) * bound + (((bits & LOW) * bound) >> HALF)) >> HALF).astype(int)


def weights(seed, stream, clusters, replicates):
    """[replicate, cluster]: how often it is drawn."""
    streams = numpy.arange(replicates, dtype=numpy.uint64) ^ numpy.uint64(stream)
    drawn = below(clusters, seed, streams[:, None], numpy.arange(clusters)[None, :])
    times = numpy.zeros((replicates, clusters), int)
    numpy.add.at(times, (numpy.arange(replicates)[:, None], drawn), 1)
    return times


def crossed(cells, rows, columns):
    """Means of the cells of each replicate; `rows`, `columns`: weights."""
    here = ~numpy.isnan(cells)
    factor = numpy.einsum("br,bc->brc", rows, columns) * here
    total = factor.sum(axis=(1, 2))
    sums = (factor * numpy.where(here, cells, 0).astype(numpy.longdouble)).sum(axis=(1, 2))
    return numpy.where(total > 0, sums / numpy.maximum(total, 1), numpy.nan)


def quantiles(values, confidence):
    values = numpy.sort(values.astype(numpy.longdouble))
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        position = (len(values) - 1) * share
        low = int(position)
        yield values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (position - low)


def usable(replicates):
    """Those with a value; None where fewer than nine in ten have one."""
    finite = replicates[numpy.isfinite(replicates)]
    return finite if len(finite) >= 2 and 10 * len(finite) >= 9 * len(replicates) else None


def mean_squares(cells):
    """What rows, columns and rest of a crossed table say of the variance of its mean: mean squares of the two-way analysis
    of variance over the number of cells; with missing cells Henderson's method III, at least 0, or the squared sums of
    rows and columns where no degrees are left for the rest."""
    cells = cells.astype(numpy.longdouble)
    cells = cells[(~numpy.isnan(cells)).any(axis=1)][:, (~numpy.isnan(cells)).any(axis=0)]
    if not cells.size:
        return {"template": 0, "rephrasing": 0, "rest": 0}
    here = ~numpy.isnan(cells)
    n, counts = here.sum(), cells.shape
    rest = numpy.where(here, cells - cells[here].mean(), 0)
    rest = numpy.where(here, rest - rest[here].mean(), 0)
    parts = [count / (count - 1) * (rest.sum(axis=axis) ** 2).sum() / n**2 if count > 1 else 0
             for axis, count in ((1, counts[0]), (0, counts[1]))]
    labels = numpy.nonzero(here)
    sse, rank = residual(rest[here].astype(float), *labels)
    left = n - rank if min(counts) > 1 else 0
    if left == 0:
        return dict(zip(("template", "rephrasing", "rest"), (*parts, 0)))
    if here.all():
        residuals = cells - cells.mean(axis=1, keepdims=True) - cells.mean(axis=0) + cells.mean()
        return dict(zip(("template", "rephrasing", "rest"), (*parts, (residuals**2).sum() / left / n)))
    for place, other in ((0, 1), (1, 0)):
        explained = residual(rest[here].astype(float), labels[other])[0] - sse
        spread = ((numpy.bincount(labels[place]) / n) ** 2).sum()
        variance = (explained - sse / left * (rank - counts[other])) / (n - counts[other])
        parts[place] = max(0.0, variance * spread + sse / left / n)
    return dict(zip(("template", "rephrasing", "rest"), (*parts, sse / left / n)))


def philox(counter, key):
    counter = [numpy.asarray(word, numpy.uint64) for word in counter]
    key = [numpy.uint64(word) for word in key]
    for _ in range(10):
        first, second = numpy.uint64(0xD2511F53) * counter[0], numpy.uint64(0xCD9E8D57) * counter[2]
        counter = [(second >> HALF) ^ counter[1] ^ key[0], second & LOW, (first >> HALF) ^ counter[3] ^ key[1], first & LOW]
        key = [(key[0] + numpy.uint64(0x9E3779B9)) & LOW, (key[1] + numpy.uint64(0xBB67AE85)) & LOW]
    return counter


def signs(seed, draws, count):
    """[draw, value]: 1 or -1."""
    words = (count + 63) // 64
    low, high, _, _ = philox([numpy.arange(words)[None, :], numpy.arange(draws)[:, None], 0, 5], [seed & 0xFFFFFFFF, seed >> 32])
    bits = (numpy.broadcast_to(high, (draws, words)) << HALF) | low
    places = numpy.arange(count)
    return numpy.where((bits[:, places // 64] >> (places % 64).astype(numpy.uint64)) & numpy.uint64(1), 1, -1)


def flipped(sums, seed, draws, rounding=0.0):
    """Two-sided p: of all signs up to 44 values, else of those that are drawn. `rounding`: by how much more than the last bits
    sums may be off for which the observed one counts as reached."""
    sums = numpy.asarray(sums, numpy.longdouble)
    least = abs(sums.sum()) - 1e-12 * numpy.abs(sums).sum() - rounding
    if len(sums) > 44:
        return ((numpy.abs(signs(seed, draws, len(sums)) @ sums) >= least).sum() + 1) / (draws + 1)
    if least <= 0:
        return 1.0
    halves = []
    for half in (sums[::2], sums[1::2]):
        totals = numpy.zeros(1)
        for value in half.astype(float):
            totals = numpy.concatenate([totals + value, totals - value])
        halves.append(numpy.sort(totals))
    reached = len(halves[1]) - numpy.searchsorted(halves[1], float(least) - halves[0])
    return 2 * float(reached.sum()) / 2.0 ** len(sums)


def within_rounding(found, count, rounding):
    """`found` where it lies between the p whose observed sum is off by `rounding` either way, else the p without rounding."""
    return found if count(-rounding) <= found <= count(rounding) else count(0.0)


def max_t(rows, seed, draws):
    """Step-down adjusted p of `rows` [test, block]; NaN for a test of zeros."""
    rows = numpy.asarray(rows, float)
    lengths = numpy.sqrt((rows**2).sum(axis=1))
    adjusted = numpy.full(len(rows), numpy.nan)
    real = numpy.flatnonzero(lengths > 0)
    scaled = rows[real] / lengths[real][:, None]
    observed = numpy.abs(scaled.sum(axis=1))
    order = numpy.argsort(-observed, kind="stable")
    sums = numpy.abs(signs(seed, draws, rows.shape[1]) @ scaled.T)
    before = 0.0
    for place, test in enumerate(order):
        largest = sums[:, order[place:]].max(axis=1)
        before = max(before, ((largest >= observed[test] - 1e-12).sum() + 1) / (draws + 1))
        adjusted[real[test]] = before
    return adjusted


def residual(values, *factors):
    """Sum of squares that is left of a least-squares fit on the factors' labels, and the fit's rank."""
    design = numpy.hstack([numpy.equal.outer(factor, numpy.unique(factor)).astype(float) for factor in factors])
    fitted, _, rank, _ = numpy.linalg.lstsq(design, values, rcond=None)
    return ((values - design @ fitted) ** 2).sum(), rank


def one_way(values, labels):
    """Variance of the mean where nothing but these labels has effects: the one-way analysis with unequal numbers."""
    n, counts = len(values), numpy.unique(labels, return_counts=True)[1]
    within, rank = residual(values, labels)
    between = ((values - values.mean()) ** 2).sum() - within
    spread = ((counts / n) ** 2).sum()
    if n == rank:
        return between / (rank - 1) * spread
    rest = within / (n - rank)
    return (between - rest * (rank - 1)) / (n * (1 - spread)) * spread + rest / n


def upper(degrees):
    """An estimated variance's upper 75 % limit over it."""
    return degrees / scipy.stats.chi2.ppf(0.25, degrees)


def satterthwaite(rows, columns, rest, degrees):
    """Degrees of freedom of rows + columns - rest."""
    return (rows + columns - rest) ** 2 / sum(part**2 / df for part, df in zip((rows, columns, rest), degrees))


def mean_error(cells):
    """Variance of the mean of a crossed table [row, column], and its degrees of freedom: Henderson's method III by least
    squares; effects without evidence are left out, as stats::CrossedSquares says."""
    rows, columns = numpy.nonzero(~numpy.isnan(cells))
    values = numpy.asarray(cells, float)[rows, columns]
    values, n = values - values.mean(), len(values)
    lengths = [len(numpy.unique(labels)) for labels in (rows, columns)]
    alone = (values**2).sum() / (n - 1) / n, n - 1
    if min(lengths) < 2:
        return alone
    if n == lengths[0]:  # each row once: its variance holds that of cells
        if n == lengths[1]:
            return alone
        of_rows = residual(values, columns)[0] / (n - lengths[1])
        spread = ((numpy.bincount(columns) / n) ** 2).sum()
        of_columns = max(0.0, (values**2).sum() - of_rows * (n - 1)) / (n * (1 - spread))
        return of_rows / n + of_columns * spread, lengths[1] - 1
    sse, rank = residual(values, rows, columns)
    if n == rank:
        parts = [length / (length - 1) * (numpy.bincount(labels, values) ** 2).sum() / n**2
                 for labels, length in zip((rows, columns), lengths)]
        return sum(parts), min(lengths) - 1
    rest, filled = sse / (n - rank), n / (lengths[0] * lengths[1])
    level = 1 - (1 - {2: 0.5, 3: 0.5, 4: 0.35}.get(min(lengths), 0.25)) * filled
    parts, degrees, there = [], [], []
    for labels, other in ((rows, columns), (columns, rows)):
        left, num_other = residual(values, other)
        degrees.append(rank - num_other)
        explained, spread = left - sse, ((numpy.bincount(labels) / n) ** 2).sum()
        parts.append((explained - rest * degrees[-1]) / (n - num_other) * spread + rest / n)
        there.append(degrees[-1] > 0
                     and scipy.stats.f.sf(explained / degrees[-1] / rest, degrees[-1], n - rank) <= level * (1 + 1e-9))
    variance, df = alone
    if all(there):
        parts = [max(part, rest / n) for part in parts]
        variance = sum(parts) - rest / n
        df = min(satterthwaite(parts[0] * rows_by, parts[1] * columns_by, rest / n, (*degrees, n - rank))
                 for rows_by, columns_by in ((1, 1), (upper(degrees[0]), 1), (1, upper(degrees[1]))))
    elif any(there):
        variance, df = one_way(values, rows if there[0] else columns), lengths[0 if there[0] else 1] - 1
    return variance, min(df, 1.5) if min(lengths) == 2 else df


def student(mean, error, confidence):
    """p of a mean against 0, and its interval; NaN where nothing is known of its variance."""
    variance, degrees = error
    if not (variance > 0 and degrees > 0):
        return numpy.nan, numpy.nan, numpy.nan
    half = scipy.stats.t.ppf((1 + confidence) / 2, degrees) * numpy.sqrt(variance)
    return 2 * scipy.stats.t.sf(abs(mean) / numpy.sqrt(variance), degrees), mean - half, mean + half


def crossed_t(cells, confidence=0.95):
    """p and interval of the mean of a table [template, rephrasing]; NaN: no cell."""
    return student(float(numpy.nanmean(cells)), mean_error(cells), confidence)


def welch(difference, groups, confidence=0.95):
    """p and interval of a sum of differences of means of groups that are other samples; the fewest degrees of freedom that they
    have with the estimates or with one group's variance at its upper limit."""
    parts = numpy.array([numpy.var(numpy.asarray(group, float), ddof=1) / len(group) for group in groups])
    if sum(parts) <= (1e-12 * max(numpy.abs(group).max() for group in groups)) ** 2:  # rounding of equal numbers
        return numpy.nan, numpy.nan, numpy.nan
    degrees = numpy.array([len(group) - 1 for group in groups])
    factors = numpy.eye(len(groups)) * (upper(degrees) - 1) + 1  # each group's at its upper limit; none
    fewest = min((parts * by).sum() ** 2 / ((parts * by) ** 2 / degrees).sum() for by in (*factors, 1))
    return student(float(difference), (parts.sum(), fewest), confidence)
