"""`stats --format`: each number of a statistics file as a row, as xarray reads the same file; other programs read it."""

import csv
import io
import math
import subprocess

import numpy as np
import pytest
import runs
import xarray

HOSTILE = 'a, "b" | c & 50 % _d_'
JOB = (
    runs.SMOKE, "axes.groups={file: abc_groups, only: [women, men, teenagers, elderly people]}",
    "axes.traits={file: abc_traits, only: [powerless - powerful, cold - warm]}", "axes.rephrasings=none",
    "axes.templates={file: abc_templates, only: [one_of_them, over_there, often, quite]}",
)  # fmt: skip
ASKED = (
    f"statistics.contrasts=[{{name: '{HOSTILE}', left: {{subject: women}}, right: {{subject: men}}, measures: [ilps_star prior_word]}}]",
    "statistics.means={measures: [ilps_star prior_word]}", "statistics.inference={replicates: 100, draws: 200}",
)  # fmt: skip


def program(*arguments, code=0):
    done = subprocess.run([runs.PROGRAM, "stats", *map(str, arguments)], capture_output=True, cwd=runs.ROOT, timeout=300)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode() if code == 0 else done.stderr.decode()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "run"
    code, _, err = runs.run(*JOB[:1], folder, *JOB[1:])
    assert code == 0, err
    return folder


@pytest.fixture(scope="module")
def table(run):
    """Rows of the CSV, and the statistics file as xarray has it."""
    rows = list(csv.DictReader(io.StringIO(program(run, *ASKED, "--format", "csv"), newline="")))
    with xarray.open_dataset(run / "association.stats.h5", engine="netcdf4") as statistics:
        return rows, statistics.load()


def number(text):
    return float(text) if text else math.nan


def test_a_mean_stands_with_its_labels_interval_count_and_status(table):
    rows, statistics = table
    found = [row for row in rows if row["statistic"] == "mean_score"]
    expected = statistics["mean_score"]
    assert len(found) == expected.size > 0
    meanings = statistics["mean_score_status"].attrs["flag_meanings"].split()
    measure = expected.dims[0]
    for row in found:
        place = {measure: row["measure"], "subject": row["subject"], "item": row["item"]}
        for column, name in (("value", ""), ("low", "_low"), ("high", "_high"), ("n", "_n")):
            np.testing.assert_equal(number(row[column]), float(statistics["mean_score" + name].sel(place)))
        assert row["status"] == meanings[int(statistics["mean_score_status"].sel(place))]
        assert row["unit"] == "" or row["unit"] == str(statistics[f"{measure}_units"].sel({measure: row["measure"]}).values)


def test_a_contrast_stands_with_p_and_adjusted_p_under_any_name(table):
    rows, statistics = table
    found = [row for row in rows if row["statistic"] == "contrast_difference"]
    assert len(found) == statistics.sizes["contrast"] > 0
    for place, row in enumerate(found):
        assert row["contrast_name"] == HOSTILE == str(statistics["contrast_name"].values[place])
        assert row["measure"] == "ilps_star prior_word"
        columns = {"value": "difference", "low": "low", "high": "high", "p": "p", "n": "num_templates"}
        for column, name in columns.items():
            np.testing.assert_equal(number(row[column]), float(statistics[f"contrast_{name}"].values[place]))
        adjusted = {name: float(statistics[f"contrast_p_{name}"].values[place]) for name in ("holm",)}
        way = next((name for name, p in adjusted.items() if math.isfinite(p)), "")
        assert row["adjustment"] == way and number(row["p_adjusted"]) == adjusted.get(way)


def test_every_number_of_the_file_is_in_the_table_once(table):
    """All finite floats of the findings, as they stand in a row of their own or beside another."""
    rows, statistics = table
    in_rows = sum(1 for row in rows for column in ("value", "low", "high", "p", "p_adjusted")
                  if row[column] and (column != "p_adjusted" or row["adjustment"] == "max_t"
                                      or row["statistic"] in ("mean_score_deviation", "contrast_difference")))
    cells = ("item", "word", "pole", "pair")
    in_file = 0
    for variable in statistics.data_vars.values():
        is_score = {"template", "rephrasing"} <= set(variable.dims) and not set(variable.dims).isdisjoint(cells)
        if variable.dtype.kind == "f" and not is_score:
            in_file += int(np.isfinite(variable.values).sum())
    counts = [row for row in rows if row["value"] and statistics[row["statistic"]].dtype.kind == "i"]
    assert in_rows - len(counts) == in_file > 150


def test_markdown_and_latex_hold_the_same_rows(run, table):
    chosen = [row for row in table[0] if row["statistic"].startswith("contrast")]
    markdown = program(run, *ASKED, "--format", "markdown", "--only", "contrast")
    lines = [line for line in markdown.splitlines() if line.startswith("| contrast")]
    assert len(lines) == len(chosen)
    assert all(r'a, "b" \| c \& 50 % \_d\_' in line for line in lines)
    heads = [line for line in markdown.splitlines() if line.startswith("| statistic")]
    assert len({line.replace(r"\|", "").count("|") for line in [*heads, *lines]}) == 1
    latex = program(run, *ASKED, "--format", "latex", "--only", "contrast")
    assert latex.count(r"\textquotedbl{}b\textquotedbl{} \textbar{} c \& 50 \% \_d\_") >= len(chosen)
    assert latex.count(r"\begin{longtable}") == latex.count(r"\end{longtable}") == len(heads)


def test_several_runs_are_a_table_too(run, tmp_path):
    fewer = "axes.groups={file: abc_groups, only: [women, men, teenagers]}"
    code, _, err = runs.run(JOB[0], tmp_path / "other", *JOB[2:], fewer)
    assert code == 0, err
    text = program(run, tmp_path / "other", *ASKED[2:], "--output", tmp_path / "both.h5", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["statistic"] for row in rows} >= {"run_mean"}
    assert all(None not in row and None not in row.values() for row in rows)


def test_means_are_added_where_the_job_asks_for_none(tmp_path):
    run = tmp_path / "run"
    code, _, err = runs.run(runs.ROOT / "jobs/40_winoidentity.yaml", run, "execution.engine=fake")
    assert code == 0, err

    def statistics(*arguments):
        file = tmp_path / f"{len(arguments)}.h5"
        program(run, *arguments, "--output", file)
        with xarray.open_dataset(file, engine="netcdf4") as found:
            return found.load()

    plain, added = statistics(), statistics("--means")
    recommended = plain.attrs["recommended_measures"].split("\n")
    assert "mean_score" not in plain and plain.attrs["statistics_arguments"] == ""
    assert recommended and set(recommended) < set(plain["measure"].values)
    assert [str(name) for name in added["mean_measure"].values] == recommended and added["mean_score"].size
    asked = statistics("statistics.means=all", "--means", "--all")
    assert asked["mean_score"].dims[0] == "measure" and asked.attrs["statistics_arguments"] == "statistics.means=all"


def test_what_cannot_be_is_said(run):
    assert "unknown format 'html'" in program(run, "--format", "html", code=2)
    assert "no statistic begins with 'contrasts'" in program(run, *ASKED, "--format", "csv", "--only", "contrasts", code=2)
    assert "--only is for tables" in program(run, "--only", "mean", code=2)
