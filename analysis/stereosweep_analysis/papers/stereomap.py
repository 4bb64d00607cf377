"""Tables 2, 5 and 9 of StereoMap (EMNLP 2023): clusters with their centres and paired t, and groups far out."""

import numpy as np

from ..open import ResultError
from .table import PaperTable


def _subject_axis(statistics):
    return next(dim for dim in statistics["cluster_point"].dims if dim not in ("cluster_source", "dimension"))


def _clusters(statistics):
    axis = _subject_axis(statistics)
    source = str(statistics["cluster_source"].values[0])
    of_source = statistics.sel(cluster_source=source)
    dimensions = [str(name) for name in statistics["dimension"].values]
    subjects = np.array([str(name) for name in statistics[axis].values])
    number = int(of_source["cluster_number"])
    centres = of_source["cluster_centre"].transpose("cluster_place", "dimension").values
    sides = statistics["cluster_side"].attrs["flag_meanings"].split()
    side = of_source["cluster_side"].transpose("cluster_place", "dimension").values
    members = of_source[f"cluster_of_{axis}"].values
    tests = [
        (str(pair), of_source["cluster_t"].sel(dimension_pair=pair).values,
         of_source["cluster_t_p"].sel(dimension_pair=pair).values)
        for pair in statistics["dimension_pair"].values
    ] if "cluster_t" in statistics else []  # fmt: skip
    rows = [
        (
            ", ".join(sides[int(flag)] for flag in side[place]),
            "; ".join(subjects[members == place]),
            *map(float, centres[place]),
            *(float(values[place]) for _, t, p in tests for values in (t, p)),
        )
        for place in range(number)
    ]
    head = ("sides", "groups", *dimensions, *(f"{what} {pair}" for pair, _, _ in tests for what in ("t", "p")))
    note = f"By {source}. The clusters were fitted on the scores that t compares."
    return PaperTable("2", "Clusters of groups", head, rows, note)


def _extremes(statistics, most=10):
    measure = str(statistics[statistics["extreme_mean"].dims[0]].values[0])
    of_measure = statistics.isel({statistics["extreme_mean"].dims[0]: 0})
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
    return PaperTable("9", "Groups with the highest and lowest means", head, rows, f"By {measure}; variance: n - 1.")


def tables(statistics):
    """Of an interview or rating result with clusters. Raises ResultError."""
    if "cluster_centre" not in statistics:
        raise ResultError("no clusters: run 'stereosweep stats DIR statistics.clusters={number: 5}' first")
    made = [_clusters(statistics)]
    return [*made, _extremes(statistics)] if "extreme_mean" in statistics else made
