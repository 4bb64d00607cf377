"""How much an interview's answers vary from round to round and form to form, and how many refuse (StereoMap, table 14).

From what `stereosweep stats` wrote of an interview; a number that does not exist is None.
"""

import math
from typing import NamedTuple, SupportsFloat

import numpy as np
import xarray as xr

from .open import ResultError

TEXT_AXES = ("conversation", "template", "turn", "ngram")


class Variation(NamedTuple):
    """Coefficients of variation (divisor n - 1) of the groups' mean ratings: their mean and the largest."""

    form: str
    dimension: str
    over_rounds: float | None
    over_rounds_largest: float | None
    to_first_form: float | None
    to_first_form_largest: float | None


class Diversity(NamedTuple):
    """Of a turn's texts by all groups, rephrasings and rounds; `self_bleu_of_group`: of rounds, mean over groups."""

    form: str
    conversation: str
    turn: str
    ngram: int
    texts: int
    self_bleu: float | None
    self_bleu_of_group: float | None
    entropy_bits: float | None


class Refusals(NamedTuple):
    """Shares of texts that were asked for ratings, with the ends of their intervals."""

    label: str
    texts: int
    refused: float | None
    refused_low: float | None
    refused_high: float | None
    unrated: float | None
    unrated_low: float | None
    unrated_high: float | None


def _number(value: SupportsFloat) -> float | None:
    return float(value) if math.isfinite(value) else None


def _mean_and_largest(values: np.ndarray) -> tuple[float | None, float | None]:
    values = np.abs(values[np.isfinite(values)])
    return (float(values.mean()), float(values.max())) if values.size else (None, None)


def _labels(statistics: xr.Dataset, axis: str) -> list[str]:
    return [str(label) for label in statistics[axis].values]


def variations(statistics: xr.Dataset) -> list[Variation]:
    """[Variation], by dimension and form; none where nothing is rated."""
    if "rating_variation_over_rounds" not in statistics:
        return []
    axes = ("rated_dimension", "template", "subject")
    rounds, first = (
        statistics[f"rating_variation_{name}"].transpose(*axes).values for name in ("over_rounds", "to_first_form")
    )
    return [
        Variation(form, dimension, *_mean_and_largest(rounds[row, column]), *_mean_and_largest(first[row, column]))
        for row, dimension in enumerate(_labels(statistics, "rated_dimension"))
        for column, form in enumerate(_labels(statistics, "template"))
    ]


def diversities(statistics: xr.Dataset) -> list[Diversity]:
    """[Diversity] of every turn that has texts, by conversation, turn, form and n-gram. Raises ResultError."""
    if "self_bleu_over_groups" not in statistics:
        raise ResultError("the statistics hold no diversity of texts: run 'stereosweep stats' of an interview first")
    bleu, entropy, texts = (
        statistics[f"{name}_over_groups"].transpose(*TEXT_AXES).values for name in ("self_bleu", "entropy", "texts")
    )
    single = statistics["self_bleu_over_rounds"].transpose(*TEXT_AXES, ...).values
    turns = [str(text).split(", ") for text in statistics["conversation_turns"].values]
    forms, conversations = _labels(statistics, "template"), _labels(statistics, "conversation")
    orders = [int(order) for order in statistics["ngram"].values]
    found = []
    for conversation, form, turn, order in np.ndindex(texts.shape):
        place = (conversation, form, turn, order)
        if texts[place] > 0:
            mean, _ = _mean_and_largest(single[place])
            labels = turns[conversation]
            found.append(
                Diversity(forms[form], conversations[conversation], labels[turn] if turn < len(labels) else str(turn),
                          orders[order], int(texts[place]), _number(bleu[place]), mean, _number(entropy[place]))
            )  # fmt: skip
    return found


def refusals(statistics: xr.Dataset, axis: str) -> list[Refusals]:
    """[Refusals] by the labels of `axis` (template, subject); none where nothing is rated."""
    if f"{axis}_rated_texts" not in statistics:
        return []
    shares = [
        statistics[f"{axis}_{name}_{end}"].values for name in ("refused", "unrated") for end in ("share", "low", "high")
    ]
    texts = statistics[f"{axis}_rated_texts"].values
    return [
        Refusals(label, int(texts[place]), *(_number(share[place]) for share in shares))
        for place, label in enumerate(_labels(statistics, axis))
    ]
