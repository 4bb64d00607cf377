"""Pictures of statistics that are more than numbers with intervals: by the first array of what they belong to."""

import numpy as np

from ..glossary import title_of
from ..pictures.bars import supported_bars
from ..pictures.curves import detection_curves, elbow_curves, round_intervals
from ..pictures.plane import alignment_scatter, cluster_plane
from ..tables import Column, Table, number_text
from ..views import measure_label, recommended_measure, recommended_measures, texts
from .blocks import Picture, picture_of
from .shown import LEVEL

MOST_DRAWN = 24


def single_traits(statistics):
    """Single traits (poles) whose score rises most above each part's: the largest increases."""
    if "pole_emerge_max" not in statistics:
        return []
    axis = statistics["pole_emerge_max"].dims[0]
    measures = texts(statistics, axis, axis)
    best = recommended_measure(statistics)
    measure = best if best in measures else measures[0]
    increase, adjusted = (
        statistics[f"pole_emerge_{name}"].sel({axis: measure}).transpose("intersection", "pole").values.ravel()
        for name in ("max", "p_holm")
    )
    order = [place for place in np.argsort(-increase, kind="stable")[:MOST_DRAWN] if increase[place] > 0]
    if not order:
        return []
    names, poles = texts(statistics, "intersection", "intersection"), texts(statistics, "pole", "pole")
    labels = [f"{names[place // len(poles)]}: {poles[place % len(poles)]}" for place in order]
    figure = supported_bars(
        labels, increase[order], adjusted[order] < LEVEL,
        f"{measure_label(statistics, measure)}, above the larger part's",
        (f"adjusted p < {LEVEL:g}", "larger, or no p"),
    )  # fmt: skip
    risen = int((increase > 0).sum())
    caption = (
        f"Traits of intersections that rise above each part's: the largest of {risen:,}. Which are largest is mostly "
        "noise where the bar is empty; p by max-T over all."
    )
    return [Picture(figure, "Emergent traits", caption)]


def agreement(statistics):
    """People's means against the model's scores, one mark a subject and item."""
    if any(name not in statistics for name in ("people_mean", "mean_score", "people_tau")):
        return []
    axes = [statistics[name].dims[0] for name in ("mean_score", "people_tau")]
    known = [label for label in texts(statistics, axes[0], axes[0]) if label in texts(statistics, axes[1], axes[1])]
    if not known:
        return []
    measure = next((label for label in recommended_measures(statistics) if label in known), known[0])
    scores = statistics["mean_score"].sel({axes[0]: measure}).transpose("subject", "item")
    people = statistics["people_mean"].sel(people_group="all").transpose("subject", "item")
    labels = [f"{subject}: {item}" for subject in scores["subject"].values for item in scores["item"].values]
    drawn = alignment_scatter(
        people.values.ravel(), scores.values.ravel(), labels,
        texts(statistics, "item_dimension", "item") * scores.sizes["subject"],
        ("people: mean rating (0 left pole, 100 right pole)", measure_label(statistics, measure)), 50.0,
    )  # fmt: skip
    pooled = statistics["people_tau"].sel({axes[1]: measure, "people_group": "all", "people_row": "pooled"})
    tau = number_text(float(pooled))
    caption = f"People's mean ratings and the model's scores, one mark a subject and item; tau-b {tau}. Dashed: "
    return [picture_of(drawn, "Agreement with people", caption + "least squares.")]


def detection(statistics):
    """Curves of the detection of (emergent) intersectional words."""
    if "detection_curve_accuracy" not in statistics:
        return []
    rates = [
        statistics[f"detection_curve_{side}_positive_rate"].transpose("detection", "detection_kind", "threshold").values
        for side in ("false", "true")
    ]
    kinds, names = (texts(statistics, axis, axis) for axis in ("detection_kind", "detection"))
    caption = (
        "Detection of the words that belong to each group: share of them found against share of the others found, over "
        "thresholds. A word can cease to be emergent at a lower threshold, so that those lines may turn back."
    )
    return [picture_of(detection_curves(*rates, kinds, names), "Detection of words", caption)]


def decisions(statistics):
    """What each round of a sweep knew, of the rows with the smallest p."""
    if "decide_by_round_difference" not in statistics:
        return []
    best = recommended_measures(statistics)
    measures = texts(statistics, "decide_row_measure", "decide_row")
    rows = [place for place, measure in enumerate(measures) if measure in best] or list(range(len(measures)))
    order = sorted(rows, key=lambda place: np.nan_to_num(statistics["decide_p"].values[place], nan=2))[:12]
    names, items = (texts(statistics, f"decide_row_{axis}", "decide_row") for axis in ("name", "item"))
    values = [
        statistics[f"decide_by_round_{name}"].transpose("decide_row", "decide_look").values[order]
        for name in ("passes", "difference", "low", "high")
    ]
    figure = round_intervals(*values, [f"{names[place]}: {items[place]}" for place in order])
    caption = (
        f"What each round knew, of {len(order)} of {len(rows)} rows, the smallest p first: mean of the cells until "
        "then and its repeated interval, all of which together hold the mean. A row stops where it needs no more."
    )
    return [Picture(figure, "Rounds", caption)]


def clusters(statistics):
    """Subjects in the plane of the first two dimensions, with their clusters; the elbow."""
    if statistics.sizes.get("cluster_dimension", 0) < 2:
        return []
    point = statistics["cluster_point"]
    chosen = {"cluster_source": str(statistics["cluster_source"].values[0])}
    source = title_of("measure", chosen["cluster_source"])
    points = point.sel(chosen).values[:, :2]
    members = statistics["cluster_of_subject"].sel(chosen).values
    limits = statistics["cluster_limit"].sel(chosen).values[:2]
    dimensions = texts(statistics, "cluster_dimension", "cluster_dimension")[:2]
    subjects = texts(statistics, "subject", "subject")
    centres = np.empty((0, 2))  # without a cluster of any source the file has none
    if "cluster_centre" in statistics:
        centres = statistics["cluster_centre"].sel(chosen).transpose("cluster_place", "cluster_dimension").values[:, :2]
    limits = limits if np.isfinite(limits).all() else None
    drawn = cluster_plane(points, subjects, members, centres, dimensions, limits)
    caption = (
        f"Mean {dimensions[0]} and {dimensions[1]} of each subject by {source}; marks and colours are clusters "
        "(k-means), crosses their centres, dotted lines where high begins."
    )
    rows = [
        (subject, "none" if members[place] < 0 else str(int(members[place])), *map(float, points[place]))
        for place, subject in enumerate(subjects)
    ]
    columns = [Column("subject"), Column("cluster"), *(Column(label, kind="number") for label in dimensions)]
    note = "Clusters are fitted to these very scores: that they differ is no finding by itself."
    return [
        picture_of(drawn, f"{dimensions[0]} and {dimensions[1]}", caption),
        Table(f"Subjects and their clusters by {source}", columns, rows, note, 2),
        *_elbow(statistics),
    ]


def _elbow(statistics):
    if "cluster_inertia" not in statistics or statistics.sizes["num_clusters"] < 3:
        return []
    inertia = statistics["cluster_inertia"]
    sources = [title_of("measure", source) for source in texts(statistics, "cluster_source", "cluster_source")]
    elbows = statistics["elbow_second_difference"].values
    figure = elbow_curves(inertia.transpose("cluster_source", "num_clusters").values, sources, elbows)
    caption = "Sum of squared distances to the clusters' centres, relative to one cluster; the ring is the elbow."
    return [Picture(figure, "Number of clusters", caption)]
