"""Scores from raw numbers, in a few lines of numpy.

`stereosweep stats` computes the same and more; this is the second opinion (the tests compare the two), and the place
to start from for a variant of your own. Definitions: src/stats/IncreasedLogProbability.hpp.
"""

import numpy as np
import xarray as xr

from .open import ResultError, require_label

NEEDED = {
    "ilps_first": ("logprob",),
    "ilps_last": ("logprob",),
    "ilps_chain": ("logprob",),
    "ilps_star": ("logprob", "log_mass_initial", "log_mass_continuation"),
    "set_code_augmented": ("set_distance_bias",),
    "set_code_plain": ("set_distance_plain",),
    "set_paper_augmented": ("set_distance_bias",),
    "set_paper_plain": ("set_distance_plain",),
    "set_hardest_augmented": ("set_distance_bias",),
    "set_hardest_plain": ("set_distance_plain",),
}


def _check(raw: xr.Dataset, measure: str) -> None:
    if measure not in NEEDED:
        raise ResultError(f"unknown measure '{measure}': known are {', '.join(NEEDED)}")
    missing = [name for name in ("num_subwords", *NEEDED[measure]) if name not in raw or "prior_" + name not in raw]
    if missing:
        raise ResultError(f"the result lacks {', '.join(missing)}: no '{measure}' without them")


def _last(values: xr.DataArray, num_subwords: xr.DataArray) -> xr.DataArray:
    index = (num_subwords - 1).clip(min=0)
    return values.isel(subword=index).where(num_subwords > 0)


def _side(raw: xr.Dataset, measure: str, prefix: str) -> xr.DataArray:
    """One side of a score, folded over subwords: prefix "" for groups, "prior_" for priors."""
    num_subwords = raw[prefix + "num_subwords"].astype(int)
    place = xr.DataArray(np.arange(raw.sizes["subword"]), dims="subword")
    used = place < num_subwords
    if measure.startswith("ilps"):
        logprob = raw[prefix + "logprob"]
    if measure == "ilps_first":
        return logprob.isel(subword=0).where(num_subwords > 0)
    if measure == "ilps_last":
        return _last(logprob, num_subwords)
    if measure in ("ilps_chain", "ilps_star"):
        if measure == "ilps_star":
            masses = xr.where(place == 0, raw[prefix + "log_mass_initial"], raw[prefix + "log_mass_continuation"])
            logprob = logprob - masses
        total = logprob.where(used, 0.0).sum("subword", skipna=False)
        return total.where(num_subwords > 0)
    kind, bias = measure.removeprefix("set_").split("_")
    distance = raw[prefix + ("set_distance_bias" if bias == "augmented" else "set_distance_plain")]
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "code":
            score = xr.ufuncs.log1p(-distance.where(used, -np.inf).max("subword", skipna=False))
        elif kind == "paper":
            score = -2 * xr.ufuncs.log(distance.where(used, np.inf).min("subword", skipna=False))
        else:
            score = -2 * xr.ufuncs.log(distance.where(used, -np.inf).max("subword", skipna=False))
    return score.where(np.isfinite(score) & (num_subwords > 0))


def word_scores(raw: xr.Dataset, measure: str, prior: str) -> xr.DataArray:
    """Association of every cell: [group, template, rephrasing, word], nat; NaN where it does not exist.

    Raises ResultError.
    """
    _check(raw, measure)
    require_label(raw, "prior", prior)
    return _side(raw, measure, "") - _side(raw, measure, "prior_").sel(prior=prior, drop=True)


def pair_scores(raw: xr.Dataset, measure: str, prior: str, aggregate: str = "median") -> xr.DataArray:
    """Right pole minus left pole: [group, template, rephrasing, pair]; a pole is the aggregate of its defined words."""
    scores = word_scores(raw, measure, prior)
    pairs = list(dict.fromkeys(raw["word_pair"].values))
    sides: dict[str, list[xr.DataArray]] = {"left": [], "right": []}
    for pair in pairs:
        for side, found in sides.items():
            words = np.flatnonzero((raw["word_pair"].values == pair) & (raw["word_side"].values == side))
            found.append(getattr(scores.isel(word=words), aggregate)("word", skipna=True))
    left, right = (xr.concat(sides[side], dim="pair", coords="minimal", compat="override") for side in sides)
    return (right - left).assign_coords(pair=pairs).transpose("group", "template", "rephrasing", "pair")
