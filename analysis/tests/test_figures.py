"""The report's pictures hold the numbers of the file under the names that they belong to."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

import stereosweep_analysis as stereosweep
from stereosweep_analysis import cli, open_statistics
from stereosweep_analysis.glossary import measure_term
from stereosweep_analysis.reports.means import means_picture
from stereosweep_analysis.reports.scores import measure_means
from stereosweep_analysis.tables import number_text


def texts_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(plt.Text))


@pytest.mark.parametrize("measure", ["set_code_plain prior_word", "ilps_star prior_word"])
def test_rows_and_columns_of_a_heat_map_belong_to_their_names(run, measure):
    statistics = open_statistics(run).load()
    (picture,) = means_picture(statistics, measure_means(statistics, measure))
    axes = picture.figure.axes[0]
    image = axes.collections[0]
    scores = statistics["mean_score"].sel(measure=measure)
    columns = [label.get_text() for label in axes.get_xticklabels()]
    poles = zip(scores["item_left"].values, scores["item_right"].values, strict=True)
    assert columns == [f"{left} \u2013 {right}" for left, right in poles]
    for place, label in enumerate(axes.get_yticklabels()):
        expected = scores.sel(subject=label.get_text()).values
        np.testing.assert_allclose(image.get_array().reshape(-1, len(columns))[place].filled(np.nan), expected)
    assert image.norm.vcenter == 0 and image.norm.vmin == -image.norm.vmax
    text = texts_of(picture.figure)
    for domain in ("age", "gender", "race"):
        assert domain in text
    assert measure_term(measure).title in " ".join(text.split())
    plt.close(picture.figure)


def test_a_cell_without_a_score_is_grey(run):
    statistics = open_statistics(run).load()
    statistics["mean_score"][..., 0, 0] = np.nan
    (picture,) = means_picture(statistics, measure_means(statistics))
    assert "grey: no score" in picture.caption
    assert picture.figure.axes[0].collections[0].get_array().mask.sum() == 1
    plt.close(picture.figure)


def test_a_scatter_states_the_agreement_of_the_file_and_its_names_cover_nothing(run):
    statistics = open_statistics(run).load()
    found = stereosweep.figures(run)["people"]
    found.canvas.draw()
    drawn = [text for text in found.axes[0].texts if text.get_text()]
    boxes = [part.get_window_extent() for part in [*drawn, *found.legends]]
    assert len(drawn) > 5
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    points = {tuple(point) for line in found.axes[0].lines for point in np.round(line.get_xydata(), 9).tolist()}
    people = statistics["people_mean"].sel(people_group="all").transpose("subject", "item").values
    measure = measure_means(statistics).measure
    means = statistics["mean_score"].sel(measure=measure).transpose("subject", "item").values
    cells = np.stack([people.ravel(), means.ravel()], axis=1)
    assert set(map(tuple, np.round(cells, 9).tolist())) <= points
    plt.close(found)


def test_pictures_are_files_and_say_what_they_show(run, tmp_path, capsys):
    assert cli.main(["pictures", str(run), "--out", str(tmp_path / "pictures"), "--format", "png"]) == 0
    out = capsys.readouterr().out
    statistics = open_statistics(run).load()
    chosen = statistics["people_tau"].sel(measure=measure_means(statistics).measure, people_group="all")
    assert f"tau-b {number_text(float(chosen.sel(people_row='pooled')))}." in out
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert {"scores.png", "people.png"} <= set(names)
    for name in names:
        pixels = plt.imread(tmp_path / "pictures" / name)
        assert pixels.shape[0] > 300 and pixels.shape[1] > 800 and pixels.std() > 0.05
        assert name in out
    one = ["--out", str(tmp_path / "set"), "--measure", "set_code_plain prior_word"]
    assert cli.main(["pictures", str(run), *one]) == 0
    assert "Mean SeT, published code without bias" in capsys.readouterr().out


def test_errors_are_one_line(run, tmp_path, capsys):
    assert cli.main(["pictures", str(tmp_path)]) == 1
    assert "is no run directory" in capsys.readouterr().err
    assert cli.main(["pictures", str(run), "--measure", "nonsense"]) == 1
    assert "ilps_star" in capsys.readouterr().err
