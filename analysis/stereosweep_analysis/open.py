"""Path -> xarray.Dataset, with the checks that every reader should make."""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Literal

import xarray as xr

PathLike = str | os.PathLike[str]
Engine = Literal["netcdf4", "h5netcdf"]  # the first opens a file of 200 variables 13 times as fast

SUPPORTED_MAJOR = "1"
STATISTICS_ENDING = ".stats.h5"
VECTORS_ENDING = ".vectors.h5"  # of a contexts job, beside its result

OPENERS = {"stereosweep": "open_result", "stereosweep-statistics": "open_statistics"}  # by schema
SEAL_SIZE = 128


class ResultError(Exception):
    """The file is not what it should be; the message says what to do."""


def require_label(dataset: xr.Dataset, axis: str, wanted: str) -> str:
    """`wanted`, if it is a label of the axis. Raises ResultError."""
    if axis not in dataset.coords:
        raise ResultError(f"the dataset has no axis '{axis}': is it what 'stereosweep stats' wrote?")
    known = [str(label) for label in dataset[axis].values]
    if wanted not in known:
        raise ResultError(f"unknown {axis} '{wanted}': the file has {', '.join(known)}")
    return wanted


def find_file(path: PathLike, ending: str, command: str) -> Path:
    """`path` itself, or the one file of a run directory with `ending` (".h5" leaves statistics and vectors out)."""
    path = Path(path)
    if path.is_file():
        return path
    if not path.is_dir():
        raise ResultError(f"'{path}' is no run directory and no file")
    found = sorted(
        candidate
        for candidate in path.glob(f"*{ending}")
        if ending != ".h5" or not candidate.name.endswith((STATISTICS_ENDING, VECTORS_ENDING))
    )
    if not found:
        only = " (contexts jobs have one, unless vectors.keep is none)" if ending == VECTORS_ENDING else ""
        raise ResultError(f"'{path}' holds no *{ending}{only}: run 'stereosweep {command} {path}' first")
    if len(found) > 1:
        raise ResultError(f"'{path}' holds more than one *{ending}: name one of {[str(name) for name in found]}")
    return found[0]


def check_seal(path: PathLike) -> None:
    """Raises ResultError where the last line is the SHA-256 of other bytes: libhdf5 can hang on damaged files."""
    path = Path(path)
    size = path.stat().st_size - SEAL_SIZE
    with path.open("rb") as file:
        file.seek(max(size, 0))
        seal = file.read()
        if not seal.startswith(b"stereosweep-seal/1 ") and not seal.endswith(b" end-of-result\n"):
            return  # changed by another program since, or written by an old version
        file.seek(0)
        found = hashlib.sha256()
        left = size
        while left > 0 and (part := file.read(min(left, 1 << 20))):
            found.update(part)
            left -= len(part)
    if seal != f"stereosweep-seal/1 sha256={found.hexdigest()} bytes={size:016d} end-of-result\n".encode():
        raise ResultError(f"'{path}' is damaged: write it anew with 'stereosweep export' or 'stereosweep stats'")


def _open(path: Path, schema: str, engine: Engine, incomplete_is_fine: bool) -> xr.Dataset:
    check_seal(path)
    try:
        dataset = xr.open_dataset(path.absolute(), engine=engine)  # a folder's name may begin with ~
    except (OSError, ValueError) as error:
        raise ResultError(f"'{path}' cannot be opened: {error}") from error
    with contextlib.ExitStack() as on_error:
        on_error.callback(dataset.close)
        kind = str(dataset.attrs.get("schema", ""))
        if kind.split("/")[0] != schema:
            opener = OPENERS.get(kind.split("/")[0])
            advice = f": open it with {opener}" if opener else ""
            raise ResultError(f"'{path}' has the schema '{kind}', not '{schema}/...'{advice}")
        version = str(dataset.attrs.get("schema_version", ""))
        if version.split(".")[0] != SUPPORTED_MAJOR:
            raise ResultError(f"'{path}' has schema version '{version}'; this package reads {SUPPORTED_MAJOR}.x")
        if int(dataset.attrs.get("complete", 0)) != 1 and not incomplete_is_fine:
            raise ResultError(f"'{path}' is not complete: continue the run, or pass allow_incomplete=True")
        on_error.pop_all()
    return dataset


def open(path: PathLike, *, engine: Engine = "netcdf4") -> xr.Dataset:
    """Statistics of a run (its directory), or what a file holds (raw numbers, vectors, ...). Raises ResultError."""
    name = Path(path).name
    if not Path(path).is_file() or name.endswith(STATISTICS_ENDING):
        return open_statistics(path, engine=engine)
    opener = open_vectors if name.endswith(VECTORS_ENDING) else open_result
    return opener(path, engine=engine)


def open_result(path: PathLike, *, engine: Engine = "netcdf4", allow_incomplete: bool = False) -> xr.Dataset:
    """Raw numbers of a run (a directory or its PROBE.h5). Raises ResultError."""
    return _open(find_file(path, ".h5", "export"), "stereosweep", engine, allow_incomplete)


def open_vectors(path: PathLike, *, engine: Engine = "netcdf4", allow_incomplete: bool = False) -> xr.Dataset:
    """Vectors that a contexts job kept (a directory or its contexts.vectors.h5). Raises ResultError."""
    found = _open(find_file(path, VECTORS_ENDING, "export"), "stereosweep", engine, allow_incomplete)
    if "vector" not in found:
        found.close()
        raise ResultError(f"'{path}' holds no vectors: name the run directory or its contexts{VECTORS_ENDING}")
    return found


def open_comparison(path: PathLike) -> xr.Dataset:
    """What `stereosweep stats` wrote of several runs. Raises ResultError."""
    return _open(find_file(path, STATISTICS_ENDING, "stats"), "stereosweep-runs", "netcdf4", False)


def open_statistics(path: PathLike, *, engine: Engine = "netcdf4") -> xr.Dataset:
    """Scores, averages and agreement (a directory or its PROBE.stats.h5). Raises ResultError."""
    return _open(find_file(path, STATISTICS_ENDING, "stats"), "stereosweep-statistics", engine, False)
