"""Which phrases stand for the reasons that a model gives: KeyBERT (Grootendorst 2020), as StereoMap uses it, own code.

Candidates are phrases of one to three words; those nearest to the reasons by the cosine of their vectors are chosen,
alone, by maximal marginal relevance (Carbonell and Goldstein 1998) or by the largest distance among each other.
"""

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import simplemma

from .open import ResultError

CHOICES = ("cosine", "mmr", "max_sum")
MOST_WORDS = 3
MOST_NAME_WORDS = 12
MAX_SETS = 1_000_000  # of phrases that max_sum looks at
WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
BREAK = re.compile(r"[.,;:!?()\[\]\"\n\u201c\u201d\u2014]+")
ARTICLES = ("a", "an", "the")
# function words of English: articles, pronouns, prepositions, conjunctions, auxiliaries, negations, some adverbs
STOP_TEXT = """
    a about above across after again against all almost along already also although always am among an and another
    any anybody anyone anything are around as at away be because been before being below between both but by can cannot
    could did do does doing done down during each either else enough even ever every everybody everyone everything few
    for from further had has have having he hence her here hers herself him himself his how however i if in indeed into
    is it its itself just less many may me might mine more most much must my myself neither never no nobody none nor
    not nothing now of off often on once one only onto or other others otherwise our ours ourselves out over own per
    perhaps quite rather same shall she should since so some somebody someone something sometimes somewhat still such
    than that the their theirs them themselves then there therefore these they this those though through throughout
    thus to together too toward towards under until unto up upon us very was we were what whatever when where whether
    which while who whoever whole whom whose why will with within without would yet you your yours yourself yourselves
    aren't can't couldn't didn't doesn't don't hadn't hasn't haven't he's i'm i've isn't it's she's shouldn't that's
    there's they'll they're they've wasn't we're we've weren't won't wouldn't you're
"""
STOP_WORDS = frozenset(STOP_TEXT.split())


class Phrase(NamedTuple):
    """`cosine`: of the phrase and the mean of the reasons' vectors; `reasons`: how many of the unit's reasons hold it,
    `share` of them; `difference`: from the share of all other units' reasons that hold it, None without others."""

    unit: str
    rank: int
    phrase: str
    cosine: float
    reasons: int
    share: float
    difference: float | None


def _stems(word: str) -> set[str]:
    """The word, its lemma, and thief of thieves, which simplemma does not know."""
    word = word.removesuffix("'s")
    stems = {word, simplemma.lemmatize(word, lang="en").lower()}
    return stems | ({word[:-3] + "f", word[:-3] + "fe"} if word.endswith("ves") else set())


def lowered(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().replace("\u2019", "'")


class Mentions:
    """Replaces every form of a group's name, in any case and number and with its article, by "they"."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        """names: {group: its texts in the file, such as label and plural}."""
        self.known: dict[str, set[str]] = {}
        self.forms: dict[str, list[list[set[str]]]] = {}
        for group, texts in names.items():
            forms = {tuple(WORD.findall(lowered(text))) for text in texts}
            self.forms[group] = [
                [self._stems_of(word) for word in form]
                for form in sorted(forms - {()}, key=lambda form: (-len(form), form))
            ]

    def _stems_of(self, word: str) -> set[str]:
        if word not in self.known:
            self.known[word] = _stems(word)
        return self.known[word]

    def _is_at(self, form: list[set[str]], stems: list[set[str]]) -> bool:
        return len(form) <= len(stems) and all(wanted & found for wanted, found in zip(form, stems, strict=False))

    def replace(self, group: str, text: str) -> str:
        """The text in lower case."""
        text = lowered(text)
        words = list(WORD.finditer(text))
        stems = [self._stems_of(word.group()) for word in words]
        parts, end, place = [], 0, 0
        while place < len(words):
            rest = stems[place : place + MOST_NAME_WORDS]
            form = next((form for form in self.forms[group] if self._is_at(form, rest)), None)
            if form is None:
                place += 1
                continue
            start = words[place].start()
            if place and words[place - 1].group() in ARTICLES and text[words[place - 1].end() : start].isspace():
                start = max(words[place - 1].start(), end)
            parts += [text[end:start], "they"]
            place += len(form)
            end = words[place - 1].end()
        return "".join([*parts, text[end:]])


def candidates(text: str) -> set[str]:
    """Phrases of 1 to 3 neighbouring words in a text in lower case; stop words and numbers are taken out before, and no
    phrase goes over a punctuation mark."""
    found = set()
    for part in BREAK.split(text):
        words = [word for word in WORD.findall(part) if word not in STOP_WORDS and not word.isdigit()]
        for length in range(1, MOST_WORDS + 1):
            found |= {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}
    return found


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def choose_mmr(relevance: np.ndarray, vectors: np.ndarray, number: int, diversity: float) -> list[int]:
    """Places by maximal marginal relevance: the most relevant one, then again and again the one with the greatest
    (1 - diversity) relevance - diversity (greatest cosine with one that is chosen). `vectors` of length 1."""
    chosen = [int(np.argmax(relevance))]
    nearest = vectors @ vectors[chosen[0]]
    while len(chosen) < min(number, len(relevance)):
        worth = (1 - diversity) * relevance - diversity * nearest
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
    return chosen


def choose_max_sum(relevance: np.ndarray, vectors: np.ndarray, number: int, most: int) -> list[int]:
    """Of the `most` relevant places the `number` with the least sum of cosines among each other, by trying all sets;
    most relevant first. Raises ResultError where the sets are too many."""
    best = np.argsort(-relevance, kind="stable")[:most]
    number = min(number, len(best))
    if math.comb(len(best), number) > MAX_SETS:
        raise ResultError(f"{number} of {len(best)} phrases are more than {MAX_SETS:,} sets: lower --candidates")
    cosines = vectors[best] @ vectors[best].T
    least: float = np.inf
    chosen: tuple[int, ...] = ()
    sets = itertools.combinations(range(len(best)), number)
    while part := list(itertools.islice(sets, 10_000)):
        places = np.array(part)
        sums = cosines[places[:, :, None], places[:, None, :]].sum(axis=(1, 2))
        if sums.min() < least:
            least, chosen = sums.min(), part[int(np.argmin(sums))]
    return [int(best[place]) for place in chosen]


class Choice(NamedTuple):
    """How phrases are chosen: `top` of them; `diversity` (0..1) of mmr; `candidates` of max_sum; phrases in fewer than
    `least_reasons` reasons are left out."""

    method: str = "mmr"
    top: int = 15
    diversity: float = 0.7
    candidates: int = 20
    least_reasons: int = 1


def phrases(units: Mapping[str, list[str]], encode: Callable[[list[str]], np.ndarray], choice: Choice) -> list[Phrase]:
    """[Phrase] of every unit. units: {unit: [reason, lower case, mentions replaced]}; encode: [text] -> [text, dim].

    A unit's reasons are represented by the mean of their vectors, each of length 1: no reason is cut off, and a long
    one weighs no more than a short one. Phrases of equal worth: in alphabetical order. Raises ResultError.
    """
    counts = {unit: Counter(phrase for text in texts for phrase in candidates(text)) for unit, texts in units.items()}
    kept = {
        unit: sorted(phrase for phrase, count in found.items() if count >= choice.least_reasons)
        for unit, found in counts.items()
    }
    texts = sorted(
        {text for part in units.values() for text in part} | {text for part in kept.values() for text in part}
    )
    if not texts:
        raise ResultError("there are no reasons")
    vectors = _unit(encode(texts))
    place = {text: index for index, text in enumerate(texts)}
    found = []
    for unit, names in kept.items():
        if not names:
            continue
        document = _unit(vectors[[place[text] for text in units[unit]]].mean(axis=0))
        own = vectors[[place[name] for name in names]]
        relevance = own @ document
        if choice.method == "mmr":
            chosen = choose_mmr(relevance, own, choice.top, choice.diversity)
        elif choice.method == "max_sum":
            chosen = choose_max_sum(relevance, own, choice.top, choice.candidates)
        else:
            chosen = np.argsort(-relevance, kind="stable")[: choice.top].tolist()
        others = sum(map(len, units.values())) - len(units[unit])
        for rank, index in enumerate(chosen, start=1):
            held = counts[unit][names[index]]
            elsewhere = sum(of_unit[names[index]] for of_unit in counts.values()) - held
            share = held / len(units[unit])
            difference = share - elsewhere / others if others else None
            found.append(Phrase(unit, rank, names[index], float(relevance[index]), held, share, difference))
    return found
