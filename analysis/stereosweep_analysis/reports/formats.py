"""Tables as text: CSV with all digits, Markdown and LaTeX (booktabs) as they stand in a paper."""

import csv
import io
import math

from .tables import cell_text

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "\u2212": "$-$", "\u2013": "--",
}  # fmt: skip


def to_csv(table):
    """One line a row, numbers with all their digits, an empty cell where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.title for column in table.columns)
    writer.writerows([_raw(value) for value in row] for row in table.rows)
    return text.getvalue()


def _raw(value):
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else value


def _cells(table):
    return [[" ".join(cell_text(*pair).split()) for pair in zip(row, table.columns, strict=True)] for row in table.rows]


def to_markdown(table):
    """A table of GitHub's Markdown, its caption above and its note below."""

    def line(cells):
        return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |"

    sides = ["---" if column.is_text else "---:" for column in table.columns]
    head = [line([column.title for column in table.columns]), "| " + " | ".join(sides) + " |"]
    return "\n".join([f"{table.caption}\n", *head, *map(line, _cells(table)), f"\n{_note(table)}"]).rstrip() + "\n"


def to_latex(table):
    """A tabular for the package booktabs, its caption and note as comments."""

    def line(cells):
        return " & ".join("".join(LATEX.get(letter, letter) for letter in cell) for cell in cells) + r" \\"

    sides = "".join("l" if column.is_text else "r" for column in table.columns)
    head = [
        f"\\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        line([column.title for column in table.columns]),
        r"\midrule",
    ]
    comments = [f"% {text}" for text in (table.caption, _note(table)) if text]
    return "\n".join([*comments, *head, *map(line, _cells(table)), r"\bottomrule", r"\end{tabular}"]) + "\n"


def _note(table):
    defined = (f"{column.title}: {column.definition}." for column in table.columns if column.definition)
    return " ".join([*table.note.split(), *" ".join(defined).split()])


FORMATS = {"csv": to_csv, "markdown": to_markdown, "latex": to_latex}
