"""Runs to look at: numbers made up by a formula (distances of 0 and above 1 among them), statistics by the program."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release"))


def call(*arguments):
    done = subprocess.run([str(part) for part in arguments], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def ratings(tmp_path_factory):
    """A table in the job's words: every group on every pair of the run."""
    path = tmp_path_factory.mktemp("ratings") / "people.tsv"
    groups = ["teenagers", "elderly people", "women", "men", "Black people", "White people"]
    pairs = ["powerless - powerful", "poor - wealthy", "cold - warm", "threatening - benevolent"]
    rows = ["group\tpair\tmean"]
    for i, group in enumerate(groups):
        rows += [f"{group}\t{pair}\t{(37 * i + 23 * j * j + 11) % 97}" for j, pair in enumerate(pairs)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory, ratings):
    directory = tmp_path_factory.mktemp("run")
    only_groups = "[teenagers, elderly people, women, men, Black people, White people]"
    only_pairs = "[powerless - powerful, poor - wealthy, cold - warm, threatening - benevolent]"
    call(
        BUILD / "tests" / "write_association", directory, ROOT / "jobs" / "00_smoke.yaml",
        f"axes.groups={{file: abc_groups, only: {only_groups}}}",
        f"axes.traits={{file: abc_traits, only: {only_pairs}}}",
        "axes.templates=abc_templates", "axes.intersections=none",
    )  # fmt: skip
    call(BUILD / "bin" / "stereosweep", "stats", directory, f"statistics.human_ratings={ratings}")
    return directory
