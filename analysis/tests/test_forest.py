import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from stereosweep_analysis import ResultError, cli, open_result, open_vectors
from stereosweep_analysis.drawings import heat_map, heat_maps
from stereosweep_analysis.forest import forest, weat_columns

EFFECTS = np.array([1.55, -0.45, np.nan])


@pytest.fixture
def statistics():
    """As the program writes them: a strong test, a negative one, one without an effect size."""
    columns = {
        "weat": EFFECTS,
        "weat_low": EFFECTS - 0.1,
        "weat_high": EFFECTS + 0.1,
        "weat_mean": EFFECTS + 0.05,
        "weat_sd": np.full(3, 0.3),
        "weat_p_targets": [5.8e-9, 0.248, np.nan],
        "weat_p_attributes": [2.9e-9, 0.876, np.nan],
        "weat_p_both": [1e-7, 0.5, np.nan],
        "weat_p": [1e-7, 0.876, np.nan],
        "weat_p_holm": [1e-6, 0.98, np.nan],
        "weat_family_size": [2, 2, 2],
    }
    return xr.Dataset(
        {name: ("weat_test", values) for name, values in columns.items()},
        coords={
            "weat_test": ["C1", "C8", "C3"], "weat_test_title": ("weat_test", ["flowers", "science", ""]),
            "weat_test_family": ("weat_test", ["all"] * 3), "test": ["C1", "scores", "C8", "C3"],
        },
        attrs={"schema": "stereosweep-statistics/contexts", "schema_version": "1.0", "complete": 1, "confidence": 0.95,
               "model": "models/tiny"},
    )  # fmt: skip


def lines_of(figure):
    return [line.get_xdata() for line in figure.axes[0].lines]


def texts_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(plt.Text))


def test_rows_are_the_weat_tests(statistics):
    columns = weat_columns(statistics)
    assert list(columns["weat_test"]) == ["C1", "C8", "C3"]
    np.testing.assert_allclose(columns["weat"], [1.55, -0.45, np.nan])


def test_effect_interval_and_spread_are_drawn(statistics):
    figure = forest(statistics)
    drawn = lines_of(figure)
    for wanted in ([1.45, 1.65], [-0.55, -0.35], [1.30, 1.90], [-0.70, -0.10]):
        assert any(len(line) == 2 and np.allclose(line, wanted) for line in drawn), wanted
    for wanted in (1.55, -0.45):
        assert any(len(line) == 1 and np.isclose(line[0], wanted) for line in drawn), wanted
    low, high = figure.axes[0].get_xlim()
    assert low == -high and high > 1.9
    plt.close(figure)


def test_labels_say_what_is_shown(statistics):
    figure = forest(statistics)
    text = texts_of(figure).replace("\u2212", "-")
    for part in ("C1: flowers", "C8: science", "1.550 [ 1.450,  1.650] 5.8e-09 2.9e-09 1.0e-07 1.0e-07 1.0e-06",
                 "0.248   0.876   0.500   0.876   0.980", "in the family “all” of 2",
                 "lines: 95 % interval over other words of both kinds", "tiny", "no effect size exists"):  # fmt: skip
        assert part in text, text[text.find("1.550"):][:400]
    assert "scores" not in text
    plt.close(figure)


def test_a_set_of_one_word_has_an_effect_and_no_interval(statistics):
    one = statistics.drop_vars(["weat_low", "weat_high"])
    figure = forest(one.assign(weat_sd=one["weat_sd"] * np.nan))
    assert "1.550      no interval" in texts_of(figure)
    assert any(len(line) == 1 and np.isclose(line[0], 1.55) for line in lines_of(figure))
    plt.close(figure)


def test_declared_families_stand_beside_their_tests(statistics):
    declared = {"weat_test_family": ("weat_test", ["taste", "", "sex"]), "weat_family_size": ("weat_test", [1, 0, 1])}
    figure = forest(statistics.assign(declared))
    text = texts_of(figure)
    for part in ("C1: flowers\n[taste, 1]", "C8: science\n[no family]", "C3\n[sex, 1]", "in its family [name, tests]"):
        assert part in text, text[text.find("1.550"):][:400]
    plt.close(figure)


def test_other_statistics_are_refused(statistics):
    with pytest.raises(ResultError, match="lack weat_p_holm"):
        forest(statistics.drop_vars("weat_p_holm"))
    with pytest.raises(ResultError, match="two target sets"):
        forest(statistics.drop_vars("weat"))


def test_vectors_beside_a_result_are_opened_by_name(tmp_path):
    for name, schema in [("contexts.h5", "contexts"), ("contexts.vectors.h5", "contexts.vectors")]:
        attributes = {"schema": f"stereosweep/{schema}", "schema_version": "1.0", "complete": 1}
        xr.Dataset({"vector": ("test", [0.5])}, attrs=attributes).to_netcdf(tmp_path / name, engine="h5netcdf")
    with open_result(tmp_path) as result, open_vectors(tmp_path) as vectors:
        assert result.attrs["schema"] == "stereosweep/contexts"
        assert vectors.attrs["schema"] == "stereosweep/contexts.vectors"


def test_command_writes_the_picture(statistics, tmp_path, capsys):
    statistics.to_netcdf(tmp_path / "contexts.stats.h5", engine="h5netcdf")
    assert cli.main(["figures", str(tmp_path)]) == 0
    pixels = plt.imread(tmp_path / "forest.png")
    assert pixels.shape[0] > 300 and pixels.shape[1] > 1000 and pixels.std() > 0.05
    assert "forest.png" in capsys.readouterr().out


def test_means_of_tests_of_two_sets_are_no_heat_map(statistics, tmp_path):
    """As a result is after a report, which asks for means."""
    coordinates = {
        "measure": ["effect_size"], "subject": ["X and Y"], "subject_kind": ("subject", ["word sets"]),
        "item": ["C1", "C8"], "item_kind": ("item", ["weat", "weat"]),
    }  # fmt: skip
    scores = xr.DataArray(np.ones((1, 1, 2)), coordinates, ("measure", "subject", "item"))
    path = tmp_path / "contexts.stats.h5"
    statistics.assign(mean_score=scores).to_netcdf(path, engine="h5netcdf")
    assert cli.main(["figures", str(tmp_path)]) == 0
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "forest.png"]


def test_tests_of_single_words_make_a_heat_map(tmp_path, capsys):
    axes = {"measure": ["effect_size"], "subject": ["women", "men", "robots"], "item": ["warm", "rich"]}
    scores = xr.DataArray([[[0.5, -1.2], [0.1, float("nan")], [1.5, 0.2]]], dims=list(axes))
    coordinates = {f"item_{name}": ("item", ["", ""]) for name in ("dimension", "left", "right")}
    coordinates |= {"test": ["warm"], "test_kind": ("test", ["wefat"]), "measure_units": ("measure", ["1"])}
    dataset = xr.Dataset({"mean_score": scores}, {**axes, **coordinates})
    attributes = {"schema": "stereosweep-statistics/contexts", "schema_version": "1.0", "complete": 1, "model": "m"}
    dataset.assign_attrs(attributes).to_netcdf(tmp_path / "contexts.stats.h5", engine="h5netcdf")
    assert cli.main(["figures", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "heat-map.png" in out and "forest" not in out
    figure = heat_map(dataset)
    assert "effect size" in figure.axes[0].get_title(loc="left")
    assert any("effect size" in axis.get_xlabel() for axis in figure.axes)
    plt.close(figure)


@pytest.fixture
def word_tests():
    """Two WEFAT tests of the same words, one of others."""
    subjects, items = ["nurse", "judge", "rose"], ["C9", "C10", "flowers"]
    axes = {"measure": ["effect_size"], "subject": subjects, "item": items}
    numbers = [[[0.5, -1.2, np.nan], [0.1, 0.3, np.nan], [np.nan, np.nan, 1.5]]]
    words = {
        "x": [["nurse", "judge"], ["nurse", "judge"], ["rose"]],
        "a": [["she", "her", "woman", "girl"], ["kind"], ["joy"]],
        "b": [["he", "his"], ["just", "strict"], ["pain", "war"]],
    }  # fmt: skip
    coordinates = {
        "item_dimension": ("item", ["jobs and sexes", "jobs and sexes", "flowers, pleasant or not"]),
        "item_left": ("item", ["B", "stern words", "B"]), "item_right": ("item", ["A", "A", "A"]),
        "measure_units": ("measure", ["1"]), "test": items, "test_kind": ("test", ["wefat"] * 3),
    }  # fmt: skip
    coordinates |= {f"test_{role}_words": ("test", [json.dumps(item) for item in sets]) for role, sets in words.items()}
    scores = xr.DataArray(numbers, dims=list(axes))
    attributes = {"schema": "stereosweep-statistics/contexts", "schema_version": "1.0", "complete": 1, "model": "m"}
    return xr.Dataset({"mean_score": scores}, {**axes, **coordinates}).assign_attrs(attributes)


def test_word_tests_are_named_by_what_they_compare(word_tests):
    made = heat_maps(word_tests)
    assert list(made) == ["heat-map-1", "heat-map-2"]
    first, second = (texts_of(figure) for figure in made.values())
    for part in ("jobs and sexes\n", "A: she, her, woman, …", "B: he, his", "kind", "stern words: just, strict",
                 "red words are nearer to the set above (A), blue ones to the set below (B)"):  # fmt: skip
        assert part in first, part
    assert "groups with traits" not in first and "rose" not in first
    assert "flowers, pleasant or not\n" in second and "pain, war" in second and "nurse" not in second
    plt.close("all")


def test_names_are_no_formulas_and_do_not_fill_the_figure(statistics, tmp_path):
    names, titles = ["é $x^{2$", "$a$", "n" * 300], ["5 $ or $6", "$", "t" * 300]
    figure = forest(statistics.assign_coords(weat_test=names, weat_test_title=("weat_test", titles)))
    figure.savefig(tmp_path / "odd.png")
    text = texts_of(figure)
    assert r"é \$x^{2\$: 5 \$ or \$6" in text and "n" * 59 + "…" in text.replace("\n", ""), text
    assert figure.axes[0].get_position().width > 0.2
    plt.close(figure)


def test_an_unfinished_run_is_said(statistics):
    for complete in (0, 1):
        figure = forest(statistics.assign_attrs(source_complete=complete))
        assert ("NOT complete" in texts_of(figure)) == (complete == 0)
        plt.close(figure)


def test_other_pictures_are_refused(statistics):
    with pytest.raises(ResultError, match="hold no means"):
        heat_map(statistics)


def test_vectors_are_asked_for_by_name(tmp_path):
    attributes = {"schema": "stereosweep/contexts", "schema_version": "1.0", "complete": 1}
    xr.Dataset({"status": ("test", [0])}, attrs=attributes).to_netcdf(tmp_path / "contexts.h5", engine="h5netcdf")
    with pytest.raises(ResultError, match="holds no vectors"):
        open_vectors(tmp_path / "contexts.h5")
    with pytest.raises(ResultError, match=r"unless vectors\.keep is none"):
        open_vectors(tmp_path)
    attributes |= {"complete": 0}
    path = tmp_path / "contexts.vectors.h5"
    xr.Dataset({"vector": ("test", [0.5])}, attrs=attributes).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(ResultError, match="allow_incomplete=True"):
        open_vectors(tmp_path)
    assert open_vectors(tmp_path, allow_incomplete=True).attrs["complete"] == 0
