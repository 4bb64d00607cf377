"""Layouts of papers' tables on small results whose numbers were put there by hand."""

import csv
import io

import numpy as np
import pytest
import xarray as xr
from report_files import texts

from stereosweep_analysis import cli
from stereosweep_analysis.open import ResultError
from stereosweep_analysis.papers import cao2022, guo2021, render, stereomap, winoidentity

HOSTILE = 'R&D 50 % | _a_, "b"'


def association():
    by_group = ("variant", "prior", "group")
    numbers = np.array([0.1, 0.2, np.nan, 0.4, 0.5, np.nan]).reshape(2, 1, 3)
    overall = {name: (("variant", "prior"), np.array([[start], [start + 0.1]])) for start, name in enumerate(
        ("tau_pooled", "tau_pooled_p_items", "tau_pooled_p_groups", "precision_at_3_mean", "precision_at_3_chance")
    )}  # fmt: skip
    return xr.Dataset(
        {**overall, **dict.fromkeys(("tau", "precision_top_3", "precision_bottom_3"), (by_group, numbers))},
        coords={"variant": texts(["ilps", "set"]), "prior": texts(["word"]), "group": texts(["x", HOSTILE, "unrated"])},
    )


def test_agreement_by_measure_and_by_group():
    overall, tau, *_ = cao2022.tables(association())
    assert overall.rows == [("ilps word", 0, 1, 2, 3, 4), ("set word", 0.1, 1.1, 2.1, 3.1, 4.1)]
    assert tau.columns == ("group", "ilps", "set")
    assert [row[0] for row in tau.rows] == ["x", HOSTILE, "mean"]
    np.testing.assert_allclose([row[1:] for row in tau.rows], [(0.1, 0.4), (0.2, 0.5), (0.15, 0.45)])


def test_every_format_holds_hostile_names_and_all_rows():
    made = cao2022.tables(association())
    rows = list(csv.reader(io.StringIO(render(made, "csv"))))
    assert rows[0] == ["table", "row", "column", "value"]
    assert ["A11", HOSTILE, "ilps", "0.2"] in rows and len(rows) == 1 + 2 * 5 + 3 * 3 * 2
    markdown = render(made, "markdown")
    assert r'| R\&D 50 % \| \_a\_, "b" | 0.200 | 0.500 |' in markdown
    latex = render(made, "latex")
    assert r"R\&D 50 \% \textbar{} \_a\_, \textquotedbl{}b\textquotedbl{} & 0.200 & 0.500 \\" in latex
    assert latex.count(r"\begin{longtable}{lrr}") == 3 and latex.count(r"\end{longtable}") == 4
    assert all(len(line) <= 100 for line in render(made, "text").splitlines())


def contexts():
    tests = ["C1", "EM/EF pleasant", "EM/EF math", "only one set"]
    by_fit = ("test", "variance", "estimator")
    return xr.Dataset(
        {
            "combined_effect": (by_fit, np.arange(8.0).reshape(4, 2, 1)),
            "log10_p_two_sided": (by_fit, -np.arange(8.0).reshape(4, 2, 1)),
            "effect_deviation": ("test", [0.1, 0.2, 0.3, 0.4]),
            "permutation_p_two_sided": ("test", [0.01, 0.02, 0.03, np.nan]),
        },
        coords={
            "test": texts(tests), "test_kind": ("test", texts(["weat"] * 3 + ["wefat"])),
            "variance": texts(["cohen", "paper"]), "estimator": texts(["dersimonian_laird"]),
        },
        attrs={"variance": "paper", "estimator": "dersimonian_laird"},
    )  # fmt: skip


def test_effects_of_single_tests_and_of_pairs_of_groups():
    single, pairs = guo2021.tables(contexts())
    assert single.rows == [("C1", 1.0, 0.1, 0.01, pytest.approx(0.1))]
    assert pairs.columns[:3] == ("groups", "pleasant d", "pleasant p")
    assert pairs.rows == [("EM/EF", 3.0, 0.02, None, None, 5.0, 0.03, None, None)]


def coreference():
    shape = (2, 2, 3, 3, 1)
    mean = np.arange(np.prod(shape), dtype=float).reshape(shape)
    axes = ("group", "type", "stereotype", "gender", "metric")
    places = ("pro marker: aug1", "anti marker: aug1", "pro marker: aug2", "pro marker: aug1")
    names = [f"T2 {place} old" for place in places]
    columns = {
        f"contrast_{name}": ("contrast", start + np.arange(4.0))
        for start, name in zip((0, 10, 20, 30, 40), ("left", "difference", "low", "high", "p"), strict=True)
    }
    return xr.Dataset(
        {"mean": (axes, mean), "mean_low": (axes, mean - 1), "mean_high": (axes, mean + 1), **columns},
        coords={
            "group": texts(["baseline", "aug1 old"]), "type": texts(["ambiguous", "unambiguous"]),
            "stereotype": texts(["pro", "anti", "all"]), "gender": texts(["female", "male", "all"]),
            "metric": texts(["accuracy"]), "contrast": texts("abcd"), "contrast_name": ("contrast", texts(names)),
            "contrast_measure": ("contrast", texts(["accuracy"] * 4)),
            "contrast_item": ("contrast", texts(["referent", "referent", "referent", "other"])),
        },
    )  # fmt: skip


def test_accuracy_by_marker_with_its_difference():
    baseline, aug1, aug2 = winoidentity.tables(coreference())
    assert baseline.rows[0] == ("female", "pro", 9.0, 8.0, 10.0)
    assert baseline.rows[1] == ("female", "anti", 12.0, 11.0, 13.0)
    assert (aug1.number, aug2.number) == ("14", "15")
    assert aug1.rows == [("old", 0.0, 10.0, 20.0, 30.0, 40.0, 1.0, 11.0, 21.0, 31.0, 41.0)]
    assert aug2.rows == [("old", 2.0, 12.0, 22.0, 32.0, 42.0, *[None] * 5)]


def interview():
    flags = {"flag_values": np.arange(3, dtype="u1"), "flag_meanings": "low middle high"}
    by_place = ("cluster_source", "cluster_place", "dimension")
    by_pair = ("cluster_source", "cluster_place", "dimension_pair")
    return xr.Dataset(
        {
            "cluster_point": (("cluster_source", "subject", "dimension"), np.zeros((1, 3, 2))),
            "cluster_number": ("cluster_source", np.array([2])),
            "cluster_of_subject": (("cluster_source", "subject"), np.array([[0, 1, 0]])),
            "cluster_centre": (by_place, np.array([[[4.0, 2.0], [1.0, 5.0]]])),
            "cluster_side": (by_place, np.array([[[2, 0], [0, 2]]], dtype="u1"), flags),
            "cluster_t": (by_pair, np.array([[[3.5], [np.nan]]])),
            "cluster_t_p": (by_pair, np.array([[[0.02], [np.nan]]])),
            "extreme_mean": (("extreme_measure", "extreme_of", "subject"), np.array([[[2.0, np.nan, 3.0]]])),
            "extreme_variance": (("extreme_measure", "extreme_of", "subject"), np.array([[[0.2, np.nan, 0.3]]])),
        },
        coords={
            "cluster_source": texts(["rating"]), "subject": texts(["a", "b", "c"]),
            "dimension": texts(["warmth", "competence"]), "dimension_pair": texts(["warmth - competence"]),
            "extreme_measure": texts(["rating"]), "extreme_of": texts(["warmth"]),
        },
    )  # fmt: skip


def test_clusters_with_members_and_groups_far_out():
    clusters, extremes = stereomap.tables(interview())
    assert clusters.rows[0] == ("high, low", "a; c", 4.0, 2.0, 3.5, 0.02)
    assert clusters.rows[1][:4] == ("low, high", "b", 1.0, 5.0) and np.isnan(clusters.rows[1][4:]).all()
    assert extremes.rows == [
        ("warmth", "highest", "c", 1, 3.0, 0.3), ("warmth", "highest", "a", 2, 2.0, 0.2),
        ("warmth", "lowest", "a", 1, 2.0, 0.2), ("warmth", "lowest", "c", 2, 3.0, 0.3),
    ]  # fmt: skip


def test_the_command_prints_a_file_and_says_what_lacks(tmp_path, capsys):
    file = tmp_path / "association.stats.h5"
    whole = association().assign_attrs(schema="stereosweep-statistics/association", schema_version="1.0", complete=1)
    whole.to_netcdf(file, engine="h5netcdf")
    assert cli.main(["paper", "cao2022", str(tmp_path), "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("table,row,column,value")
    assert cli.main(["paper", "guo2021", str(tmp_path)]) == 1
    assert "no embedding tests" in capsys.readouterr().err
    for paper in (winoidentity, stereomap):
        with pytest.raises(ResultError):
            paper.tables(whole)
