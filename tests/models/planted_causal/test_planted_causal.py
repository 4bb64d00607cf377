"""The program finds again what was planted: its own runs over the bundled causal model against planted.tsv and ratings.tsv.

A third of the conditions and a few questions are enough here; the quickstart holds more of both jobs against the truth.
"""

import json
import os
import pathlib
import re
import subprocess

import h5py
import numpy
import pytest
import recover  # beside this file

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("STEREOSWEEP_PROGRAM", str(ROOT / "build/release/bin/stereosweep"))


def run(job, output, *overrides):
    done = subprocess.run([PROGRAM, "run", str(ROOT / "jobs" / job), "--output", str(output), *overrides],
                          capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return output


def tau(pairs):
    planted, measured = numpy.array(pairs).T
    return recover.stats.kendalltau(planted, measured).statistic


@pytest.fixture(scope="module")
def coreference(tmp_path_factory):
    output = run("40_winoidentity.yaml", tmp_path_factory.mktemp("planted") / "run", "axes.augmentations=[baseline, aug1]")
    with h5py.File(output / "coreference.h5") as file:
        yield file


@pytest.fixture(scope="module")
def rating(tmp_path_factory):
    output = run("50_ratings.yaml", tmp_path_factory.mktemp("planted") / "run",
                 "axes.rating_questions={file: scm_questions, only: [regarded, street]}", "sampling.runs=1")
    with h5py.File(output / "rating.h5") as file:
        yield file


def test_markers_add_what_was_planted(coreference):
    assert tau(recover.marker_boosts(coreference)) > 0.9


def test_occupations_lean_as_planted(coreference):
    assert tau(recover.occupation_leans(coreference)) > 0.9


@pytest.mark.parametrize("form", ["text", "letter"])
def test_ratings_are_the_planted_ones(rating, form):
    pairs = recover.rating_means(rating, form)
    assert len(pairs) == 100 and tau(pairs) > 0.9


def test_sampled_answers_can_be_read_and_agree(rating):
    assert numpy.isfinite(rating["answer_rating"][()]).mean() > 0.95
    assert tau(recover.rating_means(rating, "sampled")) > 0.75  # one draw a question: the draws' own spread


@pytest.mark.parametrize("job, overrides", [
    ("40_winoidentity.yaml", ["axes.augmentations=[baseline]"]),
    ("50_ratings.yaml", ["axes.rating_questions={file: scm_questions, only: [street]}", "sampling.runs=0"]),
])
def test_plan_counts_the_tokens_that_run(tmp_path, job, overrides):
    output = run(job, tmp_path / "run", *overrides)
    planned = subprocess.run([PROGRAM, "plan", str(ROOT / "jobs" / job), *overrides], capture_output=True, text=True,
                             cwd=ROOT, timeout=300, check=True).stdout
    tokens = int(re.search(r"^tokens +([0-9,]+) tokens? run,", planned, re.MULTILINE)[1].replace(",", ""))
    assert tokens > 100
    assert json.loads((output / "status.json").read_text())["work"]["distinct_tokens"] == tokens
