#!/usr/bin/env python3
"""Times sampled texts: ours against transformers' generate (batched, cached) and CTranslate2's generate_batch.

    python3 tests/bench/run_generation.py [--rounds 1] [--models gpt2-small llama-160m] [--new-tokens 128]
    python3 tests/bench/run_generation.py --prompt-words 240 --ours-alone
    python3 tests/bench/run_generation.py --calls 2 --ours-alone --threads 2

Environment, models and cache: peers.py. 64 prompts of the same words in different orders, plain sampling at
temperature 1; and the same prompt 64 times. A peer that a dtype does not run on here is left out. The share of the
bound is of the distinct work, prompts included (ours runs a shared beginning once): matrix products at their peak, or
reading the weights once a step, whichever takes longer. `--calls`: calls in a process, of which the fastest counts: in
the first one the system gives pages of memory, which a job pays once. With more `--threads` (ours alone) the clock
counts instead of processor seconds, and the products' peak is multiplied by their number: nothing else may run then. In
brackets the ratio of the bound instead of ours (of both bounds where both are ours): a goal above it asks for more than
the measured peak.
"""
import json
import random
import subprocess
import sys

from peers import BF16, F32, ROOT, SEED, attempt, head_line, measure_rounds, parser_of, prepare, run

MODELS = ["gpt2-small", "llama-160m"]
WORDS = ("the nurse said that old doctor who lived by river was never and people often told a teacher about work because "
         "many had seen it before while others").split()
TEXTS = 64
GOALS = [("transformers float32", 2.0), ("ctranslate2 float32", 1.0), ("transformers bfloat16", 2.0),
         ("ctranslate2 bfloat16", 1.0)]


def main():
    args = arguments()
    python = prepare(args, ["make_models.py", "requirements.txt"])
    missing = [name for name in args.models if not (args.model_folder / name / "tokenizer.json").exists()]
    if missing:
        subprocess.run([python, args.peers / "make_models.py", args.model_folder, *missing], check=True)
    args.jobs = {name: write_jobs(args, name) for name in ("different", "same")}
    reports, peak = measure_rounds(args, python, lambda model, number: one_round(args, python, model))
    run([python, ROOT / "tests/bench/generation_peer.py", "--who", "machine", "--report", args.out / "machine.json"])
    bandwidth = json.loads((args.out / "machine.json").read_text())["read_gb_per_s"]
    print(table(args, reports, peak, bandwidth))


def arguments():
    """The command line."""
    parser = parser_of(__doc__, "bench_generation", MODELS, MODELS, rounds=1, batch_tokens=1024)
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--prompt-words", type=int, default=len(WORDS))
    parser.add_argument("--ours-alone", action="store_true", help="one prompt many times against many prompts only")
    parser.add_argument("--dtypes", nargs="+", default=[F32, BF16], choices=[F32, BF16])
    parser.add_argument("--calls", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.threads > 1 and not args.ours_alone:
        parser.error("--threads needs --ours-alone (the peers are timed on one thread)")
    return args


def write_jobs(args, name):
    """Path of 64 items with prompts of equal length."""
    rng = random.Random(SEED)
    path = args.cache / "bench" / "jobs" / f"generation.{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    prompts = [" ".join(words_of(rng, args.prompt_words)) for _ in range(TEXTS)]
    path.write_text("".join(json.dumps({"id": i, "prompt": prompts[i if name == "different" else 0], "temperature": 1.0,
                                        "seed": i}) + "\n" for i in range(TEXTS)))
    return path


def words_of(rng, count):
    """The words in one order after another."""
    words = []
    while len(words) < count:
        words += rng.sample(WORDS, len(WORDS))
    return words[:count]


def one_round(args, python, model):
    """(label, report) of every case; None where a peer does not run."""
    for dtype in args.dtypes:
        for name in ("different", "same"):
            path = args.out / f"{model}.generation.{name}.{dtype}.json"
            run([args.program, "--model", args.model_folder / model, "--jobs", args.jobs[name], "--batch-tokens",
                 args.batch_tokens, "--new-tokens", args.new_tokens, "--dtype", dtype, "--report", path,
                 "--repeat", args.calls, "--threads", args.threads])
            report = json.loads(path.read_text())
            yield f"ours {name} {dtype}", report | {"cpu": report["cpu_s"] if args.threads == 1 else report["wall_s"]}
        for who in () if args.ours_alone else ("transformers", "ctranslate2"):
            path = args.out / f"{model}.generation.{who}.{dtype}.json"
            failure = attempt([python, ROOT / "tests/bench/generation_peer.py", "--who", who, "--model",
                               args.model_folder / model, "--jobs", args.jobs["different"], "--dtype", dtype,
                               "--new-tokens", args.new_tokens, "--calls", args.calls, "--report", path])
            if failure:
                print(failure.strip().splitlines()[-1], file=sys.stderr)
            report = None if failure else json.loads(path.read_text())
            yield f"{who} {dtype}", report and report | {"cpu": report["cpu_s"]}


def table(args, reports, peak, bandwidth):
    """The results as Markdown."""
    speed = {key: max(one["new_tokens"] / one["cpu"] for one in runs) for key, runs in reports.items()}
    bound = {key: bound_of(args, reports, key, peak, bandwidth) for key in reports}
    calls = f", the fastest of {args.calls} calls" if args.calls > 1 else ""
    threads = f", ours on {args.threads} threads by the clock" if args.threads > 1 else ""
    lines = [head_line(args, peak) + f", memory read {bandwidth:.1f} GB/s, prompts of {args.prompt_words} words{calls}"
             f"{threads}", "",
             "| model | who | new tokens | processor s | tokens/s | share of the bound |",
             "| --- | --- | ---: | ---: | ---: | ---: |"]
    for (model, label), runs in reports.items():
        lines.append(f"| {model} | {label} | {runs[0]['new_tokens']} | {min(one['cpu'] for one in runs):.2f} | "
                     f"{speed[model, label]:.0f} | {speed[model, label] / bound[model, label]:.0%} |")
    lines += ["", "| ratio of tokens/s (at the bound) | goal | " + " | ".join(args.models) + " |",
              "| --- | ---: |" + " ---: |" * len(args.models)]
    for label, goal in GOALS:
        if label.split()[-1] in args.dtypes and not args.ours_alone:
            lines.append(ratio_line(args, speed, bound, f"ours different {label.split()[-1]}", label, goal))
    lines += [ratio_line(args, speed, bound, f"ours same {dtype}", f"ours different {dtype}", 1.5)
              for dtype in args.dtypes]
    return "\n".join(lines)


def bound_of(args, reports, key, peak, bandwidth):
    """Tokens/s of a program that does the distinct work of these prompts at the machine's rates."""
    model, label = key
    dtype = BF16 if BF16 in label else F32
    sizes = weights_of(args.model_folder / model)
    work = reports[model, f"ours {'same' if ' same ' in label else 'different'} {dtype}"][0]
    products = 2 * (work["distinct_tokens"] * sizes["body"] + work["head_rows"] * sizes["head"]) / (args.threads * peak[dtype] * 1e9)
    reading = args.new_tokens * sum(sizes.values()) * (2 if dtype == BF16 else 4) / (bandwidth * 1e9)
    return work["new_tokens"] / max(products, reading)


def weights_of(folder):
    """Numbers in the matrices that every token and every row of logits is multiplied with."""
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] == "gpt2":
        layers, width = config["n_layer"], config["n_embd"]
        layer = 12 * width * width
    else:
        layers, width = config["num_hidden_layers"], config["hidden_size"]
        keys = width * config["num_key_value_heads"] // config["num_attention_heads"]
        layer = 2 * width * width + 2 * width * keys + 3 * width * config["intermediate_size"]
    return {"body": layers * layer, "head": config["vocab_size"] * width}


def ratio_line(args, speed, bound, first, second, goal):
    """One line of ratios."""
    base = bound if second.startswith("ours") else speed
    cells = [f"{speed[model, first] / speed[model, second]:.2f} ({bound[model, first] / base[model, second]:.2f})"
             if (model, second) in speed else "not run" for model in args.models]
    return f"| {first} / {second} | {goal:g} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
