"""The notebooks: short, stored without outputs, and every cell runs on a small result of its probe."""

import ast
from pathlib import Path

import nbformat
import pandas
import pytest
from matplotlib.figure import Figure

from stereosweep_analysis.reports.probes import PROBES

NOTEBOOKS = {path.stem: path for path in (Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb")}
MOST_CELLS = 12


def run_cell(source, names):
    """What the cell's last expression gives, as Jupyter would show it."""
    *statements, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        statements, last = [*statements, last], None
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_every_probe_has_one():
    assert set(NOTEBOOKS) == set(PROBES)


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_it_runs_from_above(name, bundled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    cells = nbformat.read(NOTEBOOKS[name], as_version=4).cells
    directory = bundled(name)
    names, shown = {}, []
    for cell in cells:
        if cell.cell_type == "code":
            shown.append(run_cell(cell.source, names))
            if "parameters" in cell.metadata.get("tags", ()):
                assert isinstance(names["RUN"], str)
                names["RUN"] = str(directory)
    tables = [value for value in shown if isinstance(value, pandas.DataFrame)]
    assert len(tables) >= 2 and not any(table.empty or table.isna().all(axis=None) for table in tables)
    assert any(isinstance(value, Figure) for value in shown)
    reports = [value for value in shown if isinstance(value, Path)]
    assert all(path == directory / "report.html" and path.stat().st_size > 50_000 for path in reports)
    assert bool(reports) == (name == "association")


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_it_is_short_and_without_outputs(name):
    notebook = nbformat.read(NOTEBOOKS[name], as_version=4)
    nbformat.validate(notebook)
    assert len(notebook.cells) <= MOST_CELLS
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert sum("parameters" in cell.metadata.get("tags", ()) for cell in code) == 1
