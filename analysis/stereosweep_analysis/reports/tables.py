"""Tables of a report: rows of texts and numbers, with what each column means."""

import math
from typing import NamedTuple

LEVEL = 0.05  # of adjusted p in words
MOST_ROWS = 1500  # of one table in the page; what is left out is counted


class Column(NamedTuple):
    """`definition`: one sentence below the table; empty where the title says it."""

    title: str
    definition: str = ""
    kind: str = "text"  # text, long (whole texts), number, p

    @property
    def is_text(self):
        return self.kind in ("text", "long")


def interval_columns(definition):
    """The two ends of an interval; `definition`: of which kind it is."""
    return (Column("low", definition, "number"), Column("high", "upper end of the same interval", "number"))


class Table(NamedTuple):
    """`rows`: a cell for each column; None and NaN are shown as "none"."""

    caption: str
    columns: tuple[Column, ...]
    rows: list[tuple]
    note: str = ""


def make_table(caption, columns, rows, note=""):
    """A Table of lists."""
    return Table(caption, tuple(columns), rows, note)


def cut_table(table):
    """The first MOST_ROWS rows; the note says how many are left out."""
    left_out = len(table.rows) - MOST_ROWS
    if left_out <= 0:
        return table
    note = f"{table.note} {left_out:,} further rows are not in this page: see stereosweep-analysis table.".strip()
    return table._replace(rows=table.rows[:MOST_ROWS], note=note)


def number_text(value):
    """Three significant digits, integers whole; "none" where there is no number."""
    if value is None or not math.isfinite(value):
        return "none"
    if value == int(value) and abs(value) < 1e15 and isinstance(value, int):
        return f"{value:,}".replace("-", "\u2212")
    size = abs(value)
    if size and (size < 1e-4 or size >= 1e6):
        text = f"{value:.2e}"
    else:
        decimals = 3 if size < 10 else 2 if size < 100 else 1
        text = f"{value:.{decimals}f}"
    return text.replace("-", "\u2212")


def interval_words(value, low, high):
    """The number and its interval, where there is one: "0.5, 0.3 to 0.7"."""
    ends = f", {number_text(low)} to {number_text(high)}" if math.isfinite(low) else ""
    return number_text(value) + ends


def p_text(value):
    """A p-value with three decimals; "none" where there is none."""
    if value is None or not math.isfinite(value):
        return "none"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def smallest_p_text(what, p):
    """Heads a list of what has the smallest adjusted p; says so where none of them is small."""
    if p <= LEVEL:
        return f"{what} with the smallest adjusted p:"
    return f"{what} with the smallest adjusted p, none of them at most {LEVEL}:"


def cell_text(value, column):
    """The cell as it stands in the page."""
    if column.is_text:
        return "" if value is None else str(value)
    return p_text(value) if column.kind == "p" else number_text(value)
