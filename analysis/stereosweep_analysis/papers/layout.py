"""Which tables of a paper a result can fill, and what those that it cannot fill need."""

from collections.abc import Callable
from typing import NamedTuple

import xarray as xr
from matplotlib.figure import Figure

from ..open import ResultError
from ..views import recommended_measures
from .table import PaperTable


class Layout(NamedTuple):
    """`variable`: the statistics must hold it; `make`: (statistics, text of the resolved job) to tables, none where a
    label that they need is missing; `needs`: what to do then; `draw`: of statistics with tables, {name: figure}."""

    numbers: str
    variable: str
    make: Callable[[xr.Dataset, str], list[PaperTable]]
    needs: str
    draw: Callable[[xr.Dataset], dict[str, Figure]] | None = None


def lay_out(layouts, statistics, job=""):
    """(tables, lines about those that lack). Raises ResultError where there is no table at all."""
    made, missing = [], {}
    for layout in layouts:
        tables = layout.make(statistics, job) if layout.variable in statistics else []
        made += tables
        if not tables:
            missing.setdefault(layout.needs, []).append(layout.numbers)
    lines = [f"table{'s' * (len(numbers) > 1)} {', '.join(numbers)}: {needs}" for needs, numbers in missing.items()]
    if not made:
        raise ResultError(f"the result fills no table of this paper. What asks for them: {'; '.join(lines)}")
    return made, lines


def of_measures(statistics, wanted, printed):
    """(statistics of the wanted measures alone, those left out), on every axis that has one of them; by default of the
    recommended and the printed ones. Raises ResultError for an unknown one."""
    axes = [axis for axis in map(str, statistics.dims) if axis == "measure" or axis.endswith("_measure")]
    labels = {axis: list(map(str, statistics[axis].values)) for axis in axes if axis in statistics.coords}
    known = dict.fromkeys(label for names in labels.values() for label in names)
    if unknown := [name for name in wanted or () if name not in known]:
        raise ResultError(f"no measure '{unknown[0]}': the statistics have {', '.join(known)}")
    shown = {*(wanted or [*recommended_measures(statistics), *printed])}
    kept = {axis: chosen for axis, names in labels.items() if (chosen := [name for name in names if name in shown])}
    return statistics.sel(kept), sorted({name for axis in kept for name in labels[axis]} - shown)
