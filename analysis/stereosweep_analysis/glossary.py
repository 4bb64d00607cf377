"""What the names in a result mean: measures, axes, statuses and the numbers of tables, in one sentence each."""

import csv
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import NamedTuple

KINDS = ("measure", "axis", "status", "number", "term", "column")


class Term(NamedTuple):
    title: str
    definition: str


@cache
def glossary() -> dict[tuple[str, str], Term]:
    """{(kind, name): Term} of glossary.tsv."""
    text = resources.files(__package__).joinpath("glossary.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {(row["kind"], row["name"]): Term(row["title"], row["definition"]) for row in rows}


def term(kind: str, name: str) -> Term | None:
    """The term, or None where the glossary lacks it. An axis of some measures, "people_measure", is that of all."""
    name = "measure" if kind == "axis" and str(name).endswith("_measure") else str(name)
    return glossary().get((kind, name))


def measure_term(name: str) -> Term | None:
    """A measure of the score table; an association's has two parts, variant and prior: "ilps_star prior_word"."""
    names = str(name).split(" ")
    parts = [part for part in (term("measure", name) for name in names) if part is not None]
    if len(parts) < len(names):
        return None
    return Term(", ".join(part.title for part in parts), " ".join(part.definition for part in parts))


def terms_in(text: str, *kinds: str) -> list[Term]:
    """Of the names of these kinds that the text holds, alone or in the plural."""
    return [
        entry for (kind, name), entry in glossary().items()
        if kind in kinds and re.search(rf"(?<!\w){re.escape(name)}s?(?!\w)", text)
    ]  # fmt: skip


def title_of(kind: str, name: str) -> str:
    """The term's title, or the name itself."""
    found = measure_term(name) if kind == "measure" else term(kind, name)
    return found.title if found else str(name)


def matching(words: Iterable[str]) -> dict[tuple[str, str], Term]:
    """{(kind, name): Term} of the names or titles that hold one of the words, exact names alone where there are any."""
    terms = glossary()
    wanted = [word.lower() for text in words for word in str(text).split()]
    exact = {key: entry for key, entry in terms.items() if key[1].lower() in wanted}
    if exact or not wanted:
        return exact or dict(terms)
    return {
        key: entry for key, entry in terms.items() if any(word in f"{key[1]} {entry.title}".lower() for word in wanted)
    }
