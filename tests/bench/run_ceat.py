#!/usr/bin/env python3
"""CEAT from vectors in memory: ours on all samples against the published way on a few, one thread each, in one run.

    python3 tests/bench/run_ceat.py [--samples 10000] [--published 3] [--contexts 1000]

14 tests of the published sizes over random vectors of 1,024 dimensions. The published way is written anew here from its
description: for each sample a vector per word, for each target word two calls of scikit-learn's cosine_similarity (with
the words of A, with those of B), once for the means and once more for the deviation. Both draw the same vectors; effect
sizes must agree within 1e-5 (theirs are float32). Processor seconds per sample; the ratio is the last line.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
import philox  # noqa: E402

SIZES = [(25, 25, 25, 25), (25, 25, 25, 25), (32, 32, 25, 25), (16, 16, 25, 25), (16, 16, 8, 8), (8, 8, 8, 8),
         (8, 8, 8, 8), (8, 8, 8, 8), (6, 6, 7, 7), (8, 8, 8, 8), (12, 12, 13, 13), (12, 12, 8, 8), (12, 12, 12, 12),
         (12, 12, 6, 6)]
SEED, WORDS, DIMENSION = 20210519, 417, 1024


def cosine_similarity_of():
    """scikit-learn's function, or the same work in numpy where it is not installed."""
    try:
        from sklearn.metrics.pairwise import cosine_similarity
        return cosine_similarity, "scikit-learn"
    except ImportError:
        def cosine_similarity(left, right):
            unit = [rows / numpy.linalg.norm(rows, axis=1, keepdims=True) for rows in (left, right)]
            return unit[0] @ unit[1].T
        return cosine_similarity, "numpy"


def published_effect(x, y, a, b, cosine_similarity):
    """Effect size of one sample."""
    def association(word):
        row = word.reshape(1, -1)
        return cosine_similarity(row, a).mean() - cosine_similarity(row, b).mean()
    difference = numpy.mean([association(word) for word in x]) - numpy.mean([association(word) for word in y])
    return difference / numpy.std([association(word) for word in numpy.concatenate([x, y])], ddof=1)


def make_tests(rng):
    names = [f"word{number}" for number in range(WORDS)]
    tests = []
    for number, sizes in enumerate(SIZES):
        chosen = iter(rng.permutation(names))
        tests.append({"label": f"T{number + 1}", **{key: [str(next(chosen)) for _ in range(size)]
                                                    for key, size in zip("xyab", sizes)}})
    return tests


def listed(tests):
    return list(dict.fromkeys(word for test in tests for key in "xyab" for word in test[key]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--published", type=int, default=3, help="samples per test done the published way")
    parser.add_argument("--contexts", type=int, default=1000)
    parser.add_argument("--program", default=str(ROOT / "build/release/bench/bench_effects"))
    options = parser.parse_args()
    rng = numpy.random.default_rng(1)
    tests = make_tests(rng)
    words = {word: place for place, word in enumerate(listed(tests))}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        vectors = numpy.memmap(folder / "raw", numpy.float32, "w+", shape=(len(words), options.contexts, DIMENSION))
        for place in range(len(words)):
            vectors[place] = rng.standard_normal((options.contexts, DIMENSION), dtype=numpy.float32)
        vectors.flush()
        (folder / "asked.json").write_text(json.dumps({
            "raw": str(folder / "raw"), "store": str(folder / "store"), "dimension": DIMENSION,
            "contexts": options.contexts, "samples": options.samples, "seed": SEED, "shown": options.published,
            "tests": tests}))
        ours = json.loads(subprocess.run([options.program, folder / "asked.json"], check=True, capture_output=True,
                                         text=True).stdout)
        cosine_similarity, whose = cosine_similarity_of()
        worst, start = 0.0, time.process_time()
        for test in tests:
            drawn = {word: philox.contexts_drawn(SEED, test["label"], options.published, word, options.contexts)
                     for key in "xyab" for word in test[key]}
            for sample in range(options.published):
                sets = [numpy.array([vectors[words[word], drawn[word][sample]] for word in test[key]]) for key in "xyab"]
                size = published_effect(*sets, cosine_similarity)
                worst = max(worst, abs(size - ours["effects"][test["label"]][sample]))
        published = time.process_time() - start
    own = ours["cpu"] / (len(tests) * options.samples)
    theirs = published / (len(tests) * options.published)
    print(f"published way ({whose}): {1e3 * theirs:.2f} ms per sample, {len(tests) * options.published} samples")
    print(f"ours: {1e3 * own:.4f} ms per sample, {len(tests) * options.samples} samples in {ours['cpu']:.2f} s")
    print(f"largest difference of an effect size: {worst:.1e}")
    print(f"ratio {theirs / own:.0f}")
    return 0 if worst < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
