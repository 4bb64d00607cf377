"""Tables 7 to 10 and 13 to 15 of WinoIdentity: probability and accuracy of the referent by marker and placement."""

from ..open import ResultError
from .table import PaperTable

# number of the paper's table: contrast, placement of the marker, measure, title
MARKERS = {
    "7": ("T1", "aug1", "token_probability_sum", "Ambiguous sentences, marker at the referent"),
    "9": ("T1", "aug2", "token_probability_sum", "Ambiguous sentences, marker at the pronoun"),
    "14": ("T2", "aug1", "accuracy", "Accuracy, marker at the referent"),
    "15": ("T2", "aug2", "accuracy", "Accuracy, marker at the pronoun"),
    "17": ("T2", "aug4", "accuracy", "Accuracy, placement aug4"),
}


def _baseline(statistics):
    """Table 13: accuracy without a marker."""
    mean = statistics["mean"].sel(group="baseline", type="unambiguous", metric="accuracy")
    low, high = (statistics[f"mean_{end}"].sel(group="baseline", type="unambiguous", metric="accuracy")
                 for end in ("low", "high"))  # fmt: skip
    rows = [
        (gender, stereotype, *(float(part.sel(gender=gender, stereotype=stereotype)) for part in (mean, low, high)))
        for gender in map(str, statistics["gender"].values)
        for stereotype in map(str, statistics["stereotype"].values)
    ]
    return PaperTable("13", "Accuracy without a marker", ("gender", "stereotype", "accuracy", "low", "high"), rows)


def _by_marker(statistics, number):
    sentences, placement, measure, title = MARKERS[number]
    names = [str(name) for name in statistics["contrast_name"].values]
    measures = [str(name) for name in statistics["contrast_measure"].values]
    items = [str(name) for name in statistics["contrast_item"].values]
    place_of = {key: place for place, key in enumerate(zip(names, measures, items, strict=True))}
    start = f"{sentences} pro marker: {placement} "
    rows = []
    for name in dict.fromkeys(names):
        places = [
            place_of.get((f"{sentences} {side} marker: {name.split(': ', 1)[1]}", measure, "referent"))
            for side in ("pro", "anti")
        ] if name.startswith(start) else []  # fmt: skip
        if not places or places[0] is None:
            continue
        columns = ("left", "difference", "low", "high", "p")
        numbers = [
            None if place is None else float(statistics[f"contrast_{column}"].values[place])
            for place in places
            for column in columns
        ]
        rows.append((name.removeprefix(start), *numbers))
    head = (
        "marker",
        *(f"{side} {what}" for side in ("pro", "anti") for what in (measure, "minus none", "low", "high", "p")),
    )
    note = f"{measure}; minus none: difference from sentences without a marker, its interval and p."
    return PaperTable(number, title, head, rows, note)


def tables(statistics):
    """Of a coreference result (jobs/42_winoidentity_tables.yaml). Raises ResultError."""
    if "mean" not in statistics or "metric" not in statistics.coords:
        raise ResultError("no means by gender and stereotype: name a result of the probe coreference")
    made = [_baseline(statistics)]
    if "contrast" in statistics.coords:
        made += [table for table in (_by_marker(statistics, number) for number in MARKERS) if table.rows]
    return made
