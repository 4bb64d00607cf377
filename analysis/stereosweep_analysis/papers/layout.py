"""Which tables of a paper a result can fill, and what those that it cannot fill need."""

from collections.abc import Callable
from typing import NamedTuple

import xarray as xr
from matplotlib.figure import Figure

from ..open import ResultError
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
    lines = [f"tables {', '.join(numbers)} need {needs}" for needs, numbers in missing.items()]
    if not made:
        raise ResultError(f"the result fills no table of this paper: {'; '.join(lines)}")
    return made, lines
