"""The examples that read a result from R and from C++, run on a finished job and compared with xarray."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import runs
import xarray as xr

EXAMPLES = runs.ROOT / "analysis/examples"
MEASURE, ITEM = "ilps_star prior_word", "cold - warm"


def values_of(*command):
    """{subject: mean} that a program printed."""
    done = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    code, _, err = runs.run(
        runs.ROOT / "jobs/10_planted.yaml", folder, "axes.groups={file: abc_groups, only: [women, men, teenagers]}",
        "axes.templates={file: abc_templates, only: [one_of_them, quite, often]}",
    )  # fmt: skip
    assert code == 0, err
    subprocess.run([runs.PROGRAM, "stats", str(folder)], check=True, capture_output=True, cwd=runs.ROOT)
    return folder


@pytest.fixture(scope="module")
def means(folder):
    score = xr.open_dataset(folder / "association.stats.h5")["score"].sel(measure=MEASURE, item=ITEM)
    return score.mean(["template", "rephrasing", "replicate"]).to_series().to_dict()


def expect_means(found, means):
    assert list(found) == list(means) and len(set(found.values())) == len(found) == 3
    assert found == pytest.approx(means, rel=1e-12)


def test_r_reads_the_scores(folder, means):
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(ncdf4)"], capture_output=True).returncode:
        pytest.skip("R with ncdf4 is not installed (env/setup.sh cuda tests)")
    expect_means(values_of("Rscript", EXAMPLES / "read_scores.R", folder / "association.stats.h5", MEASURE, ITEM), means)


def test_hdf5_reads_the_scores(folder, means, tmp_path):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "hdf5"], check=True, capture_output=True, text=True).stdout
    warnings = ("-Wall", "-Wextra", "-Werror")
    subprocess.run(["g++", "-std=c++20", *warnings, EXAMPLES / "read_scores.cpp", "-o", tmp_path / "read", *flags.split()],
                   check=True)  # fmt: skip
    file = folder / "association.stats.h5"
    expect_means(values_of(tmp_path / "read", file, MEASURE, ITEM), means)
    assert subprocess.run([tmp_path / "read", file, MEASURE, "no such item"], capture_output=True).returncode == 2


def test_our_reader_reads_raw_numbers(folder):
    program = pathlib.Path(runs.PROGRAM).parent / "read_raw"
    assert program.exists(), "it is built with the tests"
    found = values_of(program, folder / "association.h5", "logprob")
    result = xr.open_dataset(folder / "association.h5")
    expected = {}
    for axis, cube in (("prior", "prior_logprob"), ("group", "logprob")):
        for label, values in result[cube].groupby(axis, squeeze=False):
            expected[str(label)] = float(np.nanmean(values))
    assert found == pytest.approx(expected, rel=1e-12) and len(found) > 3
    assert subprocess.run([program, folder / "association.h5", "no_such_cube"], capture_output=True).returncode == 2
