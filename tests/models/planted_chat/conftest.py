"""One run of jobs/70_stereomap.yaml over the planted chat model, and its statistics, for all tests here."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("STEREOSWEEP_PROGRAM", str(ROOT / "build/release/bin/stereosweep"))


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def planted_run(tmp_path_factory):
    output = tmp_path_factory.mktemp("planted") / "run"
    program("run", "jobs/70_stereomap.yaml", "--output", output)
    return output


@pytest.fixture(scope="session")
def planted_report(planted_run):
    """What `stats` prints of the job as shipped."""
    return program("stats", planted_run, "--top", "30")
