#!/usr/bin/env python3
"""Times ours against the peers on the same association items, in turn, in one run, and prints a Markdown table.

    python3 tests/bench/run_association.py [--rounds 3] [--models bert-base bert-large] [--peers ../shared/bench]

`--peers` is the folder of the peers' scripts. On the first call their Python environment, the random models and the
items are made under `--cache` (about 6 GB). One thread each; processor seconds count, because the machine may be
shared; the faster round counts. Loading is outside, tokenizing, batching and reading out are inside, for everybody.
Fails if our float32 numbers are further than 1e-4 nat from batched transformers, or our SeT from the published way.
"""
import argparse
import datetime
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEED = 20220710
F32, BF16 = "float32", "bfloat16"
# (label, script of the peer, dtype, extra arguments)
PEERS = [("hf_batched float32", "hf_batched.py", F32, []), ("onnxruntime float32", "ort_peer.py", F32, []),
         ("minicons float32", "minicons_peer.py", F32, []), ("hf_batched bfloat16", "hf_batched.py", BF16, [])]
UNITS = {"bert-base": 60, "bert-large": 15}
SET_CELLS = 12
GOALS = {"ours float32 / hf_batched float32": 1.35, "ours float32 / onnxruntime float32": 1.2,
         "ours bfloat16 / hf_batched bfloat16": 1.8, "ours float32 / minicons float32": 2.0,
         "ours bfloat16 / ours float32": 4.0, "ours float32 / hf_naive": 400.0}


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    python = prepare_python(args)
    prepare_inputs(args, python)
    reports, peaks = {}, []
    for number in range(args.rounds):
        peaks.append(measure_peak(args, python))
        for model in args.models:
            for label, report in one_round(args, python, model, number):
                reports.setdefault((model, label), []).append(report)
                print(f"round {number}: {model}, {label}: {report['cpu']:.3f} s", file=sys.stderr, flush=True)
    set_report = None if args.short else measure_set(args, python)
    failures = check_values(args, python)
    print(table(args, reports, peaks, set_report, failures))
    sys.exit(1 if failures else 0)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stereosweep"
    parser.add_argument("--peers", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bench/bench_association")
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--out", type=Path, default=cache / "bench" / "reports")
    parser.add_argument("--models", nargs="+", default=list(UNITS), choices=list(UNITS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=512, help="ours; the peers keep their own 512")
    parser.add_argument("--units", type=int, help="(group, template) pairs of every model, instead of %s" % UNITS)
    parser.add_argument("--short", action="store_true", help="leave out the published ways: hf_naive and SeT")
    args = parser.parse_args()
    args.peers = args.peers.resolve()
    if not (args.peers / "hf_batched.py").exists():
        sys.exit(f"{args.peers} holds no hf_batched.py (the peers' scripts are not part of this repository): use --peers")
    if not args.program.exists():
        sys.exit(f"{args.program} is missing: ninja -C build/release bench_association")
    return args


def prepare_python(args):
    """The peers' own environment, made once for their requirements."""
    requirements = args.peers / "requirements.txt"
    key = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    folder = args.cache / f"peers-{key}"
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        print(f"installing the peers into {folder} (some minutes)", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements],
                       check=True)
        (folder / ".ready").touch()
    return python


def prepare_inputs(args, python):
    """Models, items, and the part of the items that is measured."""
    folder = args.cache / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    args.model_folder, args.jobs = folder / "models", {}
    wanted = sorted({*args.models, "bert-base"})
    missing = [name for name in wanted if not (args.model_folder / name / "tokenizer.json").exists()]
    if missing:
        subprocess.run([python, args.peers / "make_models.py", args.model_folder, *missing], check=True)
    items = args.items = folder / "jobs" / "association.jsonl"
    if not items.exists():
        subprocess.run([python, args.peers / "make_jobs.py", items.parent, "--vocabulary",
                        args.model_folder / "bert-base" / "tokenizer.json"], check=True)
    sys.path.insert(0, str(args.peers))
    from bench_common import read_jsonl, take_units, write_jsonl
    every = read_jsonl(items)
    parts = {str(count): take_units(every, count, SEED) for count in {1, *UNITS.values(), *filter(None, [args.units])}}
    parts["set"] = take_units(every, 1, SEED)[:SET_CELLS]
    for name, part in parts.items():
        args.jobs[name] = folder / "jobs" / f"part.{name}.jsonl"
        write_jsonl(args.jobs[name], part)


def run(command, quiet=True):
    """Runs one measurement alone with one thread; its output is shown where it fails."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run([str(part) for part in command], capture_output=quiet, text=True,
                          env={**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false"})
    if done.returncode:
        sys.exit(f"{command[:2]} failed:\n{done.stdout}\n{done.stderr}")


def measure_peak(args, python):
    """Best matrix product rate of each dtype on one thread, GFLOP/s by processor seconds."""
    done = subprocess.run([str(python), str(ROOT / "tests/bench/matmul_peak.py")], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def ours(args, model, jobs, stem, extra):
    """One run of our program: its report with the processor seconds as "cpu"."""
    run([args.program, "--model", args.model_folder / model, "--jobs", jobs, "--batch-tokens", args.batch_tokens,
         "--report", f"{stem}.json", "--results", f"{stem}.jsonl", *extra])
    report = json.loads(Path(f"{stem}.json").read_text())
    return {**report, "cpu": report["cpu_s"]}


def peer(args, python, model, script, dtype, jobs, stem, extra, work="association"):
    """One run of a peer."""
    run([python, args.peers / script, "--work", work, "--model", args.model_folder / model, "--jobs", jobs,
         "--threads", 1, "--dtype", dtype, "--json", f"{stem}.json", "--results", f"{stem}.jsonl", *extra])
    report = json.loads(Path(f"{stem}.json").read_text())
    return {**report, "cpu": min(one["cpu_s"] for one in report["runs"])}


def one_round(args, python, model, number):
    """(label, report) of every case: ours beside each peer; the slow way once, on one unit."""
    jobs = args.jobs[str(args.units or UNITS[model])]
    stem = args.out / model
    for dtype in (F32, BF16):
        yield f"ours {dtype}", ours(args, model, jobs, f"{stem}.ours.{dtype}", ["--dtype", dtype])
        for label, script, peer_dtype, extra in PEERS:
            if peer_dtype == dtype:
                yield label, peer(args, python, model, script, dtype, jobs, f"{stem}.{label.replace(' ', '.')}", extra)
    if number == 0 and not args.short:
        yield "hf_naive", peer(args, python, model, "hf_naive.py", F32, args.jobs["1"], f"{stem}.hf_naive", [])


def measure_set(args, python):
    """Processor seconds per slot of the published way and of ours, bert-base."""
    stem = args.out / "set"
    run([python, args.peers / "set_published.py", "--model", args.model_folder / "bert-base", "--jobs", args.jobs["1"],
         "--cells", SET_CELLS, "--threads", 1, "--json", f"{stem}.published.json", "--results",
         f"{stem}.published.jsonl"])
    published = json.loads(Path(f"{stem}.published.json").read_text())
    ours(args, "bert-base", args.jobs["set"], f"{stem}.ours", ["--measure", "set"])
    rates = {}
    for name, measure, jobs in (("first", "set_first", args.items), ("every", "set", args.jobs["15"])):
        for dtype in (F32, BF16):
            report = ours(args, "bert-base", jobs, f"{stem}.{name}.{dtype}", ["--measure", measure, "--dtype", dtype])
            rates[name, dtype] = report["cpu"] / report["slots"]
            print(f"SeT {name} subword, {dtype}: {rates[name, dtype] * 1e6:.0f} us a slot", file=sys.stderr, flush=True)
    return {"published": published["cpu_s_per_slot"], **rates}


def values_of(path):
    """{id: list of numbers} of a results file."""
    rows = (json.loads(line) for line in Path(path).read_text().splitlines())
    return {row["id"]: row["value"] if isinstance(row["value"], list) else [row["value"]] for row in rows}


def largest_difference(first, second):
    """Over all items and numbers; both must hold the same items."""
    a, b = values_of(first), values_of(second)
    assert a.keys() == b.keys() and a, (first, second)
    return max(abs(x - y) for key in a for x, y in zip(a[key], b[key]))


def check_values(args, python):
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


def table(args, reports, peaks, set_report, failures):
    """The results as Markdown."""
    peak = {dtype: max(one[dtype] for one in peaks) for dtype in (F32, BF16)}
    lines = [f"{datetime.date.today()}, {cpu_name()}, one thread, {args.rounds} rounds (the faster counts), "
             f"peak {peak[F32]:.0f} / {peak[BF16]:.0f} GFLOP/s (float32 / bfloat16)", "",
             "| model | who | items | processor s | items/s | distinct tokens/s | share of peak |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    speed = {}
    for (model, label), runs in reports.items():
        work = reports[model, "hf_batched float32"][0]["distinct"]
        items, seconds = runs[0]["items"], min(one["cpu"] for one in runs)
        speed[model, label] = items / seconds
        share = items / reports[model, "hf_batched float32"][0]["items"]
        lines.append(f"| {model} | {label} | {items} | {seconds:.3f} | {items / seconds:.1f} | "
                     f"{work['tokens'] * share / seconds:.0f} | "
                     f"{work['flops'] * share / seconds / 1e9 / peak[BF16 if BF16 in label else F32]:.1%} |")
    lines += ["", "| ratio of items/s | goal | " + " | ".join(args.models) + " |",
              "| --- | ---: |" + " ---: |" * len(args.models)]
    for name, goal in GOALS.items():
        first, second = name.split(" / ")
        if (args.models[0], second) not in speed:
            continue
        lines.append(f"| {name} | {goal:g} | " + " | ".join(
            f"{speed[model, first] / speed[model, second]:.2f}" for model in args.models) + " |")
    return "\n".join(lines + set_lines(set_report) + [f"VALUES TOO FAR: {', '.join(failures)}"] * bool(failures))


def set_lines(set_report):
    """The table of SeT; empty where it was not measured."""
    if set_report is None:
        return []
    slow = set_report["published"]
    lines = ["", f"SeT, bert-base, processor time of one slot; the published way takes {slow:.3f} s", "",
              "| slots | dtype | ours, us | ratio |", "| --- | --- | ---: | ---: |"]
    names = {"first": "first subwords, the whole list (210,630 items)", "every": "every subword, 15 units"}
    for (name, dtype), rate in ((key, rate) for key, rate in set_report.items() if key != "published"):
        lines.append(f"| {names[name]} | {dtype} | {rate * 1e6:.0f} | {slow / rate:.0f} |")
    return lines


def cpu_name():
    """The processor's model name and what it can do with bfloat16."""
    text = Path("/proc/cpuinfo").read_text()
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    return name + (", amx_bf16" if "amx_bf16" in text else "")


if __name__ == "__main__":
    main()
