#!/usr/bin/env python3
"""Times ours against the peers on the same continuation items, in turn, in one run, and prints a Markdown table.

    python3 tests/bench/run_continuation.py [--rounds 2] [--models gpt2-small llama-160m] [--peers ../shared/bench]

As run_association.py, whose environment, models and cache it uses. `--units` sentences of 80 items each are measured
(and a share of the peers that compute every prompt alone: `--few-units`, since nothing is shared between their units).
Fails if our float32 numbers are further than 1e-4 nat a token from batched transformers.
"""
import argparse
import datetime
import os
import subprocess
import sys
from pathlib import Path

from run_association import (BF16, F32, ROOT, SEED, cpu_name, largest_difference, measure_peak, ours, peer,
                             prepare_python)

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
GOALS = [("best peer float32", F32, 2.8), ("best peer bfloat16", BF16, 4.0), ("ctranslate2 float32", F32, 10.0),
         ("lm_eval float32", F32, 10.0), ("minicons float32", F32, 15.0)]
TOKENS_PER_ITEM = 8          # of a continuation, at most: the bound on the sum of an item


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    python = prepare_python(args)
    prepare_inputs(args, python)
    reports, peaks = {}, []
    for number in range(args.rounds):
        peaks.append(measure_peak(args, python))
        for model in args.models:
            for label, report in one_round(args, python, model):
                reports.setdefault((model, label), []).append(report)
                print(f"round {number}: {model}, {label}: {report['items']} items, {report['cpu']:.3f} s",
                      file=sys.stderr, flush=True)
    failures = check_values(args)
    print(table(args, reports, peaks))
    print("\n".join(f"VALUES TOO FAR: {failure}" for failure in failures))
    sys.exit(1 if failures else 0)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stereosweep"
    parser.add_argument("--peers", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bench/bench_continuation")
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--out", type=Path, default=cache / "bench" / "reports")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=1024, help="ours; the peers keep their own 512")
    parser.add_argument("--units", type=int, default=5, help="sentences")
    parser.add_argument("--few-units", type=int, default=1, help="sentences for peers that share no work")
    parser.add_argument("--only", nargs="+", help="beginnings of the peers' labels; ours always runs")
    args = parser.parse_args()
    args.peers = args.peers.resolve()
    if not (args.peers / "hf_prefix_cached.py").exists():
        sys.exit(f"{args.peers} holds no hf_prefix_cached.py (the peers' scripts are not part of this repository): "
                 "use --peers")
    if not args.program.exists():
        sys.exit(f"{args.program} is missing: ninja -C build/release bench_continuation")
    return args


def prepare_inputs(args, python):
    """Models, items, and the parts of the items that are measured."""
    folder = args.cache / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    args.model_folder, args.jobs = folder / "models", {}
    missing = [name for name in [*args.models, "bert-base"] if not (args.model_folder / name / "tokenizer.json").exists()]
    if missing:
        subprocess.run([python, args.peers / "make_models.py", args.model_folder, *missing], check=True)
    items = folder / "jobs" / "continuation.jsonl"
    if not items.exists():
        subprocess.run([python, args.peers / "make_jobs.py", items.parent, "--vocabulary",
                        args.model_folder / "bert-base" / "tokenizer.json"], check=True)
    sys.path.insert(0, str(args.peers))
    from bench_common import read_jsonl, take_units, write_jsonl
    every = read_jsonl(items)
    for count in (args.units, args.few_units):
        args.jobs[count] = folder / "jobs" / f"continuation.{count}.jsonl"
        write_jsonl(args.jobs[count], take_units(every, count, SEED))


def one_round(args, python, model):
    """(label, report) of every case: ours beside the peers of each dtype."""
    stem = args.out / f"{model}.continuation"
    for dtype in (F32, BF16):
        yield f"ours {dtype}", ours(args, model, args.jobs[args.units], f"{stem}.ours.{dtype}", ["--dtype", dtype])
        for label, script, peer_dtype, extra, shares in PEERS:
            wanted = not args.only or any(label.startswith(beginning) for beginning in args.only)
            if peer_dtype == dtype and wanted and ("--fast-gelu" not in extra or model == "gpt2-small"):
                jobs = args.jobs[args.units if shares else args.few_units]
                yield label, peer(args, python, model, script, dtype, jobs, f"{stem}.{label.replace(' ', '.')}", extra,
                                  work="continuation")


def check_values(args):
    """Prints how far ours are from the peers'; the list of what is too far."""
    failures = []
    for model in args.models:
        stem = args.out / f"{model}.continuation"
        base = Path(f"{stem}.hf_batched.float32.jsonl")
        for dtype, limit in ((F32, 1e-4 * TOKENS_PER_ITEM), (BF16, 0.5 * TOKENS_PER_ITEM)):
            if not base.exists():
                print(f"{base} is missing: nothing to compare with", file=sys.stderr)
                return [f"{model}: no values of hf_batched"]
            found = largest_difference(f"{stem}.ours.{dtype}.jsonl", base)
            print(f"{model}, ours {dtype}: largest difference from hf_batched float32 {found:.2g} nat", file=sys.stderr)
            failures += [f"{model} {dtype}: {found:.2g} nat"] * (not found <= limit)
    return failures


def table(args, reports, peaks):
    """The results as Markdown."""
    peak = {dtype: max(one[dtype] for one in peaks) for dtype in (F32, BF16)}
    lines = [f"{datetime.date.today()}, {cpu_name()}, one thread, {args.rounds} rounds (the faster counts), "
             f"peak {peak[F32]:.0f} / {peak[BF16]:.0f} GFLOP/s (float32 / bfloat16), ours {args.batch_tokens} tokens a batch",
             "", "| model | who | items | processor s | items/s | distinct tokens/s | share of peak |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    speed = {}
    for (model, label), runs in reports.items():
        whole = next(one[0] for (name, _), one in reports.items() if name == model and "distinct" in one[0]
                     and one[0]["items"] == reports[model, f"ours {F32}"][0]["items"])
        items, seconds = runs[0]["items"], min(one["cpu"] for one in runs)
        speed[model, label] = items / seconds
        share = items / whole["items"]
        lines.append(f"| {model} | {label} | {items} | {seconds:.3f} | {items / seconds:.1f} | "
                     f"{whole['distinct']['tokens'] * share / seconds:.0f} | "
                     f"{whole['distinct']['flops'] * share / seconds / 1e9 / peak[BF16 if BF16 in label else F32]:.1%} |")
    lines += ["", "| ratio of items/s | goal | " + " | ".join(args.models) + " |",
              "| --- | ---: |" + " ---: |" * len(args.models)]
    for name, dtype, goal in GOALS:
        cells = []
        for model in args.models:
            against = [rate for (one, label), rate in speed.items() if one == model and not label.startswith("ours")
                       and (label == name or (name.startswith("best") and label.endswith(dtype)))]
            cells.append(f"{speed[model, f'ours {dtype}'] / max(against):.2f}" if against else "-")
        lines.append(f"| ours {dtype} / {name} | {goal:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
