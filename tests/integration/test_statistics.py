"""Every statistic of random score tables against other libraries: tests/bench/compare_statistics.py on a few tables."""

import os
import pathlib
import subprocess
import sys

import runs

SCRIPT = runs.ROOT / "tests/bench/compare_statistics.py"


def test_random_tables():
    build = os.environ.get("STEREOSWEEP_BUILD_DIR", str(pathlib.Path(runs.PROGRAM).parents[1]))
    done = subprocess.run([sys.executable, SCRIPT, "12", "5"], capture_output=True, text=True,
                          env={**os.environ, "STEREOSWEEP_BUILD_DIR": build})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "contrast: p of flipped signs" in done.stdout
