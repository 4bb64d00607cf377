"""`plan --power` over a pilot: the templates that its contrasts need, from the score table and scipy's noncentral t."""

import bisect
import itertools
import math

import numpy
import pytest
import runs
import xarray
from scipy import integrate, stats
from test_contrasts import TEMPLATES, program

from statistics_draws import mean_error, satterthwaite, upper  # isort: skip, test_contrasts adds its folder to the path

CONTRASTS = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]"


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    output = tmp_path_factory.mktemp("power") / "run"
    code, _, err = runs.run(runs.SMOKE, output, TEMPLATES)
    assert code == 0, err
    assert program("stats", output)[0] == 0
    return output


def ways(ratio, degrees, rest_degrees, level):
    """(how often, mean square over its expectation) where an effect passes for one, and where it does not; from F's integrals."""
    of = stats.f(degrees, rest_degrees)
    if rest_degrees <= 2:  # F has no mean: by the expected mean squares alone
        return ((1, 1), (0, 1)) if of.sf(ratio) <= level * (1 + 1e-9) else ((0, 1), (1, 1))
    least = of.isf(level) / ratio
    passes, mean = of.sf(least), rest_degrees / (rest_degrees - 2)
    below = integrate.quad(lambda x: x * of.pdf(x), 0, least, epsabs=1e-12)[0] / mean
    return (passes, (1 - below) / passes if passes > 0 else 0), (1 - passes, below / (1 - passes) if passes < 1 else 0)


def chance(difference, variance, taken, df, level):
    """Of a noncentral t, where the test takes `taken` for the variance."""
    end, shift = stats.t.ppf(1 - level / 2, df) * math.sqrt(taken / variance), difference / math.sqrt(variance)
    if shift > 35:
        return stats.gamma.cdf(df / 2 * (shift / end) ** 2, df / 2)
    found = stats.nct.sf(end, df, shift) + (stats.nct.cdf(-end, df, shift) if shift < 5 else 0)
    if math.isfinite(found):
        return found
    shares = (numpy.arange(20_000) + 0.5) / 20_000  # scipy gives NaN for some: over the deviation's distribution
    return stats.norm.cdf(shift - end * numpy.sqrt(stats.chi2.ppf(shares, df) / df)).mean()


def power(difference, rows, variances=(1, 0, 0), columns=1, level=0.05):
    of_rows, of_columns, rest = variances
    if rows < 2 or columns == 1:
        return 0 if rows < 2 else chance(difference, (of_rows + rest) / rows, (of_rows + rest) / rows, rows - 1, level)
    n, fewest = rows * columns, min(rows, columns)
    squares, degrees = (of_rows * columns + rest, of_columns * rows + rest), (rows - 1, columns - 1, (rows - 1) * (columns - 1))
    evidence = {2: 0.5, 3: 0.5, 4: 0.35}.get(fewest, 0.25)
    total = 0
    for place, (row, column) in enumerate(itertools.product(*(ways(square / rest, df, degrees[2], evidence)
                                                              for square, df in zip(squares, degrees)))):
        if row[0] * column[0] == 0:
            continue
        means = squares[0] * row[1], squares[1] * column[1], rest
        if place == 0:
            taken = means[0] + means[1] - rest
            df = min(satterthwaite(means[0] * by_rows, means[1] * by_columns, rest, degrees)
                     for by_rows, by_columns in ((1, 1), (upper(degrees[0]), 1), (1, upper(degrees[1]))))
        elif place == 3:
            taken, df = sum(mean * one for mean, one in zip(means, degrees)) / (n - 1), n - 1
        else:
            taken, df = means[place - 1], degrees[place - 1]
        df = min(df, 1.5) if fewest == 2 else df
        total += row[0] * column[0] * chance(difference, (sum(squares) - rest) / n, taken / n, df, level)
    return total


def enough(difference, variances=(1, 0, 0), columns=1, chance=0.8):
    """None: no number."""
    short, reached = 1, 2
    while power(difference, reached, variances, columns) < chance:
        if reached == 100_000:
            return None
        short, reached = reached, min(100_000, reached + reached // 4 + 1)
    between = range(short + 1, reached + 1)
    return between[bisect.bisect_left(between, True, key=lambda n: power(difference, n, variances, columns) >= chance)]


def is_enough(number, difference, variances, columns, chance=0.8):
    """Whether `enough` would find it: with so many the chance is reached, with one less it is not."""
    if number is None:
        return power(difference, 100_000, variances, columns) < chance
    return power(difference, number, variances, columns) >= chance > power(difference, number - 1, variances, columns)


def rows(text, measure):
    """[contrast, item, ...] of the table of a measure; what does not fit the screen stands in a second one."""
    table = text.split(f"Templates needed in {measure}\n")[1].split("\n\n")[0]
    return [line.rsplit(maxsplit=10) for line in table.splitlines() if line.startswith("gender ")]


def test_templates_needed_are_those_of_the_pilots_variances(pilot):
    code, out, err = program("plan", runs.SMOKE, "--power", "difference=1.5", f"pilot={pilot}", TEMPLATES, CONTRASTS,
                             "--limit", "50")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 100, out
    with xarray.open_dataset(pilot / "association.stats.h5", engine="netcdf4") as data:
        scores = data["score"].isel(replicate=0).transpose("measure", "subject", "template", "rephrasing", "item").load()
    checked, counts = 0, []
    for measure in scores["measure"].values:
        shown = rows(out, measure)
        for item in scores["item"].values:
            of = scores.sel(measure=measure, item=item)
            cells = (of.sel(subject="women") - of.sel(subject="men")).values
            row = next(row for row in shown if item.replace(" - ", " ").split()[0] in " ".join(row))
            if numpy.isnan(cells).any() or numpy.ptp(cells) < 1e-9:
                continue
            templates, rephrasings = cells.shape
            means, of_columns = cells.mean(axis=1), cells.mean(axis=0)
            own = cells - means[:, None] - of_columns + cells.mean()
            rest = (own**2).sum() / ((templates - 1) * (rephrasings - 1))
            variances = [max(0, means.var(ddof=1) - rest / rephrasings), max(0, of_columns.var(ddof=1) - rest / templates), rest]
            factor = mean_error(cells)[1]
            factor /= stats.chi2.ppf(0.2, factor)
            cautious = [factor * variance for variance in variances]
            found = [None if cell == "none" else int(cell) for cell in row[-5:]]
            asked = [(variances, 1), (variances, rephrasings), (variances, 5), (variances, 20), (cautious, rephrasings)]
            for number, (own, count) in zip(found, asked, strict=True):
                assert is_enough(number, 1.5, own, count), (measure, item, row, count)
            counts.append(found[1] or math.inf)
            checked += 1
    assert checked > 10
    least, most = (f"{count:,}" if count < 1e6 else "more than 100,000" for count in (min(counts), max(counts)))
    assert out.startswith(f"{least} to {most} templates (or pairs) with 2 rephrasings"), out[:200]


def test_without_a_pilot_only_a_standardised_effect():
    code, out, err = program("plan", runs.SMOKE, "--power", "effect=0.6", "chance=0.9")
    assert code == 0, err
    needed = enough(0.6, chance=0.9)
    assert out.startswith(f"{needed} templates")
    table = {int(line.split()[0]): int(line.split()[1]) for line in out.splitlines() if line[:1].isdigit() and len(line.split()) == 2}
    assert len(table) > 8 and needed in table
    for count, percent in table.items():
        assert abs(100 * power(0.6, count) - percent) <= 0.5 + 1e-6, count
    code, _, err = program("plan", runs.SMOKE, "--power", "difference=0.6")
    assert code == 2 and "needs a pilot" in err


def test_faults_are_named(pilot, tmp_path):
    code, _, err = program("plan", runs.SMOKE, "--power", "efect=0.5", "chance=2", "level=x")
    assert code == 2
    for fault in ("unknown key 'efect'", "Did you mean 'effect'?", "--power.chance: a number from 0.01 to 0.999",
                  "--power.level: a number", "no effect is given"):
        assert fault in err
    code, _, err = program("plan", runs.SMOKE, "--power", "effect=0.5", f"pilot={pilot}")
    assert code == 2 and "asks for no contrast" in err
    code, _, err = program("plan", runs.SMOKE, "--power", "effect=0.5", f"pilot={pilot}",
                           "statistics.contrasts=[{name: x, left: {subject: womn}}]")
    assert code == 2 and "no 'womn' on subject" in err and "'women'" in err
    unread = tmp_path / "run"
    assert runs.run(runs.SMOKE, unread)[0] == 0
    code, _, err = program("plan", runs.SMOKE, "--power", "effect=0.5", f"pilot={unread}", CONTRASTS)
    assert code == 2 and "no score table yet" in err and "stereosweep stats" in err
    (unread / "association.stats.h5").write_bytes((pilot / "association.stats.h5").read_bytes())
    code, _, err = program("plan", runs.SMOKE, "--power", "effect=0.5", f"pilot={unread}", CONTRASTS)
    assert code == 2 and "is of another result" in err
