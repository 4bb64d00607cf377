"""Keywords against a dictionary of stereotype content: coverage, dimensions with direction, overlaps.

StereoMap (Jeoung, Ge and Diesner 2023): section 3.2, figures 4 and 7, table 15.
"""

import unicodedata
from collections import Counter
from typing import NamedTuple

import simplemma

from .dictionary import Dictionary
from .interviews import Said

LEMMAS = ("missing", "all")
PHRASES = ("drop", "keep")
STAGES = ("raw", "lemmas", "mapping")
EDGES = " .,;:!?\"'`*()[]«»“”-\u2018\u2019\u2013\u2014"


class Forms(NamedTuple):
    """A keyword in lower case, after lemmas, after the user's mapping."""

    raw: str
    lemmas: str
    mapping: str


Units = dict[str, Counter[Forms]]  # of a group or a cluster


class Coverage(NamedTuple):
    """Keywords of one stage that the dictionary holds, counted as different words and as often as they were said."""

    stage: str
    distinct_covered: int
    distinct: int
    covered: int
    total: int


class Direction(NamedTuple):
    """What the words of one unit (a group or a cluster) say about one dimension.

    `direction` = sum of directions / number of words, each different word once (the paper's rule; in -1..1);
    `direction_by_frequency`: each as often as it was said. A word without a direction (NA) counts as one and adds
    nothing. `share`: of the unit's different words that the dictionary holds. `rank` by `words`, then by `said`.
    """

    unit: str
    rank: int
    dimension: str
    words: int
    share: float
    direction: float | None
    without_direction: int
    said: int
    direction_by_frequency: float | None


class Overlap(NamedTuple):
    """Different words of two units; `jaccard` = shared / all, None where neither has a word."""

    left: str
    right: str
    shared: list[str]
    only_left: list[str]
    only_right: list[str]
    jaccard: float | None


def clean(text: str) -> str:
    """Lower case, one space between words, without list marks and quotes at its ends."""
    return " ".join(unicodedata.normalize("NFC", text).lower().split()).strip(EDGES)


class Normaliser:
    """Keyword -> its three forms. `lemmas`: "missing" leaves words that the dictionary holds as they are, "all" does
    not. `phrases`: "drop" leaves keywords of several words out, unless the mapping names them; of a phrase that is
    kept the last word becomes its lemma."""

    def __init__(
        self,
        dictionary: Dictionary,
        mapping: dict[str, str] | None = None,
        lemmas: str = "missing",
        phrases: str = "drop",
    ) -> None:
        self.dictionary, self.mapping = dictionary, mapping or {}
        self.lemmas, self.phrases = lemmas, phrases
        self.known: dict[str, Forms | None] = {}

    def _lemma(self, raw: str) -> str:
        if self.lemmas == "missing" and raw in self.dictionary:
            return raw
        *first, last = raw.split(" ")
        return " ".join([*first, simplemma.lemmatize(last, lang="en").lower()])

    def forms(self, text: str) -> Forms | None:
        """None where the keyword is left out."""
        if text not in self.known:
            raw = clean(text)
            is_left_out = not raw or (" " in raw and self.phrases == "drop" and raw not in self.mapping)
            if is_left_out:
                self.known[text] = None
            else:
                lemma = self._lemma(raw)
                self.known[text] = Forms(raw, lemma, self.mapping.get(raw, self.mapping.get(lemma, lemma)))
        return self.known[text]


def normalise(said: Said, normaliser: Normaliser) -> tuple[Units, Counter[str]]:
    """({unit: Counter of Forms}, Counter of the keywords left out); also empty units."""
    found = {unit: [(text, normaliser.forms(text)) for text in texts] for unit, texts in said.items()}
    units = {unit: Counter(forms for _, forms in of_unit if forms) for unit, of_unit in found.items()}
    return units, Counter(clean(text) for of_unit in found.values() for text, forms in of_unit if forms is None)


def words_at(forms: Counter[Forms], place: int) -> Counter[str]:
    """Counter of what the keywords are at one of STAGES."""
    words: Counter[str] = Counter()
    for form, count in forms.items():
        words[form[place]] += count
    return words


def coverage(units: Units, dictionary: Dictionary) -> list[Coverage]:
    """One Coverage for each stage, over all units."""
    total: Counter[Forms] = sum(units.values(), Counter())
    found = []
    for place, stage in enumerate(STAGES):
        words = words_at(total, place)
        covered = {word: count for word, count in words.items() if word in dictionary}
        found.append(Coverage(stage, len(covered), len(words), sum(covered.values()), words.total()))
    return found


def directions(units: Units, dictionary: Dictionary) -> list[Direction]:
    """Directions of every unit, its dimensions by rank; dimensions without a word are left out."""
    found = []
    for unit, forms in units.items():
        words = {word: count for word, count in words_at(forms, -1).items() if word in dictionary}
        sums = {name: [0, 0, 0, 0, 0] for name in dictionary.dimensions}
        for word, count in words.items():
            for dimension, direction in dictionary.directions[word].items():
                of = sums[dimension]
                of[0] += 1
                of[1] += direction or 0
                of[2] += direction is None
                of[3] += count
                of[4] += count * (direction or 0)
        ranked = sorted((name for name in sums if sums[name][0]), key=lambda name: (-sums[name][0], -sums[name][3]))
        for rank, name in enumerate(ranked, start=1):
            number, total, without, said, total_said = sums[name]
            values = (None, None) if without == number else (total / number, total_said / said)
            share = number / len(words)
            found.append(Direction(unit, rank, name, number, share, values[0], without, said, values[1]))
    return found


def word_sets(units: Units) -> dict[str, set[str]]:
    """{unit: its different words}, as `overlap` takes them."""
    return {unit: {form.mapping for form in forms} for unit, forms in units.items()}


def overlap(left: str, right: str, words: dict[str, set[str]]) -> Overlap:
    """Shared and own words of two units, in alphabetical order."""
    mine, other = words[left], words[right]
    together = mine | other
    return Overlap(
        left, right, sorted(mine & other), sorted(mine - other), sorted(other - mine),
        len(mine & other) / len(together) if together else None,
    )  # fmt: skip
