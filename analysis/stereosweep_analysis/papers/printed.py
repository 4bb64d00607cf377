"""Replication cards: numbers that a paper prints beside those of a result, how far they agree, what differs in set-up.

NAME.tsv has the printed numbers: table, place (page, or section where the text at hand has no pages), row, column, one
column for each of the paper's models (`people`: ratings by people). `less`: TABLE|ROW|COLUMN whose numbers (of several
their mean) are taken off before the comparison, since our intervals are of that difference. Rows of the table `setup`
have in `column` the name of our own value. A paper's module has `MODELS` ({model: names of its checkpoint's folder})
and `compared`, our numbers by the paper's table, row and column.
"""

import csv
import re
from collections import Counter
from importlib import resources
from typing import NamedTuple

import numpy as np

from .table import PaperTable

CARD = "card"
PEOPLE = "people"
NAN = float("nan")
MOST_NAMED = 6
STATISTICS = re.compile(r"^statistics:.*\n(?:[ -].*\n?)*", re.MULTILINE)
NUMBER = re.compile(r"-?\d*\.?\d+")
NOTE = (
    "tau-b: order of printed numbers and ours; same sign: where neither is zero, of groups in clusters the same sides; "
    "in interval: printed numbers inside of our interval; distance: mean of the absolute differences."
)


class Printed(NamedTuple):
    """`values`: {model: number, or text}; models without one are left out."""

    table: str
    place: str
    row: str
    column: str
    less: str
    values: dict

    @property
    def key(self):
        """Names that differ by capitals, hyphens and blanks alone are the same."""
        return self.table, fold(self.row), self.column


class Ours(NamedTuple):
    """`zero`: what the sign is counted from; NaN where a sign says nothing. `value` may be a text."""

    value: float | str
    low: float = NAN
    high: float = NAN
    zero: float = 0.0


class Card(NamedTuple):
    """`sentences`: what can be compared; `laid`: PaperTables, of which `table()` is one that a page draws; `signs`:
    {the paper's model, or people: how many signs or sides are the same}, empty where nothing can be compared."""

    sentences: list
    laid: list
    signs: dict


def fold(text):
    return re.sub(r"[\W_]", "", text.casefold())


def read_printed(paper):
    """[Printed] of NAME.tsv beside this file, in its order, as they are printed."""
    with resources.files(__package__).joinpath(f"{paper}.tsv").open(encoding="utf-8", newline="") as file:
        return [
            Printed(*list(row.values())[:5], {
                name: float(text) if NUMBER.fullmatch(text) else text for name, text in list(row.items())[5:] if text
            })
            for row in csv.DictReader(file, delimiter="\t")
        ]  # fmt: skip


def _less(row, by_key):
    """The row without what is to be taken off."""
    if not row.less:
        return row
    others = [by_key[tuple(name.split("|"))].values for name in row.less.split(";")]
    shared = [name for name in row.values if all(name in other for other in others)]
    means = {name: float(np.mean([other[name] for other in others])) for name in shared}
    return row._replace(values={name: round(row.values[name] - mean, 6) for name, mean in means.items()})


def setting(job, key):
    """The first value of a key in the text of the resolved job, which is none of its statistics; "" where there is
    none."""
    found = re.search(rf"^\s*{key}: (.+)$", STATISTICS.sub("", job), re.MULTILINE)
    return found[1].strip().strip("\"'") if found else ""


def tau_b(first, second):
    """Kendall's tau-b of two sequences; NaN where one of them has no two different numbers."""
    upper = np.triu_indices(len(first), 1)
    signs = [np.sign(np.subtract.outer(values, values))[upper] for values in (np.array(first), np.array(second))]
    norm = np.sqrt(np.prod([np.count_nonzero(sign) for sign in signs], dtype=float))
    return float(signs[0] @ signs[1] / norm) if norm else NAN


def _agreement(pairs):
    """Of (printed value, Ours): tau-b, how many signs are the same, how many lie in our interval, mean distance."""
    numbers = [(there, ours) for there, ours in pairs if not isinstance(there, str)]
    same = [there == ours.value for there, ours in pairs if isinstance(there, str)]
    same += [(there > ours.zero) == (ours.value > ours.zero) for there, ours in numbers
             if ours.zero == ours.zero and ours.zero not in (there, ours.value)]  # fmt: skip
    inside = [ours.low <= there <= ours.high for there, ours in numbers if ours.low <= ours.high]
    there, here = [there for there, _ in numbers], [ours.value for _, ours in numbers]
    distance = float(np.abs(np.subtract(there, here)).mean()) if numbers else NAN
    return tau_b(there, here), _share(same), _share(inside), distance


def _share(marks):
    return f"{sum(marks)} of {len(marks)}" if marks else "-"


def card(name, paper, statistics, job=""):
    """The replication card of a result: `name` and module of a paper, statistics and text of the resolved job."""
    rows = read_printed(name)
    by_key = {(row.table, row.row, row.column): row for row in rows}
    ours = {(table, fold(row), column): value for (table, row, column), value in
            paper.compared(statistics, job).items() if value.value == value.value}  # fmt: skip
    taken_off = {tuple(other.split("|")) for row in rows for other in row.less.split(";")}
    printed = [_less(row, by_key) for key, row in by_key.items()
               if row.table != "setup" and (row.key in ours or key not in taken_off)]  # fmt: skip
    pairs = [(row, ours[row.key]) for row in printed if row.key in ours]
    folder = str(statistics.attrs.get("model", "")).rstrip("/").rsplit("/", 1)[-1]
    model = next((model for model, names in paper.MODELS.items() if fold(folder) in map(fold, (model, *names))), None)
    sources = [source for source in dict.fromkeys(source for row, _ in pairs for source in row.values)
               if model in (None, source) or source == PEOPLE]  # fmt: skip
    sentences = [
        f"The folder '{folder}' has the name of the paper's {model}." if model else
        f"The folder '{folder}' has the name of none of the paper's models ({', '.join(paper.MODELS)}): sizes of "
        "numbers need not agree, compare signs and order only."
    ]  # fmt: skip
    laid = [_setup(rows, statistics, job)]
    if not sources:
        nothing = f"Nothing can be compared: {paper.TITLE} prints none of this result's numbers."
        return Card([*sentences, nothing], laid, {})
    signs = {}
    for source in sources:
        found = [(row.values[source], own) for row, own in pairs if source in row.values]
        _, same, inside, _ = _agreement(found)
        signs[source] = same
        within = "" if inside == "-" else f"; inside of our interval: {inside}"
        sentences.append(f"{source}: {len(found)} printed numbers have one of ours; same sign or side: {same}{within}.")
    sentences.append(_missing_sentence(printed, pairs))
    numbers = [(*row[:4], *(row.values.get(source, "-") for source in sources), *own[:3]) for row, own in pairs]
    head = ("table", "where", "row", "column", *sources, "ours", "low", "high")
    beside = PaperTable(CARD, "printed numbers beside ours", head, numbers, paper.NOTE, labels=4)
    return Card(sentences, [_agreement_table(printed, pairs, sources, paper), beside, *laid], signs)


def _missing_sentence(printed, pairs):
    tables, have = {row.table for row, _ in pairs}, {row.key[1] for row, _ in pairs}
    rows = list(dict.fromkeys(row.row for row in printed if row.table in tables and row.key[1] not in have))
    others = list(dict.fromkeys(row.table for row in printed if row.table not in tables))
    named = f" ({', '.join(rows[:MOST_NAMED])}{', ...' * (len(rows) > MOST_NAMED)})" if rows else ""
    lacking = f" It has no number of the tables {', '.join(others)}." if others else ""
    return f"Rows of these tables that the result lacks: {len(rows)}{named}.{lacking}"


def _agreement_table(printed, pairs, sources, paper):
    """A row for each table (and column, where the paper's columns are different measures) and model."""
    count = Counter((row.table, row.column) for row in printed)

    def part(row):
        column = row.column if count[row.table, row.column] > 1 else row.column.split(" ")[0]
        return row.table, row.place, column if paper.BY_COLUMN else "all"

    rows = []
    for key in dict.fromkeys(part(row) for row, _ in pairs):
        for source in sources:
            found = [(row.values[source], own) for row, own in pairs if part(row) == key and source in row.values]
            total = sum(source in row.values for row in printed if part(row) == key)
            rows += [(*key, source, f"{len(found)} of {total}", *_agreement(found))] if found else []
    head = ("table", "where", "column", "model", "compared", "tau-b", "same sign", "in interval", "distance")
    title = f"how far {paper.TITLE} and this result agree"
    return PaperTable(CARD, title, head, rows, f"{NOTE} {paper.NOTE}".strip(), labels=5)


def _setup(rows, statistics, job):
    """What the paper did beside what this result's statistics and resolved job say of it."""
    probe = str(statistics.attrs.get("schema", "")).split("/")[-1]
    axes = ("subject", "item", "replicate", "template", "rephrasing")
    subjects, items, rounds, templates, rephrasings = (statistics.sizes.get(axis, 1) for axis in axes)
    here = {"subjects": subjects, "items": items, "rounds": rounds, "wordings": templates * rephrasings}
    here |= {name: int(statistics[variable].max()) for name, variable in
             (("samples", "weat_samples"), ("contexts", "weat_contexts"), ("clusters", "cluster_number"),
              ("annotators", "people_num_annotators")) if variable in statistics}  # fmt: skip
    made = []
    for row in rows:
        of_probe, _, name = row.column.rpartition(".")
        value = here.get(name, setting(job, name))
        if row.table == "setup" and of_probe in ("", probe) and value not in ("", 0):
            (printed,) = row.values.values()
            made.append((row.row, str(value), f"{printed:g}" if isinstance(printed, float) else printed, row.place))
    return PaperTable(CARD, "set-up", ("what", "this result", "paper", "where"), made, labels=1)
