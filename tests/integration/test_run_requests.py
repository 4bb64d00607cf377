"""What a start is asked for: one job of a sweep, an end before a time limit, the job of a directory."""

import json

import pytest
import runs

SWEEP = "sweep.seed=[1, 2, 3]"


@pytest.mark.parametrize("only, seed", [("1", 1), ("3", 3), ("smoke.2", 2)])
def test_one_job_of_a_sweep(tmp_path, only, seed):
    code, _, err = runs.run(runs.SMOKE, tmp_path, SWEEP, "--only", only)
    assert code == 0, err
    assert [path.name for path in tmp_path.iterdir()] == [f"smoke.{seed}"]
    assert runs.status(tmp_path / f"smoke.{seed}")["state"] == "done"
    code, _, err = runs.run(runs.SMOKE, tmp_path, SWEEP, "--only", only)
    assert code == 0 and "is complete: nothing to do" in err


@pytest.mark.parametrize("only", ["0", "4", "-1", "smoke", "1.5"])
def test_a_job_that_the_sweep_lacks(tmp_path, only):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "out", SWEEP, f"--only={only}")
    assert code == 2 and f"--only {only} names no job of the sweep" in err and "3 jobs: smoke.1, smoke.2, smoke.3" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ranks", [1, 3])
def test_no_block_is_begun_that_would_not_end(tmp_path, ranks):
    # A block takes 2 s, so that the 26 of them cannot end within the limit, however fast the machine is.
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "--time-limit", "0:12", ranks=ranks, inject="block_start:*:delay=2000")
    assert code == 75, err
    assert "stopping: the time limit is near (" in err
    state = runs.status(tmp_path / "run")
    assert state["state"] == "stopped" and "the time limit is near" in state["cause"]
    code, out, err = runs.run(runs.SMOKE, tmp_path / "run", "--time-limit=1-00:00:00")
    assert code == 0, err
    reference = tmp_path / "reference"
    assert runs.run(runs.SMOKE, reference)[0] == 0
    assert runs.digest(reference) in out


@pytest.mark.parametrize("limit", ["0", "soon", "1:2:3:4", "-5", "1-02"])
def test_what_is_no_time_limit(tmp_path, limit):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "out", f"--time-limit={limit}")
    assert code == 2 and "--time-limit is no length of time" in err


def test_a_directory_of_10000_groups_is_its_job(tmp_path):
    groups = [{"singular": f"g{i} person", "plural": f"g{i} people", "domain": "d"} for i in range(10_000)]
    job = {
        "schema": "stereosweep/1",
        "name": "many",
        "model": {"path": str(runs.ROOT / "tests/models/letters")},
        "probe": "association",
        "axes": {
            "groups": groups,
            "traits": [{"dimension": "d", "left": {"name": "a", "words": ["a"]}, "right": {"name": "b", "words": ["b"]}}],
            "templates": [{"label": "t", "text": "{group} are {trait}."}],
        },
        "measures": ["ilps"],
        "execution": {"engine": "fake"},
    }
    path, output = tmp_path / "job.yaml", tmp_path / "run"
    path.write_text(json.dumps(job))
    code, _, err = runs.run(path, output, inject="block_done:100:throw")
    assert code == 1 and "block_done" in err, err
    resolved = output / "job.resolved.yaml"
    assert resolved.stat().st_size > 1 << 20
    code, _, err = runs.finish(runs.start_program("run", output))
    assert code == 0, err
    assert runs.status(output)["blocks"]["done"] == runs.status(output)["blocks"]["total"]
    code, _, err = runs.finish(runs.start_program("stats", output, "statistics.word_aggregate=median"))
    assert code == 0, err
    code, _, err = runs.finish(runs.start_program("export", output))
    assert code == 0, err
    foreign = tmp_path / "foreign.yaml"
    foreign.write_bytes(resolved.read_bytes())
    code, _, err = runs.finish(runs.start_program("validate", foreign))
    assert code == 2 and "at most 1048576" in err, err
