"""Clusters of the subjects: their plane, and how many clusters the inertia speaks for."""

import numpy as np

from ..glossary import title_of
from ..pictures.curves import elbow_curves
from ..pictures.plane import cluster_plane
from .blocks import Picture
from .scores import texts
from .tables import Column, make_table


def cluster_blocks(statistics):
    """Subjects in the plane of the first two dimensions, with their clusters; the elbow."""
    if "cluster_point" not in statistics or statistics.sizes.get("dimension", 0) < 2:
        return []
    point = statistics["cluster_point"]
    source_axis, axis, _ = point.dims
    chosen = {source_axis: str(statistics[source_axis].values[0])}
    source = title_of("measure", chosen[source_axis])
    points = point.sel(chosen).values[:, :2]
    clusters = statistics[f"cluster_of_{axis}"].sel(chosen).values
    limits = statistics["cluster_limit"].sel(chosen).values[:2]
    dimensions, subjects = texts(statistics, "dimension", "dimension")[:2], texts(statistics, axis, axis)
    figure = cluster_plane(points, subjects, clusters, dimensions, limits if np.isfinite(limits).all() else None)
    caption = (
        f"Mean {dimensions[0]} and {dimensions[1]} of each subject by {source}; marks and colours are clusters "
        "(k-means), crosses their centres, dotted lines where high begins."
    )
    rows = [
        (subject, *map(float, points[place]), "none" if clusters[place] < 0 else str(int(clusters[place])))
        for place, subject in enumerate(subjects)
    ]
    columns = [Column("subject"), *(Column(label, kind="number") for label in dimensions), Column("cluster")]
    note = "Clusters are fitted to these very scores: that they differ is no finding by itself."
    return [
        Picture(figure, f"{dimensions[0]} and {dimensions[1]}", caption),
        make_table(f"Subjects and their clusters by {source}", columns, rows, note),
        *_elbow(statistics),
    ]


def _elbow(statistics):
    if "cluster_inertia" not in statistics or statistics.sizes["num_clusters"] < 3:
        return []
    inertia = statistics["cluster_inertia"]
    source_axis = next(axis for axis in inertia.dims if axis != "num_clusters")
    sources = [title_of("measure", source) for source in texts(statistics, source_axis, source_axis)]
    elbows = statistics["elbow_second_difference"].values
    figure = elbow_curves(inertia.transpose(source_axis, "num_clusters").values, sources, elbows)
    caption = "Sum of squared distances to the clusters' centres, relative to one cluster; the ring is the elbow."
    return [Picture(figure, "Number of clusters", caption)]
