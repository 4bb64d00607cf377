"""Every statistic of random score tables against other libraries: tests/bench/compare_statistics.py on a few tables."""

import os
import pathlib
import subprocess
import sys

import pytest
import runs

SCRIPT = runs.ROOT / "tests/bench/compare_statistics.py"


# Seed 203: means of people's cells whose estimated noise would be below 0, since cells are missing.
@pytest.mark.parametrize("seed", ["5", "203"])
def test_random_tables(seed):
    build = os.environ.get("STEREOSWEEP_BUILD_DIR", str(pathlib.Path(runs.PROGRAM).parents[1]))
    done = subprocess.run([sys.executable, SCRIPT, "12", seed], capture_output=True, text=True,
                          env={**os.environ, "STEREOSWEEP_BUILD_DIR": build})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "contrast: p of flipped signs" in done.stdout
