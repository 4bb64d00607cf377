"""Tables of findings, papers and texts: columns and rows once; as text, CSV, Markdown, LaTeX, cells of a page."""

import csv
import io
import math
import textwrap
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .open import PathLike

WIDTH = 100
LONGEST = 40  # letters of a cell of text: numbers must stay in sight
MOST_ROWS = 1500  # of one table in a page; what is left out is counted
MINUS = "\u2212"
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    MINUS: "$-$", "\u2013": "--", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


class Missing(float):
    """A number that does not exist, and why not."""

    reason: str

    def __new__(cls, reason: str) -> "Missing":
        made = super().__new__(cls, "nan")
        made.reason = reason
        return made


class Column(NamedTuple):
    """`definition`: one sentence below the table; empty where the title says it. `role`: what it is to the number
    before it, as in a statistics file: value, low, high, n, p, adjusted; empty for labels. `is_difference`: pictures
    draw zero."""

    title: str
    definition: str = ""
    kind: str = "text"  # text, long (whole texts), number, p
    role: str = ""
    is_difference: bool = False

    @property
    def is_text(self) -> bool:
        return self.kind in ("text", "long")


class Table(NamedTuple):
    """`rows`: a cell for each column; None and NaN: no such number. `labels`: columns from the left that name a row."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]
    note: str = ""
    labels: int = 1

    def place_of(self, role: str) -> int | None:
        """Of the first column with this role."""
        return next((place for place, column in enumerate(self.columns) if column.role == role), None)


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def cut_table(table: Table, most: int = MOST_ROWS) -> Table:
    """The first rows; the note says how many are left out."""
    left_out = len(table.rows) - most
    if left_out <= 0:
        return table
    note = f"{table.note} {left_out:,} further rows are not in this page: see stereosweep-analysis table.".strip()
    return table._replace(rows=table.rows[:most], note=note)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _digits(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".replace("-", MINUS)


def number_text(value: float | None) -> str:
    """At least three significant digits, integers whole; without a number "none", or why there is none."""
    if value is None or not math.isfinite(value):
        return getattr(value, "reason", "none")
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    size = abs(value)
    if size and (size < 1e-4 or size >= 1e6):
        return f"{value:.2e}".replace("-", MINUS)
    return _digits(value, 5 if 0 < size < 1e-2 else 4 if 0 < size < 0.1 else 3 if size < 10 else 2 if size < 100 else 1)


def p_text(value: float | None) -> str:
    """A p with three decimals, a small one with its power of ten; "none" where there is none."""
    if value is None or not math.isfinite(value):
        return "none"
    if value < 1e-300:
        return "<1e\u2212300"  # an underflow, no certainty
    return _digits(value, 3) if value >= 1e-3 else f"{value:.1e}".replace("-", MINUS)


def cell_text(value: object, column: Column) -> str:
    """The cell as it stands in a page."""
    if column.kind == "long":
        return str(value)
    if isinstance(value, int | float) or (value is None and not column.is_text):
        return p_text(value) if column.kind == "p" else number_text(value)
    return "" if value is None else " ".join(str(value).split())


def _cells(table: Table) -> list[list[str]]:
    """Head and rows as texts of one line."""
    rows = [
        [" ".join(cell_text(*pair).split()) for pair in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    return [[column.title for column in table.columns], *rows]


def _note(table: Table) -> str:
    defined = (f"{column.title}: {column.definition}." for column in table.columns if column.definition)
    return " ".join([*table.note.split(), *" ".join(defined).split()])


def text_lines(table: Table, most: int | None = None) -> list[str]:
    """Lines of at most WIDTH columns: what does not fit stands below, with the row's labels again. `most`: rows that
    are printed; a last line says how many are not."""
    shown = table._replace(rows=table.rows[:most])
    rows = [[cut(cell, LONGEST).replace(MINUS, "-") for cell in row] for row in _cells(shown)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    labels = list(range(table.labels))
    blocks = [list(labels)]
    for place in range(table.labels, len(widths)):
        if len(blocks[-1]) > len(labels) and sum(widths[other] + 2 for other in [*blocks[-1], place]) > WIDTH + 2:
            blocks.append(list(labels))
        blocks[-1].append(place)
    lines: list[str] = []
    for block in blocks:
        lines += [""] * bool(lines)
        for row in rows:
            parts = (
                row[place].ljust(widths[place]) if table.columns[place].is_text else row[place].rjust(widths[place])
                for place in block
            )
            lines.append(cut("  ".join(parts).rstrip(), WIDTH))
    if len(shown.rows) < len(table.rows):
        lines.append(f"... and {len(table.rows) - len(shown.rows)} rows more (--rows, --output)")
    return lines


def render(columns: Sequence[str], rows: Sequence[Sequence[object]], most: int | None = None) -> list[str]:
    """Lines of a table of texts and numbers; numbers to the right."""
    kinds = ["number" if rows and not isinstance(rows[0][place], str) else "text" for place in range(len(columns))]
    made = [Column(title, kind=kind) for title, kind in zip(columns, kinds, strict=True)]
    return text_lines(Table("", made, rows), most)


def to_text(table: Table) -> str:
    lines = [table.caption, "", *text_lines(table), *textwrap.wrap(_note(table), WIDTH)]
    return "\n".join(lines) + "\n"


def _raw(value: object) -> object:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, list):
        return "; ".join(value)
    return repr(float(value)) if isinstance(value, float) else value


def _guarded(value: object) -> object:
    """A text that a spreadsheet would compute, with an apostrophe before it."""
    if not isinstance(value, str) or len(value) < 2 or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def csv_text(head: Iterable[str], rows: Iterable[Sequence[object]], form: str = "csv") -> str:
    """One line a row: numbers with all their digits, an empty cell where there is none, lists joined by "; ".

    A text that a spreadsheet would compute gets an apostrophe before it; `form` csv-as-is: it does not.
    """
    text = io.StringIO()
    guard = _guarded if form == "csv" else lambda value: value
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([guard(_raw(value)) for value in row] for row in [list(head), *rows])
    return text.getvalue()


def to_csv(table: Table, form: str = "csv") -> str:
    return csv_text((column.title for column in table.columns), table.rows, form)


def write_csv(folder: PathLike, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """One CSV file in the folder; returns its path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    path.write_text(csv_text(columns, rows), encoding="utf-8", newline="")
    return path


def markdown_cell(text: str) -> str:
    """The text as it stands, in GitHub's Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|~$&#" else sign for sign in text)


def to_markdown(table: Table) -> str:
    """A table of GitHub's Markdown, its caption above and its note below."""
    head, *rows = (f"| {' | '.join(map(markdown_cell, row))} |" for row in _cells(table))
    rule = " | ".join("---" if column.is_text else "---:" for column in table.columns)
    caption, note = markdown_cell(table.caption), markdown_cell(_note(table))
    return "\n".join([f"**{caption}**\n", head, f"| {rule} |", *rows, f"\n{note}"]).rstrip() + "\n"


def latex_cell(text: str) -> str:
    """The text as it stands, in LaTeX; what would be an argument of the line before is none."""
    escaped = "".join(LATEX.get(sign, sign) for sign in text)
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped


def to_latex(table: Table) -> str:
    """A longtable with its caption and note, for the packages booktabs and longtable."""
    head, *rows = (" & ".join(map(latex_cell, row)) + r" \\" for row in _cells(table))
    sides = "".join("l" if column.is_text else "r" for column in table.columns)
    caption = latex_cell(". ".join(text for text in (table.caption, _note(table)) if text))
    lines = [
        rf"\begin{{longtable}}{{{sides}}}", rf"\caption{{{caption}}}\\", r"\toprule", head, r"\midrule", r"\endhead",
        r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


FORMATS = {
    "text": to_text, "csv": to_csv, "csv-as-is": partial(to_csv, form="csv-as-is"), "markdown": to_markdown,
    "latex": to_latex,
}  # fmt: skip
