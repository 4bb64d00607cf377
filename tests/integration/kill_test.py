#!/usr/bin/env python3
"""kill -9 of whole jobs at random moments, each time resumed on another number of ranks: the digest must be that of an
undisturbed run.

kill_test.py [--seeds 4] [--first 1] [--job JOB]     for each seed a round that begins on 1, 2, 3, 5 and 8 ranks: prints
                                                     a line per round and the figure at the end
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs  # noqa: E402


RANKS = (1, 2, 3, 5, 8)


def one_round(output, chosen, ranks, job=runs.SMOKE):
    """Starts on so many ranks and kills, until a start on another number gets through undisturbed; returns what was done
    as text."""
    story = []
    for _ in range(chosen.randint(1, 3)):
        before = runs.journal_bytes(output) + 2000  # more than the head of this attempt's file
        process = runs.start(job, output, ranks=ranks, inject="block_start:*:delay=80")
        if chosen.random() < 0.75:  # while blocks are scored or the result is written; else during the start, too
            runs.wait_for(lambda: runs.journal_bytes(output) > before or process.poll() is not None)
            time.sleep(chosen.uniform(0, 1))
        else:
            time.sleep(chosen.uniform(0.05, 1.5))
        runs.kill_tree(process)
        process.communicate()
        story.append(f"{ranks} ranks killed after {runs.journal_bytes(output)} bytes")
        ranks = chosen.choice([other for other in RANKS if other != ranks])
    code, _, err = runs.run(job, output, ranks=ranks)
    assert code == 0, err
    return ", ".join(story) + f", finished on {ranks}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--job", default=runs.SMOKE)
    options = parser.parse_args()
    rounds = [(seed, ranks) for seed in range(options.first, options.first + options.seeds) for ranks in RANKS]
    equal = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        assert runs.run(options.job, folder / "reference")[0] == 0
        reference = runs.digest(folder / "reference")
        for seed, ranks in rounds:
            output = folder / f"{seed}-{ranks}"
            story = one_round(output, random.Random(f"{seed} {ranks}"), ranks, options.job)
            same = runs.digest(output) == reference
            equal += same
            print(f"seed {seed}: {'equal' if same else 'DIFFERENT'}: {story}", flush=True)
            shutil.rmtree(output)
    print(f"same digest {equal} of {len(rounds)}")
    return 0 if equal == len(rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
