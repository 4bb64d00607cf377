import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from stereosweep_analysis import ResultError, cli, drawings, open_result, open_statistics
from stereosweep_analysis.tables import number_text


def texts_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(plt.Text))


def test_heat_map_shows_the_numbers(run):
    statistics = open_statistics(run).load()
    figure = drawings.heat_map(statistics, "set_code_plain prior_word")
    image = figure.axes[0].images[0]
    scores = statistics["mean_score"].sel(measure="set_code_plain prior_word").values
    np.testing.assert_allclose(np.sort(image.get_array().compressed()), np.sort(scores[np.isfinite(scores)]))
    assert image.norm.vcenter == 0 and image.norm.vmin == -image.norm.vmax
    text = texts_of(figure)
    for label in ("women", "powerless", "powerful", "gender", "SeT, published code without bias"):
        assert label in text
    plt.close(figure)


def test_rows_and_labels_belong_together(run):
    statistics = open_statistics(run).load()
    axes = drawings.heat_map(statistics, "ilps_star prior_word").axes[0]
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    row = labels.index("women")
    expected = statistics["mean_score"].sel(measure="ilps_star prior_word", subject="women").values
    np.testing.assert_allclose(axes.images[0].get_array()[row], expected)
    plt.close("all")


def test_scatter_states_the_agreement_of_the_file(run):
    statistics = open_statistics(run).load()
    people = drawings.people_means(statistics)
    figure = drawings.human_scatter(statistics, people, "ilps_star prior_word")
    chosen = statistics.sel(measure="ilps_star prior_word", people_group="all", people_row="pooled")
    tau, p = (float(chosen[name]) for name in ("people_tau", "people_tau_p_cite"))
    assert f"{number_text(tau)} (p = {p:.3f}, 24 cells; p: items or subjects shuffled)" in texts_of(figure)
    other = drawings.human_scatter(statistics, people + 1, "ilps_star prior_word")
    assert "24 cells" in texts_of(other) and "τ-b" not in texts_of(other)
    plt.close("all")


def test_names_in_a_scatter_cover_neither_each_other_nor_the_legend(run):
    statistics = open_statistics(run).load()
    figure = drawings.human_scatter(statistics, drawings.people_means(statistics), "ilps_star prior_word")
    figure.canvas.draw()
    drawn = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [part.get_window_extent() for part in [*drawn, *figure.legends]]
    assert len(drawn) > 5
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    plt.close(figure)


def subjects_of(num_groups, num_intersections):
    """Statistics of one measure, one pair: a score per group and intersection."""
    count = num_groups + num_intersections
    kinds = ["group"] * num_groups + ["intersection"] * num_intersections
    scores = xr.DataArray(np.arange(count, dtype=float).reshape(1, count, 1), dims=("measure", "subject", "item"))
    coords = {
        "measure": ["ilps_star prior_word"], "measure_units": ("measure", ["nat"]), "item": ["cold - warm"],
        "subject": [f"s{number}" for number in range(count)], "subject_kind": ("subject", kinds),
        "item_left": ("item", ["cold"]), "item_right": ("item", ["warm"]), "item_dimension": ("item", ["communion"]),
    }  # fmt: skip
    attributes = {"schema": "stereosweep-statistics/association", "schema_version": "1.0", "complete": 1, "model": "m"}
    return xr.Dataset({"mean_score": scores}, coords).assign_attrs(attributes)


@pytest.mark.parametrize(
    ("counts", "subjects", "rows", "left_out"),
    [
        ((3, 2), None, 3, "not drawn: 2 intersections (--subjects all)"),
        ((3, 2), "groups", 3, "not drawn: 2 intersections (--subjects all)"),
        ((3, 2), "intersections", 2, "not drawn: 3 groups (--subjects all)"),
        ((3, 2), "all", 5, ""),
        ((0, 2), None, 2, ""),
        ((3, 0), None, 3, ""),
        ((1, 100), "intersections", 80, "not drawn: 1 group (--subjects all), the 20 weakest of 100 rows"),
        ((1, 100), "all", 80, "not drawn: the 21 weakest of 101 rows"),
    ],
)
def test_subjects_are_chosen_and_the_rest_is_counted(counts, subjects, rows, left_out):
    axes = drawings.heat_map(subjects_of(*counts), subjects=subjects).axes[0]
    assert len(axes.get_yticks()) == rows
    title = axes.get_title(loc="left")
    assert left_out in title and (left_out or "not drawn" not in title)
    plt.close("all")


def test_the_command_says_what_is_left_out(tmp_path, capsys):
    subjects_of(3, 2).to_netcdf(tmp_path / "association.stats.h5", engine="h5netcdf")
    assert cli.main(["figures", str(tmp_path), "--subjects", "intersections"]) == 0
    assert "heat-map.png (not drawn: 3 groups (--subjects all))" in capsys.readouterr().out
    with pytest.raises(ResultError, match="no intersections"):
        drawings.heat_map(subjects_of(3, 0), subjects="intersections")
    with pytest.raises(SystemExit):
        cli.main(["figures", str(tmp_path), "--subjects", "people"])


def test_missing_scores_are_said(run):
    statistics = open_statistics(run).load()
    statistics["mean_score"][..., 0, 0] = np.nan
    figure = drawings.heat_map(statistics)
    assert "no score exists" in texts_of(figure)
    assert figure.axes[0].images[0].get_array().mask.sum() == 1
    plt.close(figure)


@pytest.mark.parametrize("planted", [[], ["--planted"]])
def test_command_writes_pictures(run, tmp_path, planted, capsys):
    assert cli.main(["figures", str(run), "--out", str(tmp_path / "pictures"), *planted]) == 0
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names == ["heat-map.png", "recovery.png" if planted else "human.png"]
    for name in names:
        pixels = plt.imread(tmp_path / "pictures" / name)
        assert pixels.shape[0] > 500 and pixels.shape[1] > 800 and pixels.std() > 0.05
    assert "heat-map.png" in capsys.readouterr().out


def test_errors_are_one_line(run, tmp_path, capsys):
    assert cli.main(["figures", str(tmp_path)]) == 1
    assert "stereosweep stats" in capsys.readouterr().err
    assert cli.main(["figures", str(run), "--measure", "nonsense"]) == 1
    assert "ilps_star" in capsys.readouterr().err


def test_open_checks_schema_version_and_completeness(run, tmp_path):
    with pytest.raises(ResultError, match=r"schema.*open it with open_statistics"):
        open_result(run / "association.stats.h5")
    with pytest.raises(ResultError, match=r"schema.*open it with open_result"):
        open_statistics(run / "association.h5")
    raw = open_result(run).load()
    for attribute, value, message in [("complete", 0, "not complete"), ("schema_version", "2.0", "reads 1.x")]:
        changed = raw[["status"]].assign_attrs({attribute: value})
        changed.to_netcdf(tmp_path / f"{attribute}.h5", engine="h5netcdf")
        with pytest.raises(ResultError, match=message):
            open_result(tmp_path / f"{attribute}.h5")
    assert open_result(tmp_path / "complete.h5", allow_incomplete=True).attrs["complete"] == 0
    (tmp_path / "text.h5").write_text("nothing")
    with pytest.raises(ResultError, match="cannot be opened"):
        open_result(tmp_path / "text.h5")


@pytest.mark.parametrize("titles, headline", [
    (["Science and arts"] * 2, "Science and arts"), (["Science and arts", "Career"], "Science and arts\nCareer"),
    (["a", "b", "c"], "To which of two sets of words is each word nearer?"), ([""], "C1"),
])  # fmt: skip
def test_word_tests_have_their_titles_above_them(titles, headline):
    items = [f"C{number + 1}" for number in range(len(titles))]
    scores = xr.DataArray(np.zeros(len(titles)), {"item": items, "item_dimension": ("item", titles)}, ["item"])
    assert drawings._headline(xr.Dataset(attrs={"schema": "stereosweep-result/1/contexts"}), scores) == headline
