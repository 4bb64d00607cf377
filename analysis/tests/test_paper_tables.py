"""Layouts of papers' tables on small results whose numbers were put there by hand."""

import csv
import io

import numpy as np
import pytest
import xarray as xr
from report_files import texts

from stereosweep_analysis import cli
from stereosweep_analysis.open import ResultError
from stereosweep_analysis.papers import cao2022, guo2021, stereomap, winoidentity
from stereosweep_analysis.papers.layout import lay_out
from stereosweep_analysis.papers.table import PaperTable, render, side_by_side


def tables(paper, statistics, job=""):
    return lay_out(paper.LAYOUTS, statistics, job)[0]


HOSTILE = 'R&D 50 % | _a_, "b"'


def association():
    axes = ("measure", "people_group", "people_row")
    numbers = np.array([[0.9, 0.1, 0.2, np.nan], [0.8, 0.4, 0.5, np.nan]])[:, np.newaxis]
    of_rows = ("tau", "precision_top_3", "precision_bottom_3")
    names = ("tau_mean", "precision_at_3", "precision_at_3_chance", "tau_p_items", "tau_p_subjects", "tau_p_cite")
    overall = {f"people_{name}": (axes, numbers + place) for place, name in enumerate(names, start=1)}
    return xr.Dataset(
        {**overall, **{f"people_{name}": (axes, numbers) for name in of_rows}},
        coords={
            "measure": texts(["ilps word", "set word"]), "people_group": texts(["all"]),
            "people_row": texts(["pooled", "subject: x", f"subject: {HOSTILE}", "subject: unrated"]),
            "people_row_kind": ("people_row", texts(["pooled", "subject", "subject", "subject"])),
            "people_row_name": ("people_row", texts(["pooled", "x", HOSTILE, "unrated"])),
        },
    )  # fmt: skip


def test_agreement_by_measure_and_by_group():
    overall, tau, *_ = tables(cao2022, association())
    expected = [(0.9, 2.9, 3.9, 4.9, 5.9, 6.9), (0.8, 2.8, 3.8, 4.8, 5.8, 6.8)]
    assert [row[0] for row in overall.rows] == ["ilps word", "set word"]
    np.testing.assert_allclose([row[1:] for row in overall.rows], expected)
    assert tau.columns == ("group", "ilps word", "set word")
    assert [row[0] for row in tau.rows] == ["x", HOSTILE, "mean"]
    np.testing.assert_allclose([row[1:] for row in tau.rows], [(0.1, 0.4), (0.2, 0.5), (1.9, 1.8)])


def test_every_format_holds_hostile_names_and_all_rows():
    made = tables(cao2022, association())
    rows = list(csv.reader(io.StringIO(render(made, "csv"))))
    assert rows[0] == ["table", "row", "column", "value"]
    assert ["A11", HOSTILE, "ilps word", "0.2"] in rows and len(rows) == 1 + 2 * 6 + 3 * 3 * 2
    markdown = render(made, "markdown")
    assert r'| R\&D 50 % \| \_a\_, "b" | 0.200 | 0.500 |' in markdown
    latex = render(made, "latex")
    assert r"R\&D 50 \% \textbar{} \_a\_, \textquotedbl{}b\textquotedbl{} & 0.200 & 0.500 \\" in latex
    assert latex.count(r"\begin{longtable}{") == latex.count(r"\end{longtable}") == 4
    assert all(len(line) <= 100 for line in render(made, "text").splitlines())


def test_columns_that_do_not_fit_stand_below():
    columns = [f"column {place:02}" for place in range(30)]
    wide = PaperTable("1", "wide", ("row", *columns), [("x", *map(float, range(30)))])
    text = render([wide], "text")
    assert max(map(len, text.splitlines())) <= 100 and "…" not in text
    heads = [line for line in text.splitlines() if line.startswith("row")]
    assert [word for head in heads for word in head.split("  ") if word.startswith("column")] == columns
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("x")] == [
        [f"{number}.{'000' if number < 10 else '00'}" for number in range(start, min(start + 8, 30))]
        for start in range(0, 30, 8)
    ]


def test_several_runs_stand_side_by_side():
    def table(*rows):
        return PaperTable("7", "by marker", ("marker", "pro", "low"), list(rows), paper_columns=1)

    texts = PaperTable("8", "in words", ("domain", "over"), [("a", "b")], labels=1)
    one, two = table(("old", 1.0, 0.5), ("fat", 2.0, 0.6)), table(("old", 3.0, 0.1))
    joined, *words = side_by_side([("one", [one, texts]), ("two", [two, texts])])
    assert joined.columns == ("marker", "one: pro", "two: pro")
    assert joined.rows == [("old", 1.0, 3.0), ("fat", 2.0, None)]
    assert [word.title for word in words] == ["in words (one)", "in words (two)"]
    assert render(words, "csv").splitlines()[1:] == ["8,a,over,b"] * 2


def contexts():
    columns = {
        "weat": [1.0, 3.0, 5.0],
        "weat_sampling_log10_p": [-1.0, -3.0, -5.0],
        "weat_sd": [0.1, 0.2, 0.3],
        "weat_p": [0.01, 0.02, 0.03],
        "weat_samples": [1000, 1000, 900],
    }
    return xr.Dataset(
        {name: ("weat_test", values) for name, values in columns.items()},
        coords={"weat_test": texts(["C1", "EM/EF pleasant", "EM/EF math"])},
    )


def test_effects_of_single_tests_and_of_pairs_of_groups():
    single, pairs = tables(guo2021, contexts(), "seed: 1\ndraws: shared\nstatistics:\n  draws: 10\n")
    assert (single.number, pairs.number) == ("2", "4")
    for job in ("draws: own\n", "seed: 1\nstatistics:\n  draws: 10\n"):  # jobs leave this default out
        assert tables(guo2021, contexts(), job)[1].number == "3"
    assert tables(guo2021, contexts().assign(weat_samples=("weat_test", [10000] * 3)))[0].number == "1"
    assert single.rows == [("C1", 1.0, 0.1, 0.01, pytest.approx(0.1))]
    assert pairs.columns[:3] == ("groups", "pleasant d", "pleasant p")
    assert pairs.rows == [("EM/EF", 3.0, 0.02, None, None, 5.0, 0.03, None, None)]


def coreference():
    places = ("pro marker: aug1", "anti marker: aug1", "pro marker: aug2", "pro marker: aug1")
    names = [*(f"T2 {place} old" for place in places), "T2 anti without a marker: female"]
    columns = {
        f"contrast_{name}": ("contrast", 10 * start + np.arange(5.0))
        for start, name in enumerate(("left", "difference", "low", "high", "p", "right", "num_templates"))
    }
    return xr.Dataset(
        columns,
        coords={
            "contrast": texts("abcde"), "contrast_name": ("contrast", texts(names)),
            "contrast_measure": ("contrast", texts(["accuracy"] * 5)),
            "contrast_item": ("contrast", texts(["referent", "referent", "referent", "other", "referent"])),
        },
    )  # fmt: skip


def test_accuracy_by_marker_with_its_difference():
    baseline, aug1, aug2 = tables(winoidentity, coreference())
    assert baseline.rows == [("female", "anti", 4.0, 24.0, 34.0, 64.0)]
    assert (aug1.number, aug2.number) == ("14", "15")
    assert aug1.rows == [
        ("baseline", 50.0, 51.0, *[None] * 8),
        ("old", 0.0, 1.0, 10.0, 20.0, 30.0, 40.0, 11.0, 21.0, 31.0, 41.0),
    ]
    assert aug2.rows == [("baseline", 52.0, None, *[None] * 8), ("old", 2.0, None, 12.0, 22.0, 32.0, 42.0, *[None] * 4)]


def interview():
    flags = {"flag_values": np.arange(3, dtype="u1"), "flag_meanings": "low middle high"}
    by_place = ("cluster_source", "cluster_place", "cluster_dimension")
    by_pair = ("cluster_source", "cluster_place", "dimension_pair")
    return xr.Dataset(
        {
            "cluster_point": (("cluster_source", "subject", "cluster_dimension"), np.zeros((1, 3, 2))),
            "cluster_number": ("cluster_source", np.array([2])),
            "cluster_of_subject": (("cluster_source", "subject"), np.array([[0, 1, 0]])),
            "cluster_centre": (by_place, np.array([[[4.0, 2.0], [1.0, 5.0]]])),
            "cluster_side": (by_place, np.array([[[2, 0], [0, 2]]], dtype="u1"), flags),
            **{name: (by_pair, np.array([[[value], [np.nan]]])) for name, value in
               (("cluster_t", 3.5), ("cluster_t_p", 0.02), ("cluster_t_p_holm", 0.04), ("cluster_t_difference", 2.0))},
            "extreme_mean": (("extreme_measure", "extreme_of", "subject"), np.array([[[2.0, np.nan, 3.0]]])),
            "extreme_variance": (("extreme_measure", "extreme_of", "subject"), np.array([[[0.2, np.nan, 0.3]]])),
            **{f"extreme_{name}": (("extreme_measure", "extreme_of", "subject"), np.array([[[value, np.nan, value]]]))
               for name, value in (("low", 1.0), ("high", 4.0), ("p_holm", 0.5))},
        },
        coords={
            "cluster_source": texts(["rating"]), "subject": texts(["a", "b", "c"]),
            "cluster_dimension": texts(["warmth", "competence"]), "dimension_pair": texts(["warmth - competence"]),
            "extreme_measure": texts(["rating"]), "extreme_of": texts(["warmth"]),
        },
    )  # fmt: skip


def test_clusters_with_members_and_groups_far_out():
    clusters, paired, extremes = tables(stereomap, interview())
    assert clusters.rows[0] == ("0", "high, low", "a; c", 4.0, 2.0, 3.5, 0.02)
    assert clusters.rows[1][:5] == ("1", "low, high", "b", 1.0, 5.0) and np.isnan(clusters.rows[1][5:]).all()
    assert paired.rows[0] == ("rating", "0", "high, low", "warmth - competence", 2, 2.0, 3.5, 0.02, 0.04)
    assert paired.rows[1][:5] == ("rating", "1", "low, high", "warmth - competence", 1)
    assert extremes.rows == [
        ("warmth", "highest", "c", 1, 3.0, 0.3, 1.0, 4.0, 0.5), ("warmth", "highest", "a", 2, 2.0, 0.2, 1.0, 4.0, 0.5),
        ("warmth", "lowest", "a", 1, 2.0, 0.2, 1.0, 4.0, 0.5), ("warmth", "lowest", "c", 2, 3.0, 0.3, 1.0, 4.0, 0.5),
    ]  # fmt: skip


def emotions():
    """interview() with means of emotions and behaviours, which job 70's correlations are of."""
    sides = ["warmth", "contempt", "passive_harm"]
    scores = np.array([[[4.0, 1.0, 1.5], [1.0, 5.0, 4.5], [4.0, np.nan, 2.5]]])
    return interview().assign(
        correlation_score=(("correlated_measure", "subject", "correlation_side"), scores)
    ).assign_coords(correlated_measure=texts(["rating"]), correlation_side=texts(sides))  # fmt: skip


def test_emotions_by_cluster_are_printed_and_drawn(tmp_path, capsys):
    (table,) = [made for made in tables(stereomap, emotions()) if made.number == "Figure 3"]
    assert table.columns == ("cluster", "sides", "group", "contempt", "passive_harm")
    assert table.rows[0] == ("0", "high, low", "a", 1.0, 1.5) and table.rows[2] == ("1", "low, high", "b", 5.0, 4.5)
    assert np.isnan(table.rows[1][3])
    for lacking in (emotions().drop_dims("cluster_source"), emotions().isel(correlation_side=[0])):
        assert stereomap.LAYOUTS[-1].make(lacking, "") == []
    whole = emotions().assign_attrs(schema="stereosweep-statistics/interview", schema_version="1.0", complete=1)
    whole.to_netcdf(tmp_path / "interview.stats.h5", engine="h5netcdf")
    assert cli.main(["paper", "stereomap", str(tmp_path), "--only", "Figure 3", "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/figure-3.png").stat().st_size > 10_000
    assert "Emotions and behaviours by cluster" in capsys.readouterr().out
    axes = stereomap.LAYOUTS[-1].draw(emotions())["figure-3"].axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["contempt", "passive\nharm"]
    assert sorted(y for line in axes.lines for y in line.get_ydata()) == [1.0, 1.5, 2.5, 4.5, 5.0]


def test_the_command_prints_a_file_and_says_what_lacks(tmp_path, capsys):
    file = tmp_path / "association.stats.h5"
    whole = association().assign_attrs(schema="stereosweep-statistics/association", schema_version="1.0", complete=1)
    whole.to_netcdf(file, engine="h5netcdf")
    assert cli.main(["paper", "cao2022", str(tmp_path), "--format", "csv"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("table,row,column,value")
    assert "A18: statistics.people" in " ".join(printed.err.split())
    assert cli.main(["paper", "cao2022", str(tmp_path), "--only", "A12", "--format", "csv"]) == 0
    printed = capsys.readouterr()
    assert {line.split(",")[0] for line in printed.out.splitlines()[1:]} == {"A12"} and not printed.err
    assert cli.main(["paper", "cao2022", str(tmp_path), "--only", "A8"]) == 1
    assert "no table A8: the result fills 6, A11, A12, A13, card" in capsys.readouterr().err
    assert cli.main(["paper", "guo2021", str(tmp_path)]) == 1
    assert "1 or 2: axes.tests with two target sets" in capsys.readouterr().err
    for paper in (winoidentity, stereomap):
        with pytest.raises(ResultError):
            tables(paper, whole)
