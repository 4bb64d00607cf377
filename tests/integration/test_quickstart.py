"""What the quickstart does with results that lie where it writes: its own older ones are made anew, others are left alone."""

import re
import shutil
import subprocess

import pytest
import runs

SCRIPT = (runs.ROOT / "env/quickstart.sh").read_text()
RUN_JOB = re.search(r"^run_job\(\) \{\n.*?^\}\n", SCRIPT, re.MULTILINE | re.DOTALL)[0]
OLDER = {"numerics_version": "1", "libtorch": "1.0"}


def run_job(folder, *settings):
    """Exit status, what a user sees, what the log has."""
    script = f"set -Eeuo pipefail; exec 3>&1; program={runs.PROGRAM}\n{RUN_JOB}run_job results/smoke {runs.SMOKE} \"$@\" >log 2>&1"
    (folder / "build").mkdir(exist_ok=True)
    environment = {**runs.os.environ, **runs.ENVIRONMENT, "STEREOSWEEP_CONFIGS": str(runs.ROOT / "configs")}
    done = subprocess.run(["bash", "-c", script, "run_job", *settings], cwd=folder, env=environment, text=True, capture_output=True)
    return done.returncode, done.stdout + done.stderr, (folder / "log").read_text()


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quickstart")
    assert run_job(folder)[:2] == (0, "")
    return folder


@pytest.fixture
def made(fresh, tmp_path):
    shutil.copytree(fresh, tmp_path / "made")
    return tmp_path / "made"


def test_what_is_complete_stays(made):
    before = runs.digest(made / "results/smoke")
    status, seen, log = run_job(made)
    assert (status, seen) == (0, "") and "nothing to do" in log and runs.digest(made / "results/smoke") == before


@pytest.mark.parametrize("mark", ["quickstart.sha256", "stats.txt"])  # of this version, of older ones
def test_its_own_result_of_an_older_build_is_made_anew(made, mark):
    result = made / "results/smoke"
    (result / "quickstart.sha256").rename(result / mark)
    for build in (OLDER, {"numerics_version": "2"}):  # again after it was made anew
        runs.rewrite_journal(result, settings=build)
        status, seen, log = run_job(made)
        assert status == 0 and seen.split() == "results/smoke is of an older version: it is made anew".split(), log
        status, seen, log = run_job(made)
        assert (status, seen) == (0, "") and "nothing to do" in log and "another build" not in log


def test_its_own_result_of_an_older_job_or_journal_is_made_anew(made):
    status, seen, log = run_job(made, "seed=9")
    assert status == 0 and "is made anew" in seen and "seed: 1, now 9" in log
    runs.rewrite_journal(made / "results/smoke", version=2)
    status, seen, log = run_job(made, "seed=9")
    assert status == 0 and "is made anew" in seen and "was written by an older version" in log


def test_a_result_that_is_not_the_quickstarts_is_left_alone(made, tmp_path):
    result = made / "results/smoke"
    shutil.rmtree(result)
    assert runs.run(runs.SMOKE, result, "seed=9")[0] == 0
    before = runs.digest(result)
    for mark in ([], ["stats.txt"]):  # of another job, also where tables lie beside it
        for name in mark:
            (result / name).touch()
        status, seen, log = run_job(made)
        assert status == 2 and seen == "" and "belongs to another job" in log and runs.digest(result) == before
    (result / "stats.txt").unlink()
    runs.rewrite_journal(result, settings=OLDER)
    for _ in range(2):  # the same job, but a user ran it
        status, seen, log = run_job(made, "seed=9")
        (result / "stats.txt").touch()
        assert (status, seen) == (0, "") and "was scored by another build" in log and runs.digest(result) == before


def test_a_job_of_the_user_in_its_place_is_left_alone(made):
    result = made / "results/smoke"
    assert runs.run(runs.SMOKE, result, "seed=9", "--overwrite")[0] == 0
    before = runs.digest(result)
    status, seen, log = run_job(made)
    assert status == 2 and seen == "" and "belongs to another job" in log and runs.digest(result) == before
