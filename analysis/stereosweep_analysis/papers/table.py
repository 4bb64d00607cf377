"""A table of a paper as text, CSV, Markdown or LaTeX. Labels may hold anything."""

import csv
import io
import math
import textwrap
from typing import NamedTuple

from ..reports.formats import LATEX
from ..tables import WIDTH, cut
from ..tables import render as render_text

FORMATS = ("text", "csv", "markdown", "latex")

LONGEST = 40  # of a cell in text: numbers must stay in sight

SIGNS = {**LATEX, "|": r"\textbar{}", '"': r"\textquotedbl{}"}


class PaperTable(NamedTuple):
    """`number`: of the paper's table; `rows`: a cell for each column, texts first; None and NaN: no such number."""

    number: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple]
    note: str = ""


def _rounded(cell):
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "-"
    if isinstance(cell, float):
        return f"{cell:.1e}" if 0 < abs(cell) < 1e-3 else f"{cell:.3f}"
    return " ".join(str(cell).split())


def _markdown(text):
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|~$&#" else sign for sign in text)


def _latex(text):
    escaped = "".join(SIGNS.get(sign, sign) for sign in text)
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped


def _text_lines(table, cells):
    lines = [
        f"{table.number}: {table.title}",
        "",
        *render_text(table.columns, [[cut(cell, LONGEST) for cell in row] for row in cells]),
    ]
    return [*lines, *textwrap.wrap(table.note, WIDTH)]


def _markdown_lines(table, cells):
    texts = _num_texts(table)
    rule = ["---" if place < texts else "---:" for place in range(len(table.columns))]
    rows = [[_markdown(cell) for cell in row] for row in [list(table.columns), *cells]]
    head = f"**{_markdown(f'{table.number}: {table.title}')}**"
    note = ["", _markdown(table.note)] if table.note else []
    return [head, "", *(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]]), *note]


def _latex_lines(table, cells):
    texts = _num_texts(table)
    columns = "l" * texts + "r" * (len(table.columns) - texts)
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in [list(table.columns), *cells]]
    caption = _latex(f"{table.title}. {table.note}" if table.note else table.title)
    return [
        r"\begin{longtable}{" + columns + "}", rf"\caption{{{caption}}}\\", r"\toprule", rows[0], r"\midrule",
        r"\endhead", r"\bottomrule", r"\endfoot", *rows[1:], r"\end{longtable}",
    ]  # fmt: skip


def _num_texts(table):
    """Columns from the left whose cells are texts."""
    for place in range(len(table.columns)):
        if not all(isinstance(row[place], str) for row in table.rows):
            return place
    return len(table.columns)


def _csv_text(tables):
    """One row a number, with all digits: table, its row's texts, column, value (empty: there is none)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("table", "row", "column", "value"))
    for table in tables:
        texts = _num_texts(table)
        for row in table.rows:
            label = " / ".join(row[:texts])
            for column, cell in zip(table.columns[texts:], row[texts:], strict=True):
                is_none = cell is None or not math.isfinite(cell)
                writer.writerow((table.number, label, column, "" if is_none else cell))
    return out.getvalue()


def render(tables, form):
    """All tables as one text in one of FORMATS."""
    if form == "csv":
        return _csv_text(tables)
    lines_of = {"text": _text_lines, "markdown": _markdown_lines, "latex": _latex_lines}[form]
    parts = ["\n".join(lines_of(table, [[_rounded(cell) for cell in row] for row in table.rows])) for table in tables]
    head = "% \\usepackage{booktabs,longtable}\n" if form == "latex" else ""
    return head + "\n\n".join(parts) + "\n"
