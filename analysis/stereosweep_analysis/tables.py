"""Tables: aligned for a terminal, and as tidy CSV files."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from .open import PathLike

WIDTH = 100


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def signed(number: float | None) -> str:
    """With two digits; "none" where there is no number."""
    if number is None:
        return "none"
    return f"{number:+.2f}" if number else "0.00"


def render(columns: Sequence[str], rows: Sequence[Sequence[object]], most: int | None = None) -> list[str]:
    """Lines of at most 100 columns, cut where they must be: a column is set to the right if its first cell is a number.

    `most`: rows that are printed; a last line says how many are not.
    """
    shown = rows if most is None else rows[:most]
    cells = [[str(cell) for cell in row] for row in shown]
    widths = [max(len(line[place]) for line in [list(columns), *cells]) for place in range(len(columns))]
    is_right = [bool(shown) and not isinstance(shown[0][place], str) for place in range(len(columns))]
    lines = []
    for line in [list(columns), *cells]:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, is_right, strict=True)
        ]
        lines.append(cut("  ".join(parts).rstrip(), WIDTH))
    if len(shown) < len(rows):
        lines.append(f"... and {len(rows) - len(shown)} rows more (--rows, --output)")
    return lines


def _cell(value: object) -> object:
    if value is None:
        return ""
    return "; ".join(value) if isinstance(value, list) else value


def write_csv(folder: PathLike, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """One CSV file; None is an empty cell, a list is joined by "; ". Returns its path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in rows)
    return path
