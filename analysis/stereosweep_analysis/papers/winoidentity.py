"""Tables of WinoIdentity: probability and accuracy by marker and placement (3, 7 to 25), clusters of ratings (5, 6)."""

import itertools
from functools import partial
from typing import NamedTuple

import numpy as np

from .clusters import Clusters, reference_source
from .layout import Layout
from .printed import NAN, PEOPLE, Ours
from .table import PaperTable

TITLE = "WinoIdentity"
MODELS = {
    "llama3-70b": ("Meta-Llama-3-70B", "Llama-3-70B"), "mixtral-8x7B": ("Mixtral-8x7B-v0.1",),
    "mistral-7B": ("Mistral-7B-v0.1",), "pythia-12B": ("pythia-12b",), "falcon-40B": ("falcon-40b",),
}  # fmt: skip
BY_COLUMN = False
NOTE = (
    "Tables by marker: change against sentences without a marker, of printed numbers and of ours; that of accuracy "
    "is the mean of table 13's men and women. Table 5, sides: competence, warmth."
)

NUMBERS = ("difference", "low", "high", "p")
HEADS = ("minus none", "low", "high", "p")
SELECTED = ("transgender", "gay", "old", "disabled", "neurodivergent", "Black", "Asian", "immigrant", "fat", "poor")
PLACES = {
    "aug1": "marker at the referent",
    "aug2": "marker at the other occupation",
    "aug3": "markers at both occupations",
    "aug4": "marker at the pronoun",
}


class ByMarker(NamedTuple):
    """One table of means by marker. `sentences`: T1 ambiguous, T2 unambiguous; `markers`: only these."""

    number: str
    sentences: str
    placement: str
    measure: str = "token_probability_sum"
    item: str = "referent"
    markers: tuple[str, ...] = ()


BY_MARKER = (
    ByMarker("3", "T1", "aug1", markers=SELECTED),
    ByMarker("7", "T1", "aug1"),
    ByMarker("8", "T1", "aug1", item="other"),
    ByMarker("9", "T1", "aug2"),
    ByMarker("10", "T1", "aug2", item="other"),
    ByMarker("11", "T1", "aug3"),
    ByMarker("12", "T1", "aug3", item="other"),
    ByMarker("14", "T2", "aug1", "accuracy"),
    ByMarker("15", "T2", "aug2", "accuracy"),
    ByMarker("16", "T2", "aug3", "accuracy"),
    ByMarker("17", "T2", "aug4", "accuracy"),
    ByMarker("18", "T2", "aug1"),
    ByMarker("19", "T2", "aug1", item="other"),
    ByMarker("20", "T2", "aug2"),
    ByMarker("21", "T2", "aug2", item="other"),
    ByMarker("22", "T2", "aug3"),
    ByMarker("23", "T2", "aug3", item="other"),
    ByMarker("24", "T2", "aug4"),
    ByMarker("25", "T2", "aug4", item="other"),
)


def _contrasts(statistics, names):
    """({(contrast, measure, item): place}, {name: its numbers})."""
    keys = zip(*(map(str, statistics[f"contrast_{part}"].values) for part in ("name", "measure", "item")), strict=True)
    places = {key: place for place, key in enumerate(keys)}
    return places, {name: statistics[f"contrast_{name}"].values for name in names}


def _by_marker(layout, statistics, _):
    """[the table], or none where the job compared no such sentences."""
    place_of, numbers = _contrasts(statistics, ("left", "right", *NUMBERS))

    def start(side):
        is_both = layout.placement == "aug3"
        return f"{layout.sentences} {side} {'aug3 marker: ' if is_both else f'marker: {layout.placement} '}"

    markers = [
        name.removeprefix(start("pro"))
        for name, measure, item in place_of
        if name.startswith(start("pro")) and (measure, item) == (layout.measure, layout.item)
    ]
    rows = []
    for marker in [name for name in markers if not layout.markers or name in layout.markers]:
        places = [place_of.get((start(side) + marker, layout.measure, layout.item)) for side in ("pro", "anti")]

        def of(name, places=places):
            return [None if place is None else float(numbers[name][place]) for place in places]

        if not rows:
            rows.append(("baseline", *of("right"), *[None] * 2 * len(NUMBERS)))
        differences = zip(*map(of, NUMBERS), strict=True)
        rows.append((marker, *of("left"), *(number for side in differences for number in side)))
    if not rows:
        return []
    whose = "" if layout.item == "referent" else " of the other occupation"
    title = f"{layout.measure}{whose}, {layout.sentences}, {PLACES[layout.placement]}"
    note = "T1: ambiguous" if layout.sentences == "T1" else "T2: unambiguous"
    note = f"{note} sentences; minus none: difference from sentences without a marker, its interval and p."
    head = ("marker", "pro", "anti", *(f"{side} {what}" for side in ("pro", "anti") for what in HEADS))
    return [PaperTable(layout.number, title, head, rows, note, paper_columns=2)]


def _baseline(statistics, _):
    """Table 13: accuracy without a marker; none where the job did not ask for it."""
    names = ("left", "low", "high", "num_templates")
    place_of, numbers = _contrasts(statistics, names)
    rows = []
    for gender, stereotype in itertools.product(("female", "male"), ("pro", "anti")):
        place = place_of.get((f"T2 {stereotype} without a marker: {gender}", "accuracy", "referent"))
        if place is not None:
            rows.append((gender, stereotype, *(float(numbers[name][place]) for name in names)))
    head = ("gender", "stereotype", "accuracy", "low", "high", "sentences")
    return [PaperTable("13", "Accuracy without a marker", head, rows, paper_columns=1)] if rows else []


def _clusters(statistics, _):
    """Table 5: by people where their ratings were given, else by the first measure; then the others' clusters."""
    reference = reference_source(statistics)
    rows = []
    for source in [reference, *(name for name in map(str, statistics["cluster_source"].values) if name != reference)]:
        clusters = Clusters(statistics, source)
        for place in range(clusters.number):
            members = np.flatnonzero(clusters.of_subject == place)
            agree = clusters.agrees_with_reference[members]
            names, elsewhere = ("; ".join(clusters.subjects[chosen]) for chosen in (members, members[~agree]))
            numbers = (*map(float, clusters.centres[place]), len(members), int(agree.sum()))
            rows.append((source, str(place), clusters.side_text(place), names, elsewhere, *numbers))
    head = (
        "by", "cluster", "sides", "groups", f"elsewhere by {reference}", *clusters.dimensions, "groups in it", "agree"
    )  # fmt: skip
    note = f"Sides of {', '.join(clusters.dimensions)}. agree: groups whose cluster by {reference} has the same sides."
    return [PaperTable("5", "Clusters of groups", head, rows, note, labels=2, paper_columns=2)]


def _same_attribute(statistics, _):
    """Table 6: whether groups that share an attribute are in clusters with the same sides."""
    reference = reference_source(statistics)
    clusters = Clusters(statistics, reference)
    first, second = (statistics[f"subject_{part}"].values.astype(str) for part in ("first", "second"))
    attributes = statistics["cluster_row"].values.astype(str)
    shared, other = (first, second) if set(attributes) <= set(first) else (second, first)
    kinds = list(dict.fromkeys(other[np.isin(shared, attributes)]))
    differs = statistics["cluster_row_agreement"].sel(cluster_source=reference)
    meanings = differs.attrs["flag_meanings"].split()
    rows = []
    for place, attribute in enumerate(attributes):
        sides = {
            other[subject]: clusters.side_text(clusters.of_subject[subject])
            for subject in np.flatnonzero(shared == attribute)
        }
        verdict = {"differs": "yes", "agrees": "no"}.get(meanings[int(differs.values[place])], "-")
        rows.append((attribute, *(sides.get(kind, "-") for kind in kinds), verdict))
    note = f"Sides of {', '.join(clusters.dimensions)}, by {reference}."
    head = ("attribute", *kinds, "differ")
    return [PaperTable("6", "Sides of groups that share an attribute", head, rows, note, labels=1)]


def compared(statistics, _):
    """{(table, row, column) of the paper: Ours}."""
    found = {}
    for layout in BY_MARKER if "contrast_left" in statistics else ():
        for row in [row for table in _by_marker(layout, statistics, "") for row in table.rows[1:]]:
            for side, numbers in (("pro", row[3:6]), ("anti", row[7:10])):
                found |= {(layout.number, row[0], side): Ours(*numbers)} if numbers[0] is not None else {}
    for table in _baseline(statistics, "") if "contrast_left" in statistics else ():
        found |= {("13", " / ".join(row[:2]), "accuracy"): Ours(*row[2:5], 0.5) for row in table.rows}
    sources = map(str, statistics["cluster_source"].values) if "cluster_centre" in statistics else ()
    source = next((name for name in sources if name != PEOPLE), None)
    if source:
        clusters = Clusters(statistics, source)
        order = [clusters.dimensions.index(name) for name in ("competence", "warmth") if name in clusters.dimensions]
        for place in range(clusters.number) if len(order) == 2 else ():
            sides = clusters.side_text(place).split(", ")
            kind = "-".join(sides[at] for at in order)
            found |= {("5", str(subject), "sides"): Ours(kind) for subject in clusters.members(place)}
            for at in order:
                found["5", kind, clusters.dimensions[at]] = Ours(float(clusters.centres[place][at]), zero=NAN)
    return found


RATINGS = "statistics.clusters with number and across: second, of a result of the probe rating"
CONTRASTS = "statistics.contrasts as in jobs/42_winoidentity_tables.yaml"
LAYOUTS = (
    Layout("13", "contrast_left", _baseline, CONTRASTS),
    *(Layout(layout.number, "contrast_left", partial(_by_marker, layout), CONTRASTS) for layout in BY_MARKER),
    Layout("5", "cluster_centre", _clusters, RATINGS),
    Layout("6", "cluster_row_agreement", _same_attribute, RATINGS),
)  # fmt: skip
