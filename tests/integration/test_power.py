"""`plan --power` over a pilot: the templates that its contrasts need, from the score table and scipy's noncentral t."""

import bisect
import math

import numpy
import pytest
import runs
import xarray
from scipy import stats
from test_contrasts import TEMPLATES, program

CONTRASTS = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]"


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    output = tmp_path_factory.mktemp("power") / "run"
    code, _, err = runs.run(runs.SMOKE, output, TEMPLATES)
    assert code == 0, err
    assert program("stats", output)[0] == 0
    return output


def power(effect, n, level=0.05):
    """Of sign flips; of six differences, which must all be of one sign, without an approximation."""
    signs = 2.0 ** min(n - 1, 60)
    attained = math.floor(level * signs) / signs
    if attained * signs == 1:
        return stats.norm.cdf(effect) ** n + stats.norm.cdf(-effect) ** n
    if attained == 0:
        return 0
    return stats.nct.sf(stats.t.ppf(1 - attained / 2, n - 1), n - 1, effect * math.sqrt(n))


def enough(effect, chance=0.8):
    return 2 + bisect.bisect_left(range(2, 100_000), True, key=lambda n: power(effect, n) >= chance)


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
            means = cells.mean(axis=1)
            own = cells - means[:, None] - cells.mean(axis=0) + cells.mean()
            rest = (own**2).sum() / ((templates - 1) * (rephrasings - 1))
            between = max(0, means.var(ddof=1) - rest / rephrasings)
            deviations = [math.sqrt(between + rest / count) for count in (1, rephrasings, 5, 20)]
            cautious = deviations[1] * math.sqrt((templates - 1) / stats.chi2.ppf(0.2, templates - 1))
            expected = [enough(1.5 / deviation) for deviation in [*deviations, cautious]]
            assert [int(cell) for cell in row[-5:]] == expected, (measure, item, row)
            counts.append(expected[1])
            checked += 1
    assert checked > 10
    assert out.startswith(f"{min(counts):,} to {max(counts):,} templates (or pairs) with 2 rephrasings"), out[:200]


def test_without_a_pilot_only_a_standardised_effect():
    code, out, err = program("plan", runs.SMOKE, "--power", "effect=0.6", "chance=0.9")
    assert code == 0, err
    needed = enough(0.6, 0.9)
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
    for fault in ("'efect=0.5'", "did you mean 'effect'?", "chance=2", "level=x", "no effect is given"):
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
