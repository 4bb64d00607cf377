"""A table of a paper as text, CSV, Markdown or LaTeX. Labels may hold anything."""

import csv
import io
import math
import textwrap
from typing import NamedTuple

from ..reports.formats import latex_cell, markdown_cell
from ..tables import WIDTH, cut
from ..tables import render as render_text

FORMATS = ("text", "csv", "markdown", "latex")

LONGEST = 40  # of a cell in text: numbers must stay in sight


class PaperTable(NamedTuple):
    """`number`: of the paper's table; `rows`: a cell for each column; None and NaN: no such number. `labels`: columns
    from the left that name a row, 0: all texts from the left. `paper_columns`: numbers behind them that the paper's own
    table has and that stand side by side where there are several runs, 0: all."""

    number: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple]
    note: str = ""
    labels: int = 0
    paper_columns: int = 0


def _rounded(cell):
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "-"
    if isinstance(cell, float):
        return f"{cell:.1e}" if 0 < abs(cell) < 1e-3 else f"{cell:.3f}"
    return " ".join(str(cell).split())


def _text_lines(table, cells):
    """Columns that do not fit beside the first ones stand below, with the row's labels again."""
    lines = [f"{table.number}: {table.title}", ""]
    shown = [[cut(cell, LONGEST) for cell in row] for row in [list(table.columns), *cells]]
    for columns in _column_blocks(shown, _num_labels(table)):
        head, *rows = ([row[column] for column in columns] for row in shown)
        lines += [*render_text(head, rows), ""]
    return [*lines[:-1], *textwrap.wrap(table.note, WIDTH)]


def _column_blocks(rows, labels):
    """Columns of each block of lines of at most WIDTH: the first `labels` ones, and as many others as fit."""
    widths = [2 + max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    blocks = [list(range(labels))]
    for column in range(labels, len(widths)):
        if len(blocks[-1]) > labels and sum(widths[other] for other in [*blocks[-1], column]) > WIDTH + 2:
            blocks.append(list(range(labels)))
        blocks[-1].append(column)
    return blocks


def _markdown_lines(table, cells):
    texts = _num_texts(table)
    rule = ["---" if place < texts else "---:" for place in range(len(table.columns))]
    rows = [[markdown_cell(cell) for cell in row] for row in [list(table.columns), *cells]]
    head = f"**{markdown_cell(f'{table.number}: {table.title}')}**"
    note = ["", markdown_cell(table.note)] if table.note else []
    return [head, "", *(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]]), *note]


def _latex_lines(table, cells):
    texts = _num_texts(table)
    columns = "l" * texts + "r" * (len(table.columns) - texts)
    rows = [" & ".join(map(latex_cell, row)) + r" \\" for row in [list(table.columns), *cells]]
    caption = latex_cell(f"{table.title}. {table.note}" if table.note else table.title)
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


def _num_labels(table):
    return table.labels or _num_texts(table)


def _csv_text(tables):
    """One row a number or text, with all digits: table, its row's labels, column, value (empty: there is none)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("table", "row", "column", "value"))
    for table in tables:
        labels = _num_labels(table)
        for row in table.rows:
            label = " / ".join(row[:labels])
            for column, cell in zip(table.columns[labels:], row[labels:], strict=True):
                is_none = cell is None or (isinstance(cell, float) and not math.isfinite(cell))
                writer.writerow((table.number, label, column, "" if is_none else cell))
    return out.getvalue()


def side_by_side(runs):
    """Of several runs, [(name, tables)]: tables of the same number and title as one, the papers' columns of each run
    beside each other. A table of texts, and one that only one run has, stays as it is, with the run in its title."""
    found = {}
    for name, tables in runs:
        for table in tables:
            found.setdefault((table.number, table.title), []).append((name, table))
    made = []
    for of_runs in found.values():
        if len(of_runs) == 1 or any(_has_texts(table) for _, table in of_runs):
            made += [table._replace(title=f"{table.title} ({name})") for name, table in of_runs]
        else:
            made.append(_joined(of_runs))
    return made


def _has_texts(table):
    return _num_labels(table) < _num_texts(table) or any(
        isinstance(cell, str) for row in table.rows for cell in row[_num_labels(table) :]
    )


def _joined(of_runs):
    first = of_runs[0][1]
    labels = _num_labels(first)
    parts = []
    for name, table in of_runs:
        end = labels + table.paper_columns if table.paper_columns else len(table.columns)
        heads = [f"{name}: {column}" for column in table.columns[labels:end]]
        parts.append((heads, {row[:labels]: row[labels:end] for row in table.rows}))
    names = dict.fromkeys(name for _, cells in parts for name in cells)
    rows = [
        (*name, *(cell for heads, cells in parts for cell in cells.get(name, (None,) * len(heads)))) for name in names
    ]
    columns = (*first.columns[:labels], *(head for heads, _ in parts for head in heads))
    return first._replace(columns=columns, rows=rows, labels=labels, paper_columns=0)


def render(tables, form):
    """All tables as one text in one of FORMATS."""
    if form == "csv":
        return _csv_text(tables)
    lines_of = {"text": _text_lines, "markdown": _markdown_lines, "latex": _latex_lines}[form]
    parts = ["\n".join(lines_of(table, [[_rounded(cell) for cell in row] for row in table.rows])) for table in tables]
    head = "% \\usepackage{booktabs,longtable}\n" if form == "latex" else ""
    return head + "\n\n".join(parts) + "\n"
