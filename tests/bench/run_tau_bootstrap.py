"""Bootstrap of pooled tau-b over annotators, 400 cells: `bench_tau_bootstrap` over a loop of scipy.stats.kendalltau.

    python3 tests/bench/run_tau_bootstrap.py [--replicates 10000] [--scipy 200] [--rounds 3]

One thread each, in turn. The scipy side draws all annotators of a replicate in one call of numpy and runs fewer
replicates; its time is scaled. Both rescale the drawn means (src/findings/people/README.md says why) and must find the
same tau-b, and intervals that differ by Monte Carlo error only.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

import numpy
from scipy import stats

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("STEREOSWEEP_BUILD_DIR", ROOT / "build/release"))
SUBJECTS, ANNOTATORS, ITEMS = 25, 20, 16


def table():
    cells = numpy.arange(SUBJECTS * ITEMS)
    scores = (cells * 7919 % 1009).astype(float)
    annotators = numpy.arange(ANNOTATORS)
    hashes = (cells[:, None] * 31 + annotators * 17 + cells[:, None] * annotators * 13) % 101
    answers = (hashes + (cells * 7919 % 1009 // 10)[:, None]) // 2
    return scores, answers.reshape(SUBJECTS, ITEMS, ANNOTATORS).transpose(0, 2, 1).astype(float)


def scipy_side(scores, answers, replicates, seed):
    random = numpy.random.default_rng(seed)
    taus = []
    fixed = answers.mean(axis=1)
    expansion = (ANNOTATORS / (ANNOTATORS - 1)) ** 0.5
    shift = (1 - (answers.var(axis=1, ddof=1) / ANNOTATORS).mean() / fixed.var(ddof=1)) ** 0.5 - expansion
    began = time.perf_counter()
    for _ in range(replicates):
        chosen = random.integers(ANNOTATORS, size=(SUBJECTS, ANNOTATORS))
        means = numpy.take_along_axis(answers, chosen[:, :, None], axis=1).mean(axis=1)
        taus.append(stats.kendalltau(scores, (expansion * means + shift * fixed).ravel()).statistic)
    return time.perf_counter() - began, taus


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--scipy", type=int, default=200, help="replicates of the scipy side")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    scores, answers = table()
    ours, theirs, taus = [], [], []
    for turn in range(arguments.rounds):
        said = subprocess.run([BUILD / "bench/bench_tau_bootstrap", str(arguments.replicates), "1"], check=True,
                              capture_output=True, text=True).stdout.split()
        seconds, plain, low, high = map(float, said)
        ours.append(seconds / arguments.replicates)
        seconds, found = scipy_side(scores, answers, arguments.scipy, turn)
        theirs.append(seconds / arguments.scipy)
        taus += found
    expected = stats.kendalltau(scores, answers.mean(axis=1).ravel()).statistic
    their_low, their_high = numpy.quantile(taus, [0.025, 0.975])
    print(f"tau-b {plain:.12f}, scipy {expected:.12f}; 95 % interval [{low:.4f}, {high:.4f}], "
          f"scipy, {len(taus)} replicates [{their_low:.4f}, {their_high:.4f}]")
    print(f"microseconds a replicate: ours {1e6 * min(ours):.2f}, scipy {1e6 * min(theirs):.0f}")
    print(f"ratio {min(theirs) / min(ours):.0f}")
    width = their_high - their_low
    if abs(plain - expected) > 1e-12 or max(abs(low - their_low), abs(high - their_high)) > 0.2 * width:
        sys.exit("the two sides do not agree")


if __name__ == "__main__":
    main()
