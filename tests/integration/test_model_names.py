"""Models by their names in a Hugging Face cache: the same numbers as by path, the revision kept, nothing downloaded."""
import json
import os
import shutil
import subprocess

import h5py
import pytest
import runs

PLANTED = runs.ROOT / "tests/models/planted"
JOB = runs.ROOT / "jobs/10_planted.yaml"
SMALL = ["axes.templates={file: abc_templates, only: [one_of_them, kind_of_people]}",
         "axes.groups={file: abc_groups, only: [women, men, Black people]}", "axes.traits={file: abc_poles}",
         "execution.contexts_per_block=1", "statistics={}"]
FIRST, SECOND = "1" * 40, "2" * 40


def add_to_cache(cache, name, source, commit, ref="main"):
    """A snapshot as huggingface_hub writes it: links into blobs, a ref with the commit."""
    folder = cache / ("models--" + name.replace("/", "--"))
    snapshot, ref_file = folder / "snapshots" / commit, folder / "refs" / ref
    snapshot.mkdir(parents=True)
    ref_file.parent.mkdir(parents=True, exist_ok=True)
    (folder / "blobs").mkdir(exist_ok=True)
    for file in source.iterdir():
        if file.suffix in (".json", ".safetensors"):
            blob = folder / "blobs" / f"{commit[:4]}-{file.name}"
            shutil.copy(file, blob)
            (snapshot / file.name).symlink_to(os.path.relpath(blob, snapshot))
    ref_file.write_text(commit)
    return snapshot


def program(*arguments, cache, code=0, text=""):
    done = subprocess.run([runs.PROGRAM, *map(str, arguments)], input=text, capture_output=True, text=True, cwd=runs.ROOT,
                          timeout=300, env=os.environ | runs.ENVIRONMENT | {"HF_HUB_CACHE": str(cache)})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture()
def cache(tmp_path):
    add_to_cache(tmp_path / "hub", "org/planted", PLANTED, FIRST)
    return tmp_path / "hub"


def changed(folder):
    """Another model under the same name."""
    shutil.copytree(PLANTED, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-6}))
    return folder


def test_a_name_gives_the_numbers_of_its_directory(cache, tmp_path):
    program("run", JOB, "--output", tmp_path / "path", *SMALL, cache=cache)
    program("run", JOB, "--output", tmp_path / "name", *SMALL, "model.path=org/planted", cache=cache)
    assert runs.digest(tmp_path / "name") == runs.digest(tmp_path / "path")
    assert f'revision: "{FIRST}"' in (tmp_path / "name/job.resolved.yaml").read_text()
    assert "revision" not in (tmp_path / "path/job.resolved.yaml").read_text()
    with h5py.File(tmp_path / "name/association.h5") as file:
        assert file.attrs["model_revision"] in (FIRST, FIRST.encode())
        assert file.attrs["model"] in ("org/planted", b"org/planted")
    assert f"model_revision: {FIRST}" in program("show", tmp_path / "name", cache=cache)


def test_a_run_goes_on_with_another_cache_and_with_its_own_revision(cache, tmp_path):
    run = tmp_path / "run"
    settings = {"HF_HUB_CACHE": str(cache)}
    code, _, err = runs.run(JOB, run, *SMALL, "model.path=org/planted", environment=settings, inject="block_start:3:throw")
    assert code == 1, err
    done = runs.status(run)["blocks"]["done"]
    assert 0 < done < 6
    moved = tmp_path / "elsewhere" / "hub"
    moved.parent.mkdir()
    cache.rename(moved)
    add_to_cache(moved, "org/planted", changed(tmp_path / "changed"), SECOND)  # main has moved on, the old one stays
    said = program("run", JOB, "--output", run, *SMALL, "model.path=org/planted", cache=moved, code=2)
    assert f"model.path: org/planted@{FIRST}, now org/planted@{SECOND}" in said
    program("run", run, cache=moved)
    assert runs.status(run)["state"] == "done"
    program("run", JOB, "--output", tmp_path / "path", *SMALL, cache=moved)
    assert runs.digest(run) == runs.digest(tmp_path / "path")


def test_what_is_missing_is_told_with_its_command(cache, tmp_path):
    command = 'hf download org/other --include "*.json" --include "*.safetensors"'
    for arguments in (["run", JOB], ["plan", JOB]):
        assert command in program(*arguments, "model.path=org/other", cache=cache, code=2)
    assert "is not on this machine" in program("validate", JOB, "model.path=org/other", cache=cache)
    assert command in program("validate", JOB, "model.path=org/other", cache=cache)
    assert "Did you mean 'org/planted'?" in program("tokenize", "--model", "planted", cache=cache, code=2)
    (cache / "models--org--planted/snapshots" / FIRST / "model.safetensors").unlink()
    said = program("run", JOB, "--output", tmp_path / "run", *SMALL, "model.path=org/planted", cache=cache, code=2)
    assert f"Fetch what is missing: hf download org/planted --revision {FIRST}" in said


@pytest.mark.parametrize("name", ["../nohub", "org//planted", "/org/planted", "org/planted@../../x", "org/planted@a b"])
def test_hostile_names_are_paths_that_are_not_there(cache, name):
    said = program("query", "--model", name, cache=cache, code=2)
    assert "hf download" not in said and "cannot read the model directory" in said


def test_the_commands_that_ask_a_model_take_names_too(cache):
    line = json.dumps({"kind": "fill", "text": "The [MASK] is kind.", "ids": [[5, 6]]}) + "\n"
    named = program("query", "--model", f"org/planted@{FIRST}", cache=cache, text=line)
    assert named == program("query", "--model", PLANTED, cache=cache, text=line) and "logprob" in named
    assert program("tokenize", "--model", "org/planted", cache=cache, text="kind\n") == program(
        "tokenize", "--model", PLANTED, cache=cache, text="kind\n")


@pytest.mark.parametrize("keys, message", [
    (["model={path: org/planted, revision: main}"], "'main' is no commit"),
    (["model={path: tests/models/planted/, revision: " + FIRST + "}"], "only a name on the hub")])
def test_a_revision_is_a_commit_of_a_name(cache, keys, message):
    assert message in program("validate", JOB, *keys, cache=cache, code=2)
