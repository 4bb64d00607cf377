"""Writes goldens.json: scipy's and numpy's answers for the tests of the room stats.

Usage: python tests/stats/make_goldens.py   (scipy and numpy as pinned in env/requirements.txt)
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import special, stats

rng = np.random.default_rng(20221112)


def correlation(function, left, right):
    answer = function(left, right)
    return [float(answer.statistic), float(answer.pvalue)]


def case(left, right):
    left, right = [float(x) for x in left], [float(x) for x in right]
    return {
        "left": left,
        "right": right,
        "kendall": correlation(stats.kendalltau, left, right),
        "pearson": correlation(stats.pearsonr, left, right),
        "spearman": correlation(stats.spearmanr, left, right),
    }


cases = []
for n in (3, 4, 5, 8, 16, 33, 34, 60):
    cases.append(case(rng.normal(size=n), rng.normal(size=n)))  # no ties
    cases.append(case(np.arange(n), np.arange(n)[::-1]))  # perfect
    swapped = np.arange(n)
    swapped[:2] = swapped[1::-1]
    cases.append(case(np.arange(n), swapped))  # one discordant pair: exact for every n
for n in (5, 16, 40, 400):
    for levels in (2, 3, 10):
        left, right = rng.integers(0, levels, n), rng.integers(0, levels, n)
        left[:2], right[:2] = (0, 1), (1, 0)  # neither side constant
        cases.append(case(left, right))
noise = rng.normal(size=400)
cases.append(case(noise, noise + rng.normal(size=400)))  # small p

def spread(left, right):
    test = stats.ttest_rel(left, right)
    return {
        "left": left.tolist(),
        "right": right.tolist(),
        "sample": float(np.std(left, ddof=1)),
        "population": float(np.std(left)),
        "variation": float(stats.variation(left, ddof=1)),
        "t": float(test.statistic),
        "p": float(test.pvalue),
    }


# its own generator: the cases above stay as they are
own = np.random.default_rng(7)
spreads = [
    spread(own.normal(3, 1, n), own.normal(2.5, 1, n)) for n in (2, 3, 5, 10, 40, 200)
]

def t_power(effect, n, level):
    """Power of the two-sided t test of n values."""
    end, shift = stats.t.ppf(1 - level / 2, n - 1), effect * np.sqrt(n)
    other = stats.nct.cdf(-end, n - 1, shift) if shift < 5 else 0  # below 1e-11; scipy gives NaN for some
    return float(stats.nct.sf(end, n - 1, shift) + other)


powers = [
    [effect, n, level, t_power(effect, n, level)]
    for level in (0.05, 0.01, 0.005)
    for n in (2, 5, 10, 14, 20, 35, 60, 400, 2000)
    for effect in (0.01, 0.1, 0.3, 0.5, 1.0, 1.5)
    if effect * np.sqrt(n) < 30
]
variance_factors = [
    [degrees, share, float(degrees / stats.chi2.ppf(1 - share, degrees))]
    for degrees in (1, 2, 4, 9, 34, 200)
    for share in (0.5, 0.8, 0.95)
]

lists = [rng.normal(size=n).tolist() for n in (1, 2, 3, 4, 7, 10)] + [[2.0, 2.0, 1.0, 5.0, 5.0, 5.0]]
goldens = {
    "scipy": scipy.__version__,
    "numpy": np.__version__,
    "correlations": cases,
    "spreads": spreads,
    "powers": powers,
    "variance_factors": variance_factors,
    "aggregates": [
        {
            "values": values,
            "mean": float(np.mean(values)),
            "median": float(np.median(values)),
            "log_sum_exp": float(special.logsumexp(values)),
            "ranks": stats.rankdata(values).tolist(),
        }
        for values in lists
    ],
}
pathlib.Path(__file__).with_name("goldens.json").write_text(json.dumps(goldens) + "\n")
