"""Tables 2, 5, 8 and 9 of StereoMap (EMNLP 2023): clusters and their paired t, correlations, groups far out."""

import numpy as np

from .clusters import Clusters
from .layout import Layout
from .table import PaperTable

TESTS = ("cluster_t_difference", "cluster_t", "cluster_t_p", "cluster_t_p_holm")
WARNING = "The clusters were fitted on the scores that t compares."


def _clusters(statistics, _):
    source = str(statistics["cluster_source"].values[0])
    clusters = Clusters(statistics, source)
    tests = clusters.tests("cluster_t", "cluster_t_p")
    rows = [
        (
            str(place), clusters.side_text(place), "; ".join(clusters.members(place)),
            *map(float, clusters.centres[place]), *(float(number) for of in tests.values() for number in of[place]),
        )
        for place in range(clusters.number)
    ]  # fmt: skip
    head = (
        "cluster", "sides", "groups", *clusters.dimensions, *(f"{what} {pair}" for pair in tests for what in ("t", "p"))
    )  # fmt: skip
    note = f"By {source}. {WARNING}"
    return [PaperTable("2", "Clusters of groups", head, rows, note, labels=1, paper_columns=len(clusters.dimensions))]


def _paired(statistics, _):
    """Table 5: by every source, where the ratings of complete answers stand beside those of all."""
    rows = []
    for source in map(str, statistics["cluster_source"].values):
        clusters = Clusters(statistics, source)
        tests = clusters.tests(*TESTS)
        rows += [
            (source, str(place), clusters.side_text(place), pair, len(clusters.members(place)), *map(float, of[place]))
            for pair, of in tests.items()
            for place in range(clusters.number)
        ]
    head = ("by", "cluster", "sides", "first minus second", "groups", "difference", "t", "p", "p Holm")
    return [PaperTable("5", "Paired t of two dimensions within clusters", head, rows, WARNING, labels=4)]


def _correlations(statistics, _):
    """Table 8: one for each name of statistics.correlations."""
    parts = ("name", "among", "measure", "method", "row", "column")
    keys = list(zip(*(map(str, statistics[f"correlation_{part}"].values) for part in parts), strict=True))
    numbers = [statistics[f"correlation_{name}"].values for name in ("coefficient", "p_holm")]
    found = {key: tuple(float(values[place]) for values in numbers) for place, key in enumerate(keys)}
    made = []
    for name in dict.fromkeys(key[0] for key in keys):
        columns = list(dict.fromkeys(key[-1] for key in keys if key[0] == name))
        rows = [
            (*start[1:], *(number for column in columns for number in found.get((*start, column), (None, None))))
            for start in dict.fromkeys(key[:-1] for key in keys if key[0] == name)
        ]
        head = ("among", "measure", "method", "of", *(text for column in columns for text in (column, f"{column} p")))
        made.append(PaperTable("8", f"Correlations: {name}", head, rows, "p by shuffled groups, after Holm.", labels=4))
    return made


def _extremes(statistics, _, most=10):
    measure_axis = statistics["extreme_mean"].dims[0]
    measure = str(statistics[measure_axis].values[0])
    of_measure = statistics.isel({measure_axis: 0})
    rows = []
    for item in map(str, statistics["extreme_of"].values):
        mean, variance = (of_measure[f"extreme_{name}"].sel(extreme_of=item) for name in ("mean", "variance"))
        subjects = [str(name) for name in statistics[mean.dims[0]].values]
        values = mean.values
        order = [place for place in np.argsort(-values, kind="stable") if np.isfinite(values[place])]
        for name, places in (("highest", order[:most]), ("lowest", order[::-1][:most])):
            rows += [
                (item, name, subjects[place], rank, float(values[place]), float(variance.values[place]))
                for rank, place in enumerate(places, start=1)
            ]
    head = ("of", "list", "group", "rank", "mean", "variance")
    return [PaperTable("9", "Groups with the highest and lowest means", head, rows, f"By {measure}; variance: n - 1.")]


CLUSTERS = "'stereosweep stats DIR statistics.clusters={number: 5}'"
LAYOUTS = (
    Layout("2", "cluster_centre", _clusters, CLUSTERS),
    Layout("5", "cluster_t", _paired, CLUSTERS),
    Layout("8", "correlation_coefficient", _correlations, "statistics.correlations as in jobs/70_stereomap.yaml"),
    Layout("9", "extreme_mean", _extremes, "statistics.extremes as in jobs/70_stereomap.yaml"),
)
