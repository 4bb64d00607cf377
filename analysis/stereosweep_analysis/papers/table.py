"""A table of a paper, and those of several runs side by side. Labels may hold anything."""

from typing import NamedTuple

from ..tables import FORMATS, LATEX_HEAD, Column, Table, csv_text


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

    @property
    def num_texts(self):
        """Columns from the left whose cells are texts."""
        is_text = (all(isinstance(row[place], str) for row in self.rows) for place in range(len(self.columns)))
        return next((place for place, holds in enumerate(is_text) if not holds), len(self.columns))

    @property
    def num_labels(self):
        return self.labels or self.num_texts

    def table(self):
        texts = self.num_texts
        columns = [
            Column(title, kind="text" if place < texts else "p" if _is_p(title) else "number")
            for place, title in enumerate(self.columns)
        ]
        return Table(f"{self.number}: {self.title}", columns, self.rows, self.note, self.num_labels)


def _is_p(title):
    return "p" in (title.split(" ")[0], title.split(" ")[-1])


def _long_rows(tables):
    """A row for each number or text: table, its row's labels, column, value."""
    for table in tables:
        labels = table.num_labels
        for row in table.rows:
            for column, cell in zip(table.columns[labels:], row[labels:], strict=True):
                yield table.number, " / ".join(row[:labels]), column, cell


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
    return table.num_labels < table.num_texts or any(
        isinstance(cell, str) for row in table.rows for cell in row[table.num_labels :]
    )


def _joined(of_runs):
    first = of_runs[0][1]
    labels = first.num_labels
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
    """All tables as one text in one of FORMATS; CSV has a line for each number, since tables have different columns."""
    if form.startswith("csv"):
        return csv_text(("table", "row", "column", "value"), _long_rows(tables), form)
    text = "\n".join(FORMATS[form](table.table()) for table in tables)
    return f"% {LATEX_HEAD}\n{text}" if form == "latex" else text
