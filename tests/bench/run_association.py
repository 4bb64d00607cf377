#!/usr/bin/env python3
"""Times ours against the peers on the same association items, in turn, in one run, and prints a Markdown table.

    python3 tests/bench/run_association.py [--rounds 3] [--models bert-base bert-large] [--peers ../shared/bench]

Environment, models and cache: peers.py. `--units` (group, template) pairs are measured.
Fails if our float32 numbers are further than 1e-4 nat from batched transformers, or our SeT from the published way.
"""
import json
import sys
from pathlib import Path

from peers import (BF16, F32, batched_work, head_line, items_of, largest_difference, measure_rounds, ours,
                   parser_of, peer, prepare, ratio_table, roof_speed, run, speed_table, take_parts)

# (label, script of the peer, dtype)
PEERS = [("hf_batched float32", "hf_batched.py", F32), ("onnxruntime float32", "ort_peer.py", F32),
         ("minicons float32", "minicons_peer.py", F32), ("hf_batched bfloat16", "hf_batched.py", BF16)]
UNITS = {"bert-base": 60, "bert-large": 15}
SET_UNITS = 15
SET_CELLS = 12
GOALS = [("ours float32", "hf_batched float32", 1.35), ("ours float32", "onnxruntime float32", 1.2),
         ("ours bfloat16", "hf_batched bfloat16", 1.8), ("ours float32", "minicons float32", 2.0),
         ("ours bfloat16", "ours float32", 4.0)]
NAIVE_GOAL = ("ours float32", "hf_naive", 400.0)


def main():
    args = arguments()
    python = prepare(args, [*(script for _, script, _ in PEERS), "hf_naive.py", "set_published.py"])
    prepare_items(args, python)
    reports, peak = measure_rounds(args, python, lambda model, number: one_round(args, python, model, number))
    set_report = None if args.short else measure_set(args, python)
    failures = check_values(args)
    print(table(args, reports, peak, set_report))
    print("\n".join(f"VALUES TOO FAR: {failure}" for failure in failures))
    sys.exit(1 if failures else 0)


def arguments():
    """The command line."""
    parser = parser_of(__doc__, "bench_association", list(UNITS), list(UNITS), rounds=3, batch_tokens=512)
    parser.add_argument("--units", type=int, help=f"(group, template) pairs of every model, instead of {UNITS}")
    parser.add_argument("--short", action="store_true", help="leave out the published ways: hf_naive and SeT")
    return parser.parse_args()


def prepare_items(args, python):
    """The items, and the parts of them that are measured: args.items and args.jobs[units]."""
    args.items = items_of(args, python, "association")
    counts = {1, SET_UNITS, *UNITS.values(), *filter(None, [args.units])}
    args.jobs = take_parts(args, args.items, counts, "part")
    args.jobs["set"] = args.items.parent / "part.set.jsonl"
    lines = args.jobs[1].read_text().splitlines(keepends=True)
    args.jobs["set"].write_text("".join(lines[:SET_CELLS]))


def one_round(args, python, model, number):
    """(label, report) of every case: ours beside each peer; the slow way once, on one unit."""
    jobs = args.jobs[args.units or UNITS[model]]
    stem = args.out / model
    for dtype in (F32, BF16):
        yield f"ours {dtype}", ours(args, model, jobs, f"{stem}.ours.{dtype}", ["--dtype", dtype])
        for label, script, peer_dtype in PEERS:
            if peer_dtype == dtype:
                yield label, peer(args, python, model, script, dtype, jobs, f"{stem}.{label.replace(' ', '.')}", [],
                                  "association")
    if number == 0 and not args.short:
        yield "hf_naive", peer(args, python, model, "hf_naive.py", F32, args.jobs[1], f"{stem}.hf_naive", [],
                               "association")


def measure_set(args, python):
    """Processor seconds per slot of the published way and of ours, bert-base."""
    stem = args.out / "set"
    run([python, args.peers / "set_published.py", "--model", args.model_folder / "bert-base", "--jobs", args.jobs[1],
         "--cells", SET_CELLS, "--threads", 1, "--json", f"{stem}.published.json", "--results",
         f"{stem}.published.jsonl"])
    published = json.loads(Path(f"{stem}.published.json").read_text())
    ours(args, "bert-base", args.jobs["set"], f"{stem}.ours", ["--measure", "set"])
    rates = {}
    for name, measure, jobs in (("first", "set_first", args.items), ("every", "set", args.jobs[SET_UNITS])):
        for dtype in (F32, BF16):
            report = ours(args, "bert-base", jobs, f"{stem}.{name}.{dtype}", ["--measure", measure, "--dtype", dtype])
            rates[name, dtype] = report["cpu"] / report["slots"]
            print(f"SeT {name} subword, {dtype}: {rates[name, dtype] * 1e6:.0f} us a slot", file=sys.stderr, flush=True)
    return {"published": published["cpu_s_per_slot"], **rates}


def check_values(args):
    """Prints how far ours are from the peers'; the list of what is too far."""
    failures = []
    for model in args.models:
        base = args.out / f"{model}.hf_batched.float32.jsonl"
        for dtype, limit in ((F32, 1e-4), (BF16, 0.5)):
            found = largest_difference(args.out / f"{model}.ours.{dtype}.jsonl", base)
            print(f"{model}, ours {dtype}: largest difference from hf_batched float32 {found:.2g} nat", file=sys.stderr)
            failures += [f"{model} {dtype}: {found:.2g} nat"] * (not found <= limit)
    if args.short:
        return failures
    found = largest_difference(args.out / "set.ours.jsonl", args.out / "set.published.jsonl")
    print(f"SeT: largest difference from the published way {found:.2g}", file=sys.stderr)
    return failures + [f"SeT: {found:.2g}"] * (not found <= 1e-4)


def table(args, reports, peak, set_report):
    """The results as Markdown."""
    work_of = batched_work(reports)
    lines, speed = speed_table(reports, peak, work_of)
    goals = GOALS + [NAIVE_GOAL] * (not args.short)
    return "\n".join([head_line(args, peak), "", *lines, "",
                      *ratio_table(args.models, speed, goals, roof_speed(args.models, peak, work_of)),
                      *set_lines(set_report)])


def set_lines(set_report):
    """The table of SeT; empty where it was not measured."""
    if set_report is None:
        return []
    slow = set_report["published"]
    lines = ["", f"SeT, bert-base, processor time of one slot; the published way takes {slow:.3f} s", "",
              "| slots | dtype | ours, us | ratio |", "| --- | --- | ---: | ---: |"]
    names = {"first": "first subwords, the whole list (210,630 items)", "every": f"every subword, {SET_UNITS} units"}
    for (name, dtype), rate in ((key, rate) for key, rate in set_report.items() if key != "published"):
        lines.append(f"| {names[name]} | {dtype} | {rate * 1e6:.0f} | {slow / rate:.0f} |")
    return lines


if __name__ == "__main__":
    main()
