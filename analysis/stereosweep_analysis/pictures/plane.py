"""Subjects in the plane of two dimensions (warmth and competence), with their clusters; scores against people."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects

from ..labels import literal
from .style import MARKS, MOST_SERIES, PAGE, QUIET, SERIES, Drawn, left_out_text, page_style

MOST_NAMES = 60
CROSS = 11  # points, of a cluster's centre
NAME_GAP = 2.6  # points, from a mark's middle to its edge
# Offset in points from the mark, and which side of the name stands there: right, left, above, below.
NAME_PLACES = (
    ((4, 0), "left", "center"),
    ((-4, 0), "right", "center"),
    ((0, 3.5), "center", "bottom"),
    ((0, -3.5), "center", "top"),
)


def cluster_plane(points, names, clusters, centres, axis_names, limits=None):
    """`points`: [subject, 2]; `clusters`: a number for each subject (-1: none); `centres`: [cluster, 2]; `limits`:
    where high begins."""
    points = np.asarray(points, dtype=float)
    good = np.isfinite(points).all(1)
    with page_style():
        figure, axes = plt.subplots(figsize=(PAGE, 4.4))
        every = sorted(set(np.asarray(clusters)[good].tolist()))
        for place, cluster in enumerate(every[:MOST_SERIES]):
            chosen = good & (np.asarray(clusters) == cluster)
            label = "no cluster" if cluster < 0 else f"cluster {cluster}: {chosen.sum()} subjects"
            axes.plot(
                *points[chosen].T, MARKS[place], color=SERIES[place], markersize=4.5, linestyle="none", label=label
            )
            if cluster >= 0:
                axes.plot(*centres[cluster], "+", color=SERIES[place], markersize=CROSS, markeredgewidth=1.6)
        if limits is not None:
            axes.axvline(limits[0], color=QUIET, linewidth=0.7, linestyle=":")
            axes.axhline(limits[1], color=QUIET, linewidth=0.7, linestyle=":")
        axes.margins(0.1)
        axes.set_xlabel(literal(axis_names[0]))
        axes.set_ylabel(literal(axis_names[1]))
        figure.legend(loc="outside upper center", ncols=3)
        shown = [name for name, is_good in zip(names, good, strict=True) if is_good]
        known = [centre for centre in centres if np.isfinite(centre).all()]
        unnamed = name_points(figure, axes, points[good], shown, obstacles=known)
    return Drawn(figure, left_out_text(names_beside_marks=unnamed, clusters_beyond_the_eighth=len(every[MOST_SERIES:])))


def alignment_scatter(reference, scores, names, kinds, labels, middle=None):
    """`reference`, `scores`: a number for each cell; `names`: of the cells; `kinds`: one mark for each (dimension);
    `labels`: of both axes; `middle`: where the reference changes sides. The line is that of least squares."""
    reference, scores = np.asarray(reference, dtype=float), np.asarray(scores, dtype=float)
    good = np.isfinite(reference) & np.isfinite(scores)
    kinds = np.asarray(kinds, dtype=object)
    with page_style():
        figure, axes = plt.subplots(figsize=(PAGE, 4.2))
        found = list(dict.fromkeys(kinds[good].tolist()))
        for place, kind in enumerate(found[:MOST_SERIES]):
            chosen = good & (kinds == kind)
            axes.plot(
                reference[chosen], scores[chosen], MARKS[place], color=SERIES[place], markersize=3.6, alpha=0.8,
                markeredgewidth=0, linestyle="none", label=literal(kind) or "all",
            )  # fmt: skip
        axes.axhline(0, color=QUIET, linewidth=0.6)
        if middle is not None:
            axes.axvline(middle, color=QUIET, linewidth=0.6)
        axes.margins(0.08)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        if len(found) > 1:
            figure.legend(loc="outside lower center", ncols=4)
        points = np.stack([reference[good], scores[good]], 1)
        if len(points) > 2 and np.ptp(points[:, 0]) > 0:
            ends = np.array([points[:, 0].min(), points[:, 0].max()])
            axes.plot(ends, np.polyval(np.polyfit(*points.T, 1), ends), color=QUIET, linewidth=1, linestyle="--")
        name_points(figure, axes, points, [name for name, is_good in zip(names, good, strict=True) if is_good], 12)
    left_out = left_out_text(dimensions_beyond_the_eighth=len(found[MOST_SERIES:]))
    return Drawn(figure, f"Names: at most 12 of {len(points):,} marks, those farthest out. {left_out}".strip())


def pair_scatter(one, other, names, labels):
    """The same cells in two runs; on the line they are equal."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    good = np.isfinite(one) & np.isfinite(other)
    points = np.stack([one[good], other[good]], 1)
    with page_style():
        figure, axes = plt.subplots(figsize=(4.4, 4.2))
        ends = [points.min(), points.max()]
        axes.plot(ends, ends, color=QUIET, linewidth=0.8, linestyle=":")
        axes.plot(*points.T, "o", color=SERIES[0], markersize=3.4, alpha=0.7, markeredgewidth=0)
        axes.margins(0.08)
        away = np.argsort(-np.abs(points[:, 0] - points[:, 1]), kind="stable")[:8]
        chosen = [name for name, is_good in zip(names, good, strict=True) if is_good]
        axes.set_xlabel(literal(labels[0]))
        axes.set_ylabel(literal(labels[1]))
        name_points(figure, axes, points, chosen, 8, away)
    return Drawn(figure, f"Names: at most 8 of {len(points):,} marks, those farthest from the line.")


def name_points(figure, axes, points, names, most=MOST_NAMES, order=None, obstacles=()):
    """Names beside the points in `order` (default: farthest out first) that cover neither each other nor a point nor
    one of `obstacles` [x, y]. Points that coincide have one name, of all of them. Returns how many points have none."""
    if not len(points):
        return 0
    figure.canvas.draw()
    if order is None:
        spread = np.maximum(points.std(0), 1e-12)
        order = np.argsort(-np.abs((points - points.mean(0)) / spread).sum(1), kind="stable")
    scale = figure.dpi / 72
    places = axes.transData.transform(points)
    taken = [_box(place, NAME_GAP * scale) for place in places]
    alike = {}
    for index, place in enumerate(np.rint(places / (NAME_GAP * scale)).astype(int).tolist()):
        alike.setdefault(tuple(place), []).append(index)
    together = {same[0]: same for same in alike.values()}
    taken += [_box(place, CROSS / 2 * scale) for place in axes.transData.transform(np.reshape(obstacles, (-1, 2)))]
    area = axes.get_window_extent()
    written = named = 0
    for index in (index for index in order if index in together):
        name_of_all = _name_of([str(names[same]) for same in together[index]])
        others = [other for place, other in enumerate(taken) if place not in together[index]]
        for shift, horizontal, vertical in NAME_PLACES:
            name = axes.annotate(
                name_of_all, points[index], xytext=shift, textcoords="offset points", ha=horizontal,
                va=vertical, fontsize=6.5, color="0.2", in_layout=False,
                path_effects=[patheffects.withStroke(linewidth=1.6, foreground="white")],
            )  # fmt: skip
            box = name.get_window_extent().extents
            if box[0] >= area.x0 and box[2] <= area.x1 and not any(_overlap(box, other) for other in others):
                taken.append(box)
                written += 1
                named += len(together[index])
                break
            name.remove()
        if written == most:
            break
    return len(points) - named


def _name_of(names, longest=42):
    """Of points that coincide: all their names, or the first and how many more there are."""
    joined = ", ".join(names)
    if len(joined) <= longest or len(names) == 1:
        return literal(joined, longest)
    more = f" and {len(names) - 1} more"
    return literal(names[0], longest - len(more)) + more


def _box(place, reach):
    return (place[0] - reach, place[1] - reach, place[0] + reach, place[1] + reach)


def _overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
