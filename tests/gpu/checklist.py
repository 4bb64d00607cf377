"""The checklist for a machine with a GPU, from an unpacked bundle (env/bundle.sh): right, fast, where the time goes, limits.

    python3 tests/gpu/checklist.py --bundle DIR --out DIR [--parts right fast limits] [--limit SECONDS]
    python3 tests/gpu/checklist.py --bundle DIR --out DIR --device cpu --small       # the same steps here, on tiny shapes

Steps come in the order of their weight, each with a time limit of its own; when --limit is used up the rest is named as
left out. After each step OUT/checklist.md (a table) and OUT/checklist.log (all outputs) hold what is known. Exit 1 if a
step failed.
"""
import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import work

ROOT = work.ROOT
# Jobs on bundled models, masked and causal, and what makes them short.
JOBS = {"10_planted.yaml": [],
        "50_ratings.yaml": ["axes.rating_questions={file: scm_questions, only: [society_view, survey, folks]}",
                            "axes.rated_traits={file: scm_traits, only: [fair, able]}", "execution.contexts_per_block=5"]}


REPEATS = 3  # the fastest counts, of theirs, too
# As a run asks: the next block is planned, and the last one read, while one is computed.
CALLS = {"association": 8, "continuation": 4, "embedding": 8, "generation": 1}
# Where near ties of experts fall to the other side in 16 bits, numbers are far apart; float32 is compared by the families.
MIXTURES = ["mixtral-small"]


class Failed(Exception):
    """A step did not do what it must."""


class Checklist:
    """Runs steps, keeps their lines."""

    def __init__(self, args):
        self.args, self.lines, self.end = args, [], time.monotonic() + args.limit
        self.scratch = args.scratch
        args.out.mkdir(parents=True, exist_ok=True)
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.log_file = open(args.out / "checklist.log", "a", buffering=1)
        self.environment = {**os.environ, "TOKENIZERS_PARALLELISM": "true", "HF_HUB_OFFLINE": "1",
                            "STEREOSWEEP_PYTHON": sys.executable, "STEREOSWEEP_TORCH": site(), "STEREOSWEEP_SHARE_GPU": "1",
                            "PATH": f"{args.bundle / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}"}
        self.deadline = self.end
        self.peaks = {"float32": float("nan"), "bfloat16": float("nan")}  # until they are measured

    def log(self, text):
        self.log_file.write(text.rstrip() + "\n")

    def run(self, *command, check=True, environment=None, stdin=None, cwd=ROOT):
        """(exit status, output) of a command; the step's time limit holds."""
        command = [str(part) for part in command]
        self.log("$ " + " ".join(command))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
                                   stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                                   env={**self.environment, **(environment or {})}, start_new_session=True)
        try:
            out, _ = process.communicate(stdin, timeout=max(1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            self.log(out)
            raise Failed("out of time") from None
        self.log(out)
        if check and process.returncode:
            raise Failed(f"exit {process.returncode}: " + " ".join(out.strip().splitlines()[-2:])[-300:])
        return process.returncode, out

    def step(self, name, limit, function):
        """One line of the table."""
        left = self.end - time.monotonic()
        if left < 5:
            return self.note(name, "left out", "no time left", 0)
        self.deadline = time.monotonic() + min(limit, left)
        self.log(f"\n===== {name}")
        start = time.monotonic()
        try:
            verdict, text = "ok", function() or ""
        except Failed as failure:
            verdict, text = "FAILED", str(failure)
        except Exception as error:  # noqa: BLE001  one broken step must not end the list
            verdict, text = "FAILED", f"{type(error).__name__}: {error}"
        self.note(name, verdict, text, time.monotonic() - start)

    def note(self, name, verdict, text, seconds):
        self.lines.append((name, verdict, text.replace("\n", " "), seconds))
        print(f"{verdict:8} {seconds:6.1f} s  {name}: {text}", flush=True)
        rows = [f"| {name} | {verdict} | {text} | {seconds:.0f} |" for name, verdict, text, seconds in self.lines]
        (self.args.out / "checklist.md").write_text("\n".join(
            [f"{datetime.datetime.now():%Y-%m-%d %H:%M}, device {self.args.device}, commit {self.args.commit}", "",
             "| step | verdict | found | s |", "| --- | --- | --- | ---: |", *rows]) + "\n")

    @property
    def failed(self):
        return any(verdict == "FAILED" for _, verdict, _, _ in self.lines)


def site():
    """Folder that holds torch."""
    import importlib.util
    return str(Path(importlib.util.find_spec("torch").origin).parents[1])


class MemoryWatch:
    """Largest memory in use on the GPU while it is open, GiB; 0 without one."""

    def __init__(self, device):
        self.peak, self.process = 0.0, None
        if device == "cuda" and shutil.which("nvidia-smi"):
            self.process = subprocess.Popen(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-lms", "100"],
                                            stdout=subprocess.PIPE, text=True)
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.strip().isdigit():
                self.peak = max(self.peak, int(line) / 1024)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()


# ---- the machine

def matmul_peak(device):
    """Best TFLOP/s of a matrix product in float32 and bfloat16."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    size = 8192 if device == "cuda" else 512
    peaks = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
        best = float("inf")
        for _ in range(5):
            if device == "cuda":
                torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(4):
                left @ right.t()
            if device == "cuda":
                torch.cuda.synchronize()
            best = min(best, (time.perf_counter() - start) / 4)
        del left, right
        peaks[str(dtype).removeprefix("torch.")] = 2 * size**3 / best / 1e12
    return peaks


def machine(checklist):
    import torch
    import transformers
    checklist.peaks = matmul_peak(checklist.args.device)
    if checklist.args.device == "cuda":
        torch.cuda.empty_cache()  # the programs that are measured need the memory
    _, version = checklist.run(checklist.args.bundle / "bin" / "stereosweep", "--version")
    name = torch.cuda.get_device_name() if checklist.args.device == "cuda" else "processor"
    return (f"{name}; torch {torch.__version__}, transformers {transformers.__version__}; {version.strip()}; products "
            f"{checklist.peaks['float32']:.3g} TFLOP/s float32, {checklist.peaks['bfloat16']:.3g} bfloat16")


# ---- right

def first_calls(checklist):
    """What has only been read so far, smallest first: 16-bit products, a block of each job in bfloat16."""
    _, out = checklist.run(checklist.args.bundle / "gpu-tests", "--gtest_filter=FirstCallsOnGpu.*:NcclSumOnGpu.*",
                           check=checklist.args.device == "cuda")
    if checklist.args.device == "cuda" and "[  SKIPPED ]" in out:
        raise Failed("skipped: the program sees no GPU")
    for job in JOBS:
        output = checklist.scratch / f"first-{job}"
        shutil.rmtree(output, ignore_errors=True)
        code, text = start_run(checklist, job, output, 1, settings=["model.dtype=bfloat16"])
        if code:
            raise Failed(f"{job} in bfloat16: exit {code}: {' '.join(text.strip().splitlines()[-1:])[-300:]}")
    return f"{out.count('[       OK ]')} tests passed; {len(JOBS)} jobs in bfloat16 came to their end"


def unit_tests(checklist):
    _, out = checklist.run(checklist.args.bundle / "gpu-tests", "--gtest_filter=*OnGpu*", check=checklist.args.device == "cuda")
    passed, skipped = out.count("[       OK ]"), len({line for line in out.splitlines() if line.startswith("[  SKIPPED ] ")
                                                       and "ms" in line})
    if checklist.args.device == "cuda" and skipped:
        raise Failed(f"{skipped} tests skipped: the program sees no GPU")
    return f"{passed} passed, {skipped} skipped"


def families(checklist):
    """Every causal family against transformers, hidden states and log-probabilities; float32, bfloat16."""
    tests = ["test_causal_transformers.py", "test_model_transformers.py"] if not checklist.args.small else ["test_model_transformers.py"]
    _, out = checklist.run(sys.executable, "-m", "pytest", "-q", "-x" if checklist.args.small else "--maxfail=25", "-p", "no:cacheprovider",
                           *(f"tests/integration/{name}" for name in tests), check=False,
                           environment={"STEREOSWEEP_BUILD": str(checklist.args.bundle),
                                        "STEREOSWEEP_PROGRAM": str(checklist.args.bundle / "bin" / "stereosweep")})
    last = out.strip().splitlines()[-1]
    if "passed" not in last or "failed" in last or "error" in last:
        raise Failed(last + "; " + "; ".join(line for line in out.splitlines() if line.startswith("FAILED"))[:600])
    return last


def start_run(checklist, job, output, ranks, device=None, environment=None, settings=()):
    program = checklist.args.bundle / "bin" / "stereosweep"
    command = [program, "run", ROOT / "jobs" / job, "--output", output, f"execution.device={device or checklist.args.device}",
               *JOBS[job], *settings]
    if ranks > 1:
        command = [checklist.args.bundle / "bin" / "mpirun", "-np", ranks, *command]
    return checklist.run(*command, environment=environment, check=False)


def digest_of(checklist, output):
    return checklist.run(checklist.args.bundle / "bin" / "stereosweep", "show", output, "--digest")[1].split()[0]


def digests(checklist):
    """The same digest for 1, 2 and 4 ranks on one device, and after a kill of the whole job."""
    found = {}
    for job in JOBS:
        for ranks in (1, 2, 4):
            output = checklist.scratch / f"digest-{job}-{ranks}"
            shutil.rmtree(output, ignore_errors=True)
            code, out = start_run(checklist, job, output, ranks)
            if code:
                raise Failed(f"{job} on {ranks} ranks: exit {code}: {' '.join(out.strip().splitlines()[-1:])[-200:]}")
            found.setdefault(job, set()).add(digest_of(checklist, output))
        output = checklist.scratch / f"digest-{job}-killed"
        shutil.rmtree(output, ignore_errors=True)
        code, _ = start_run(checklist, job, output, 2,
                            environment={"STEREOSWEEP_INJECT": "block_start:2:kill"})
        if code == 0:
            raise Failed(f"{job}: the planned kill did not happen")
        code, out = start_run(checklist, job, output, 1)
        if code:
            raise Failed(f"{job} after the kill: exit {code}: {' '.join(out.strip().splitlines()[-1:])[-200:]}")
        found[job].add(digest_of(checklist, output))
    if any(len(kinds) != 1 for kinds in found.values()):
        raise Failed(f"different digests: { {job: len(kinds) for job, kinds in found.items()} }")
    return "; ".join(f"{job} {min(kinds)[:12]}" for job, kinds in found.items()) + " on 1, 2, 4 ranks and after a kill"


def half_precision(checklist):
    """float16 on the device: one digest for 1 and 3 ranks, and log-probabilities near float32's."""
    import h5py
    import numpy
    text = []
    for job in JOBS:
        found = []
        for dtype, ranks in (("float16", 1), ("float16", 3), ("float32", 1)):
            output = checklist.scratch / f"half-{job}-{dtype}-{ranks}"
            shutil.rmtree(output, ignore_errors=True)
            code, out = start_run(checklist, job, output, ranks, settings=[f"model.dtype={dtype}"])
            if code:
                raise Failed(f"{job} in {dtype} on {ranks} ranks: exit {code}: {' '.join(out.strip().splitlines()[-1:])[-200:]}")
            with h5py.File(next(output.glob("*.h5"))) as file:
                name = next(name for name in ("logprob", "option_logprob") if name in file)
                found.append((digest_of(checklist, output), file[name][()]))
        if found[0][0] != found[1][0]:
            raise Failed(f"{job}: another digest on 3 ranks")
        half, wide = found[0][1], found[2][1]
        if not (numpy.isnan(half) == numpy.isnan(wide)).all():
            raise Failed(f"{job}: float16 lacks numbers in other places")
        far = float(numpy.nanmax(numpy.abs(half - wide)))
        if not 0 < far < 0.05:
            raise Failed(f"{job}: log-probabilities differ by {far:.2g} nat from float32's")
        text.append(f"{job} {found[0][0][:12]} on 1 and 3 ranks, {far:.2g} nat from float32")
    return "; ".join(text)


def near_the_cpu(checklist):
    """All raw numbers of a run on the device against those of a run on the processor, float32."""
    import h5py
    import numpy
    worst = {}
    for job in JOBS:
        files = []
        for device in (checklist.args.device, "cpu"):
            output = checklist.scratch / f"near-{job}-{device}"
            shutil.rmtree(output, ignore_errors=True)
            code, out = start_run(checklist, job, output, 1, device)
            if code:
                raise Failed(f"{job} on {device}: exit {code}: {' '.join(out.strip().splitlines()[-1:])[-200:]}")
            files.append(next(path for path in output.glob("*.h5")))
        with h5py.File(files[0]) as mine, h5py.File(files[1]) as theirs:
            for name, data in mine.items():
                if isinstance(data, h5py.Dataset) and data.dtype.kind == "f":
                    one, other = data[()], theirs[name][()]
                    if not (numpy.isnan(one) == numpy.isnan(other)).all():
                        raise Failed(f"{job}: {name} lacks numbers in other places")
                    worst[name] = float(numpy.nanmax(numpy.abs(one - other), initial=0))
    far = {name: value for name, value in worst.items() if not value <= 1e-4}
    if far:
        raise Failed(f"further than 1e-4: {far}")
    name = max(worst, key=worst.get)
    return f"{len(worst)} cubes, largest difference {worst[name]:.2g} ({name})"


# ---- fast

def lengths(checklist):
    """How much work a shape gets: about a second of a large GPU."""
    if checklist.args.small:
        return dict(association=200, continuation=40, embedding=100, generation=6, tokens=8)
    return dict(association=48000, continuation=6000, embedding=14000, generation=256, tokens=64)


def checkpoint(checklist, name):
    folder = checklist.scratch / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    work.write_checkpoint(name, folder, checklist.args.device, checklist.args.small)
    return folder


def items_of(checklist, kind, name):
    path = checklist.scratch / f"items.{kind}.{'roberta' if 'roberta' in name else 'any'}.jsonl"
    if path.exists():
        return path
    size = lengths(checklist)[kind]
    if kind != "association":
        items = getattr(work, f"{kind}_items")(size)
    elif "roberta" in name:
        vocabulary = json.loads((checkpoint(checklist, name) / "tokenizer.json").read_text())["model"]["vocab"]
        pieces = {word: "Ġ" + word if "Ġ" + word in vocabulary else "Ġ" + word[0] for word in work.TRAITS}
        items = work.association_items(size, "<mask>", pieces.get)
    else:
        items = work.association_items(size, "[MASK]", str)
    return work.write_lines(path, items)


def ours(checklist, kind, model, jobs, tokens, *extra, environment=None):
    report = checklist.scratch / "ours.json"
    with MemoryWatch(checklist.args.device) as memory:
        start = time.monotonic()
        _, out = checklist.run(checklist.args.bundle / "bench" / f"bench_{kind}", "--model", model, "--jobs", jobs, "--dtype", "bfloat16",
                               "--device", checklist.args.device, "--batch-tokens", tokens, "--threads", min(8, os.cpu_count()),
                               "--repeat", REPEATS, "--calls", CALLS[kind],
                               "--report", report, "--results", checklist.scratch / "ours.jsonl", *extra, environment=environment)
        whole = time.monotonic() - start
    return json.loads(report.read_text()) | dict(peak_gib=memory.peak, process_s=whole), out


def theirs(checklist, kind, model, jobs, tokens, *extra):
    report = checklist.scratch / "theirs.json"
    checklist.run(sys.executable, ROOT / "tests" / "gpu" / "peer.py", "--work", kind, "--model", model, "--jobs", jobs, "--device",
                  checklist.args.device, "--budget", tokens, "--repeat", REPEATS, "--json", report, "--results", checklist.scratch / "theirs.jsonl", *extra)
    return json.loads(report.read_text())


def difference(checklist):
    """Mean absolute difference of the values that both wrote, and their spread."""
    import numpy
    both = []
    for name in ("ours", "theirs"):
        rows = (json.loads(line) for line in open(checklist.scratch / f"{name}.jsonl"))
        both.append({row["id"]: row["value"] for row in rows})
    first, second = ([one[key] for key in sorted(one)] for one in both)
    if isinstance(first[0], list) and len(first[0]) == 3 and not isinstance(second[0], list):
        first = [value[0] for value in first]
    one, other = (numpy.array(values, dtype=float) for values in (first, second))
    return float(numpy.abs(one - other).mean()), float(other.std())


def fast(checklist, kind, name, tokens):
    model, jobs = checkpoint(checklist, name), items_of(checklist, kind, name)
    new = ["--new-tokens", lengths(checklist)["tokens"]] if kind == "generation" else []
    mine, _ = ours(checklist, kind, model, jobs, tokens, *new)
    text = f"load {mine['load_s']:.1f} s, "
    if kind == "generation":
        text += f"{mine['new_tokens'] / mine['wall_s']:.0f} new tokens/s"
    else:
        body, row = work.operations(name, checklist.args.small)
        peak = checklist.peaks["bfloat16"] * 1e12 / (mine["distinct_tokens"] * body + mine.get("head_rows", 0) * row)
        text += (f"{mine['items'] / mine['wall_s']:.0f} items/s, {mine['distinct_tokens'] / mine['wall_s']:.0f} distinct tokens/s, "
                 f"{100 / peak / mine['answering_s']:.1f} % of the peak while the engine answers, {100 / peak / mine['wall_s']:.1f} % "
                 "with making the questions")
    text += f", {mine['peak_gib']:.1f} GiB"
    profile(checklist, kind, name, model, jobs, tokens, new)
    peers = [[]] + ([["--prefix"]] if kind == "continuation" else [])
    for extra in peers:
        other = theirs(checklist, kind, model, jobs, tokens, *new, *extra)
        label = "transformers" + (" with a cached prompt" if extra else "")
        if kind == "generation":
            ratio = (mine["new_tokens"] / mine["wall_s"]) / max(1e-9, other["new_tokens"] / other["wall_s"])
            text += f"; {label} {other['new_tokens'] / other['wall_s']:.0f} new tokens/s: {ratio:.2f} times"
        else:
            found, spread = difference(checklist)
            text += (f"; {label} {other['items'] / other['wall_s']:.0f} items/s: {other['wall_s'] / mine['wall_s']:.2f} times, "
                     f"mean difference {found:.2g} (spread {spread:.2g})")
            if name not in MIXTURES and not found <= 0.25 * spread + 0.01:
                raise Failed("numbers too far apart: " + text)
    return text


def profile(checklist, kind, name, model, jobs, tokens, new):
    """Where the time goes: a second run that waits for the device after every part."""
    _, out = ours(checklist, kind, model, jobs, tokens, *new, "--profile", 1)
    table = out[out.index("profile:"):] if "profile:" in out else out
    with open(checklist.args.out / "profiles.txt", "a") as file:
        file.write(f"{kind} {name}, {checklist.args.device}\n{table}\n")
    if checklist.args.device == "cuda":
        kernel_times(checklist, kind, name, model, jobs, tokens, new)


def kernel_times(checklist, kind, name, model, jobs, tokens, new):
    """Kernels by their time on the GPU, in a third run that CUDA's own tracing watches."""
    times = checklist.scratch / "kernels.txt"
    times.unlink(missing_ok=True)
    ours(checklist, kind, model, jobs, tokens, *new, environment={
        "CUDA_INJECTION64_PATH": str(checklist.args.bundle / "lib" / "libkernel_times.so"), "STEREOSWEEP_KERNEL_TIMES": str(times)})
    with open(checklist.args.out / "kernels.txt", "a") as file:
        file.write(f"{kind} {name}\n" + "\n".join(times.read_text().splitlines()[:40]) + "\n\n")


# ---- limits

def out_of_memory(checklist):
    """A batch that no GPU holds: refused with the numbers, exit 1, and the same command with less goes through."""
    if checklist.args.device != "cuda":
        return "skipped: there is no GPU"
    model, jobs = checkpoint(checklist, "llama-1b"), items_of(checklist, "continuation", "llama-1b")
    ballast = subprocess.Popen([sys.executable, "-c", "import torch, time; free = torch.cuda.mem_get_info()[0]; "
                                "keep = torch.empty(free - (4 << 30), dtype=torch.uint8, device='cuda'); print('there', flush=True); "
                                "time.sleep(120)"], stdout=subprocess.PIPE, text=True)
    try:
        ballast.stdout.readline()
        code, out = checklist.run(checklist.args.bundle / "bench" / "bench_continuation", "--model", model, "--jobs", jobs, "--dtype",
                                  "bfloat16", "--device", "cuda", "--batch-tokens", 262144, check=False)
        if code != 1 or "memory is full" not in out or "Tried to allocate" not in out:
            raise Failed(f"exit {code}: {out.strip()[-300:]}")
        code, fewer = checklist.run(checklist.args.bundle / "bench" / "bench_continuation", "--model", model, "--jobs", jobs, "--dtype",
                                    "bfloat16", "--device", "cuda", "--batch-tokens", 1024, check=False)
        return f"refused: {out.strip().splitlines()[-1][:220]}; with 1,024 tokens: exit {code}"
    finally:
        ballast.kill()
        ballast.wait()


def parts(checklist):
    """(part, step, seconds, function) in the order of weight."""
    def speed(kind, name, tokens):
        return lambda: fast(checklist, kind, name, tokens)
    return [("machine", "machine", 60, lambda: machine(checklist)),
            ("right", "first calls", 90, lambda: first_calls(checklist)),
            ("right", "unit tests on the GPU", 150, lambda: unit_tests(checklist)),
            ("right", "raw numbers near the processor's", 90, lambda: near_the_cpu(checklist)),
            ("right", "digests", 120, lambda: digests(checklist)),
            ("right", "float16", 90, lambda: half_precision(checklist)),
            ("right", "families against transformers", 240, lambda: families(checklist)),
            ("fast", "association, bert-large", 120, speed("association", "bert-large", 16384)),
            ("fast", "coreference, llama-1b", 150, speed("continuation", "llama-1b", 16384)),
            ("fast", "embedding, bert-base", 90, speed("embedding", "bert-base", 16384)),
            ("fast", "generation, llama-1b", 120, speed("generation", "llama-1b", 16384)),
            ("fast", "association, roberta-large", 120, speed("association", "roberta-large", 16384)),
            ("limits", "a full GPU", 90, lambda: out_of_memory(checklist)),
            ("limits", "tensor parallel", 5, lambda: "skipped: slices need a GPU each, and there is one"),
            ("fast", "coreference, llama-8b", 240, speed("continuation", "llama-8b", 16384)),
            ("fast", "coreference, mixtral-small", 240, speed("continuation", "mixtral-small", 16384))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--out", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--scratch", type=lambda text: Path(text).resolve(), default=Path("/tmp/stereosweep-checklist"))
    parser.add_argument("--parts", nargs="+", choices=["right", "fast", "limits"], default=["right", "fast", "limits"])
    parser.add_argument("--steps", nargs="+", default=[], help="only steps whose name holds one of these words")
    parser.add_argument("--limit", type=float, default=1500)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true", help="tiny shapes and few items: a rehearsal")
    parser.add_argument("--commit", default=os.environ.get("COMMIT", "unknown"))
    checklist = Checklist(parser.parse_args())
    for part, name, seconds, function in parts(checklist):
        chosen = part in ("machine", *checklist.args.parts)
        if chosen and (part == "machine" or not checklist.args.steps or any(word in name for word in checklist.args.steps)):
            checklist.step(name, seconds, function)
    sys.exit(1 if checklist.failed else 0)


if __name__ == "__main__":
    main()
