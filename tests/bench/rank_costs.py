#!/usr/bin/env python3
"""What the start and the end of a run cost with many oversubscribed ranks, on a job of 26 short blocks.

rank_costs.py [--ranks 8 64] [--rounds 3]        processor seconds a rank, launcher included; rank counts in turn
rank_costs.py --messages [--ranks 8 16 32 64]    messages of all ranks, collective ones as MPI sends them, which Open
                                                 MPI's monitoring counts; the law through the last two counts, and what
                                                 it says of 1,000 ranks
"""

import argparse
import math
import pathlib
import re
import resource
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import runs  # noqa: E402

MANY = 1000


def run_smoke(folder, ranks, environment=None):
    code, _, err = runs.run(runs.SMOKE, pathlib.Path(folder) / "run", ranks=ranks, environment=environment)
    assert code == 0, err


def processor_seconds(ranks):
    """Of all processes of a run, launcher included, over the number of ranks."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        run_smoke(folder, ranks)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / ranks


def messages(ranks):
    """(sent by all ranks, sent or received by the busiest one)"""
    with tempfile.TemporaryDirectory() as folder:
        counts = {"enable": "2", "enable_output": "3", "filename": f"{folder}/sent"}
        run_smoke(folder, ranks, {f"OMPI_MCA_pml_monitoring_{name}": value for name, value in counts.items()})
        through, total = [0] * ranks, 0
        for path in pathlib.Path(folder).glob("sent.*.prof"):
            for line in re.findall(r"^[EI]\t(\d+)\t(\d+)\t\d+ bytes\t(\d+) msgs", path.read_text(), re.MULTILINE):
                sender, receiver, count = map(int, line)
                total += count
                through[sender] += count
                through[receiver] += count
    assert total > 0, "Open MPI's monitoring counted nothing"
    return total, max(through)


def print_messages(counts):
    found = []
    for ranks in counts:
        total, busiest = messages(ranks)
        found.append((ranks, total))
        print(f"{ranks} ranks: {total:,} messages, {total / ranks / math.log2(ranks):.1f} x P log2 P; "
              f"{busiest:,} through the busiest rank", flush=True)
    # total = P (a + b log2 P)
    (few, low), (many, high) = found[-2:]
    slope = (high / many - low / few) / (math.log2(many) - math.log2(few))
    constant = high / many - slope * math.log2(many)
    told = MANY * (constant + slope * math.log2(MANY))
    print(f"P ({constant:.1f} + {slope:.1f} log2 P) messages: {told:,.0f} with {MANY:,} ranks")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", action="store_true")
    options = parser.parse_args()
    if options.messages:
        print_messages(options.ranks or [8, 16, 32, 64])
        return
    for _ in range(options.rounds):
        costs = {ranks: processor_seconds(ranks) for ranks in options.ranks or [8, 64]}
        first = next(iter(costs.values()))
        print("; ".join(f"{ranks} ranks: {cost:.2f} s a rank, {cost / first:.2f}x" for ranks, cost in costs.items()),
              flush=True)


if __name__ == "__main__":
    main()
