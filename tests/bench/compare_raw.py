#!/usr/bin/env python3
"""Runs two programs on the same jobs and compares their results, every variable of every file, bit for bit.

    compare_raw.py --before PROGRAM --after PROGRAM [--jobs 10_planted ...] [--ranks 1 3] [--statistics] [--keep FOLDER]

One line a variable: equal, renamed (equal under another name), new, left out, relabelled (texts of an axis) or DIFFERENT;
exit 1 where numbers differ. `--statistics`: also what `stats` writes, numbers to 1e-12 (relative). `--keep`: results of
the program before are kept there and not made again. `--jobs-before`: folder of the jobs, where its keys were others.
`--renamed FILE:NAME=NAME`: an axis or variable of that file that had the first name before and has the second since.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOBS = ["10_planted", "20_real", "40_winoidentity", "50_ratings", "60_ceat"]
TOLERANCE = 1e-12


def main():
    args = arguments()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        args.scratch = Path(scratch)
        for job in args.jobs:
            model = yaml.safe_load((ROOT / f"jobs/{job}.yaml").read_text())["model"]["path"]
            if not (ROOT / "jobs" / model).exists():
                print(f"{job}: left out, {model} is not there")
                continue
            for ranks in args.ranks:
                failed |= compare_job(args, job, ranks)
    sys.exit(1 if failed else 0)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, required=True)
    parser.add_argument("--jobs", nargs="+", default=JOBS)
    parser.add_argument("--jobs-before", type=Path, default=ROOT / "jobs")
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 3])
    parser.add_argument("--statistics", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--renamed", nargs="+", default=[], metavar="FILE:NAME=NAME")
    return parser.parse_args()


def compare_job(args, job, ranks):
    """Whether numbers differ."""
    before = (args.keep or args.scratch) / f"{job}.{ranks}"
    after = args.scratch / f"{job}.{ranks}.after"
    kept = any(before.glob("*.h5"))
    if not kept:
        run_job(args.before, args.jobs_before / f"{job}.yaml", ranks, before)
    run_job(args.after, ROOT / f"jobs/{job}.yaml", ranks, after)
    if args.statistics:
        if not any(before.glob("*.stats.h5")):
            launch([args.before, "stats", before])
        launch([args.after, "stats", after])
    failed = False
    names = {file.name for folder in (before, after) for file in folder.glob("*.h5")}
    for name in sorted(names):
        is_statistics = name.endswith(".stats.h5")
        if is_statistics and not args.statistics:
            continue
        for variable, verdict in compare_files(args, before / name, after / name):
            print(f"{job}, {ranks} ranks, {name}: {variable}: {verdict}", flush=True)
            failed |= verdict.startswith("DIFFERENT")
    return failed


def run_job(program, job, ranks, target):
    """A whole run; the result lies in `target`."""
    launch(["mpirun", "--oversubscribe", "-np", str(ranks), program, "run", job, "--output", target])


def launch(command):
    """Runs it; its output is shown only where it fails."""
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_mpi_yield_when_idle": "1", **os.environ}  # fmt: skip
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def compare_files(args, before, after):
    """(variable, verdict) of every variable of either file."""
    tolerance = TOLERANCE if before.name.endswith(".stats.h5") else 0
    names = [name.split(":", 1)[1].split("=", 1) for name in args.renamed if name.startswith(before.name + ":")]
    if not before.exists() or not after.exists():
        yield "file", "new" if after.exists() else "left out"
        return
    with h5py.File(before) as old, h5py.File(after) as new:
        renamed = {name: target for name, target in names if target in new}
        seen = set()
        for name in variables(old):
            target = name if name in new and name not in renamed else new_name(name, renamed)
            if target not in new:
                target = name
            seen.add(target)
            if target not in new:
                yield name, "left out"
            else:
                verdict = compare(old[name], new[target], renamed, tolerance)
                yield name, verdict.replace("equal", f"renamed {target}") if target != name else verdict
        for name in variables(new):
            if name not in seen:
                yield name, "new"


def variables(file):
    """Paths of all variables, in groups too."""
    names = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def new_name(name, renamed):
    """Of a variable: its own, or that of the axis that it labels."""
    if name in renamed:
        return renamed[name]
    for axis, target in renamed.items():
        if name.startswith(axis + "_"):
            return target + name[len(axis) :]
    return name


def compare(old, new, renamed, tolerance):
    """The verdict on one variable."""
    left, right = squeezed(old, renamed), squeezed(new, {})
    if left.shape != right.shape and left.size != right.size:
        return f"DIFFERENT: shape {old.shape}, now {new.shape}"
    right = right.reshape(left.shape)
    if left.dtype.kind in "OSU" or right.dtype.kind in "OSU":
        is_equal = left.dtype.kind == right.dtype.kind and bool(np.all(left == right))
        is_label = left.ndim <= 1
        return "equal" if is_equal else "relabelled" if is_label else "DIFFERENT: texts"
    if left.dtype != right.dtype:
        return f"DIFFERENT: {left.dtype}, now {right.dtype}"
    if left.dtype.kind != "f":
        wrong = left != right
    elif tolerance:
        with np.errstate(invalid="ignore"):
            far = np.abs(left - right) > tolerance * np.maximum(np.abs(left), np.abs(right))
        wrong = (left != right) & (far | ~np.isfinite(left) | ~np.isfinite(right))
        wrong &= ~(np.isnan(left) & np.isnan(right))
    else:
        bits = f"u{left.dtype.itemsize}"
        wrong = (left.view(bits) != right.view(bits)) & ~(np.isnan(left) & np.isnan(right))
    return f"DIFFERENT: {np.count_nonzero(wrong)} of {wrong.size} numbers" if np.any(wrong) else "equal"


def squeezed(variable, renamed):
    """Values without axes of length one; the others in the order of their names since."""
    values = np.asarray(variable[()])
    names = [new_name(scale_name(dimension), renamed) for dimension in variable.dims]
    kept = [axis for axis in range(values.ndim) if values.shape[axis] > 1]
    order = sorted(kept, key=lambda axis: names[axis]) if all(names[axis] for axis in kept) else kept
    dropped = [axis for axis in range(values.ndim) if values.shape[axis] == 1]
    values = np.transpose(values, [*order, *dropped])
    return np.ascontiguousarray(values.reshape(values.shape[: len(order)]))


def scale_name(dimension):
    """Name of the axis; "" where it has none."""
    return dimension[0].name.rsplit("/", 1)[-1] if len(dimension) else ""


if __name__ == "__main__":
    main()
