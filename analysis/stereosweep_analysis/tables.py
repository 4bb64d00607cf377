"""Tables of findings, papers and texts: columns and rows once; as text, CSV, Markdown, LaTeX, cells of a page."""

import argparse
import csv
import io
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .open import PathLike, ResultError

WIDTH = 100
ROUNDING = 1e-10  # of the largest of a value and its ends
LONGEST = 40  # letters of a cell of text: numbers must stay in sight
MOST_ROWS = 1500  # of one table in a page; what is left out is counted
MINUS = "\u2212"
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    MINUS: "$-$", "\u2013": "--", "|": r"\textbar{}", '"': r"\textquotedbl{}", "\u2026": r"\ldots{}",
    "\u00b7": r"$\cdot$", "\u00d7": r"$\times$", "\u2264": r"$\leq$", "\u2265": r"$\geq$", "\u00b1": r"$\pm$",
}  # fmt: skip
LATEX_HEAD = "\\usepackage[T1]{fontenc}\\usepackage{array,booktabs,longtable}"
LATEX_LINE = 345.0  # points of a line of the class article
LATEX_GAP = 4.0  # between two columns
LATEX_TEXT = 110.0  # of a column of texts, unless a word is longer
LONGEST_WORD = 13  # letters that are not broken
# Points of letters in Computer Modern of 8 points
LATEX_WIDTHS = dict.fromkeys("iljI.,:;|!'", 3.0) | dict.fromkeys("frt()[]-/ ", 3.9)
LATEX_WIDTHS |= dict.fromkeys("mwMW@%_~<>+=\u2212\u2026", 8.8)


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
    draw zero. `name`, `of`: its array in the file, and those that it belongs to."""

    title: str
    definition: str = ""
    kind: str = "text"  # text, long (whole texts), number, p
    role: str = ""
    is_difference: bool = False
    name: str = ""
    of: tuple[str, ...] = ()

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


def cut_table(table: Any, most: int = MOST_ROWS, why: str = "see stereosweep-analysis table") -> Any:
    """The first rows of a Table or PaperTable; the note says how many are left out."""
    left_out = len(table.rows) - most
    if left_out <= 0:
        return table
    note = f"{table.note} {left_out:,} further rows are not shown: {why}.".strip()
    return table._replace(rows=table.rows[:most], note=note)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _digits(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".replace("-", MINUS)


def number_text(value: float | None, size: float = 0.0) -> str:
    """At least three significant digits, integers whole; without a number "none", or why there is none. `size`: the
    largest of a value and its ends, of which this is one: what is far smaller is zero within rounding."""
    if value is None or not math.isfinite(value):
        return getattr(value, "reason", "none")
    if abs(value) < ROUNDING * size:
        value = 0.0
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


def row_texts(row: Sequence[object], columns: Sequence[Column]) -> list[str]:
    """The cells as they stand in a page."""
    owners = [(column.name, *column.of)[column.role != "value" :][:1] for column in columns]
    sizes: dict[tuple[str, ...], float] = {}
    for value, column, owner in zip(row, columns, owners, strict=True):
        if column.role in ("value", "low", "high") and isinstance(value, int | float) and math.isfinite(value):
            sizes[owner] = max(sizes.get(owner, 0.0), abs(value))
    return [
        cell_text(value, column, sizes.get(owner, 0.0) if column.kind == "number" else 0.0)
        for value, column, owner in zip(row, columns, owners, strict=True)
    ]


def cell_text(value: object, column: Column, size: float = 0.0) -> str:
    if column.kind == "long":
        return str(value)
    if isinstance(value, int | float) or (value is None and not column.is_text):
        return p_text(value) if column.kind == "p" else number_text(value, size)
    return "" if value is None else " ".join(str(value).split())


def _cells(table: Table) -> list[list[str]]:
    """Head and rows as texts of one line."""
    rows = [[" ".join(text.split()) for text in row_texts(row, table.columns)] for row in table.rows]
    return [[column.title for column in table.columns], *rows]


def _note(table: Table) -> str:
    defined = (f"{column.title}: {column.definition}." for column in table.columns if column.definition)
    return " ".join([*table.note.split(), *" ".join(defined).split()])


def _blocks(labels: int, widths: Sequence[float], line: float) -> list[list[int]]:
    """Places of the columns of each part of a table that is wider than a line; each part has the labels."""
    blocks = [list(range(labels))]
    for place in range(labels, len(widths)):
        if len(blocks[-1]) > labels and sum(widths[other] for other in [*blocks[-1], place]) > line:
            blocks.append(list(range(labels)))
        blocks[-1].append(place)
    return blocks


def text_lines(table: Table, most: int | None = None) -> list[str]:
    """Lines of at most WIDTH columns: what does not fit stands below, with the row's labels again. `most`: rows that
    are printed; a last line says how many are not."""
    shown = table._replace(rows=table.rows[:most])
    rows = [[cut(cell, LONGEST).replace(MINUS, "-") for cell in row] for row in _cells(shown)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    lines: list[str] = []
    for block in _blocks(table.labels, [width + 2 for width in widths], WIDTH + 2):
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
    """The text as it stands, in LaTeX, with places to break in long words; what would be an argument of the line before
    is none."""
    parts = (part for word in re.split("( )", text) for part in textwrap.wrap(word, LONGEST_WORD) or [word])
    signs = ("".join(LATEX.get(sign, sign) for sign in part) for part in parts)
    escaped = r"\allowbreak{}".join(signs).replace(r"\allowbreak{} \allowbreak{}", " ")
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped


def to_latex(table: Table) -> str:
    """Longtables that fit the text of a page of the class article: columns that do not stand in a further table, with
    the labels again. It needs LATEX_HEAD."""

    def width_of(text: str) -> float:  # about, rather too wide
        return sum(LATEX_WIDTHS.get(sign, 7.3 if sign.isupper() else 4.9) for sign in text)

    rows, widths, most = _cells(table), [], LATEX_LINE / 3
    for place, column in enumerate(table.columns):
        words = [word[:LONGEST_WORD] for row in rows for word in row[place].split(" ")]
        whole = max(width_of(row[place]) for row in rows) if column.is_text else 0.0
        widths.append(min(max(12.0, min(whole, LATEX_TEXT), *map(width_of, words)), most))
    labels = sum(widths[: table.labels]) + LATEX_GAP * table.labels
    scale = min(1.0, 2 * most / labels) if labels else 1.0
    widths = [width * scale if place < table.labels else width for place, width in enumerate(widths)]
    blocks = _blocks(table.labels, [width + LATEX_GAP for width in widths], LATEX_LINE)
    parts = [_longtable(table, rows, block, widths, number) for number, block in enumerate(blocks)]
    return "{\\footnotesize\\setlength{\\tabcolsep}{2pt}\n" + "".join(parts) + "}\n"


def _longtable(table: Table, rows: list[list[str]], places: list[int], widths: list[float], number: int) -> str:
    sides = "".join(
        rf">{{\{'raggedright' if table.columns[place].is_text else 'raggedleft'}\arraybackslash\hspace{{0pt}}}}"
        f"p{{{widths[place]:.1f}pt}}"
        for place in places
    )
    head, *body = (" & ".join(latex_cell(row[place]) for place in places) + r" \\" for row in rows)
    text = f"{table.caption} (further columns)" if number else ". ".join(filter(None, (table.caption, _note(table))))
    heads = [r"\toprule", head, r"\midrule"]
    start = [rf"\begin{{longtable}}{{{sides}}}", rf"\caption{{{latex_cell(text)}}}\\", *heads, r"\endfirsthead"]
    return "\n".join([*start, *heads, r"\endhead", r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"]) + "\n"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What a command may print of a table."""
    parser.add_argument("--top", type=int, metavar="N", help="only the first N rows of each table")
    parser.add_argument("--columns", nargs="+", metavar="NAME", help="only these columns, and the labels of rows")


def chosen(table: Any, top: int | None, columns: Sequence[str] | None) -> Any:
    """The Table or PaperTable with its first rows and some of its columns. Raises ResultError where it has none."""
    table = table if top is None else cut_table(table, top, "--top")
    if not columns:
        return table
    titles = [column if isinstance(column, str) else column.title for column in table.columns]
    labels = getattr(table, "num_labels", table.labels)
    kept = [place for place, title in enumerate(titles) if place < labels or title in columns]
    if len(kept) == labels:
        raise ResultError(f"no column {', '.join(columns)}: the table has {', '.join(titles[labels:])}")
    picked = table._replace(labels=labels, columns=[table.columns[place] for place in kept])
    return picked._replace(rows=[tuple(row[place] for place in kept) for row in table.rows])


FORMATS = {
    "text": to_text, "csv": to_csv, "csv-as-is": partial(to_csv, form="csv-as-is"), "markdown": to_markdown,
    "latex": to_latex,
}  # fmt: skip
