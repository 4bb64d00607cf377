"""Contrasts of two probes' score tables: `stats` with contrasts on the command line, and numpy on the table `score`."""

import math
import sys

import numpy
import pytest
import runs
import xarray

sys.path.insert(0, str(runs.ROOT / "tests/bench"))
from statistics_draws import crossed_t, welch  # noqa: E402

CROSSED = runs.ROOT / "jobs/41_crossed_markers.yaml"
SIDES = ("subject", "template", "rephrasing", "replicate")
TEMPLATES = "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word, next_door, in_town, nearly_all]}"


def program(*arguments):
    done = runs.program(*arguments)
    return done.returncode, done.stdout, done.stderr


def masks(data, selection):
    """Which labels of subject, template, rephrasing, replicate a side takes."""
    taken = {axis: numpy.ones(data.sizes[axis], bool) for axis in SIDES}
    for name, values in selection.items():
        axis = name.split(".")[0]
        taken[axis] &= numpy.isin(data[name.replace(".", "_")].values.astype(str), values)
    return taken


def mean(values):
    values = values[~numpy.isnan(values)]
    return values.mean() if values.size else math.nan


def blocks_of(data, left, right, paired):
    """Lists of sentences that flip together, of those that both sides have."""
    names = data[paired.replace(".", "_") if paired else "template"].values.astype(str)
    both = set(names[left["template"]]) & set(names[right["template"]]) - {""}
    return [numpy.flatnonzero(names == name) for name in dict.fromkeys(names) if name in both]


def side_mean(scores, side, sentences, rephrasing):
    chosen = scores[side["subject"]]
    chosen = chosen[:, [place for place in sentences if side["template"][place]]]
    return mean(chosen[..., side["replicate"]][:, :, rephrasing])


def flipped(sums):
    """Two-sided p over all signs."""
    totals = numpy.zeros(1)
    for value in sums:
        totals = numpy.concatenate([totals + value, totals - value])
    return numpy.mean(numpy.abs(totals) >= abs(math.fsum(sums)) - 1e-12 * numpy.abs(sums).sum())


def largest_difference(data, measure):
    """Of two scores of a measure that has ends."""
    ends = [data[f"measure_{end}"].sel(measure=measure).item() if f"measure_{end}" in data.coords else "" for end in ("lowest", "highest")]
    return float(ends[1]) - float(ends[0]) if all(ends) else math.inf


def compute(data, measure, item, left, right, paired=None):
    """The row of one contrast, from `score`; right None: zero."""
    scores = data["score"].sel(measure=measure, item=item).transpose(*SIDES).values
    left, zero = masks(data, left), right is None
    right = left if zero else masks(data, right)
    assert (left["rephrasing"] == right["rephrasing"]).all(), "each rephrasing is compared with itself"
    blocks = blocks_of(data, left, right, paired)
    pairs = numpy.array([[(side_mean(scores, left, block, place), 0 if zero else side_mean(scores, right, block, place))
                          for place in numpy.flatnonzero(left["rephrasing"])] for block in blocks])
    differences = pairs[:, :, 0] - pairs[:, :, 1]
    here = ~numpy.isnan(differences)
    present = differences[here.any(axis=1)]
    means = numpy.array([mean(row) for row in present])
    row = {"num_templates": len(present), "num_cells": here.sum(), "num_possible": here.size,
           "num_rephrasings": here.any(axis=0).sum()}
    if len(present) == 0:
        return {**row, "status": 1, "difference": math.nan, "p": math.nan, "p_flip": math.nan}
    row |= {"left": pairs[here][:, 0].mean(), "right": pairs[here][:, 1].mean(), "difference": differences[here].mean()}
    row |= {"status": 2, "p": math.nan, "p_flip": math.nan, "effect": math.nan}
    if len(present) > 1:
        deviation = means.std(ddof=1)
        varies = deviation > 1e-12 * abs(means.mean())
        row |= {"status": 0, "p_flip": flipped(numpy.nansum(present, axis=1)),
                "effect": means.mean() / deviation if varies else math.nan}
        del row["p"]
        if differences[here].std() <= 1e-12 * abs(differences[here].mean()):
            row |= {"status": 3, "p": 1.0 if (differences[here] == 0).all() else math.nan, "low": math.nan, "high": math.nan}
        else:
            most = largest_difference(data, measure)
            row["p"], low, high = crossed_t(differences)
            row |= {"low": max(low, -most), "high": min(high, most)}
    if not zero and not (left["subject"] & right["subject"]).any():
        used = numpy.concatenate(blocks)
        of_subjects = [numpy.array([side_mean(scores, {**side, "subject": numpy.arange(len(scores)) == subject}, used,
                                              side["rephrasing"]) for subject in numpy.flatnonzero(side["subject"])])
                       for side in (left, right)]
        if min(map(len, of_subjects)) > 1 and not numpy.isnan(numpy.concatenate(of_subjects)).any():
            row["p_subjects"] = welch(row["difference"], of_subjects)[0]
    return row


def adjusted(p):
    """Holm and Benjamini-Hochberg."""
    order = numpy.argsort(p, kind="stable")
    m = len(p)
    holm, hochberg = numpy.empty(m), numpy.empty(m)
    holm[order] = numpy.minimum(1, numpy.maximum.accumulate((m - numpy.arange(m)) * p[order]))
    steps = p[order] * m / (numpy.arange(m) + 1)
    hochberg[order] = numpy.minimum(1, numpy.minimum.accumulate(steps[::-1])[::-1])
    return holm, hochberg


def check(path, contrasts):
    """`contrasts`: {name: (left, right, paired)}, all that the file was asked for."""
    with xarray.open_dataset(path, engine="netcdf4") as data:
        data.load()
    measures, items = data["measure"].values, data["item"].values
    assert data.sizes["contrast"] == len(contrasts) * len(measures) * len(items)
    for measure in measures:
        rows = data.isel(contrast=data["contrast_measure"].values == measure)
        for place in range(rows.sizes["contrast"]):
            row = rows.isel(contrast=place)
            expected = compute(data, measure, row["contrast_item"].item(), *contrasts[row["contrast_name"].item()])
            for name, value in expected.items():
                numpy.testing.assert_allclose(row["contrast_" + name].item(), value, rtol=1e-11, atol=1e-12,
                                              err_msg=f"{name} of {row.contrast.item()}")
            if expected["status"] == 0:
                assert row["contrast_low"] <= row["contrast_high"]
        rows = rows.isel(contrast=~numpy.isnan(rows["contrast_p"].values))
        p = rows["contrast_p"].values
        holm, hochberg = adjusted(p)
        numpy.testing.assert_allclose(rows["contrast_p_holm"], holm, rtol=1e-12)
        numpy.testing.assert_allclose(rows["contrast_p_benjamini_hochberg"], hochberg, rtol=1e-12)
        for name in ("holm", "benjamini_hochberg", "yekutieli"):
            values = rows["contrast_p_" + name].values
            assert (numpy.isnan(values) | (values >= p)).all(), name
    return data


@pytest.fixture(scope="module")
def associations(tmp_path_factory):
    output = tmp_path_factory.mktemp("contrasts") / "run"
    code, _, err = runs.run(runs.SMOKE, output, TEMPLATES)
    assert code == 0, err
    return output


def test_groups_of_an_association_job(associations):
    before = runs.digest(associations)
    code, out, err = program(
        "stats", associations, "--top", "8", "statistics.inference.draws=2000", "statistics.contrasts=["
        "{name: gender, left: {subject: women}, right: {subject: men}, cells: all},"
        "{name: many, left: {subject: [women, Black people]}, right: {subject: [men, people with disabilities]}, cells: all},"
        "{name: women, left: {subject: women}, right: zero, cells: all},"
        "{name: voices, left: {rephrasing: bus, subject: women}, right: {rephrasing: bus, subject.kind: intersection}, cells: all}]")
    assert code == 0, err
    assert "Contrasts in" in out and "gender" in out
    women, men = {"subject": ["women"]}, {"subject": ["men"]}
    data = check(associations / "association.stats.h5", {
        "gender": (women, men), "women": (women, None),
        "many": ({"subject": ["women", "Black people"]}, {"subject": ["men", "people with disabilities"]}),
        "voices": ({"rephrasing": ["bus"], **women}, {"rephrasing": ["bus"], "subject.kind": ["intersection"]})})
    assert (data["contrast_status"] == 0).any()
    assert (numpy.isnan(data["contrast_p_flip_max_t"]) == numpy.isnan(data["contrast_p_flip"])).all()  # the same templates everywhere
    assert runs.digest(associations) == before


def test_statistics_without_contrasts_hold_none(associations):
    code, out, err = program("stats", associations)
    assert code == 0, err
    assert "Contrasts" not in out
    with xarray.open_dataset(associations / "association.stats.h5", engine="netcdf4") as data:
        assert not [name for name in data.variables if name.startswith("contrast")]


def test_each_subject_against_the_rest(associations):
    code, _, err = program("stats", associations, "statistics.contrasts=[{name: one, each: subject, right: rest, cells: all}]")
    assert code == 0, err
    with xarray.open_dataset(associations / "association.stats.h5", engine="netcdf4") as data:
        kinds, subjects = data["subject_kind"].values, data["subject"].values
    check(associations / "association.stats.h5", {
        f"one: {subject}": ({"subject": [subject]},
                            {"subject": [other for other, like in zip(subjects, kinds) if like == kind and other != subject]})
        for subject, kind in zip(subjects, kinds)})


def test_unknown_labels_are_all_named_and_leave_the_old_file(associations):
    code, _, err = program("stats", associations)
    assert code == 0, err
    path = associations / "association.stats.h5"
    before = path.read_bytes()
    code, _, err = program(
        "stats", associations, "statistics.contrasts=[{name: a, left: {subject: woman}, right: {subjects: men}},"
        "{name: b, left: {template: one_of_them}, right: {template: the_word}, measures: [nothing]}]")
    assert code == 2
    for fault in ("no 'woman' on subject", "no axis or coordinate 'subjects'", "no measure 'nothing'", "different templates"):
        assert fault in err
    assert path.read_bytes() == before


def test_a_job_file_may_ask_for_contrasts(tmp_path):
    contrast = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}, cells: all}]"
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", contrast)
    assert code == 0, err
    assert program("stats", tmp_path / "run")[0] == 0
    check(tmp_path / "run/association.stats.h5", {"gender": ({"subject": ["women"]}, {"subject": ["men"]})})
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")  # the same job: statistics change no raw number
    assert code == 0, err


def test_pairs_and_markers_of_a_coreference_job(tmp_path):
    code, _, err = runs.run(CROSSED, tmp_path / "run", "execution.engine=fake")
    assert code == 0, err
    code, _, err = program(
        "stats", tmp_path / "run", "statistics.inference={family: measure, replicates: 200, draws: 1000}",
        "statistics.contrasts=["
        "{name: stereotype, left: {template.stereotype: pro}, right: {template.stereotype: anti}, paired: template.pair, cells: all},"
        "{name: baseline, left: {template.stereotype: pro, subject.kind: baseline},"
        " right: {template.stereotype: anti, subject.kind: baseline}, paired: template.pair, cells: all},"
        "{name: race, left: {subject.first: White, subject.kind: group}, right: {subject.first: Black, subject.kind: group},"
        " paired: template.pair, cells: all}]")
    assert code == 0, err
    pro, anti = {"template.stereotype": ["pro"]}, {"template.stereotype": ["anti"]}
    baseline, group = {"subject.kind": ["baseline"]}, {"subject.kind": ["group"]}
    check(tmp_path / "run/coreference.stats.h5", {
        "stereotype": (pro, anti, "template.pair"),
        "baseline": ({**pro, **baseline}, {**anti, **baseline}, "template.pair"),
        "race": ({"subject.first": ["White"], **group}, {"subject.first": ["Black"], **group}, "template.pair")})
