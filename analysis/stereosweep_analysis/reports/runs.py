"""The runs of a report: their files, names and where they come from."""

import contextlib
import glob
import itertools
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import h5py
import xarray as xr

from ..open import STATISTICS_ENDING, ResultError, find_file, open_result, open_statistics
from ..open import open_comparison as file_of_runs

LONGEST_OUTPUT = 500
COMPARISON = f"runs{STATISTICS_ENDING}"
RESOLVED_JOB, STATUS = "job.resolved.yaml", "status.json"


class Run(NamedTuple):
    """`raw`: None where only statistics were given. `label` is unique among the runs of a report. `beside`: sentences
    on what the report leaves out."""

    label: str
    probe: str
    path: Path
    statistics: xr.Dataset
    raw: xr.Dataset | None
    beside: tuple[str, ...] = ()


def open_runs(paths):
    """One Run for each path (run directories or statistics files). Raises ResultError. Of a folder of runs, or a
    sweep's name, those without a result are left out, and the first run says which.

    The stereosweep program, where it is found, computes statistics that are missing or damaged, and means where they
    lack.
    """
    if not paths:
        raise ResultError("no run is named: name the directory that 'stereosweep run' wrote")
    runs, left_out = [], []
    for given in map(Path, paths):
        inside = runs_in(given)
        for path in inside or [given]:
            try:
                runs.append(_open_run(path, [run.label for run in runs]))
            except ResultError as error:
                if not inside:
                    raise
                left_out.append(f"The run '{path.name}' is left out: {error}")
    if not runs:
        raise ResultError(" ".join(left_out))
    return [runs[0]._replace(beside=tuple(left_out)), *runs[1:]]


def _open_run(path, taken):
    statistics = _statistics_of(path)
    if "score" not in statistics:
        raise ResultError(f"'{path}' holds no score table: write it anew with 'stereosweep stats'")
    label = _unique(str(statistics.attrs.get("title") or path.name), taken)
    return Run(label, str(statistics.attrs["schema"]).split("/")[-1], path, statistics, _open_raw(path))


def _is_run(path):
    return (path / RESOLVED_JOB).is_file() or (path / STATUS).is_file()


def runs_in(path):
    """The run directories in a folder that is none itself, or, where there is no such folder, of a sweep of this name
    (NAME.VALUE); none where it is a run. As the program finds them."""
    if _is_run(path):
        return []
    folder, begin = (path, "") if path.is_dir() else (path.parent, f"{path.name}.")
    return sorted(child for child in folder.glob(f"{glob.escape(begin)}*") if _is_run(child))


def open_comparison(paths):
    """What `stereosweep stats` found of the runs of a sweep, or None: only of one folder, or name, of several runs.

    It is computed by the program where it is missing or damaged. Raises ResultError.
    """
    sweep = Path(paths[0]) if len(paths) == 1 else None
    if sweep is None or len(runs_in(sweep)) < 2:
        return None
    path = sweep / COMPARISON if sweep.is_dir() else sweep.with_name(f"{sweep.name}.{COMPARISON}")
    if program() is None:
        return file_of_runs(path) if path.exists() else None
    return _opened_or_computed(file_of_runs, path, sweep)


def with_names_of(comparison, runs):
    """The runs, labelled by what differs, and the comparison, which shows the measure that the runs recommend."""
    if comparison is None:
        return runs, None
    names, differing = (comparison[name].values.astype(str).tolist() for name in ("run_name", "run"))
    known = dict(zip(names, differing, strict=True))
    labels = [known.get(str(run.statistics.attrs.get("title")), run.label) for run in runs]
    if len(set(labels)) == len(runs):
        runs = [run._replace(label=label) for run, label in zip(runs, labels, strict=True)]
    measures = str(runs[0].statistics.attrs.get("recommended_measures", ""))
    return runs, comparison.assign_attrs({"recommended_measures": measures} | comparison.attrs)


def _statistics_of(path):
    """With what a page needs: statistics, and means of the measures that come first. What was asked before stays."""
    if not path.is_dir() or program() is None:
        return open_statistics(path)
    found = _opened_or_computed(open_statistics, path, path)
    asked = found.attrs.get("statistics_arguments")
    if asked is None or "mean_score" in found or "score" not in found:
        return found
    found.close()
    with contextlib.suppress(ResultError):  # a table of people may lie elsewhere now: the page says what lacks
        _compute_statistics(path, *str(asked).splitlines())
    return open_statistics(path)


def _opened_or_computed(opener, path, run):
    """What is missing or damaged is computed first."""
    try:
        return opener(path)
    except ResultError:
        _compute_statistics(run)
        return opener(path)


def program():
    """The program that computes what is missing: $STEREOSWEEP_PROGRAM, else that of the path, or None."""
    return os.environ.get("STEREOSWEEP_PROGRAM") or shutil.which("stereosweep")


def _compute_statistics(path, *asked):
    try:
        done = subprocess.run([program(), "stats", path, *asked, "--means"], capture_output=True, text=True)
    except OSError as error:
        raise ResultError(f"'{path}' has no statistics, and '{program()}' cannot be started: {error}") from error
    if done.returncode != 0:
        raise ResultError(f"'{path}': stats failed: {done.stderr.strip()[-LONGEST_OUTPUT:]}")


def _unique(label, taken):
    numbered = (f"{label} ({number})" for number in itertools.count(2))
    return next(name for name in itertools.chain([label], numbered) if name not in taken)


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


def folder_of(path):
    """The run's directory, of itself or of its statistics file."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


def resolved_job(path):
    """The job beside the statistics, as it was resolved, YAML; "" where there is none."""
    job = folder_of(path) / RESOLVED_JOB
    return job.read_text(encoding="utf-8", errors="replace") if job.is_file() else ""


def job_text(run):
    """The same, or the copy in the result."""
    beside = resolved_job(run.path)
    if beside or run.raw is None:
        return beside
    with h5py.File(run.raw.encoding["source"], "r") as file:
        document = file.get("provenance/job_resolved")
        value = document[()] if isinstance(document, h5py.Dataset) else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def provenance(run):
    """[(what, value)] of the run: model, versions, machine, hashes; what the file does not say is left out."""
    attributes = dict(run.statistics.attrs) | (dict(run.raw.attrs) if run.raw is not None else {})
    names = {
        "model": "model", "model_revision": "revision", "model_storage": "stored as",
        "adapter": "adapter", "adapter_sha256": "SHA-256 of the adapter", "dtype": "number format of the model",
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


def is_complete(statistics):
    return int(statistics.attrs.get("source_complete", 1)) == 1
