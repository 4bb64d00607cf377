#!/usr/bin/env python3
"""Times ours against the peers on the same continuation items, in turn, in one run, and prints a Markdown table.

    python3 tests/bench/run_continuation.py [--rounds 2] [--models gpt2-small llama-160m] [--peers ../shared/bench]

Environment, models and cache: peers.py. `--units` sentences of 80 items each are measured (and a share of the peers
that compute every prompt alone: `--few-units`, since nothing is shared between their units).
Fails if our float32 numbers are further than 1e-4 nat a token from batched transformers.
"""
import sys
from pathlib import Path

from peers import (BF16, F32, head_line, items_of, largest_difference, measure_rounds, ours, parser_of, peer, prepare,
                   ratio_table, roof_speed, speed_table, take_parts)

# (label, script of the peer, dtype, extra arguments, whether it shares work between units)
PEERS = [("hf_batched float32", "hf_batched.py", F32, [], True),
         ("hf_prefix_cached float32", "hf_prefix_cached.py", F32, [], True),
         ("hf_prefix_cached fast-gelu float32", "hf_prefix_cached.py", F32, ["--fast-gelu"], True),
         ("minicons float32", "minicons_peer.py", F32, [], False),
         ("lm_eval float32", "lm_eval_peer.py", F32, [], False),
         ("ctranslate2 float32", "ct2_peer.py", F32, [], False),
         ("hf_batched bfloat16", "hf_batched.py", BF16, [], True),
         ("hf_prefix_cached bfloat16", "hf_prefix_cached.py", BF16, [], True),
         ("hf_prefix_cached fast-gelu bfloat16", "hf_prefix_cached.py", BF16, ["--fast-gelu"], True)]
MODELS = ["gpt2-small", "llama-160m"]
GOALS = [("ours float32", "best peer float32", 2.8), ("ours bfloat16", "best peer bfloat16", 4.0),
         ("ours float32", "ctranslate2 float32", 10.0), ("ours float32", "lm_eval float32", 10.0),
         ("ours float32", "minicons float32", 15.0)]
TOKENS_PER_ITEM = 8          # of a continuation, at most: the bound on the sum of an item


def main():
    args = arguments()
    python = prepare(args, [script for _, script, _, _, _ in PEERS])
    args.jobs = take_parts(args, items_of(args, python, "continuation"), {args.units, args.few_units}, "continuation")
    reports, peak = measure_rounds(args, python, lambda model, number: one_round(args, python, model))
    failures = check_values(args)
    print(table(args, reports, peak))
    print("\n".join(f"VALUES TOO FAR: {failure}" for failure in failures))
    sys.exit(1 if failures else 0)


def arguments():
    """The command line."""
    parser = parser_of(__doc__, "bench_continuation", MODELS, MODELS, rounds=2, batch_tokens=1024)
    parser.add_argument("--units", type=int, default=5, help="sentences")
    parser.add_argument("--few-units", type=int, default=1, help="sentences for peers that share no work")
    parser.add_argument("--only", nargs="+", help="beginnings of the peers' labels; ours always runs")
    return parser.parse_args()


def one_round(args, python, model):
    """(label, report) of every case: ours beside the peers of each dtype."""
    stem = args.out / f"{model}.continuation"
    for dtype in (F32, BF16):
        yield f"ours {dtype}", ours(args, model, args.jobs[args.units], f"{stem}.ours.{dtype}", ["--dtype", dtype])
        for label, script, peer_dtype, extra, shares in PEERS:
            wanted = not args.only or label.startswith(tuple(args.only))
            if peer_dtype == dtype and wanted and ("--fast-gelu" not in extra or model == "gpt2-small"):
                jobs = args.jobs[args.units if shares else args.few_units]
                yield label, peer(args, python, model, script, dtype, jobs, f"{stem}.{label.replace(' ', '.')}", extra,
                                  "continuation")


def check_values(args):
    """Prints how far ours are from the peers'; the list of what is too far."""
    failures = []
    for model in args.models:
        stem = args.out / f"{model}.continuation"
        base = Path(f"{stem}.hf_batched.float32.jsonl")
        if not base.exists():
            print(f"{base} is missing: nothing to compare with", file=sys.stderr)
            return [f"{model}: no values of hf_batched"]
        for dtype, limit in ((F32, 1e-4 * TOKENS_PER_ITEM), (BF16, 0.5 * TOKENS_PER_ITEM)):
            found = largest_difference(f"{stem}.ours.{dtype}.jsonl", base)
            print(f"{model}, ours {dtype}: largest difference from hf_batched float32 {found:.2g} nat", file=sys.stderr)
            failures += [f"{model} {dtype}: {found:.2g} nat"] * (not found <= limit)
    return failures


def table(args, reports, peak):
    """The results as Markdown."""
    def work_of(model):
        return next(runs[0] for (name, _), runs in reports.items() if name == model and "distinct" in runs[0]
                    and runs[0]["items"] == reports[model, f"ours {F32}"][0]["items"])

    lines, speed = speed_table(reports, peak, work_of)
    return "\n".join([head_line(args, peak), "", *lines, "",
                      *ratio_table(args.models, speed, GOALS, roof_speed(args.models, peak, work_of))])


if __name__ == "__main__":
    main()
