"""Keywords and reasons of an interview, and which cluster its groups are in: plain rows for the text analyses."""

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import xarray as xr

from .open import PathLike, ResultError, require_label

CLUSTER_COLUMNS = ("group", "cluster")


class Said(NamedTuple):
    """A keyword or a reason, and the group that it was said of."""

    group: str
    text: str


def conversation_with(result: xr.Dataset, kind: str, wanted: str | None = None) -> str:
    """The conversation `wanted`, or the first one with a turn of this kind (keywords, reasons). Raises ResultError."""
    if "answer_text" not in result or "conversation" not in result.coords:
        raise ResultError("the file is no result of an interview: it has no conversations")
    labels = [str(label) for label in result["conversation"].values]
    kinds = [str(text).split(", ") for text in result["conversation_kinds"].values]
    having = [label for label, found in zip(labels, kinds, strict=True) if kind in found]
    if wanted is not None:
        require_label(result, "conversation", wanted)
    if not having or (wanted is not None and wanted not in having):
        raise ResultError(
            f"no {kind} in {wanted or 'any conversation'}; asked for {kind}: {', '.join(having) or 'none'}"
        )
    return wanted or having[0]


def _meanings(variable: xr.DataArray) -> dict[int, str]:
    names = str(variable.attrs["flag_meanings"]).split()
    return dict(zip((int(value) for value in variable.attrs["flag_values"]), names, strict=True))


def said(result: xr.Dataset, kind: str, conversation: str) -> tuple[list[Said], dict[str, int]]:
    """Rows of all prompt forms, rephrasings and rounds, and how many answers have which status.

    `kind`: "keywords" or "reasons". Returns ([Said], {status: count}); of reasons a status is that of one reason.
    """
    name = kind.removesuffix("s")
    part = result[[name, f"{name}_status"]].sel(conversation=conversation)
    part = part.transpose("group", "template", "rephrasing", "round", "place", missing_dims="ignore")
    texts = part[name].values
    groups = [str(group) for group in part["group"].values]
    rows = [
        Said(group, str(text))
        for group, block in zip(groups, texts.reshape(len(groups), -1), strict=True)
        for text in block
        if str(text).strip()
    ]
    status = part[f"{name}_status"]
    names = _meanings(status)
    counts = Counter(names[int(code)] for code in status.values.ravel())
    return rows, {name: count for name, count in counts.items() if name != "not_asked"}


def group_names(result: xr.Dataset) -> dict[str, set[str]]:
    """{group: its label and its other texts in the file}."""
    labels = [str(group) for group in result["group"].values]
    plurals = result["group_plural"].values if "group_plural" in result.coords else labels
    return {label: {label, str(plural)} for label, plural in zip(labels, plurals, strict=True)}


def clusters_of(statistics: xr.Dataset, source: str | None = None) -> tuple[dict[str, str], str]:
    """({group: cluster}, source) of what `statistics.clusters` found; groups in no cluster are left out.

    `source`: a measure of the score table; default: `rating`, else the first. Raises ResultError.
    """
    name = next((name for name in statistics.data_vars if str(name).startswith("cluster_of_")), None)
    if name is None:
        raise ResultError("the statistics hold no clusters: ask with 'stereosweep stats DIR statistics.clusters={}'")
    known = [str(label) for label in statistics["cluster_source"].values]
    if source is None:
        source = "rating" if "rating" in known else known[0]
    require_label(statistics, "cluster_source", source)
    places = statistics[name].sel(cluster_source=source)
    groups = [str(group) for group in places[places.dims[0]].values]
    return {group: str(int(place)) for group, place in zip(groups, places.values, strict=True) if place >= 0}, source


def read_clusters(path: PathLike) -> dict[str, str]:
    """{group: cluster} of a table of the user's own with tabs and the columns group, cluster. Raises ResultError."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, delimiter="\t")
            missing = [name for name in CLUSTER_COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise ResultError(f"'{path}' line 1: no column {' or '.join(missing)}; it has {reader.fieldnames}")
            clusters: dict[str, str] = {}
            for row in reader:
                group, cluster = ((row[name] or "").strip() for name in CLUSTER_COLUMNS)
                if not group or not cluster:
                    raise ResultError(f"'{path}' line {reader.line_num}: group or cluster is empty")
                if clusters.setdefault(group, cluster) != cluster:
                    raise ResultError(f"'{path}' line {reader.line_num}: '{group}' is in two clusters")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ResultError(f"'{path}' cannot be read as a table in UTF-8: {error}") from error
    return clusters


def in_clusters(rows: Iterable[Said], clusters: dict[str, str]) -> tuple[list[Said], list[str]]:
    """The rows with the cluster in place of the group, and the groups that are in none."""
    lost = sorted({row.group for row in rows} - clusters.keys())
    return [Said(clusters[row.group], row.text) for row in rows if row.group in clusters], lost
