#!/usr/bin/env python3
"""Times ours against the peers on the same embedding items, in turn, in one run, and prints Markdown tables.

    python3 tests/bench/run_embedding.py [--rounds 2] [--models minilm bert-base] [--peers ../shared/bench]

Environment, models and cache: peers.py. `--units N` words (of about 13 sentences each) are measured. Peers that do not
run here are named in the output.
Fails if a vector of ours in float32 is further than 1e-5 of its length from that of batched transformers, or one in
bfloat16 further than twice as far as the worst of transformers' own bfloat16.
"""
import math
import sys

from peers import (BF16, F32, attempt, batched_work, head_line, items_of, measure_rounds, ours, paired_values,
                   parser_of, peer_command, prepare, ratio_table, read_report, roof_speed, speed_table, take_parts)

# (label, script of the peer, dtype)
PEERS = [("hf_batched float32", "hf_batched.py", F32), ("onnxruntime float32", "ort_peer.py", F32),
         ("ctranslate2 float32", "ct2_peer.py", F32), ("hf_batched bfloat16", "hf_batched.py", BF16),
         ("ctranslate2 bfloat16", "ct2_peer.py", BF16)]
UNITS = {"minilm": 0, "bert-base": 10, "bert-large": 5}      # 0: all
BOUND = 1e-5
GOALS = [("ours float32", "hf_batched float32", 1.3), ("ours float32", "best peer float32", 1.1),
         ("ours bfloat16", "hf_batched bfloat16", 1.8)]


def main():
    args = arguments()
    python = prepare(args, [script for _, script, _ in PEERS])
    parts = take_parts(args, items_of(args, python, "embedding"), {units_of(args, model) for model in args.models},
                       "embedding")
    args.jobs = {model: parts[units_of(args, model)] for model in args.models}
    reports, peak = measure_rounds(args, python, lambda model, number: one_round(args, python, model))
    differences, failures = compare_vectors(args, reports)
    print(table(args, reports, peak, differences))
    print("\n".join(f"VECTORS TOO FAR: {failure}" for failure in failures))
    sys.exit(1 if failures else 0)


def arguments():
    """The command line."""
    parser = parser_of(__doc__, "bench_embedding", list(UNITS), ["minilm", "bert-base"], rounds=2, batch_tokens=1024)
    parser.add_argument("--units", type=int, help=f"words of every model (0: all), instead of {UNITS}")
    parser.add_argument("--only", nargs="+", help="beginnings of the peers' labels; ours always runs")
    return parser.parse_args()


def units_of(args, model):
    """Number of words measured with a model; 0: all."""
    return UNITS[model] if args.units is None else args.units


def stem_of(args, model, label):
    """Beginning of the names of a case's two files."""
    return args.out / f"{model}.embedding.{label.replace(' ', '.')}"


def one_round(args, python, model):
    """(label, report) of every case: ours beside the peers of each dtype; None for a peer that cannot run here."""
    for dtype in (F32, BF16):
        label = f"ours {dtype}"
        yield label, ours(args, model, args.jobs[model], stem_of(args, model, label), ["--dtype", dtype])
        for label, script, peer_dtype in PEERS:
            if peer_dtype == dtype and (not args.only or label.startswith(tuple(args.only))):
                stem = stem_of(args, model, label)
                failure = attempt(peer_command(args, python, model, script, dtype, args.jobs[model], stem, [],
                                               "embedding"))
                if failure and label.startswith("hf_batched"):
                    sys.exit(failure)
                yield label, None if failure else read_report(f"{stem}.json")


def compare_vectors(args, reports):
    """{(model, label): largest distance over the vector's length, from batched transformers in float32}, failures."""
    found = {}
    for model, label in reports:
        pairs = paired_values(f"{stem_of(args, model, label)}.jsonl",
                              f"{stem_of(args, model, 'hf_batched float32')}.jsonl")
        found[model, label] = max(math.dist(vector, truth) / math.hypot(*truth) for vector, truth in pairs)
    bounds = {F32: lambda model: BOUND, BF16: lambda model: 2 * found[model, "hf_batched bfloat16"]}
    return found, [f"{model}, {dtype}: {found[model, f'ours {dtype}']:.2g}" for model in args.models for dtype in bounds
                   if not found[model, f"ours {dtype}"] <= bounds[dtype](model)]


def table(args, reports, peak, differences):
    """The results as Markdown."""
    more = [("difference", lambda model, label, runs: f"{differences[model, label]:.2g}"),
            ("memory, MiB", lambda model, label, runs:
             f"{max(one.get('memory_mib') or one['rss_mib'] for one in runs):.0f}")]
    work_of = batched_work(reports)
    lines, speed = speed_table(reports, peak, work_of, more)
    return "\n".join([head_line(args, peak), "", *lines, "",
                      *ratio_table(args.models, speed, GOALS, roof_speed(args.models, peak, work_of))])


if __name__ == "__main__":
    main()
