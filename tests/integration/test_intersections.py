"""Intersections of a score table: `stats` with `statistics.intersections`, and numpy and scipy on `score` and `pole_score`."""

import itertools
import math
import subprocess
import sys

import numpy
import pytest
import runs
import scipy.stats
import xarray

sys.path.insert(0, str(runs.ROOT / "tests/bench"))
from statistics_draws import crossed_t, mean_error, student  # noqa: E402

CROSSED = runs.ROOT / "jobs/41_crossed_markers.yaml"
GROUPS = "axes.groups={file: abc_groups, only: [women, men, teenagers, people with disabilities, Black people, Hispanic people]}"
TRAITS = "axes.traits={file: abc_poles, only: [powerless - powerful, poor - wealthy, cold - warm, dishonest - sincere, repellent - likable]}"
TEMPLATES = "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word, next_door, in_town, nearly_all]}"
MEASURES = ("ilps_star prior_word", "set_paper_augmented prior_mask")
ASKED = f"measures: [{', '.join(MEASURES)}]"


def program(*arguments):
    done = runs.program(*arguments)
    return done.returncode, done.stdout, done.stderr


def read(output):
    with xarray.open_dataset(output / "association.stats.h5", engine="netcdf4") as data:
        return data.load()


@pytest.fixture(scope="module")
def associations(tmp_path_factory):
    output = tmp_path_factory.mktemp("intersections") / "run"
    code, _, err = runs.run(runs.SMOKE, output, GROUPS, TRAITS, TEMPLATES)
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def found(associations):
    code, out, err = program("stats", associations, "statistics.inference={replicates: 300, draws: 4000, confidence: 0.9}",
                             f"statistics.intersections={{{ASKED}, threshold: 0.05}}")
    assert code == 0, err
    assert "Order of the items, in" in out and "Scores beyond each part's" in out
    assert max(map(len, out.splitlines())) <= 100
    return read(associations)


def tables(data, measure):
    """(prefix of variables, axis of items, scores [subject, template, rephrasing, item]) of items and poles."""
    for prefix, axis in (("", "item"), ("pole_", "pole")):
        scores = data[f"{prefix}score"].sel(measure=measure).isel(replicate=0)
        yield prefix, axis, scores.transpose("subject", "template", "rephrasing", axis).values


def parts_of(data):
    """{label: (first, second, their domains)}, from the coordinates of subjects."""
    subjects, kinds = data["subject"].values, data["subject_kind"].values
    domains = dict(zip(subjects, data["subject_domain"].values))
    return {label: (first, second, domains[first], domains[second])
            for label, kind, first, second in zip(subjects, kinds, data["subject_first"].values, data["subject_second"].values)
            if kind == "intersection"}


def expected_row(scores, first, second, baseline=0, confidence=0.9):
    """One intersection and item. Arguments [template, rephrasing]."""
    here = numpy.isfinite(scores + first + second + baseline)
    templates = here.any(axis=1).sum()
    row = {"emerge_num_cells": here.sum(), "emerge_num_templates": templates}
    if not here.any():
        return row
    means = [values[here].mean() for values in (scores, first, second)]
    differences = [scores - first, scores - second, scores - first - second + baseline]
    row |= {"emerge_score": means[0], "emerge_first": means[1], "emerge_second": means[2],
            "emerge_max": means[0] - max(means[1:]), "emerge_min": means[0] - min(means[1:]),
            "interaction": differences[2][here].mean()}
    if templates < 2:
        return row
    tests = [crossed_t(numpy.where(here, values, numpy.nan), confidence) for values in differences]
    beyond = row["emerge_max"] > 0 or row["emerge_min"] < 0
    row["emerge_p"] = max(tests[0][0], tests[1][0]) if beyond else 1
    return row | dict(zip(("interaction_p", "interaction_low", "interaction_high"), tests[2]))


def holm(p):
    order = numpy.argsort(p, kind="stable")
    adjusted = numpy.empty(len(p))
    adjusted[order] = numpy.minimum(1, numpy.maximum.accumulate((len(p) - numpy.arange(len(p))) * p[order]))
    return adjusted


def test_emergence_and_interaction_of_items_and_poles(found):
    subjects, parts = list(found["subject"].values), parts_of(found)
    assert list(found["intersection"].values) == list(parts)
    measure_axis = found["emerge_max"].dims[0]
    for measure in MEASURES:
        for prefix, axis, scores in tables(found, measure):
            ours = found.sel({measure_axis: measure})
            cubes = {name[len(prefix):]: ours[name].transpose("intersection", axis).values for name in ours.data_vars
                     if name.startswith((prefix + "emerge_", prefix + "interaction")) and axis in ours[name].dims}
            for place, (label, (first, second, *_)) in enumerate(parts.items()):
                for item in range(scores.shape[-1]):
                    three = [scores[subjects.index(name), ..., item] for name in (label, first, second)]
                    for name, value in expected_row(*three).items():
                        numpy.testing.assert_allclose(cubes[name][place, item], value, rtol=1e-9, atol=1e-12, err_msg=name)
            for name in ("emerge_p", "interaction_p"):
                tested = ~numpy.isnan(cubes[name])
                assert tested.sum() > 50
                numpy.testing.assert_allclose(cubes[name + "_holm"][tested], holm(cubes[name][tested]), rtol=1e-12)


def tau(left, right):
    """Over items; [template, rephrasing, item]."""
    both = numpy.isfinite(left) & numpy.isfinite(right)
    pairs = [(left[..., item][both[..., item]].mean(), right[..., item][both[..., item]].mean())
             for item in range(left.shape[-1]) if both[..., item].any()]
    return scipy.stats.kendalltau(*zip(*pairs)).statistic if len(pairs) > 1 else math.nan


def test_order_and_dominance(found):
    subjects, parts = list(found["subject"].values), parts_of(found)
    measure_axis = found["order_tau"].dims[0]
    for measure in MEASURES:
        scores = next(tables(found, measure))[2]
        ours = found.sel({measure_axis: measure})
        taus, by_domains = {}, {}
        for label, (first, second, *domains) in parts.items():
            other = next((name for name, pair in parts.items() if pair[:2] == (second, first)), None)
            taus[label] = [math.nan if name is None else tau(scores[subjects.index(label)], scores[subjects.index(name)])
                           for name in (other, first, second)]
            taus[label].append(max(taus[label][1:]))
            assert found["intersection_reversed"].sel(intersection=label).item() == (other or "")
            pair = dict(zip(domains, taus[label][1:3]))
            by_domains.setdefault(frozenset(domains), []).append(pair)
        numpy.testing.assert_allclose(ours["order_tau"].transpose("intersection", "order_comparison"), list(taus.values()), rtol=1e-11)
        numpy.testing.assert_allclose(ours["order_mean"], numpy.nanmean(list(taus.values()), axis=0), rtol=1e-11)
        both = [values for values in taus.values() if not math.isnan(values[0])]
        assert 0 < len(both) < len(taus)
        numpy.testing.assert_allclose(ours["order_mean_both"], numpy.mean(both, axis=0), rtol=1e-11)
        assert ours.sizes["domain_pair"] == len(by_domains) == 6
        for place in range(6):
            row = ours.isel(domain_pair=place)
            first, second = row["domain_pair_first"].item(), row["domain_pair_second"].item()
            pairs = by_domains[frozenset((first, second))]
            means = [numpy.mean([pair[domain] for pair in pairs]) for domain in (first, second)]
            numpy.testing.assert_allclose([row["dominance_tau_first"], row["dominance_tau_second"], row["dominance_difference"]],
                                          [*means, means[0] - means[1]], rtol=1e-11, atol=1e-12)
            assert row["dominance_num_intersections"] == len(pairs)
            difference = means[0] - means[1]
            assert row["dominance"] == (1 if difference >= 0.05 else 2 if difference <= -0.05 else 0)
            low, high = row["dominance_low"], row["dominance_high"]
            if {first, second} == {"gender", "race"}:  # the others have one group
                table = {}
                for label, (one, other, *domains) in parts.items():
                    if set(domains) == {first, second}:
                        names, own = ((one, other), 1) if domains[0] == first else ((other, one), -1)
                        table.setdefault(names, []).append(own * (taus[label][1] - taus[label][2]))
                names = [list(dict.fromkeys(pair[side] for pair in table)) for side in (0, 1)]
                cells = numpy.array([[numpy.mean(table.get((one, other), [math.nan])) for other in names[1]] for one in names[0]])
                _, *ends = student(means[0] - means[1], mean_error(cells), 0.9)
                numpy.testing.assert_allclose([low, high], numpy.clip(ends, -2, 2), rtol=1e-9)
                assert row["dominance_status"] == 0
                assert row["dominance_beyond_zero"] == (1 if low > 0 else 2 if high < 0 else 0)
            else:
                assert math.isnan(low) and row["dominance_status"] == 2 and row["dominance_beyond_zero"] == 3


def test_a_coreference_job_has_a_baseline(tmp_path):
    code, _, err = runs.run(CROSSED, tmp_path / "run", "execution.engine=fake",
                            "axes.augmentations=[baseline, aug1, aug2]")
    assert code == 0, err
    code, out, err = program("stats", tmp_path / "run", "--all", "statistics.inference={replicates: 100, draws: 500}",
                             "statistics.intersections={measures: [log_probability, accuracy]}")
    assert code == 0, err
    assert "the score where no group is named is the baseline's" in " ".join(out.split())
    with xarray.open_dataset(tmp_path / "run/coreference.stats.h5", engine="netcdf4") as data:
        data.load()
    subjects, names = list(data["subject"].values), ("kind", "augmentation", "first", "second")
    known = {label: dict(zip(names, values)) for label, *values in zip(subjects, *(data["subject_" + name].values for name in names))}
    scores = data["score"].sel(measure=data["intersection_measure"].values)
    scores = scores.transpose("measure", "subject", "template", "rephrasing", "replicate", "item").values[..., 0, :]
    cubes = {name: data[name].isel(item=0).transpose("intersection_measure", "intersection").values for name in data.data_vars
             if name.startswith(("emerge_", "interaction"))}
    num_rows = 0
    for place, label in enumerate(data["intersection"].values):
        parts = [data["intersection_first"].values[place], data["intersection_second"].values[place]]
        for part, name in zip(parts, ("first", "second")):
            assert known[part] == {"kind": "group", "augmentation": known[label]["augmentation"], "first": known[label][name], "second": ""}
        rows = [subjects.index(name) for name in (label, *parts, "baseline")]
        for measure in range(len(scores)):
            row = expected_row(*(scores[measure, at, ..., 0] for at in rows), confidence=0.95)
            for name, value in row.items():
                numpy.testing.assert_allclose(cubes[name][measure, place], value, rtol=1e-9, atol=1e-12, err_msg=f"{label} {name}")
            num_rows += 1
    assert num_rows > 20


def test_known_stereotypes(associations, tmp_path):
    table = tmp_path / "known.tsv"
    table.write_text("intersection\titem\tdirection\nBlack people x women\twarm\thigher\nBlack people x women\tcold\tlower\n"
                     "Hispanic people x men\tpoor\thigher\nwomen x teenagers\tpoor - wealthy\tlower\nmen x teenagers\tcold - warm\tnone\n")
    code, out, err = program("stats", associations, f"statistics.intersections={{{ASKED}, emergence: 0.1, level: 0.6, known: {table}}}")
    assert code == 0, err
    assert "Known stereotypes that emerge" in out and "known.tsv (SHA-256" in out
    data = read(associations)
    measure_axis = data["emerge_max"].dims[0]
    labels = {"item": ("women x teenagers", "men x teenagers"), "pole": ("Black people x women", "Hispanic people x men")}
    names = {"item": ("poor - wealthy", "cold - warm"), "pole": ("warm", "cold", "poor")}
    known = {("women x teenagers", "poor - wealthy", "lower"), ("Black people x women", "warm", "higher"),
             ("Black people x women", "cold", "lower"), ("Hispanic people x men", "poor", "higher")}
    for measure in MEASURES:
        for kind, prefix in (("item", ""), ("pole", "pole_")):
            cells = {}
            for label, name in itertools.product(labels[kind], names[kind]):
                row = data.sel({measure_axis: measure, "intersection": label, kind: name})
                passes = row[prefix + "emerge_p"].item() <= 0.6
                cells[label, name, "higher"] = passes and row[prefix + "emerge_max"].item() > 0.1
                cells[label, name, "lower"] = passes and row[prefix + "emerge_min"].item() < -0.1
            hits = sum(cells[cell] for cell in cells.keys() & known)
            here, predicted = len(cells.keys() & known), sum(cells.values())
            row = data.sel({measure_axis: measure, "known_kind": kind})
            assert [row["known_" + name].item() for name in ("universe", "unscored", "stereotypes", "predicted", "hits")] == \
                [len(cells), 0, here, predicted, hits]
            numpy.testing.assert_allclose([row["known_precision"], row["known_recall"], row["known_prevalence"]],
                                          [hits / predicted if predicted else math.nan, hits / here, here / len(cells)], rtol=1e-12)


def test_faults_are_named_and_leave_the_old_file(associations, tmp_path):
    path = associations / "association.stats.h5"
    before = path.read_bytes() if path.exists() else None
    code, _, err = program("stats", associations, "statistics.intersections={measures: [ilps]}")
    assert code == 2 and "no measure 'ilps'" in err
    code, _, err = program("stats", associations, "statistics.intersections={threshhold: 0.1}")
    assert code == 2 and "Did you mean 'threshold'" in err
    table = tmp_path / "known.tsv"
    table.write_text("intersection\titem\tdirection\nwomen\twarm\thigher\nBlack people x women\twarmth\thigher\n")
    code, _, err = program("stats", associations, f"statistics.intersections={{known: {table}}}")
    assert code == 2 and "known.tsv:2:intersection" in err and "known.tsv:3:item" in err
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_job_without_intersections_is_refused(tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "axes.intersections=none", "statistics.intersections=all")
    assert code == 0, err
    code, _, err = program("stats", tmp_path / "run")
    assert code == 2 and "statistics.intersections: there are none" in err


def test_the_same_file_on_two_ranks(associations, found, tmp_path):
    arguments = ("statistics.inference={replicates: 300, draws: 4000, confidence: 0.9}", f"statistics.intersections={{{ASKED}, threshold: 0.05}}")
    code, _, err = program("stats", associations, *arguments, "--output", tmp_path / "one.h5")
    assert code == 0, err
    process = runs.start_program("stats", associations, *arguments, "--output", tmp_path / "two.h5", ranks=2)
    code, _, err = runs.finish(process, 120)
    assert code == 0, err
    with xarray.open_dataset(tmp_path / "one.h5") as one, xarray.open_dataset(tmp_path / "two.h5") as two:
        assert one.equals(two)


THREE = ("axes.intersections={domains: [[race, gender, disability]], exclusions: [[Black people, men]], both_orders: false}",
         "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word, next_door]}")


@pytest.fixture(scope="module")
def three_crossed(tmp_path_factory):
    output = tmp_path_factory.mktemp("three") / "run"
    code, _, err = runs.run(runs.SMOKE, output, GROUPS, TRAITS, *THREE)
    assert code == 0, err
    code, out, err = program("stats", output, f"statistics.intersections={{{ASKED}}}", "statistics.inference={confidence: 0.9}")
    assert code == 0, err
    return output, out


def test_three_groups_are_crossed_and_held_against_each(three_crossed):
    output, out = three_crossed
    data = read(output)
    crossed = [str(name) for name in data["subject"].values[data["subject_kind"].values == "intersection"]]
    assert crossed == [f"{race} x {gender} x people with disabilities" for race, gender in
                       (("Black people", "women"), ("Hispanic people", "men"), ("Hispanic people", "women"))]
    assert list(data["subject_third"].values[-3:]) == ["people with disabilities"] * 3
    assert data["subject_domain"].values[-1] == "race x gender x disability"
    assert "third part" in out and "nearest part" in out
    measure_axis, num_beyond = data["emerge_max"].dims[0], 0
    subjects = list(data["subject"].values)
    for measure in MEASURES:
        for prefix, axis, scores in tables(data, measure):
            ours = data.sel({measure_axis: measure})
            for place, label in enumerate(crossed):
                parts = [scores[subjects.index(name)] for name in label.split(" x ")]
                whole = scores[subjects.index(label)]
                means = numpy.array([part.mean((0, 1)) for part in parts])
                row = {name: ours[f"{prefix}{name}"].isel(intersection=place).values for name in
                       ("emerge_max", "emerge_min", "emerge_third", "interaction", "interaction_p", "emerge_p")}
                score = whole.mean((0, 1))
                numpy.testing.assert_allclose(row["emerge_max"], score - means.max(0), rtol=1e-9, atol=1e-12)
                numpy.testing.assert_allclose(row["emerge_min"], score - means.min(0), rtol=1e-9, atol=1e-12)
                numpy.testing.assert_allclose(row["emerge_third"], means[2], rtol=1e-9)
                numpy.testing.assert_allclose(row["interaction"], score - means.sum(0), rtol=1e-9, atol=1e-12)
                for item in range(scores.shape[-1]):
                    p = [crossed_t(whole[..., item] - part[..., item], 0.9)[0] for part in parts]
                    beyond = row["emerge_max"][item] > 0 or row["emerge_min"][item] < 0
                    num_beyond += beyond
                    numpy.testing.assert_allclose(row["emerge_p"][item], max(p) if beyond else 1, rtol=1e-9)
                    rest = whole[..., item] - sum(part[..., item] for part in parts)
                    numpy.testing.assert_allclose(row["interaction_p"][item], crossed_t(rest, 0.9)[0], rtol=1e-9)
    assert num_beyond > 0
    code, out, err = program("plan", runs.SMOKE, GROUPS, TRAITS, *THREE)
    assert code == 0 and "Black people + men + people with disabilities: excluded" in out, err


def test_three_groups_are_shown_by_the_page_and_the_tables(three_crossed):
    output, _ = three_crossed
    analysis = [sys.executable, "-m", "stereosweep_analysis"]
    done = subprocess.run([*analysis, "table", output, "--what", "intersections"], capture_output=True, text=True)
    assert done.returncode == 0 and "\nthird part," in done.stdout, done.stderr
    done = subprocess.run([*analysis, "report", output], capture_output=True, text=True)
    assert done.returncode == 0 and "Hispanic people x men x people with disabilities" in (output / "report.html").read_text()
