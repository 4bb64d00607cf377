#!/usr/bin/env python3
"""kill -9 of whole jobs at random moments, resumed on 1-4 ranks: the digest must be that of an undisturbed run.

kill_test.py [--times 20] [--seed 1] [--job JOB]     prints one line per round and the figure at the end
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs  # noqa: E402


def one_round(output, chosen, job=runs.SMOKE):
    """Starts and kills until a start gets through undisturbed; returns what was done as text."""
    story = []
    for _ in range(chosen.randint(1, 3)):
        ranks = chosen.randint(1, 4)
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
    ranks = chosen.randint(1, 4)
    code, _, err = runs.run(job, output, ranks=ranks)
    assert code == 0, err
    return ", ".join(story) + f", finished on {ranks}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--job", default=runs.SMOKE)
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    equal = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        assert runs.run(options.job, folder / "reference")[0] == 0
        reference = runs.digest(folder / "reference")
        for number in range(options.times):
            story = one_round(folder / str(number), chosen, options.job)
            same = runs.digest(folder / str(number)) == reference
            equal += same
            print(f"{number + 1:3} {'equal' if same else 'DIFFERENT'}: {story}", flush=True)
    print(f"same digest {equal} of {options.times}")
    return 0 if equal == options.times else 1


if __name__ == "__main__":
    sys.exit(main())
