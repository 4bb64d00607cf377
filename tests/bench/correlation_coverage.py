"""How often 95 % intervals of a correlation hold the true one: percentiles of the bootstrap over subjects, and Fisher's z with
the variances of `src/findings/correlations`, on simulated tables of two normal variables. numpy and scipy alone.

    PYTHON tests/bench/correlation_coverage.py [TABLES]

Prints a row per number of subjects and true Pearson correlation. 600 tables take a few minutes.
"""

import math
import sys

import numpy
import scipy.special
import scipy.stats

DRAWS, Z = 500, scipy.special.ndtri(0.975)


def pearson(left, right):
    left, right = left - left.mean(-1, keepdims=True), right - right.mean(-1, keepdims=True)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return (left * right).sum(-1) / numpy.sqrt((left**2).sum(-1) * (right**2).sum(-1))


def spearman(left, right):
    return pearson(scipy.stats.rankdata(left, axis=-1), scipy.stats.rankdata(right, axis=-1))


def holds(left, right, drawn, method, truth):
    """Whether the percentile interval does, and whether that by z does."""
    low, high = numpy.nanquantile(method(left[drawn], right[drawn]), (0.025, 0.975))
    found = method(left, right)
    half = Z * math.sqrt((1 + (found**2 / 2 if method is spearman else 0)) / (len(left) - 3))
    return low <= truth <= high, abs(found) < 1 and abs(math.atanh(found) - math.atanh(truth)) <= half


def main(tables=600):
    random = numpy.random.default_rng(1)
    print("subjects  r    pearson: percentile, z   spearman: percentile, z   (%)")
    for subjects in (10, 20, 50):
        for r in (0.0, 0.5, 0.9):
            held = numpy.zeros(4)
            for _ in range(tables):
                left = random.normal(size=subjects)
                right = r * left + math.sqrt(1 - r * r) * random.normal(size=subjects)
                drawn = random.integers(subjects, size=(DRAWS, subjects))
                held += (*holds(left, right, drawn, pearson, r), *holds(left, right, drawn, spearman, 6 / math.pi * math.asin(r / 2)))
            print(f"{subjects:8}  {r}", *(f"{100 * share:10.1f}" for share in held / tables), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
