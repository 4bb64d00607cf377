"""`stats` of several results: every number of runs.stats.h5 again with numpy and scipy, from the single score tables."""

import itertools
import os
import re
import shutil
import subprocess

import h5py
import numpy
import pytest
import runs
import scipy.stats
import xarray
from test_contrasts import adjusted, crossed_t, flipped

CELLS = ("template", "rephrasing", "replicate")
AXES = ("subject", *CELLS, "item")
REPLICATES = 300
GROUPS = "axes.groups={file: abc_groups, only: [%s]}"


def stats(*arguments):
    done = runs.program("stats", *arguments)
    paths = ("written: ", "computed first: ")  # a line may also be a path alone
    wide = [line for line in done.stdout.splitlines() if len(line) > 100 and not line.startswith(paths) and len(line.split()) > 1]
    assert not wide, "wider than a terminal"
    return done.returncode, done.stdout, done.stderr


def load(path):
    with xarray.open_dataset(path, engine="netcdf4") as data:
        return data.load()


def shared(tables, axis):
    """Labels of the first table that all have, in its order."""
    return [label for label in tables[0][axis].values if all(label in table[axis].values for table in tables)]


def cells_of(tables, measure, paired=True):
    """Of each table that has the measure: [subject, template, rephrasing, replicate, item] of the shared labels."""
    labels = {axis: shared(tables, axis) for axis in (AXES if paired else ("subject", "item"))}
    cells = {number: table["score"].sel(measure=measure, **labels).transpose(*AXES).values
             for number, table in enumerate(tables) if measure in table["measure"].values}
    if not paired:
        return cells, None
    here = numpy.all([~numpy.isnan(values) for values in cells.values()], axis=0)
    some = numpy.any([~numpy.isnan(values) for values in cells.values()], axis=0)
    return {number: numpy.where(here, values, numpy.nan) for number, values in cells.items()}, (here.sum(), (some & ~here).sum())


def mean(values, axis):
    """NaN-mean without the warning for nothing."""
    n = (~numpy.isnan(values)).sum(axis=axis)
    return numpy.where(n > 0, numpy.nansum(values, axis=axis) / numpy.maximum(n, 1), numpy.nan), n


def close(found, expected, what):
    numpy.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12, err_msg=what)


def check_means(table, tables, paired=True):
    """Side by side."""
    for measure in table["measure"].values:
        cells, counts = cells_of(tables, measure, paired)
        row = table.sel(measure=measure)
        if paired:
            assert (row["num_shared"].item(), row["num_dropped"].item()) == counts
        for number in range(len(tables)):
            found = row.isel(run=number)
            if number not in cells:
                assert numpy.isnan(found["run_mean"]).all() and (found["run_mean_n"] == 0).all()
                continue
            in_sentences, _ = mean(cells[number], 3)
            value, n = mean(in_sentences, (1, 2))
            close(found["run_mean"].transpose("subject", "item"), value, "mean")
            assert (found["run_mean_n"].transpose("subject", "item").values == n).all()


def check_differences(table, tables, pairs):
    assert [tuple(pair) for pair in zip(table["run_pair_left"].values, table["run_pair_right"].values)] == [
        (table["run"].values[left], table["run"].values[right]) for left, right in pairs]
    for measure in table["measure"].values:
        cells, _ = cells_of(tables, measure)
        family = []
        for place, (left, right) in enumerate(pairs):
            rows = table.isel(run_pair=place).sel(measure=measure).transpose("subject", "item", ...)
            if left not in cells or right not in cells:
                assert (rows["run_status"] == 1).all()
                continue
            difference = mean(cells[left], 3)[0] - mean(cells[right], 3)[0]
            plain = {name: rows[name].values for name in rows if rows[name].dims[:2] == ("subject", "item")}
            for subject, item in itertools.product(range(difference.shape[0]), range(difference.shape[3])):
                row = {name: values[subject, item] for name, values in plain.items()}
                check_row(row, difference[subject, :, :, item])
            family.append(rows)
        if not family:
            continue
        ps = numpy.concatenate([rows["run_p"].values.ravel() for rows in family])
        tested = ~numpy.isnan(ps)
        for name, expected in zip(("holm", "benjamini_hochberg"), adjusted(ps[tested])):
            found = numpy.concatenate([rows["run_p_" + name].values.ravel() for rows in family])
            close(found[tested], expected, name)
            assert (found[tested] >= ps[tested]).all() and numpy.isnan(found[~tested]).all()
        most, flips = (numpy.concatenate([rows[name].values.ravel() for rows in family]) for name in ("run_p_flip_max_t", "run_p_flip"))
        assert (most[tested] >= flips[tested]).all()


def check_row(row, cells):
    """One difference: cells [template, rephrasing]."""
    here = ~numpy.isnan(cells)
    assert row["run_num_cells"] == here.sum() and row["run_num_possible"] == here.size
    if not here.any():
        assert row["run_status"] == 1 and numpy.isnan(row["run_difference"])
        return
    close(row["run_difference"], cells[here].mean(), "difference")
    of_templates = mean(cells, 1)[0][here.any(axis=1)]
    assert row["run_num_templates"] == len(of_templates)
    if len(of_templates) < 2:
        assert row["run_status"] == 2 and numpy.isnan(row["run_p"])
        return
    close(row["run_p_flip"], flipped(numpy.nansum(cells, axis=1)[here.any(axis=1)]), "p of flips")
    deviation = of_templates.std(ddof=1)
    varies = deviation > 1e-12 * abs(of_templates.mean())
    close(row["run_effect"], of_templates.mean() / deviation if varies else numpy.nan, "effect")
    if row["run_status"] == 0:
        close([row["run_p"], row["run_low"], row["run_high"]], crossed_t(cells), "p and interval")


def check_shares(table, tables):
    """Of variance, in a complete part: squares of deviations of means, each over all cells."""
    for measure in table["measure"].values:
        cells, _ = cells_of(tables, measure)
        values = numpy.array(list(cells.values()))  # [run, subject, template, rephrasing, replicate, item]
        row = table.sel(measure=measure)
        assert row["run_variance_status"] == (3 if numpy.isnan(values).any() else 0)
        while numpy.isnan(values).any():  # without the label that lacks most
            lacking = {axis: numpy.isnan(values).mean(axis=tuple(other for other in range(6) if other != axis))
                       for axis in (2, 1, 3, 4, 5, 0)}
            worst = max(lacking, key=lambda axis: round(lacking[axis].max(), 12))
            values = numpy.delete(values, lacking[worst].argmax(), worst)
        assert row["run_variance_n"] == values.size

        def mean_over(*kept):
            return values.mean(axis=tuple(axis for axis in range(6) if axis not in kept), keepdims=True)

        def squares(effect):
            return (numpy.broadcast_to(effect, values.shape) ** 2).sum()

        total = squares(values - values.mean())
        in_run = mean_over(0, 1, 5) - mean_over(1, 5) - mean_over(0) + values.mean()
        for source, effect in (("run", mean_over(0) - values.mean()), ("template", mean_over(2) - values.mean()),
                               ("subject", mean_over(1) - values.mean()), ("run x subject x item", in_run)):
            share = row["run_variance_share"].sel(variance_source=source)
            close(share, squares(effect) / total, source)
            component, low, high = (row["run_variance_component" + end].sel(variance_source=source) for end in ("", "_low", "_high"))
            has_error = max(values.shape[2:4]) > 1
            assert low <= component <= high if has_error and effect.size > 1 else numpy.isnan(low) and numpy.isnan(high)
        close(row["run_variance_share"].sum(), 1, "shares")


def check_correlations(table, people=None):
    series = {}
    for run in table["run"].values:
        for measure in table["measure"].values:
            means = table.sel(run=run, measure=measure).transpose("subject", "item", ...)
            if (means["run_mean_n"] > 0).any():
                series[f"{run} | {measure}"] = means["run_mean"].values
    if people is not None:
        series["people | mean rating"] = people
    expected = [(group, left, right) for group in ["all", *dict.fromkeys(filter(None, table["item_dimension"].values))]
                for right in series for left in series if is_compared(list(series), left, right)]
    found = list(zip(*(table[f"series_pair_{name}"].values for name in ("items", "left", "right"))))
    assert sorted(found) == sorted(expected)
    for place, (group, left, right) in enumerate(found):
        inside = numpy.ones(table.sizes["item"], bool) if group == "all" else table["item_dimension"].values == group
        row = table.isel(series_pair=place)
        x, y = series[left][:, inside].ravel(), series[right][:, inside].ravel()
        both = ~numpy.isnan(x) & ~numpy.isnan(y)
        x, y = x[both], y[both]
        assert row["series_n"] == both.sum()
        if both.sum() < 2 or numpy.ptp(x) == 0 or numpy.ptp(y) == 0:
            assert row["series_status"] != 0 and numpy.isnan(row["series_tau_b"])
            continue
        close(row["series_tau_b"], scipy.stats.kendalltau(x, y).statistic, "tau-b")
        close(row["series_pearson"], scipy.stats.pearsonr(x, y).statistic, "Pearson")
        close(row["series_spearman"], scipy.stats.spearmanr(x, y).statistic, "Spearman")


def is_compared(names, left, right):
    """Of paired runs: another run, the same measure or people."""
    (run, measure), (other, compared) = (name.split(" | ", 1) for name in (left, right))
    return names.index(left) < names.index(right) and run != other and (measure == compared or other == "people")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    output = tmp_path_factory.mktemp("runs") / "sweep"
    code, _, err = runs.run(runs.SMOKE, output, "sweep.seed=[1,2,3]", "measures=[ilps]",
                            f"statistics.inference={{replicates: {REPLICATES}, draws: 2000}}")
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Other groups, another template, another measure."""
    output = tmp_path_factory.mktemp("runs") / "other"
    code, _, err = runs.run(runs.SMOKE, output, "seed=4", "axes.intersections=none",
                            GROUPS % "Black people, men, trans people, women", "measures=[ilps, set]",
                            "axes.templates={file: abc_templates, only: [the_word, next_door, one_of_them]}",
                            f"statistics.inference={{replicates: {REPLICATES}, draws: 2000}}")
    assert code == 0, err
    return output


def test_a_sweep_is_one_table(sweep):
    places = sorted(sweep.iterdir())
    before = [runs.digest(place) for place in places]
    code, out, err = stats(sweep)
    assert code == 0, err
    assert out.startswith("How 3 runs agree and differ\n") and "Keys in which the jobs differ: seed." in out
    check_answer(out, load(sweep / "runs.stats.h5"))
    tables = [load(place / "association.stats.h5") for place in places]
    table = load(sweep / "runs.stats.h5")
    assert list(table["run"].values) == ["seed=1", "seed=2", "seed=3"] and list(table["run_seed"].values) == ["1", "2", "3"]
    assert list(table["run_digest"].values) == before == [runs.digest(place) for place in places]
    check_means(table, tables)
    check_differences(table, tables, [(1, 0), (2, 0), (2, 1)])
    check_correlations(table)
    check_shares(table, tables)
    first = (sweep / "runs.stats.h5").read_bytes()
    written = [(place / "association.stats.h5").stat().st_mtime_ns for place in places]
    assert stats(sweep)[0] == 0
    assert (sweep / "runs.stats.h5").read_bytes() == first
    assert [(place / "association.stats.h5").stat().st_mtime_ns for place in places] == written, "they were current"


NOTHING = r"(This design can hardly show any difference: no p of shuffled labels or signs is below \S+|No difference beyond chance)\. The nearest to it of \d+ rows: "
ANSWER = r"(seed=\d) leans further to (\S+) than (seed=\d) \(([^)]+)\): (\S+) nat, (\S+) \.\. (\S+), p (\S+), adjusted (\S+) \((\d+) templates\)\."


def check_answer(out, table):
    """The row with the smallest p, in words: who leans where, and its numbers."""
    told = " ".join(out.split("\n", 1)[1].split())
    said = re.match(f"({NOTHING})?{ANSWER}", told)
    assert said, told[:500]
    answers = [line.split("\t") for line in table["run_difference"].attrs["answers"].split("\n")]
    measure = next(measure for measure, text in answers if told.startswith(" ".join(text.split())))
    left, pole, right, subject, *numbers = said.groups()[2:]
    rows = table.sel(run_pair=f"{left} minus {right}", subject=subject, measure=measure)
    side = "item_right" if float(numbers[0]) > 0 else "item_left"
    items = [item for item in range(table.sizes["item"]) if table[side].values[item] == pole]
    names = ("run_difference", "run_low", "run_high", "run_p", "run_p_holm", "run_num_templates")
    found = [[float(rows.isel(item=item)[name]) for name in names] for item in items]
    assert any(numpy.allclose(row, list(map(float, numbers)), rtol=2e-3, atol=6e-4) for row in found), (found, numbers)
    smallest = float(table["run_p"].sel(measure=measure).min())
    assert any(row[3] == smallest for row in found)
    assert (said[1] is None) == (float(numbers[4]) <= 0.05)


def test_runs_that_share_a_part(sweep, other, tmp_path):
    code, out, err = stats(sweep / "smoke.2", other, "--output", tmp_path / "both.h5")
    assert code == 0, err
    assert "left out, not in all runs" in out and "trans people" in out and "next_door" in out
    tables = [load(place / "association.stats.h5") for place in (sweep / "smoke.2", other)]
    table = load(tmp_path / "both.h5")
    assert set(table["subject"].values) == {"women", "men", "Black people"}
    check_means(table, tables)
    check_differences(table, tables, [(1, 0)])
    assert (table["run_status"] == 1).any(), "measures of one run only"
    check_correlations(table)


def test_one_run_against_the_others(sweep, tmp_path):
    output = tmp_path / "against.h5"
    code, _, err = stats(sweep, "--against", "seed=2", "--output", output)
    assert code == 0, err
    check_differences(load(output), [load(place / "association.stats.h5") for place in sorted(sweep.glob("smoke.*"))],
                      [(0, 1), (2, 1)])
    code, _, err = stats(sweep, "--against", "seed=9", "--output", output)
    assert code == 2 and "there is no run 'seed=9'" in err


def test_statistics_that_are_not_the_jobs_are_computed_again(sweep, tmp_path):
    one, two = sweep / "smoke.1", sweep / "smoke.2"
    assert stats(two)[0] == 0 and stats(one, "statistics.word_aggregate=mean")[0] == 0
    code, out, err = stats(one, two, "--output", tmp_path / "a.h5")
    assert code == 0, err
    assert f"computed first: {one}" in out and f"computed first: {two}" not in out
    code, out, _ = stats(one, two, "--output", tmp_path / "b.h5")
    assert code == 0 and "computed first" not in out
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    damaged = two / "association.stats.h5"
    damaged.write_bytes(damaged.read_bytes()[:-200])
    code, out, _ = stats(one, two, "--output", tmp_path / "b.h5")
    assert code == 0 and "computed first" in out
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_results_that_cannot_be_compared(sweep, tmp_path):
    one, two = sweep / "smoke.1", sweep / "smoke.2"
    code, _, err = stats(one, sweep / "smoke.9")
    assert code == 2 and "is no run directory and no result file" in err and "Give the folder" in err
    code, _, err = stats(one, one, "--output", tmp_path / "x.h5")
    assert code == 2 and "one and the same result is named twice" in err
    code, _, err = stats(one, two, "--output", one / "association.h5")
    assert code == 2 and "is a file that is read" in err
    code, _, err = stats(one, "--against", "seed=1")
    assert code == 2 and "--against is for several results" in err
    code, _, err = runs.run(runs.SMOKE, tmp_path / "apart", GROUPS % "trans people", "axes.intersections=none")
    assert code == 0, err
    code, _, err = stats(one, tmp_path / "apart", "--output", tmp_path / "x.h5")
    assert code == 2 and "no subject is in all results" in err and "trans people" in err
    shutil.copytree(two, tmp_path / "newer")
    with h5py.File(tmp_path / "newer/association.h5", "r+") as file:
        file.attrs["schema_version"] = "1.9"
    code, _, err = stats(one, tmp_path / "newer", "--output", tmp_path / "x.h5")
    assert code == 2 and "the results have different schema versions" in err and "1.9" in err
    assert not (tmp_path / "x.h5").exists()


def test_an_incomplete_run_is_named(sweep, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(sweep / "smoke.3", copy)
    (copy / "association.h5").unlink()
    (journal,) = (copy / "journal").glob("*.log")
    os.truncate(journal, journal.stat().st_size * 2 // 3)
    exported = subprocess.run([runs.PROGRAM, "export", str(copy)], capture_output=True, text=True, cwd=runs.ROOT)
    assert exported.returncode == 0, exported.stderr
    code, out, err = stats(sweep / "smoke.1", copy, "--output", tmp_path / "x.h5")
    assert code == 0, err
    assert out.startswith("NOT complete: 'seed=3' has unscored blocks.")
    table = load(tmp_path / "x.h5")
    assert list(table["run_complete"].values) == ["yes", "NOT complete"]
    tables = [load(place / "association.stats.h5") for place in (sweep / "smoke.1", copy)]
    assert (table["num_dropped"] > 0).any()
    check_means(table, tables)
    check_differences(table, tables, [(1, 0)])
    shutil.move(copy / "association.h5", tmp_path / "kept.h5")
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, place in enumerate((sweep / "smoke.1", sweep / "smoke.2", copy)):
        shutil.copytree(place, folder / f"run{number}")
    code, out, err = stats(folder)
    assert code == 0, err
    assert out.startswith("NOT complete: left out:") and "run2" in out


def test_probes_that_share_subjects_and_items(sweep, tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text("""schema: stereosweep/1
name: embedded
seed: 5
model: {path: tests/models/letters}
probe: contexts
corpus: {templates: {file: abc_templates, only: [one_of_them, the_word, kind_of_people]}}
axes:
  tests: [{groups: {file: abc_groups, only: [women, men, Black people]},
           traits: {file: abc_traits, only: [powerless - powerful, cold - warm]}, form: plural}]
samples: 30
execution: {engine: fake, device: cpu}
""")
    code, _, err = runs.run(job, tmp_path / "embedded")
    assert code == 0, err
    code, out, err = stats(sweep / "smoke.1", tmp_path / "embedded", "--output", tmp_path / "mixed.h5")
    assert code == 0, err
    assert "No cells are paired (the results are of different probes)" in " ".join(out.split())
    table = load(tmp_path / "mixed.h5")
    assert "run_difference" not in table and table.attrs["paired"] == "no: the results are of different probes"
    assert set(table["subject"].values) == {"women", "men", "Black people"} and table.sizes["item"] == 2
    pairs = set(zip(table["series_pair_left"].values, table["series_pair_right"].values))
    assert ("association | ilps_first prior_word", "contexts | effect_size") in pairs
    embedded = load(tmp_path / "embedded/contexts.stats.h5")
    associated = load(sweep / "smoke.1/association.stats.h5")
    for subject, item in itertools.product(table["subject"].values, table["item"].values):
        (place,) = numpy.flatnonzero(embedded["subject_name"].values == subject)
        (test,) = numpy.flatnonzero(embedded["item"].values == item)
        for measure in embedded["measure"].values:
            found = table.sel(run="contexts", measure=measure, subject=subject, item=item)
            close(found["run_mean"], embedded["score"].isel(subject=place, item=test).sel(measure=measure).mean(), measure)
        for measure in associated["measure"].values:
            found = table.sel(run="association", measure=measure, subject=subject, item=item)
            close(found["run_mean"], associated["score"].sel(measure=measure, subject=subject, item=item).mean(), measure)
    check_correlations_of_series(table)


def check_correlations_of_series(table):
    for place, names in enumerate(zip(table["series_pair_left"].values, table["series_pair_right"].values)):
        sides = []
        for name in names:
            run, measure = name.split(" | ")
            sides.append(table["run_mean"].sel(run=run, measure=measure).values.ravel())
        row = table.isel(series_pair=place)
        if row["series_pair_items"] != "all":
            continue
        here = ~numpy.isnan(sides[0]) & ~numpy.isnan(sides[1])
        assert row["series_n"] == here.sum()
        close(row["series_tau_b"], scipy.stats.kendalltau(*(side[here] for side in sides)).statistic, "tau-b")


def test_people_are_a_series(sweep, tmp_path):
    ratings = tmp_path / "means.tsv"
    rows = [("women", "powerless - powerful", 31), ("Women", "cold - warm", 70), ("men", "powerless - powerful", 80),
            ("men", "cold - warm", 40), ("black people", "powerless - powerful", 25), ("Black People", "cold - warm", 55)]
    ratings.write_text("group\tpair\tmean\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    output = tmp_path / "people.h5"
    code, out, err = stats(sweep / "smoke.1", sweep / "smoke.2", f"statistics.human_ratings={ratings}", "--output", output)
    assert code == 0, err
    table = load(output)
    people = numpy.full((table.sizes["subject"], table.sizes["item"]), numpy.nan)
    subjects = [name.lower() for name in table["subject"].values]
    for group, item, value in rows:
        people[subjects.index(group.lower()), list(table["item"].values).index(item)] = value
    check_correlations(table, people)
    assert table["series_n"][table["series_pair_right"].values == "people | mean rating"].max() == len(rows)


def test_two_ranks_write_the_same(sweep, tmp_path):
    for ranks in (1, 2):
        for place in sweep.glob("smoke.*/*.stats.h5"):
            place.unlink()
        code, _, err = runs.finish(runs.start_program("stats", sweep, "--output", tmp_path / f"{ranks}.h5", ranks=ranks))
        assert code == 0, err
    assert (tmp_path / "1.h5").read_bytes() == (tmp_path / "2.h5").read_bytes()
