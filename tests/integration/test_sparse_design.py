"""A part of templates x rephrasings that is asked in place of all (`axes.design`): every number that is asked is that of
the whole product, whatever the ranks, kills and restarts; the others are not applicable."""

import json

import h5py
import numpy
import pytest
import runs

FAKE = "execution.engine=fake"
FIVE = "[" + ", ".join(f"'{wrapper}'" for wrapper in (
    "{prompt}", "Well: {prompt}", "Please: {prompt}", "Now: {prompt}", "Again: {prompt}")) + "]"  # fmt: skip
JOBS = {
    "association": ("10_planted.yaml", "axes.groups={file: abc_groups, only: [women, men, doctors]}",
                    "axes.traits={file: abc_traits, only: [cold - warm]}", "axes.rephrasings=voices",
                    "execution.contexts_per_block=7"),
    "coreference": ("03_example_coreference.yaml", "axes.rephrasings=refers_to", "execution.contexts_per_block=11"),
    "interview": ("04_example_interview.yaml", f"axes.rephrasings={FIVE}", "execution.contexts_per_block=3"),
    "rating": ("05_example_rating.yaml", f"axes.rephrasings={FIVE}", "sampling.runs=2", "execution.contexts_per_block=4",
               "axes.templates=[{label: a, text: 'How {trait} are {group}?'}, {label: b, text: 'Are {group} {trait}?'}, "
               "{label: c, text: 'Do people think {group} are {trait}?'}]"),
}  # fmt: skip
LAYERS = {"association": 3, "coreference": 1, "interview": 2, "rating": 2}
NOT_APPLICABLE = 5


def run(probe, folder, *more, code=0, **options):
    job, *settings = JOBS[probe]
    status, out, err = runs.run(runs.ROOT / "jobs" / job, folder, *settings, FAKE, *more, **options)
    assert status == code, out + err
    return out + err


def design(probe, more=""):
    return f"axes.design={{layers: {LAYERS[probe]}{more}}}"


def command(*arguments, code=0, **options):
    status, out, err = runs.finish(runs.start_program(*arguments, **options))
    assert status == code, out + err
    return out + err


@pytest.fixture(scope="module", params=list(JOBS))
def both(request, tmp_path_factory):
    """Probe, folder of the whole product, folder of the part."""
    probe = request.param
    folder = tmp_path_factory.mktemp(probe)
    run(probe, folder / "whole")
    run(probe, folder / "part", design(probe))
    return probe, folder / "whole", folder / "part"


def by_sentence(file, name, axes=("template", "rephrasing")):
    """[template, rephrasing, all else] of a variable over both."""
    names = [dimension[0].name.split("/")[-1] for dimension in file[name].dims]
    order = [names.index(axis) for axis in axes]
    values = numpy.moveaxis(file[name][:], order, range(len(axes)))
    return values.reshape(*values.shape[: len(axes)], -1)


def asked_sentences(folder, probe):
    with h5py.File(folder / f"{probe}.stats.h5") as file:
        return (by_sentence(file, "score_status") != NOT_APPLICABLE).any(axis=2)


def test_what_is_asked_is_that_of_the_whole_product(both):
    probe, whole, part = both
    command("stats", whole), command("stats", part)
    asked = asked_sentences(part, probe)
    assert (asked.sum(axis=1) == LAYERS[probe]).all()
    assert asked.sum(axis=0).max() - asked.sum(axis=0).min() <= 1
    with h5py.File(whole / f"{probe}.h5") as all_, h5py.File(part / f"{probe}.h5") as some:
        assert some.attrs["complete"] == 1 and some.attrs["num_blocks"] == some.attrs["num_blocks_scored"]
        assert f"{asked.sum()} of {asked.size} sentences" in some.attrs["design"]
        for cube in some.attrs["raw_cubes"].split():
            for name in (cube, f"prior_{cube}"):
                if name in some:
                    mine, full = by_sentence(some, name), by_sentence(all_, name)
                    numpy.testing.assert_array_equal(mine[asked], full[asked], err_msg=name)
                    assert mine[~asked].size == 0 or len(set(mine[~asked].flat) - {b"", ""}) <= 1 or (
                        numpy.isnan(mine[~asked]).all()), name
    with h5py.File(whole / f"{probe}.stats.h5") as all_, h5py.File(part / f"{probe}.stats.h5") as some:
        for name in ("score", "score_status", "pole_score", "pole_score_status"):
            if name in some:
                mine, full = by_sentence(some, name), by_sentence(all_, name)
                numpy.testing.assert_array_equal(mine[asked], full[asked], err_msg=name)
                left = mine[~asked]
                assert (left == NOT_APPLICABLE).all() if name.endswith("status") else numpy.isnan(left).all(), name


def test_plan_counts_what_is_asked(both):
    probe, _, part = both
    job, *settings = JOBS[probe]
    asked = asked_sentences(part, probe)
    text = command("plan", runs.ROOT / "jobs" / job, *settings, FAKE, design(probe))
    assert f"{asked.sum()} of {asked.size} sentences" in " ".join(text.split())
    with h5py.File(part / f"{probe}.h5") as file:
        assert f"blocks     {file.attrs['num_blocks']} of" in text
    prompts = command("plan", runs.ROOT / "jobs" / job, *settings, FAKE, design(probe), "--show-prompts", "--limit", "1")
    assert len(prompts) > 0


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_and_kills_come_to_the_same(both, tmp_path, ranks):
    probe, _, part = both
    job, *settings = JOBS[probe]
    folder = tmp_path / "run"
    process = runs.start_held(runs.ROOT / "jobs" / job, folder, *settings, FAKE, design(probe), block=1, ranks=ranks)
    runs.kill_tree(process)
    process.wait()
    run(probe, folder, design(probe), ranks=5 - ranks)
    assert runs.digest(folder) == runs.digest(part)
    assert "level A" in command("verify", folder)


def test_more_layers_take_over_those_before(tmp_path):
    """Where probabilities are asked; sampled texts fill blocks with several groups instead."""
    run("association", tmp_path / "two", "axes.design={layers: 2}")
    run("association", tmp_path / "four", "axes.design={layers: 4}", "--reuse", tmp_path / "two")
    run("association", tmp_path / "alone", "axes.design={layers: 4}")
    two, four = (runs.status(tmp_path / name)["blocks"] for name in ("two", "four"))
    assert four["reused"] == two["total"] == four["total"] / 2
    assert runs.digest(tmp_path / "four") == runs.digest(tmp_path / "alone")
    run("interview", tmp_path / "texts", "axes.design={layers: 1}", "execution.contexts_per_block=64")
    assert runs.status(tmp_path / "texts")["blocks"]["total"] == 1


def test_contrasts_of_a_part_are_means_of_its_cells(tmp_path):
    contrast = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]"
    run("association", tmp_path / "part", design("association"), contrast, "statistics.variance_shares=all")
    text = command("stats", tmp_path / "part", "--means")
    assert "each of 28 templates in 3 of 10 rephrasings: 84 of 280 sentences" in " ".join(text.split())
    assert "NOT complete" not in text
    with h5py.File(tmp_path / "part/association.stats.h5") as file:
        names = [name.decode() for name in file["subject"][:]]
        scores = file["score"][:, :, :, :, 0, 0]
        differences = scores[:, names.index("women")] - scores[:, names.index("men")]
        measures = [name.decode() for name in file["contrast_measure"][:]] if "contrast_measure" in file else None
        found = file["contrast_difference"][:].ravel()
        expected = numpy.nanmean(differences, axis=(1, 2))
        assert numpy.isfinite(differences[0]).sum() == 84
        assert measures is None or len(measures) == len(found)
        assert any(numpy.allclose(found, expected[place : place + len(found)], atol=1e-12)
                   for place in range(len(expected)))  # fmt: skip
        assert ((0 < file["contrast_p"][:]) & (file["contrast_p"][:] < 1)).all()


def test_the_seed_and_the_design_belong_to_the_run(tmp_path):
    folder = tmp_path / "run"
    run("rating", folder, design("rating"))
    assert "seed" in run("rating", folder, design("rating"), "seed=3", code=2)
    assert "design" in run("rating", folder, "axes.design={layers: 3}", code=2)
    assert "nothing to do" in run("rating", folder, design("rating"))
    other = tmp_path / "other"
    run("rating", other, design("rating"), "seed=3")
    assert (asked_of_raw(other) != asked_of_raw(folder)).any()


def asked_of_raw(folder):
    with h5py.File(folder / "rating.h5") as file:
        return (by_sentence(file, "prompt") != b"").any(axis=2)


def test_pairs_are_asked_in_the_same_rephrasings(tmp_path):
    run("coreference", tmp_path / "run", design("coreference", ", paired: template.pair"))
    command("stats", tmp_path / "run")
    asked = asked_sentences(tmp_path / "run", "coreference")
    with h5py.File(tmp_path / "run/coreference.stats.h5") as file:
        pairs = file["template_pair"][:]
    assert 1 < len(set(pairs)) < len(pairs)
    for pair in set(pairs) - {b""}:
        assert len({tuple(row) for row in asked[pairs == pair]}) == 1, pair


@pytest.mark.parametrize(("probe", "value", "words"), [
    ("association", "{layers: 0}", "axes.design.layers"),
    ("association", "{layers: 11}", "axes.design.layers: 11 rephrasings of each template"),
    ("association", "{}", "layers"),
    ("association", "{layer: 2}", "layer"),
    ("association", "{layers: 2, paired: template.knd}", "template.kind"),
    ("association", "2", "axes.design"),
    ("coreference", "{layers: 4}", "3 rephrasings"),
])  # fmt: skip
def test_mistakes_are_told_with_their_place(tmp_path, probe, value, words):
    job, *settings = JOBS[probe]
    text = command("validate", runs.ROOT / "jobs" / job, *settings, FAKE, f"axes.design={value}", code=2)
    assert words in text, text


def test_a_run_that_decides_deals_by_itself():
    job, *settings = JOBS["association"]
    contrast = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]"
    text = command("validate", runs.ROOT / "jobs" / job, *settings, FAKE, contrast, "statistics.decide={want: [sign]}",
                   design("association"), code=2)  # fmt: skip
    assert "beside axes.design" in " ".join(text.split())
    text = command("validate", runs.ROOT / "jobs/60_ceat.yaml", "axes.design={layers: 1}", code=2)
    assert "design" in text


def test_the_schema_knows_the_key():
    schema = json.dumps(json.loads(command("schema")))
    assert schema.count('"layers"') >= 4
