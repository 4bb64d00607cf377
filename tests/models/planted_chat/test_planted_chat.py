"""The program finds again what was planted: the interviews of jobs/70_stereomap.yaml over the bundled chat model."""

import os
import pathlib
import subprocess

import pytest
import recover_chat  # beside this file

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("STEREOSWEEP_PROGRAM", str(ROOT / "build/release/bin/stereosweep"))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    output = tmp_path_factory.mktemp("planted") / "run"
    done = subprocess.run([PROGRAM, "run", "jobs/70_stereomap.yaml", "--output", str(output)], capture_output=True, text=True,
                          cwd=ROOT, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return output / "interview.h5"


def test_what_was_planted_comes_out_again(result):
    right, first, count = recover_chat.compare(result)
    assert set(right) >= {"answered", "range", "refused", "off_scale", "contradictory", "unparsed", "truncated", "missing", "keywords"}
    # Fitted to 98 % of the ratings and 92 % of the keyword lists; eight answers of each other status.
    least = {"answered": 0.96, "keywords": 0.85}
    for status, (good, total) in right.items():
        assert total >= 8 and good >= least.get(status, 0.6) * total, (status, good, total)
    # Five standard errors of a share of 0.7, and 0.02 for the fit.
    assert abs(first - 0.7) < 0.02 + 5 * (0.7 * 0.3 / count) ** 0.5
