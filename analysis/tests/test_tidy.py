"""Scores as pandas tables, against the score table itself."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_files import add_means, result_dataset, statistics_dataset, write

import stereosweep_analysis
from stereosweep_analysis import ResultError, compare, figures, open, scores


def values():
    made = np.random.default_rng(3).normal(size=(3, 6, 1, 1, 2))
    made[2, :, :, :, 1] = np.nan
    return made


def test_scores_are_one_row_a_number(tmp_path):
    table = values()
    found = scores(write(tmp_path / "run", add_means(statistics_dataset(table))))
    assert len(found) == 5 and found.attrs["interval"].startswith("95 % interval")
    row = found.set_index(["subject", "item"]).loc[("subject 1", "item 0")]
    np.testing.assert_allclose(row["mean"], table[1, ..., 0].mean(), rtol=1e-12)
    assert row["low"] < row["mean"] < row["high"] and row["n"] == 6
    assert (row["left"], row["right"], row["unit"]) == ("left of item 0", "right of item 0", "nat")
    both = scores(tmp_path / "run", ["ilps_star prior_word"] * 2)  # one after the other
    assert both.equals(pd.concat([found, found], ignore_index=True)) and both.attrs == found.attrs
    empty = scores(write(tmp_path / "empty", add_means(statistics_dataset(table * np.nan))))
    assert empty.empty and list(empty.columns) == list(found.columns)
    with pytest.raises(ResultError, match="unknown measure 'own'"):
        scores(tmp_path / "run", "own")
    with pytest.raises(ResultError, match="hold no means: 'stereosweep stats DIR --means'"):
        scores(write(tmp_path / "without", statistics_dataset(table)))


def test_runs_are_compared_by_labels(tmp_path):
    table = values()
    one = write(tmp_path / "one", add_means(statistics_dataset(table, title="one")))
    two = write(
        tmp_path / "two", add_means(statistics_dataset(table[1:] + 1, ["subject 2", "subject 1"], title="two"))
    )
    found = compare(one, two)
    assert list(found.columns) == ["one", "two"] and len(found) == 2  # item 1 lacks in one each
    np.testing.assert_allclose(
        found.loc[("subject 1", "item 0")], [table[1, ..., 0].mean(), table[2, ..., 0].mean() + 1]
    )


def test_open_takes_a_directory_or_a_file_of_any_kind(tmp_path):
    folder = write(tmp_path / "run", statistics_dataset(values()), result_dataset([["A"]], [[[1]]], [[[0]]]))
    for path, variable in ((folder, "score"), (folder / "association.stats.h5", "score_status"),
                           (folder / "association.h5", "prompt")):  # fmt: skip
        with open(path) as dataset:
            assert variable in dataset
    with pytest.raises(ResultError, match="is no run directory"):
        open(tmp_path / "nothing")
    (folder / "association.h5").rename(folder / "contexts.vectors.h5")
    with pytest.raises(ResultError, match="holds no vectors"):
        open(folder / "contexts.vectors.h5")


def test_figures_are_the_reports_pictures(tmp_path):
    found = figures(write(tmp_path / "run", add_means(statistics_dataset(values()))))
    assert list(found) == ["scores", "wordings"]
    labels = [tick.get_text() for tick in found["scores"].axes[0].get_yticklabels()]
    assert labels == ["subject 0", "subject 1", "subject 2"]


def test_the_package_is_light_until_it_draws():
    code = "import sys, stereosweep_analysis as s; print('matplotlib' in sys.modules, hasattr(s, 'nothing'))"
    folder = Path(stereosweep_analysis.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    assert done.stdout.split() == ["False", "False"]
    assert set(stereosweep_analysis.__all__) <= {*dir(stereosweep_analysis), *stereosweep_analysis._LATER}
    settings = tomllib.loads((folder / "pyproject.toml").read_text())
    assert "version" in settings["project"]["dynamic"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "stereosweep_analysis.__version__"}


def test_every_file_of_the_package_is_installed():
    folder = Path(stereosweep_analysis.__file__).parent
    setuptools = tomllib.loads((folder.parent / "pyproject.toml").read_text())["tool"]["setuptools"]
    listed = {
        f"{name.replace('.', '/')}/{file}" for name, files in setuptools["package-data"].items() for file in files
    }
    assert "stereosweep_analysis/py.typed" in listed
    packages = {name.replace(".", "/") for name in setuptools["packages"]}
    for path in folder.rglob("*"):
        name = path.relative_to(folder.parent)
        if path.is_file() and "__pycache__" not in name.parts:
            assert str(name) in listed or (path.suffix == ".py" and str(name.parent) in packages), name
