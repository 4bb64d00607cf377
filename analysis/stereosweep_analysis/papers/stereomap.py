"""Tables 2, 5, 8, 9 and Figure 3 of StereoMap (EMNLP 2023): clusters and their paired t, correlations, groups far out,
emotions and behaviours by cluster."""

import matplotlib.pyplot as plt
import numpy as np

from ..labels import literal
from ..reports.runs import is_complete
from .clusters import Clusters
from .layout import Layout
from .printed import Ours
from .table import PaperTable

TITLE = "StereoMap"
MODELS = {"DAVINCI": ("text-davinci-003",), "GPT-3.5": ("gpt-3.5-turbo",), "BARD": ("bard",)}
BY_COLUMN = True
NOTE = "Table 2: competence less warmth, of the paper's cluster of a group and of our group; table 9: sign from 3."
MIDDLE = 3.0  # of the scale from 1 to 5

TESTS = ("cluster_t_difference", "cluster_t", "cluster_t_p", "cluster_t_p_holm")
SHUFFLED = "p: groups shuffled, plain and after Holm."
# What Figure 3 shows, in the order of the paper's panels
EMOTIONS = ("contempt", "admiration", "pity", "envy")
BEHAVIOURS = ("active_facilitation", "active_harm", "passive_facilitation", "passive_harm")
EXTREME_NUMBERS = ("variance", "low", "high", "p_holm")
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
    numbers = [statistics[f"correlation_{name}"].values for name in ("coefficient", "p", "p_holm")]
    found = {key: tuple(float(values[place]) for values in numbers) for place, key in enumerate(keys)}
    made = []
    for name in dict.fromkeys(key[0] for key in keys):
        columns = list(dict.fromkeys(key[-1] for key in keys if key[0] == name))
        rows = [
            (*start[1:], *(number for column in columns for number in found.get((*start, column), (None,) * 3)))
            for start in dict.fromkeys(key[:-1] for key in keys if key[0] == name)
        ]
        ends = ("", " p", " p Holm")
        head = ("among", "measure", "method", "of", *(f"{column}{end}" for column in columns for end in ends))
        made.append(PaperTable("8", f"Correlations: {name}", head, rows, SHUFFLED, labels=4))
    return made


def _extremes(statistics, _, most=10):
    measure_axis = statistics["extreme_mean"].dims[0]
    measure = str(statistics[measure_axis].values[0])
    of_measure = statistics.isel({measure_axis: 0})
    rows = []
    for item in map(str, statistics["extreme_of"].values):
        of_item = of_measure.sel(extreme_of=item)
        subjects = [str(name) for name in statistics["subject"].values]
        values, *others = (of_item[f"extreme_{name}"].values for name in ("mean", *EXTREME_NUMBERS))
        order = [place for place in np.argsort(-values, kind="stable") if np.isfinite(values[place])]
        for name, places in (("highest", order[:most]), ("lowest", order[::-1][:most])):
            rows += [
                (item, name, subjects[place], rank, *(float(numbers[place]) for numbers in (values, *others)))
                for rank, place in enumerate(places, start=1)
            ]
    head = ("of", "list", "group", "rank", "mean", "variance", "low", "high", "p Holm")
    note = f"By {measure}; variance: n - 1. Chosen from {statistics.sizes['subject']} groups, for which p is adjusted."
    return [PaperTable("9", "Groups with the highest and lowest means", head, rows, note, paper_columns=3)]


def _by_cluster(statistics):
    """(clusters, means [group, dimension] of Figure 3); None where the result does not have both."""
    scores = statistics["correlation_score"]
    axis = scores.dims[0]
    sources = statistics["cluster_source"].values if "cluster_source" in statistics else ()
    known = set(map(str, statistics[axis].values)) & set(map(str, sources))
    names = [name for name in (*EMOTIONS, *BEHAVIOURS) if name in statistics["correlation_side"].values]
    if not known or not names or "cluster_centre" not in statistics:
        return None
    source = "rating" if "rating" in known else min(known)
    return Clusters(statistics, source), scores.sel({axis: source, "correlation_side": names})


def _emotions(statistics, _):
    found = _by_cluster(statistics)
    if found is None:
        return []
    clusters, means = found
    rows = [
        (str(place), clusters.side_text(place), str(clusters.subjects[group]), *map(float, means.values[group]))
        for place in range(clusters.number)
        for group in np.flatnonzero(clusters.of_subject == place)
    ]
    head = ("cluster", "sides", "group", *map(str, means["correlation_side"].values))
    note = f"Means of {clusters.source}, clusters by it."
    return [PaperTable("Figure 3", "Emotions and behaviours by cluster", head, rows, note, labels=3)]


def _source_name(statistics):
    """The checkpoint's own name, and whether some numbers are missing."""
    name = str(statistics.attrs.get("model") or statistics.attrs.get("title", ""))
    model = literal(name.rstrip("/").rsplit("/", 1)[-1])
    return model if is_complete(statistics) else f"{model} \u00b7 NOT complete: a run that has not ended"


def _draw_emotions(statistics):
    """A dot for each group, a line at each cluster's median."""
    clusters, means = _by_cluster(statistics)
    names = list(map(str, means["correlation_side"].values))
    figure, axes = plt.subplots(figsize=(3 + 1.3 * len(names), 4.2), layout="constrained")
    for place in range(clusters.number):
        color = plt.get_cmap("Dark2")(place % 8)
        for at, values in enumerate(means.values[clusters.of_subject == place].T):
            values, middle = values[np.isfinite(values)], at + 0.8 * ((place + 0.5) / clusters.number - 0.5)
            axes.plot(middle + np.linspace(-0.04, 0.04, len(values)), np.sort(values), ".", color=color, alpha=0.6)
            if len(values):
                axes.hlines(np.median(values), middle - 0.07, middle + 0.07, color=color, linewidth=2)
        axes.plot([], [], "o", color=color, label=literal(f"{place}: {clusters.side_text(place)}"))
    axes.set_xticks(range(len(names)), [literal(name.replace("_", "\n")) for name in names])
    axes.set_ylabel(f"mean {literal(clusters.source)}")
    axes.spines[["top", "right"]].set_visible(False)
    title = f"cluster: {', '.join(map(literal, clusters.dimensions))}"
    figure.legend(title=title, frameon=False, fontsize=8, loc="outside right upper")
    axes.set_title(f"Emotions and behaviours by cluster\n{_source_name(statistics)}", fontsize=11, loc="left")
    return {"figure-3": figure}


def compared(statistics, _):
    """{(table, row, column) of the paper: Ours}."""
    found = {}
    if "correlation_coefficient" in statistics:
        parts = [statistics[f"correlation_{part}"].values.astype(str) for part in ("among", "method", "row", "column")]
        numbers = [statistics[f"correlation_{name}"].values for name in ("coefficient", "low", "high")]
        for among, method, row, column, *values in zip(*parts, *numbers, strict=True):
            if (among, method) == ("all", "spearman"):
                found.setdefault(("8", row, column), Ours(*map(float, values)))
    for table in _extremes(statistics, "", None) if "extreme_mean" in statistics else ():
        found |= {("9", row[2], row[0]): Ours(row[4], *row[6:8], MIDDLE) for row in table.rows}
    dimensions = set(map(str, statistics["cluster_dimension"].values)) if "cluster_point" in statistics else set()
    if {"warmth", "competence"} <= dimensions:
        points = statistics["cluster_point"].isel(cluster_source=0)
        differences = (points.sel(cluster_dimension="competence") - points.sel(cluster_dimension="warmth")).values
        subjects = map(str, statistics["subject"].values)
        found |= {("2", subject, "competence"): Ours(float(value))
                  for subject, value in zip(subjects, differences, strict=True)}  # fmt: skip
    return found


CLUSTERS = "statistics.clusters with number: 5"
LAYOUTS = (
    Layout("2", "cluster_centre", _clusters, CLUSTERS),
    Layout("5", "cluster_t", _paired, CLUSTERS),
    Layout("8", "correlation_coefficient", _correlations, "statistics.correlations as in jobs/70_stereomap.yaml"),
    Layout("9", "extreme_mean", _extremes, "statistics.extremes as in jobs/70_stereomap.yaml"),
    Layout("Figure 3", "correlation_score", _emotions, f"{CLUSTERS} and correlations as in jobs/70_stereomap.yaml",
           _draw_emotions),
)  # fmt: skip
