#!/usr/bin/env python3
"""Times ours against the peers on the same embedding items, in turn, in one run, and prints Markdown tables.

    python3 tests/bench/run_embedding.py [--rounds 2] [--models minilm bert-base] [--peers ../shared/bench]

As run_association.py, whose environment, models and cache it uses: one thread, processor seconds, the faster round
counts. `--units N` words (of about 13 sentences each) are measured. Peers that do not run here are named in the output.
Fails if a vector of ours in float32 is further than 1e-5 of its length from that of batched transformers, or one in
bfloat16 further than twice as far as the worst of transformers' own bfloat16.
"""
import argparse
import datetime
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from run_association import BF16, F32, ROOT, SEED, cpu_name, measure_peak, prepare_python

# (label, script of the peer, dtype)
PEERS = [("hf_batched float32", "hf_batched.py", F32), ("onnxruntime float32", "ort_peer.py", F32),
         ("ctranslate2 float32", "ct2_peer.py", F32), ("hf_batched bfloat16", "hf_batched.py", BF16),
         ("ctranslate2 bfloat16", "ct2_peer.py", BF16)]
UNITS = {"minilm": 0, "bert-base": 10, "bert-large": 5}      # 0: all
BOUND = 1e-5
GOALS = [(F32, "hf_batched float32", 1.3), (F32, "best peer", 1.1), (BF16, "hf_batched bfloat16", 1.8)]


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
                print(f"round {number}: {model}, {label}: {report['cpu']:.3f} s" if report else
                      f"round {number}: {model}, {label} does not run here", file=sys.stderr, flush=True)
    reports = {key: runs for key, runs in reports.items() if None not in runs}
    differences, failures = compare_vectors(args, reports)
    print(table(args, reports, peaks, differences))
    print("\n".join(f"VECTORS TOO FAR: {failure}" for failure in failures))
    sys.exit(1 if failures else 0)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stereosweep"
    parser.add_argument("--peers", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bench/bench_embedding")
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--out", type=Path, default=cache / "bench" / "reports")
    parser.add_argument("--models", nargs="+", default=["minilm", "bert-base"], choices=list(UNITS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--units", type=int, help=f"words of every model (0: all), instead of {UNITS}")
    parser.add_argument("--batch-tokens", type=int, default=1024, help="ours; the peers keep their own 512")
    parser.add_argument("--only", nargs="+", help="beginnings of the peers' labels; ours always runs")
    args = parser.parse_args()
    args.peers = args.peers.resolve()
    if not (args.peers / "ct2_peer.py").exists():
        sys.exit(f"{args.peers} holds no ct2_peer.py (the peers' scripts are not part of this repository): use --peers")
    if not args.program.exists():
        sys.exit(f"{args.program} is missing: ninja -C build/release bench_embedding")
    return args


def prepare_inputs(args, python):
    """Models, items, and the parts of the items that are measured."""
    folder = args.cache / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    args.model_folder, args.jobs = folder / "models", {}
    missing = [name for name in [*args.models, "bert-base"] if not (args.model_folder / name / "tokenizer.json").exists()]
    if missing:
        subprocess.run([python, args.peers / "make_models.py", args.model_folder, *missing], check=True)
    items = folder / "jobs" / "embedding.jsonl"
    if not items.exists():
        subprocess.run([python, args.peers / "make_jobs.py", items.parent, "--vocabulary",
                        args.model_folder / "bert-base" / "tokenizer.json"], check=True)
    sys.path.insert(0, str(args.peers))
    from bench_common import read_jsonl, take_units, write_jsonl
    every = read_jsonl(items)
    for model in args.models:
        count = UNITS[model] if args.units is None else args.units
        args.jobs[model] = folder / "jobs" / f"embedding.{count}.jsonl"
        write_jsonl(args.jobs[model], take_units(every, count, SEED))


def run(command):
    """One measurement with one thread: what it printed where it fails, else None."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false"})
    return f"{command[:2]} failed:\n{done.stdout}\n{done.stderr}" if done.returncode else None


def stem_of(args, model, label):
    """Beginning of the names of a case's two files."""
    return args.out / f"{model}.embedding.{label.replace(' ', '.')}"


def measured(args, model, label, command):
    """The report of one run, processor seconds as "cpu"; the output where it failed."""
    stem = stem_of(args, model, label)
    report, results = Path(f"{stem}.json"), Path(f"{stem}.jsonl")
    failure = run([*command, "--results", results, "--report" if label.startswith("ours") else "--json", report])
    if failure:
        return None, failure
    found = json.loads(report.read_text())
    return {**found, "cpu": found["cpu_s"] if "cpu_s" in found else min(one["cpu_s"] for one in found["runs"])}, None


def one_round(args, python, model):
    """(label, report) of every case: ours beside the peers of each dtype; None for a peer that cannot run here."""
    where = ["--model", args.model_folder / model, "--jobs", args.jobs[model]]
    for dtype in (F32, BF16):
        report, failure = measured(args, model, f"ours {dtype}",
                                   [args.program, *where, "--batch-tokens", args.batch_tokens, "--dtype", dtype])
        if failure:
            sys.exit(failure)
        yield f"ours {dtype}", report
        for label, script, peer_dtype in PEERS:
            if peer_dtype == dtype and (not args.only or label.startswith(tuple(args.only))):
                report, failure = measured(args, model, label,
                                           [python, args.peers / script, "--work", "embedding", *where, "--threads", 1,
                                            "--dtype", dtype])
                if failure and label.startswith("hf_batched"):
                    sys.exit(failure)
                yield label, report


def vectors(args, model, label):
    """{id: vector} of a case."""
    lines = Path(f"{stem_of(args, model, label)}.jsonl").read_text().splitlines()
    return {row["id"]: row["value"] for row in map(json.loads, lines)}


def largest_distance(found, truth):
    """Over the vectors' lengths; both must hold the same items."""
    assert found.keys() == truth.keys() and truth
    return max(math.dist(found[name], truth[name]) / math.hypot(*truth[name]) for name in truth)


def compare_vectors(args, reports):
    """{(model, label): largest distance over the vector's length, from batched transformers in float32}, failures."""
    found = {}
    for model, label in reports:
        found[model, label] = largest_distance(vectors(args, model, label), vectors(args, model, "hf_batched float32"))
    bounds = {F32: lambda model: BOUND, BF16: lambda model: 2 * found[model, "hf_batched bfloat16"]}
    return found, [f"{model}, {dtype}: {found[model, f'ours {dtype}']:.2g}" for model in args.models for dtype in bounds
                   if not found[model, f"ours {dtype}"] <= bounds[dtype](model)]


def table(args, reports, peaks, differences):
    """The results as Markdown."""
    peak = {dtype: max(one[dtype] for one in peaks) for dtype in (F32, BF16)}
    lines = [f"{datetime.date.today()}, {cpu_name()}, one thread, {args.rounds} rounds (the faster counts), "
             f"{args.batch_tokens} tokens a batch, peak {peak[F32]:.0f} / {peak[BF16]:.0f} GFLOP/s (float32 / bfloat16)", "",
             "| model | who | items | processor s | items/s | distinct tokens/s | share of peak | difference | memory, MiB |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    speed = {}
    for (model, label), runs in reports.items():
        work = reports[model, "hf_batched float32"][0]["distinct"]
        items, seconds = runs[0]["items"], min(one["cpu"] for one in runs)
        speed[model, label] = items / seconds
        memory = max(one.get("memory_mib") or one["rss_mib"] for one in runs)
        lines.append(f"| {model} | {label} | {items} | {seconds:.3f} | {items / seconds:.1f} | {work['tokens'] / seconds:.0f} "
                     f"| {work['flops'] / seconds / 1e9 / peak[BF16 if BF16 in label else F32]:.1%} | "
                     f"{differences[model, label]:.2g} | {memory:.0f} |")
    lines += ["", "| ratio of items/s | goal | " + " | ".join(args.models) + " |",
              "| --- | ---: |" + " ---: |" * len(args.models)]
    for dtype, other, goal in GOALS:
        ratios = []
        for model in args.models:
            rivals = [rate for (name, label), rate in speed.items() if name == model and not label.startswith("ours")
                      and (label == other or (other == "best peer" and dtype in label))]
            ratios.append(f"{speed[model, f'ours {dtype}'] / max(rivals):.2f}" if rivals else "not run")
        lines.append(f"| ours {dtype} / {other} | {goal:g} | " + " | ".join(ratios) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
