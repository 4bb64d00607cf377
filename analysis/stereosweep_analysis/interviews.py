"""Keywords and reasons of an interview, and which cluster its groups are in, for the text analyses."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import xarray as xr

from .dictionary import table_rows
from .open import PathLike, ResultError, require_label
from .views import texts

CLUSTER_COLUMNS = ("group", "cluster")
Said = dict[str, list[str]]  # keywords or reasons of each group or cluster


class AskedTurn(NamedTuple):
    """`place`: among the turns of its conversation."""

    conversation: str
    place: int
    label: str
    kind: str


def find_turn(result: xr.Dataset, kinds: Sequence[str], conversation: str | None, turn: str | None) -> AskedTurn:
    """The first turn of these kinds (keywords, reasons, text), the kinds in this order, in the conversation and with
    the label that are named, if any. Raises ResultError."""
    if "answer_text" not in result or "conversation" not in result.coords:
        raise ResultError("the file is no result of an interview: it has no conversations")
    if conversation is not None:
        require_label(result, "conversation", conversation)
    known = []
    for label, of_turns, names in zip(
        *(map(str, result[name].values) for name in ("conversation", "conversation_kinds", "conversation_turns")),
        strict=True,
    ):
        own, labels = of_turns.split(", "), names.split(", ")  # a label may hold a comma
        labels = labels if len(labels) == len(own) else [str(place) for place in range(len(own))]
        known += [AskedTurn(label, *one) for one in zip(range(len(own)), labels, own, strict=True) if one[2] in kinds]
    having = [one for one in known if conversation in (None, one.conversation) and turn in (None, one.label)]
    if not having:
        asked = "; ".join(f"{one.conversation}: {one.label}" for one in known) or "none"
        raise ResultError(f"no {' or '.join(kinds)} in {conversation or 'any conversation'}; asked for them: {asked}")
    return min(having, key=lambda one: kinds.index(one.kind))


def said(result: xr.Dataset, turn: AskedTurn) -> tuple[Said, dict[str, int]]:
    """What was said of each group in all prompt forms, rephrasings and rounds, and how many answers have which status:
    every keyword, every reason (with a status of its own), or every text. Groups of which nothing was said lack."""
    part = result.sel(conversation=turn.conversation)
    if turn.kind == "text":
        spoken, status = (part[f"answer_{name}"].isel(turn=turn.place) for name in ("text", "status"))
    else:
        spoken, status = (part[turn.kind.removesuffix("s") + end] for end in ("", "_status"))
    spoken = spoken.transpose("group", "template", "rephrasing", "round", "place", missing_dims="ignore")
    groups = [str(group) for group in part["group"].values]
    blocks = zip(groups, spoken.values.reshape(len(groups), -1), strict=True)
    found = {group: [str(text) for text in block if str(text).strip()] for group, block in blocks}
    names = dict(zip(map(int, status.attrs["flag_values"]), status.attrs["flag_meanings"].split(), strict=True))
    counts = Counter(names[int(code)] for code in status.values.ravel())
    statuses = {name: count for name, count in counts.items() if name != "not_asked"}
    return {group: of_group for group, of_group in found.items() if of_group}, statuses


def group_names(result: xr.Dataset) -> dict[str, set[str]]:
    """{group: its label and its other texts in the file}."""
    names = (texts(result, name, "group") for name in ("group", "group_plural"))
    return {label: {label, plural} - {""} for label, plural in zip(*names, strict=True)}


def clusters_of(statistics: xr.Dataset, source: str | None = None) -> tuple[dict[str, str], str]:
    """({group: cluster}, source) of what `statistics.clusters` found; groups in no cluster are left out.

    `source`: a measure of the score table; default: `rating`, else the first. Raises ResultError.
    """
    if "cluster_of_subject" not in statistics:
        raise ResultError("the statistics hold no clusters: ask with 'stereosweep stats DIR statistics.clusters={}'")
    known = [str(label) for label in statistics["cluster_source"].values]
    if source is None:
        source = "rating" if "rating" in known else known[0]
    require_label(statistics, "cluster_source", source)
    places = statistics["cluster_of_subject"].sel(cluster_source=source)
    groups = [str(group) for group in statistics["subject"].values]
    return {group: str(int(place)) for group, place in zip(groups, places.values, strict=True) if place >= 0}, source


def read_clusters(path: PathLike) -> dict[str, str]:
    """{group: cluster} of a table of the user's own with tabs and the columns group, cluster. Raises ResultError."""
    (_, names), *rows = table_rows(path, "\t") or [(1, [])]
    if missing := [name for name in CLUSTER_COLUMNS if name not in names]:
        raise ResultError(f"'{path}' line 1: no column {' or '.join(missing)}; it has {names}")
    clusters: dict[str, str] = {}
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        group, cluster = (row.get(name, "") for name in CLUSTER_COLUMNS)
        if not group or not cluster:
            raise ResultError(f"'{path}' line {line}: group or cluster is empty")
        if clusters.setdefault(group, cluster) != cluster:
            raise ResultError(f"'{path}' line {line}: '{group}' is in two clusters")
    return clusters


def in_clusters(of_groups: Said, clusters: dict[str, str]) -> tuple[Said, list[str]]:
    """What was said of each cluster, and the groups that are in none."""
    found: Said = {}
    for group, own in of_groups.items():
        if group in clusters:
            found.setdefault(clusters[group], []).extend(own)
    return dict(sorted(found.items())), sorted(of_groups.keys() - clusters.keys())
