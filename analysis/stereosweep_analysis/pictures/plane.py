"""Subjects in the plane of two dimensions (warmth and competence), with their clusters; scores against people."""

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from .style import MARKS, MOST_SERIES, PAGE, QUIET, SERIES, page_style

MOST_NAMES = 40


def cluster_plane(points, names, clusters, axis_names, limits=None):
    """`points`: [subject, 2]; `clusters`: a number for each subject (-1: none); `limits`: where high begins."""
    points = np.asarray(points, dtype=float)
    good = np.isfinite(points).all(1)
    with page_style():
        figure, axes = plt.subplots(figsize=(PAGE, 4.4))
        for place, cluster in enumerate(sorted(set(np.asarray(clusters)[good].tolist()))[:MOST_SERIES]):
            chosen = good & (np.asarray(clusters) == cluster)
            label = "no cluster" if cluster < 0 else f"cluster {cluster}: {chosen.sum()} subjects"
            axes.plot(
                *points[chosen].T, MARKS[place], color=SERIES[place], markersize=4.5, linestyle="none", label=label
            )
            if cluster >= 0:
                centre = points[chosen].mean(0)
                axes.plot(*centre, "+", color=SERIES[place], markersize=13, markeredgewidth=1.6)
        if limits is not None:
            axes.axvline(limits[0], color=QUIET, linewidth=0.7, linestyle=":")
            axes.axhline(limits[1], color=QUIET, linewidth=0.7, linestyle=":")
        axes.margins(0.1)
        name_points(figure, axes, points[good], [name for name, is_good in zip(names, good, strict=True) if is_good])
        axes.set_xlabel(literal(axis_names[0]))
        axes.set_ylabel(literal(axis_names[1]))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return figure


def alignment_scatter(reference, scores, names, kinds, labels, middle=None):
    """`reference`, `scores`: a number for each cell; `names`: of the cells; `kinds`: one mark for each (dimension);
    `labels`: of both axes; `middle`: where the reference changes sides."""
    reference, scores = np.asarray(reference, dtype=float), np.asarray(scores, dtype=float)
    good = np.isfinite(reference) & np.isfinite(scores)
    kinds = np.asarray(kinds, dtype=object)
    with page_style():
        figure, axes = plt.subplots(figsize=(PAGE, 4.2))
        found = list(dict.fromkeys(kinds[good].tolist()))[:MOST_SERIES]
        for place, kind in enumerate(found):
            chosen = good & (kinds == kind)
            axes.plot(
                reference[chosen], scores[chosen], MARKS[place], color=SERIES[place], markersize=3.6, alpha=0.8,
                markeredgewidth=0, linestyle="none", label=literal(kind) or "all",
            )  # fmt: skip
        axes.axhline(0, color=QUIET, linewidth=0.6)
        if middle is not None:
            axes.axvline(middle, color=QUIET, linewidth=0.6)
        axes.margins(0.08)
        points = np.stack([reference[good], scores[good]], 1)
        name_points(figure, axes, points, [name for name, is_good in zip(names, good, strict=True) if is_good], 12)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        if len(found) > 1:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return figure


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
        name_points(figure, axes, points, chosen, 8, away)
        axes.set_xlabel(literal(labels[0]))
        axes.set_ylabel(literal(labels[1]))
    return figure


def name_points(figure, axes, points, names, most=MOST_NAMES, order=None):
    """Names beside the points in `order` (default: farthest out first) that cover neither each other nor a point."""
    if not len(points):
        return
    figure.canvas.draw()
    if order is None:
        spread = np.maximum(points.std(0), 1e-12)
        order = np.argsort(-np.abs((points - points.mean(0)) / spread).sum(1), kind="stable")
    places = axes.transData.transform(points)
    scale = figure.dpi / 72
    taken = [(x - 3 * scale, y - 3 * scale, x + 3 * scale, y + 3 * scale) for x, y in places]
    area = axes.get_window_extent()
    written = 0
    for index in order:
        text = literal(names[index], 42)
        wide, high = 3.7 * scale * len(text), 7 * scale
        x, y = places[index]
        for left, low, align in ((x + 4 * scale, y - high / 2, "left"), (x - 4 * scale - wide, y - high / 2, "right")):
            box = (left, low, left + wide, low + high)
            others = (other for place, other in enumerate(taken) if place != index)
            if box[0] < area.x0 or box[2] > area.x1 or any(_overlap(box, other) for other in others):
                continue
            axes.annotate(
                text, points[index], xytext=(4 if align == "left" else -4, 0), textcoords="offset points", ha=align,
                va="center", fontsize=6.5, color="0.2",
            )  # fmt: skip
            taken.append(box)
            written += 1
            break
        if written == most:
            return


def _overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
