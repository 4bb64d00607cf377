"""Pictures as they stand in a paper: nothing is cut off, they fit a page, names cover nothing, all rows are counted."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.text import Annotation

from stereosweep_analysis.pictures import style
from stereosweep_analysis.pictures.bars import supported_bars
from stereosweep_analysis.pictures.curves import detection_curves, elbow_curves
from stereosweep_analysis.pictures.dots import Dot, dot_panels, interval_dots
from stereosweep_analysis.pictures.heat import heat_map
from stereosweep_analysis.pictures.plane import alignment_scatter, cluster_plane, pair_scatter
from stereosweep_analysis.pictures.wordings import wording_lines

LONG = "a label of a hundred letters that goes on, with $ and _ and % and {braces}, until it must be cut somewhere"
AXIS = "a measure in many words, prior: generic word (nat), of the left side minus the right side"
RANDOM = np.random.default_rng(7)


def labels(count, text=LONG):
    return [f"{place} {text}" for place in range(count)]


def dots(rows, series=("",), groups=("",), text=LONG):
    return [
        Dot(label, place - 5.0, place - 6.0, place - 4.0, name, groups[place % len(groups)])
        for place, label in enumerate(labels(rows, text))
        for name in series
    ]


def made():
    yield "dots of a page and more", lambda: interval_dots(dots(200, groups=labels(30)), AXIS)
    yield "one dot", lambda: interval_dots(dots(1), AXIS)
    yield "many series", lambda: interval_dots(dots(5, labels(8, "unassertive - competitive")), AXIS)
    two = dots(80, ("male", "female"), labels(9))
    yield "panels", lambda: dot_panels([(LONG[:30], two, {"male": 1.0})] * 2, "share")
    yield "bars", lambda: supported_bars(labels(24), np.arange(24.0), np.arange(24) > 9, AXIS, ("p < 0.05", "larger"))
    yield "heat map", lambda: heat_map(RANDOM.normal(size=(90, 50)), labels(90), labels(50), AXIS, labels(90), 0.0)
    yield "small heat map", lambda: heat_map(RANDOM.normal(size=(2, 3)), labels(2), ["a", "b", "c"], AXIS)
    yield "wordings", lambda: wording_lines(RANDOM.normal(size=(9, 8, 6)), labels(8), labels(6), "ILPS* (nat)")
    pairs = ["powerless - powerful"] * 4
    yield "few wordings", lambda: wording_lines(RANDOM.normal(size=(9, 4, 4)), labels(4), pairs, "x")
    yield "elbow", lambda: elbow_curves(np.geomspace(9, 1, 10)[None].repeat(3, 0), labels(3, "rating"), [3, 4, 0])
    yield "detection", lambda: detection_curves(*RANDOM.uniform(size=(2, 6, 2, 81)), ["x", "y"], labels(6))
    clusters, centres = np.arange(50) % 5, np.zeros((5, 2))
    yield "plane", lambda: cluster_plane(RANDOM.normal(size=(50, 2)), labels(50, "some"), clusters, centres, "ab")
    cells = RANDOM.normal(size=(2, 300))
    yield "scatter", lambda: alignment_scatter(*cells, labels(300), ["p", "q", "r"] * 100, (AXIS[:60], "y"))
    yield "pairs", lambda: pair_scatter(*RANDOM.normal(size=(2, 100)), labels(100), ("one", "other"))


PICTURES = dict(made())


@pytest.fixture(params=PICTURES)
def figure(request):
    drawn = PICTURES[request.param]()
    drawn = drawn.figure if isinstance(drawn, style.Drawn) else drawn
    drawn.canvas.draw()
    yield drawn
    plt.close(drawn)


def visible_texts(figure):
    return [
        text for text in figure.findobj(plt.Text)
        if text.get_visible() and text.get_text() and text.get_window_extent().width > 0
    ]  # fmt: skip


def shown_ticks(figure):
    """Tick labels outside of the limits are not drawn, though they are there."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            hidden |= {
                id(label) for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
                for label in (tick.label1, tick.label2) if not low - 1e-9 <= tick.get_loc() <= high + 1e-9
            }  # fmt: skip
    return hidden


def test_no_text_is_cut_off(figure):
    hidden = shown_ticks(figure)
    wide, high = figure.bbox.width, figure.bbox.height
    cut = [
        text.get_text() for text in visible_texts(figure) if id(text) not in hidden
        for box in [text.get_window_extent()]
        if box.x0 < -1 or box.y0 < -1 or box.x1 > wide + 1 or box.y1 > high + 1
    ]  # fmt: skip
    assert not cut


def test_pictures_fit_a_page_and_can_be_read(figure):
    wide, high = figure.get_size_inches()
    assert wide <= style.PAGE and high <= style.PAGE_HEIGHT + 0.01
    assert min(text.get_fontsize() for text in visible_texts(figure)) >= 6.5


def test_data_keep_room_beside_the_labels(figure):
    for axes in figure.axes:
        if axes.get_label() != "<colorbar>":
            box = axes.get_window_extent()
            assert box.width / figure.dpi >= 0.8 and box.height / figure.dpi >= 0.1


def test_legends_and_names_cover_neither_each_other_nor_marks():
    points = RANDOM.normal(size=(60, 2))
    figure = cluster_plane(
        points, labels(60, "some people"), np.arange(60) % 3, np.zeros((3, 2)), ("warmth", "competence"), (0, 0)
    ).figure
    figure.canvas.draw()
    axes = figure.axes[0]
    names = [text for text in axes.texts if isinstance(text, Annotation)]
    assert len(names) > 20
    boxes = [super(Annotation, name).get_window_extent() for name in names]
    marks = axes.transData.transform(points)
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
        inside = (marks[:, 0] > box.x0) & (marks[:, 0] < box.x1) & (marks[:, 1] > box.y0) & (marks[:, 1] < box.y1)
        assert not inside.any()
    assert not figure.legends[0].get_window_extent().overlaps(axes.get_window_extent())
    plt.close(figure)


def test_rows_that_are_not_drawn_are_counted():
    every = dots(200, groups=("x", "y", "z"))
    figure, left_out, *_ = interval_dots(every, "d")
    drawn = len(figure.axes[0].get_yticks())
    assert left_out == f"{200 - drawn} weaker rows are not drawn."
    assert drawn + 3 == len(interval_dots(dots(200), "d").figure.axes[0].get_yticks())
    assert interval_dots(dots(2, labels(9)), "d").left_out == "1 series beyond the eighth is not drawn."
    values = RANDOM.normal(size=(90, 50))
    heat = heat_map(values, labels(90), labels(50), "d")
    assert heat.left_out == f"{90 - len(heat.rows)} rows and 16 columns are not drawn." and len(heat.columns) == 34
    away = np.abs(values - values.mean(0)).max(1)
    assert min(away[list(heat.rows)]) >= max(np.delete(away, heat.rows))
    plt.close("all")


def test_names_of_a_heat_map_are_words():
    axes = heat_map(np.array([[0.0, 1.0]]), ["old_people"], ["very_warm", "cold"], "d").figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["very warm", "cold"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["old people"]
    plt.close("all")


def test_heat_maps_with_the_same_ends_have_one_scale():
    one, other = (heat_map(np.array([[low, high]]), ["a"], ["b", "c"], "d", None, centre, (-2.0, 5.0)).figure
                  for low, high, centre in ((0.0, 1.0, 0.0), (-2.0, 5.0, 0.0)))  # fmt: skip
    norms = [figure.axes[0].collections[0].norm for figure in (one, other)]
    assert [(norm.vmin, norm.vmax) for norm in norms] == [(-5.0, 5.0)] * 2
    plain = heat_map(np.array([[0.0, 1.0]]), ["a"], ["b", "c"], "d", None, None, (-2.0, 5.0)).figure
    assert (plain.axes[0].collections[0].norm.vmin, plain.axes[0].collections[0].norm.vmax) == (-2.0, 5.0)
    plt.close("all")


def test_points_that_coincide_share_a_name_and_nameless_ones_are_counted():
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [2.0, 0.5]])
    drawn = cluster_plane(points, ["nurses", "doctors", "judges", "bakers"], [-1] * 4, [], "ab")
    names = {text.get_text() for text in drawn.figure.axes[0].texts}
    assert names == {"nurses, doctors", "judges", "bakers"} and drawn.left_out == ""
    plt.close(drawn.figure)
    near = np.stack([np.linspace(0, 1e-3, 90), np.zeros(90)], 1)
    every = np.concatenate([near, [[1.0, 1.0], [0.5, 0.9]]])
    drawn = cluster_plane(every, labels(92, "crowd"), np.zeros(92, dtype=int), np.zeros((1, 2)), "ab")
    names = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert any("and 89 more" in name for name in names) or "not drawn" in drawn.left_out
    crowd = RANDOM.normal(size=(400, 2))
    drawn = cluster_plane(crowd, labels(400, "crowd"), np.zeros(400, dtype=int), np.zeros((1, 2)), "ab")
    assert drawn.left_out == f"{400 - len(drawn.figure.axes[0].texts)} names beside marks are not drawn."
    plt.close("all")


def test_rows_of_panels_have_names_and_no_ticks():
    rows = [Dot("a", 1.0, group="x"), Dot("b", 2.0, group="y")]
    for axes in dot_panels([("pro", rows, {}), ("anti", rows, {})], "share").figure.axes:
        ticks = axes.yaxis.get_major_ticks() + axes.yaxis.get_minor_ticks()
        assert len(ticks) == 4 and not any(tick.tick1line.get_markersize() for tick in ticks)
    plt.close("all")


def test_men_and_women_keep_their_colours():
    one = [Dot("a", 1.0, series="male"), Dot("a", 2.0, series="female")]
    for dots in (one, one[::-1]):
        for figure in (dot_panels([("pro", dots, {})], "share").figure, interval_dots(dots, "share", None).figure):
            check_colours(figure)


def check_colours(figure):
    colours = {line.get_label(): line.get_color() for line in figure.axes[0].lines}
    assert colours == {"female": style.SERIES[0], "male": style.SERIES[1]}
    plt.close(figure)


def test_the_sides_of_a_heat_map_are_told_apart():
    image = heat_map(np.array([[-1.0, 1.0]]), ["a"], ["b", "c"], "d", None, 0.0).figure.axes[0].collections[0]
    assert image.cmap.name == style.DIVERGING
    ends = image.cmap(image.norm(np.array([-0.8, 0.8])))
    named = np.array([to_rgba(colour) for colour in (style.BELOW, style.ABOVE)])
    np.testing.assert_allclose(ends, named, atol=0.02)
    # lightness alone tells no side; blue against red does, in every kind of colour blindness
    assert named[0, 2] - named[0, 0] > 0.4 and named[1, 0] - named[1, 2] > 0.4
    plt.close("all")
