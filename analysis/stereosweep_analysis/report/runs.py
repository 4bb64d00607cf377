"""The runs of a report: their files, names and where they come from."""

import subprocess
from pathlib import Path
from typing import NamedTuple

import h5py
import xarray as xr

from ..open import STATISTICS_ENDING, ResultError, find_file, open_result, open_statistics

LONGEST_OUTPUT = 500


class Run(NamedTuple):
    """`raw`: None where only statistics were given. `label` is unique among the runs of a report."""

    label: str
    probe: str
    path: Path
    statistics: xr.Dataset
    raw: xr.Dataset | None


def open_runs(paths, program=None):
    """One Run for each path (run directories or statistics files). Raises ResultError.

    `program`: the stereosweep program, which computes statistics that are missing; None: they must be there.
    """
    if not paths:
        raise ResultError("no run is named: name the directory that 'stereosweep run' wrote")
    runs = []
    for path in map(Path, paths):
        _require_statistics(path, program)
        statistics = open_statistics(path)
        if "score" not in statistics:
            raise ResultError(f"'{path}' holds no score table: write it anew with 'stereosweep stats'")
        label = _unique(str(statistics.attrs.get("title") or path.name), [run.label for run in runs])
        probe = str(statistics.attrs["schema"]).split("/")[-1]
        runs.append(Run(label, probe, path, statistics, _open_raw(path)))
    return runs


def _require_statistics(path, program):
    if path.is_file() or not path.is_dir() or list(path.glob(f"*{STATISTICS_ENDING}")) or program is None:
        return
    try:
        done = subprocess.run([program, "stats", path], capture_output=True, text=True)
    except OSError as error:
        raise ResultError(f"'{path}' has no statistics, and '{program}' cannot be started: {error}") from error
    if done.returncode != 0:
        raise ResultError(f"'{path}': stats failed: {done.stderr.strip()[-LONGEST_OUTPUT:]}")


def _unique(label, taken):
    number = 2
    found = label
    while found in taken:
        found = f"{label} ({number})"
        number += 1
    return found


def _open_raw(path):
    """The result that the statistics were made of, where it lies beside them."""
    if path.is_file():
        path = path.with_name(path.name.removesuffix(STATISTICS_ENDING) + ".h5")
        return open_result(path, allow_incomplete=True) if path.is_file() else None
    try:
        path = find_file(path, ".h5", "export")
    except ResultError:
        return None
    return open_result(path, allow_incomplete=True)


def job_text(run):
    """The job as it was resolved, YAML; empty where the result is not there."""
    if run.raw is None:
        return ""
    with h5py.File(run.raw.encoding["source"], "r") as file:
        document = file.get("provenance/job_resolved")
        value = document[()] if isinstance(document, h5py.Dataset) else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def provenance(run):
    """[(what, value)] of the run: model, versions, machine, hashes; what the file does not say is left out."""
    attributes = dict(run.statistics.attrs) | (dict(run.raw.attrs) if run.raw is not None else {})
    names = {
        "model": "model", "model_revision": "revision", "dtype": "number format of the model",
        "created": "started (UTC)", "num_ranks": "ranks", "machine": "machine", "hosts": "hosts", "gpus": "GPUs",
        "slurm_job_id": "Slurm job", "seed": "seed", "software_version": "stereosweep", "build": "build",
        "dependencies": "libraries", "num_queries": "questions to the model",
        "num_distinct_tokens": "tokens that were computed", "model_sha256": "SHA-256 of the model",
        "tokenizer_sha256": "SHA-256 of the tokenizer", "job_sha256": "SHA-256 of the job",
        "raw_digest": "SHA-256 of the raw numbers", "source_digest": "SHA-256 of the raw numbers",
    }  # fmt: skip
    found = {}
    for name, title in names.items():
        value = attributes.get(name)
        if value is not None and str(value) not in ("", "none"):
            found.setdefault(
                title, f"{int(value):,}" if name.startswith("num_") and str(value).isdigit() else str(value)
            )
    return list(found.items())


def is_complete(run):
    return int(run.statistics.attrs.get("source_complete", 1)) == 1
