"""Every statistic of a score table against scipy, statsmodels, sklearn, or the definition written out, on random tables with
ties, constants, missing cells, nothing, one or two of everything, tiny numbers and numbers far from zero.

    PYTHON tests/bench/compare_statistics.py [TABLES [SEED]]

PYTHON: the project's environment (env/setup.sh prints it); statsmodels and scikit-learn are used where they are installed.
Prints, by statistic, in how many tables how many numbers were compared, the largest relative difference (over the condition
number of the table: its largest score over its standard deviation), how many numbers do not exist, and how many differ by
more than 1e-12 or exist on one side only; fails where there is one.
"""

import gc
import sys
import tempfile

import numpy
import statistics_clusters
import statistics_contrasts
import statistics_correlations
import statistics_intersections
import statistics_means
import statistics_people
import statistics_runs
import statistics_variance
from statistics_tables import Report, conclude, crossed_subjects, random_table

PARTS = (statistics_means, statistics_contrasts, statistics_variance, statistics_people, statistics_intersections,
         statistics_clusters, statistics_correlations)


def few(random, most):
    """Often one or two."""
    return int(random.choice([1, 2, random.integers(1, most + 1)]))


def question(random, folder):
    """Tables, what is asked of them, and the seed of the draws."""
    lengths = [few(random, most) for most in (3, 8, 8, 4, 3, 5)]
    if random.random() < 0.03:
        lengths[2], lengths[3] = 46, 1  # more templates than an exact test takes
    statistics = {"inference": {"confidence": float(random.choice([0.8, 0.95])), "replicates": 100 + int(random.integers(60)),
                                "draws": 150, "family": str(random.choice(["contrast", "measure", "all"]))}}
    key = int(random.integers(2**63))
    if random.random() < 0.2:
        tables = statistics_runs.tables(random, lengths)
        if statistics_runs.shared_cells(tables):
            return tables, statistics, key
    table = random_table(random, lengths, crossed_subjects(random) if random.random() < 0.35 else None)
    for part in PARTS:
        statistics |= part.ask(random, table, folder)
    return [table], statistics, key


def main(tables=1000, seed=20261123):
    gc.freeze()  # statsmodels collects garbage in every call
    report = Report()
    random = numpy.random.default_rng(seed)
    for first in range(0, tables, 50):
        with tempfile.TemporaryDirectory() as folder:
            questions = [question(random, folder) for _ in range(first, min(first + 50, tables))]
            for place, data in enumerate(conclude(questions, folder)):
                tables_of, statistics, key = questions[place]
                if len(tables_of) > 1:
                    statistics_runs.check(report, first + place, data, tables_of, statistics, key)
                    continue
                for part in PARTS:
                    part.check(report, first + place, data, tables_of[0], statistics, key)
    print(report.text())
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
