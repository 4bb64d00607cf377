"""A probe that no file of src knows: run, killed, resumed, exported, and its score table read by xarray."""

import os
import pathlib
import subprocess

import pytest
import runs
import xarray

TOY = pathlib.Path(runs.PROGRAM).parents[1] / "tests" / "toy_stereosweep"
JOB = """schema: stereosweep/1
name: toy
model: {path: %s}
probe: toy
axes:
  groups:
    - {singular: woman, plural: women, domain: gender, adjective: female}
    - {singular: doctor, plural: doctors, domain: work}
    - {singular: Black person, plural: Black people, domain: race, adjective: Black}
  intersections: {domains: all}
words: [kind, warm, rich]
execution: {engine: fake, contexts_per_block: 2}
"""


@pytest.fixture(name="job")
def fixture_job(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "PROGRAM", str(TOY))
    path = tmp_path / "toy.yaml"
    path.write_text(JOB % (runs.ROOT / "tests/models/planted_causal"))
    return path


def toy(*arguments):
    return subprocess.run([TOY, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **runs.ENVIRONMENT})


def test_a_probe_of_one_file_has_all_commands(job, tmp_path):
    for ranks in (1, 3):
        code, _, err = runs.run(job, tmp_path / f"ranks{ranks}", ranks=ranks)
        assert code == 0, err
    digest = runs.digest(tmp_path / "ranks1")
    assert digest == runs.digest(tmp_path / "ranks3")

    killed = tmp_path / "killed"
    process = runs.start_held(job, killed, block=4)
    runs.kill_tree(process)
    assert runs.finish(process)[0] != 0 and not (killed / "toy.h5").exists()
    assert toy("export", killed).returncode == 0
    assert not xarray.open_dataset(killed / "toy.h5").attrs.get("complete", 1)
    code, _, err = runs.run(job, killed, ranks=3)
    assert code == 0, err
    assert runs.digest(killed) == digest

    for command in (["validate", job], ["plan", job], ["show", killed], ["stats", killed], ["status", killed]):
        done = toy(*command)
        assert done.returncode == 0, done.stderr
    with xarray.open_dataset(killed / "toy.h5") as raw, xarray.open_dataset(killed / "toy.stats.h5") as table:
        score = table["score"]
        assert score.dims == ("measure", "subject", "template", "rephrasing", "replicate", "item")
        assert list(table["subject"].values[:3]) == ["women", "doctors", "Black people"]
        assert "women x doctors" in table["subject"].values
        assert list(table["item"].values) == ["kind", "warm", "rich"]
        assert (score.values.reshape(raw["logprob"].shape) == raw["logprob"].values).all()
        assert (table["score_status"].values == 0).all()


def test_the_program_itself_does_not_know_it(job):
    done = subprocess.run(
        [os.environ.get("STEREOSWEEP_PROGRAM", runs.ROOT / "build/release/bin/stereosweep"), "validate", job],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 2 and "probe" in done.stderr
