"""The frame of the scripts that time ours against the peers on the same items: environment, inputs, runs, tables.

`--peers` is the folder of the peers' scripts, which are not part of this repository. On the first call their Python
environment, the random models and the items are made under `--cache` (about 6 GB). One thread each; processor seconds
count, because the machine may be shared. Loading is outside, tokenizing, batching and reading out are inside, for
everybody.
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


def parser_of(description, program, models, default_models, rounds, batch_tokens):
    """The options that every script has; `program`: ours, under build/release/bench."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stereosweep"
    parser.add_argument("--peers", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bench" / program)
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--out", type=Path, default=cache / "bench" / "reports")
    parser.add_argument("--models", nargs="+", default=default_models, choices=models)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--batch-tokens", type=int, default=batch_tokens, help="ours; the peers keep their own 512")
    return parser


def prepare(args, scripts):
    """Checks what the measurement needs and makes the folder of results; returns the peers' Python."""
    args.peers = args.peers.resolve()
    for script in sorted(set(scripts)):
        if not (args.peers / script).exists():
            sys.exit(f"{args.peers} holds no {script} (the peers' scripts are not part of this repository): use --peers")
    if not args.program.exists():
        sys.exit(f"{args.program} is missing: ninja -C build/release {args.program.name}")
    args.out.mkdir(parents=True, exist_ok=True)
    args.model_folder = args.cache / "bench" / "models"
    return prepare_python(args)


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


def items_of(args, python, work):
    """Path of all items of a kind of work; makes the models, too."""
    items = args.cache / "bench" / "jobs" / f"{work}.jsonl"
    items.parent.mkdir(parents=True, exist_ok=True)
    missing = [name for name in sorted({*args.models, "bert-base"})
               if not (args.model_folder / name / "tokenizer.json").exists()]
    if missing:
        subprocess.run([python, args.peers / "make_models.py", args.model_folder, *missing], check=True)
    if not items.exists():
        subprocess.run([python, args.peers / "make_jobs.py", items.parent, "--vocabulary",
                        args.model_folder / "bert-base" / "tokenizer.json"], check=True)
    return items


def take_parts(args, items, counts, prefix):
    """{units: path of a file with the items of that many units, 0: of all}."""
    sys.path.insert(0, str(args.peers))
    from bench_common import read_jsonl, take_units, write_jsonl
    every, paths = read_jsonl(items), {}
    for count in counts:
        paths[count] = items.parent / f"{prefix}.{count}.jsonl"
        write_jsonl(paths[count], take_units(every, count, SEED))
    return paths


def attempt(command):
    """Runs one measurement alone with one thread: what it printed where it failed, else None."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env={**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false"})
    return f"{command[:2]} failed:\n{done.stdout}\n{done.stderr}" if done.returncode else None


def run(command):
    """As attempt(); ends the script where the measurement fails."""
    failure = attempt(command)
    if failure:
        sys.exit(failure)


def read_report(path):
    """A report, with the processor seconds of its fastest run as "cpu"."""
    report = json.loads(Path(path).read_text())
    return {**report, "cpu": report["cpu_s"] if "cpu_s" in report else min(one["cpu_s"] for one in report["runs"])}


def ours(args, model, jobs, stem, extra):
    """One run of our program."""
    run([args.program, "--model", args.model_folder / model, "--jobs", jobs, "--batch-tokens", args.batch_tokens,
         "--report", f"{stem}.json", "--results", f"{stem}.jsonl", *extra])
    return read_report(f"{stem}.json")


def peer_command(args, python, model, script, dtype, jobs, stem, extra, work):
    """The command line of one run of a peer."""
    return [python, args.peers / script, "--work", work, "--model", args.model_folder / model, "--jobs", jobs,
            "--threads", 1, "--dtype", dtype, "--json", f"{stem}.json", "--results", f"{stem}.jsonl", *extra]


def peer(args, python, model, script, dtype, jobs, stem, extra, work):
    """One run of a peer, which must succeed."""
    run(peer_command(args, python, model, script, dtype, jobs, stem, extra, work))
    return read_report(f"{stem}.json")


def measure_rounds(args, python, one_round):
    """({(model, label): reports}, {dtype: peak}) of all rounds; `one_round(model, number)` yields (label, report)."""
    reports, peaks = {}, []
    for number in range(args.rounds):
        peaks.append(measure_peak(python))
        for model in args.models:
            for label, report in one_round(model, number):
                reports.setdefault((model, label), []).append(report)
                print(f"round {number}: {model}, {label}: {report['items']} items, {report['cpu']:.3f} s" if report else
                      f"round {number}: {model}, {label} does not run here", file=sys.stderr, flush=True)
    return ({key: runs for key, runs in reports.items() if None not in runs},
            {dtype: max(one[dtype] for one in peaks) for dtype in (F32, BF16)})


def measure_peak(python):
    """Best matrix product rate of each dtype on one thread, GFLOP/s by processor seconds."""
    done = subprocess.run([str(python), str(ROOT / "tests/bench/matmul_peak.py")], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def values_of(path):
    """{id: list of numbers} of a results file."""
    rows = (json.loads(line) for line in Path(path).read_text().splitlines())
    return {row["id"]: row["value"] if isinstance(row["value"], list) else [row["value"]] for row in rows}


def paired_values(first, second):
    """Pairs of lists of numbers of the same item; both files must hold the same items."""
    a, b = values_of(first), values_of(second)
    assert a.keys() == b.keys() and a, (first, second)
    return [(a[key], b[key]) for key in a]


def largest_difference(first, second):
    """Over all items and numbers."""
    return max(abs(x - y) for ours_values, theirs in paired_values(first, second)
               for x, y in zip(ours_values, theirs))


def head_line(args, peak):
    """When, where and how it was measured."""
    return (f"{datetime.date.today()}, {cpu_name()}, one thread, {args.rounds} rounds (the faster counts), "
            f"peak {peak[F32]:.0f} / {peak[BF16]:.0f} GFLOP/s (float32 / bfloat16), ours {args.batch_tokens} tokens a batch")


def speed_table(reports, peak, work_of, more=()):
    """(Markdown lines, {(model, label): items/s}). `work_of(model)`: the report whose "distinct" work counts;
    `more`: [(column, cell(model, label, runs))]."""
    columns = ["model", "who", "items", "processor s", "items/s", "distinct tokens/s", "share of peak",
               *(name for name, _ in more)]
    lines = ["| " + " | ".join(columns) + " |", "| --- | --- |" + " ---: |" * (len(columns) - 2)]
    speed = {}
    for (model, label), runs in reports.items():
        whole = work_of(model)
        items, seconds = runs[0]["items"], min(one["cpu"] for one in runs)
        rate = items / whole["items"] / seconds
        speed[model, label] = items / seconds
        cells = [model, label, f"{items}", f"{seconds:.3f}", f"{items / seconds:.1f}",
                 f"{whole['distinct']['tokens'] * rate:.0f}",
                 f"{whole['distinct']['flops'] * rate / 1e9 / peak[BF16 if BF16 in label else F32]:.1%}",
                 *(cell(model, label, runs) for _, cell in more)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines, speed


def batched_work(reports):
    """`work_of` of the tables below: the work that batched transformers counted."""
    return lambda model: reports[model, f"hf_batched {F32}"][0]


def roof_speed(models, peak, work_of):
    """{(model, dtype): items/s of a program that does the distinct work of `work_of(model)` at the measured peak}."""
    return {(model, dtype): work_of(model)["items"] * peak[dtype] * 1e9 / work_of(model)["distinct"]["flops"]
            for model in models for dtype in (F32, BF16)}


def ratio_table(models, speed, goals, roof):
    """Markdown lines of `goals`: [(ours, others, goal)], others: label of a peer, or "best peer DTYPE". In brackets the
    ratio that `roof` would have: a goal above it asks for more than the measured peak."""
    lines = ["| ratio of items/s (at the peak) | goal | " + " | ".join(models) + " |",
             "| --- | ---: |" + " ---: |" * len(models)]
    for first, second, goal in goals:
        cells = []
        for model in models:
            rivals = [rate for (name, label), rate in speed.items() if name == model and
                      (label == second or (second.startswith("best peer") and not label.startswith("ours")
                                           and label.endswith(second.split()[-1])))]
            at_peak = roof[model, BF16 if BF16 in first else F32]
            cells.append(f"{speed[model, first] / max(rivals):.2f} ({at_peak / max(rivals):.2f})" if rivals else
                         "not run")
        lines.append(f"| {first} / {second} | {goal:g} | " + " | ".join(cells) + " |")
    return lines


def cpu_name():
    """The processor's model name and what it can do with bfloat16."""
    text = Path("/proc/cpuinfo").read_text()
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    return name + (", amx_bf16" if "amx_bf16" in text else "")
