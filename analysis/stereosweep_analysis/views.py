"""The tables of a statistics file, as the file itself declares them: every finding names the views that show it.

A finding's first array has the attributes `views` (JSON: title, columns [array or label, head], `by`: array of the
order, "-" before it: the largest first; `each`: labels with a table of their own; `only`: array that a row must have
a number of), `heading`, `sentences` and `answers` (measure, tab, text), `notes`, `warnings` and `named_measures`; each
of its arrays has `role` and `of`, differences `zero`. Definitions: src/findings/Finding.hpp.
"""

import json
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from .glossary import title_of
from .tables import Column, Missing, Table

View = dict[str, Any]


class Finding(NamedTuple):
    """`name`: of its first array; `heading`: of the report's section, its name where the file has none; `tables`: those
    of its views; `sentences`: what they come to; `answers`: to the question that the job asks, in sentences."""

    name: str
    heading: str
    tables: list[Table]
    sentences: list[str]
    notes: str
    warnings: list[str]
    answers: list[str]


def texts(dataset: xr.Dataset, name: str, axis: str) -> list[str]:
    """The coordinate as a list of texts; empty texts where the file lacks it."""
    if name not in dataset.coords and name not in dataset:
        return [""] * dataset.sizes[axis]
    return [str(value) for value in dataset[name].values]


def own_warnings(statistics: xr.Dataset) -> list[str]:
    """What the file says of all its numbers: why they are not to be taken as they stand."""
    own = (str(text).split("\n") for name, text in statistics.attrs.items() if str(name).endswith("warnings"))
    return [line for lines in own for line in lines if line]


def measures_of(statistics: xr.Dataset) -> list[str]:
    return [str(name) for name in statistics["measure"].values]


def recommended_measures(statistics: xr.Dataset) -> list[str]:
    """Those that a reader should see first, as the file says."""
    return [name for name in str(statistics.attrs.get("recommended_measures", "")).split("\n") if name]


def recommended_measure(statistics: xr.Dataset) -> str:
    """The first of them that the score table has, else its first measure."""
    measures = measures_of(statistics)
    return next((name for name in recommended_measures(statistics) if name in measures), measures[0])


def measure_label(statistics: xr.Dataset, measure: str) -> str:
    """The measure in words, with its unit where the file names one."""
    known = measures_of(statistics)
    units = dict(zip(known, texts(statistics, "measure_units", "measure"), strict=True))
    unit = units.get(measure, "")
    return title_of("measure", measure) + (f" ({unit})" if unit not in ("", "1") else "")


def findings(statistics: xr.Dataset) -> list[Finding]:
    """Everything that the file can show as tables, in its order; of several measures the recommended ones, and those
    that the job names for a statistic."""
    found = []
    for name in map(str, statistics.data_vars):
        variable = statistics.variables[name]
        views: list[View] = json.loads(variable.attrs.get("views", "[]"))
        shown = recommended_measures(statistics) + str(variable.attrs.get("named_measures", "")).split("\n")
        tables = [table for view in views for table in _View(statistics, name, view).tables(shown)]
        if tables:
            sentences, answers = (_said(variable, name, shown) for name in ("sentences", "answers"))
            warnings = [line for line in str(variable.attrs.get("warnings", "")).split("\n") if line]
            heading = str(variable.attrs.get("heading", name.replace("_", " ")))
            notes = str(variable.attrs.get("notes", ""))
            found.append(Finding(name, heading, tables, sentences, notes, warnings, answers))
    return found


def _said(variable: xr.Variable, name: str, shown: list[str]) -> list[str]:
    """Sentences of an attribute (measure, tab, text a line) that hold for all measures or for one that is shown."""
    lines = (line.partition("\t") for line in str(variable.attrs.get(name, "")).splitlines())
    return [text for measure, _, text in lines if measure in ("", *shown)]


class _View:
    """Asks for plain variables: `statistics[name]` collects the coordinates of hundreds of arrays anew each time."""

    def __init__(self, statistics: xr.Dataset, first: str, view: View) -> None:
        self.statistics, self.view = statistics, view
        self.main = statistics.variables[first]
        by = view["by"].removeprefix("-")
        self.by = self._values(by) if by in statistics.data_vars else None
        self.numbers = [(name, head) for name, head in view["columns"] if self._is_array(name)]
        columns = [(name, head) for name, head in view["columns"] if not self._is_array(name)]
        self.labels = [(name, head) for name, head in columns if self._label_source(name) is not None]

    def _is_array(self, name: str) -> bool:
        return name in self.statistics.data_vars and self.statistics.variables[name].dtype.kind not in "OUT"

    def _label_source(self, name: str) -> str | None:
        """The axis or coordinate that a view calls so; None where the finding has none."""
        for axis in map(str, self.main.dims):
            if axis == name or (name == "measure" and axis.endswith("_measure")):
                return axis
            if f"{axis}_{name}" in self.statistics.coords:
                return f"{axis}_{name}"
        is_own = name in self.statistics and set(self.statistics.variables[name].dims) <= set(self.main.dims)
        return name if is_own else None

    def _values(self, name: str) -> np.ndarray:
        """Of every row: values of an array, or labels."""
        source = name if self._is_array(name) else self._label_source(name)
        return self.statistics.variables[source].set_dims(self.main.sizes).values.ravel()

    def tables(self, shown: list[str]) -> list[Table]:
        rows = np.arange(self.main.size)
        if only := self.view.get("only"):
            rows = rows[np.isfinite(self._values(only)[rows].astype(float))]
        if self._label_source("measure") is not None:
            measures = self._values("measure").astype(str)
            is_shown = np.isin(measures[rows], shown)
            rows = rows[is_shown] if is_shown.any() else rows
        each = [name for name in self.view["each"] if self._label_source(name) is not None]
        titles = [self._title(name) for name in each]
        parts: dict[tuple[str, ...], list[int]] = {}
        for row in self._ordered(rows):
            parts.setdefault(tuple(title[row] for title in titles), []).append(row)
        cells = [self._cells(name) for name, _ in self.labels + self.numbers]
        columns = [Column(head) for _, head in self.labels] + [self._column(*number) for number in self.numbers]
        return [
            Table(
                self.view["title"] + ", ".join(title), columns,
                [tuple(values[row] for values in cells) for row in places], "",
                max(len(self.labels), 1),
            )
            for title, places in sorted(parts.items(), key=lambda part: min(part[1]))
        ]  # fmt: skip

    def _title(self, name: str) -> np.ndarray:
        labels = self._values(name).astype(str)
        if name == "cluster_source":
            return np.array([title_of("measure", label) for label in labels], dtype=object)
        if name != "measure" or "measure" not in self.statistics.coords:
            return labels
        known, places = np.unique(labels, return_inverse=True)
        return np.array([measure_label(self.statistics, label) for label in known], dtype=object)[places]

    def _ordered(self, rows: np.ndarray) -> np.ndarray:
        if self.by is None:
            return rows
        values = self.by[rows].astype(float)
        key = -np.abs(values) if self.view["by"].startswith("-") else values
        return rows[np.argsort(key, kind="stable")]  # NaN stands last

    def _column(self, name: str, head: str) -> Column:
        variable = self.statistics.variables[name]
        role = str(variable.attrs.get("role", "value"))
        kind = "text" if "flag_meanings" in variable.attrs else "p" if role in ("p", "adjusted") else "number"
        is_difference = variable.attrs.get("zero") == "drawn"
        of = tuple(str(variable.attrs.get("of", "")).split())
        return Column(head, str(variable.attrs.get("long_name", "")), kind, role, is_difference, name, of)

    def _cells(self, name: str) -> list[object]:
        values = self._values(name)
        if not self._is_array(name):
            return [str(value) for value in values]
        variable = self.statistics.variables[name]
        if "flag_meanings" in variable.attrs:
            meanings = str(variable.attrs["flag_meanings"]).split()
            return [meanings[int(value)].replace("_", " ") for value in values]
        if values.dtype.kind in "iu":
            return [int(value) for value in values]
        reasons = self._reasons(name) if variable.attrs.get("role", "value") == "value" else None
        if reasons is None:
            return [float(value) for value in values]
        return [
            float(value) if np.isfinite(value) else Missing(reason)
            for value, reason in zip(values, reasons, strict=True)
        ]

    def _reasons(self, name: str) -> list[str] | None:
        """Why the numbers of an array do not exist, where the file says so."""
        for other in self.statistics.data_vars:
            variable = self.statistics.variables[other]
            if variable.attrs.get("role") == "status" and name in str(variable.attrs.get("of", "")).split(" "):
                meanings = str(variable.attrs["flag_meanings"]).replace("ok", "none", 1).split()
                return [meanings[int(flag)].replace("_", " ") for flag in self._values(str(other))]
        return None
