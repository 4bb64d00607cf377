"""Differences of differences: the contrasts of the shipped coreference job, and numpy on the table `score`."""

import itertools
import subprocess
import sys

import numpy
import pytest
import runs
import xarray

sys.path.insert(0, str(runs.ROOT / "tests/bench"))
from statistics_draws import crossed_t  # noqa: E402
from test_contrasts import largest_difference  # noqa: E402

JOB = runs.ROOT / "jobs/42_winoidentity_tables.yaml"
MARKERS = "axes.markers={file: winoidentity_markers, only: [rich, poor]}"


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    output = tmp_path_factory.mktemp("interactions") / "run"
    code, _, err = runs.run(JOB, output, MARKERS, "execution.engine=fake")
    assert code == 0, err
    done = subprocess.run([runs.PROGRAM, "stats", output], capture_output=True, text=True, cwd=runs.ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines() if not line.startswith("written:")]  # as long as its path
    assert "Contrasts in accuracy" in done.stdout and max(map(len, shown)) <= 100
    return output


@pytest.fixture(scope="module")
def data(output):
    with xarray.open_dataset(output / "coreference.stats.h5", engine="netcdf4") as opened:
        return opened.load()


def rows_of(data, name):
    rows = data.isel(contrast=data.contrast_name.values == name)
    assert rows.sizes["contrast"] > 0, name
    return [rows.isel(contrast=place) for place in range(rows.sizes["contrast"])]


def mean(values):
    values = values[~numpy.isnan(values)]
    return values.mean() if values.size else numpy.nan


def side(scores, data, subjects, block, **template):
    """Mean of the scores of the subjects in the block's sentences with these coordinates."""
    chosen = [place for place in block if all(data["template_" + name].values[place] == value for name, value in template.items())]
    return mean(scores[subjects][:, chosen])


def flipped(sums):
    totals = numpy.array([numpy.dot(signs, sums) for signs in itertools.product((1, -1), repeat=len(sums))])
    return numpy.mean(numpy.abs(totals) >= abs(sum(sums)) - 1e-12 * numpy.abs(sums).sum())


def check(data, name, paired, differences, num_differences=1):
    """`differences(scores, block)` gives the two numbers of one block; `num_differences`: each is so many."""
    names = data["template_" + paired].values
    for row in rows_of(data, name):
        scores = data.score.sel(measure=row.contrast_measure.item(), item=row.contrast_item.item(), replicate="none")
        scores = scores.isel(rephrasing=0).transpose("subject", "template").values
        blocks = [numpy.flatnonzero(names == value) for value in dict.fromkeys(names)]
        both = numpy.array([differences(scores, block) for block in blocks])
        both = both[~numpy.isnan(both).any(axis=1)]
        assert int(row.contrast_num_templates) == len(both)
        if len(both) == 0:
            assert numpy.isnan(row.contrast_difference)
            continue
        found = [row.contrast_left.item(), row.contrast_right.item(), row.contrast_difference.item()]
        sums = both[:, 0] - both[:, 1]
        numpy.testing.assert_allclose(found, [*both.mean(axis=0), sums.mean()], rtol=1e-11, atol=1e-12)
        assert 2 <= len(sums) <= 12
        numpy.testing.assert_allclose(row.contrast_p_flip, flipped(sums), rtol=1e-11)
        if numpy.ptp(sums) > 1e-12 * numpy.abs(both).max():
            found = [row.contrast_p.item(), row.contrast_low.item(), row.contrast_high.item()]
            p, low, high = crossed_t(sums[:, None])
            most = num_differences * largest_difference(data, row.contrast_measure.item())
            numpy.testing.assert_allclose(found, [p, max(low, -most), min(high, most)], rtol=1e-9, atol=1e-12)
            assert row.contrast_p_holm >= row.contrast_p
        else:
            assert numpy.isnan(row.contrast_low) and numpy.isnan(row.contrast_high)


def test_women_minus_men_by_stereotype(data):
    augmentations = data.subject_augmentation.values
    for kind, name in (("unambiguous", "T2"), ("ambiguous", "T1")):
        for augmentation in dict.fromkeys(augmentations):
            subjects = numpy.flatnonzero(augmentations == augmentation)

            def differences(scores, block):
                return [side(scores, data, subjects, block, type=kind, gender="female", stereotype=which)
                        - side(scores, data, subjects, block, type=kind, gender="male", stereotype=which)
                        for which in ("pro", "anti")]

            check(data, f"{name} women - men by stereotype: {augmentation}", "occupations", differences, 2)


def test_markers_minus_baseline_and_their_interaction_with_gender(data):
    baseline = numpy.flatnonzero(data.subject_kind.values == "baseline")
    others = numpy.flatnonzero(data.subject_kind.values != "baseline")
    assert len(baseline) == 1 and len(others) >= 8
    for place in others[::3]:
        label, subject = data.subject.values[place], numpy.array([place])
        check(data, f"T2 anti marker: {label}", "pair", lambda scores, block: [
            side(scores, data, who, block, type="unambiguous", stereotype="anti") for who in (subject, baseline)])
        check(data, f"T2 women - men by marker: {label}", "pair", lambda scores, block: [
            side(scores, data, who, block, type="unambiguous", gender="female")
            - side(scores, data, who, block, type="unambiguous", gender="male") for who in (subject, baseline)], 2)
    names = set(data.contrast_name.values)
    assert f"T2 pro marker: {data.subject.values[baseline[0]]}" not in names


def test_sides_of_an_attribute(data):
    for place in ("aug1", "aug2", "aug4"):
        sides = [numpy.flatnonzero((data.subject_augmentation.values == place) & (data.subject_privilege.values == which))
                 for which in ("privileged", "disadvantaged")]
        check(data, f"T1 priv - dis {place}: socio-economic status", "pair", lambda scores, block: [
            side(scores, data, who, block, type="ambiguous") for who in sides])


def test_token_probabilities_are_sums_and_means(output, data):
    with xarray.open_dataset(output / "coreference.h5", engine="netcdf4") as opened:
        raw = opened.load()
    assert (raw.num_subwords > 1).any()
    tokens = numpy.exp(raw.logprob.transpose("group", "template", "rephrasing", "occupation", "subword").values)
    total = numpy.nansum(tokens, axis=-1)
    counts = raw.num_subwords.transpose("group", "template", "rephrasing", "occupation").values
    for name, expected in (("token_probability_sum", total), ("token_probability_mean", total / counts)):
        ours = data.score.sel(measure=name, replicate="none").transpose("subject", "template", "rephrasing", "item")
        numpy.testing.assert_allclose(ours, expected, rtol=1e-11)
    for referent, other, both in zip(data.template_referent.values, data.template_other.values, data.template_occupations.values):
        assert both == ", ".join(sorted([referent, other]))
