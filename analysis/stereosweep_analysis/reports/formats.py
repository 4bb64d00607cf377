"""Tables as text: CSV with all digits, Markdown and LaTeX (booktabs) as they stand in a paper."""

import csv
import io
import math

from .tables import cell_text

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "\u2212": "$-$", "\u2013": "--", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


def markdown_cell(text):
    """The text as it stands, in GitHub's Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|~$&#" else sign for sign in text)


def latex_cell(text):
    """The text as it stands, in LaTeX; what would be an argument of the line before is none."""
    escaped = "".join(LATEX.get(sign, sign) for sign in text)
    return "{}" + escaped if escaped.startswith(("[", "*")) else escaped


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
        return "| " + " | ".join(map(markdown_cell, cells)) + " |"

    sides = ["---" if column.is_text else "---:" for column in table.columns]
    head = [line([column.title for column in table.columns]), "| " + " | ".join(sides) + " |"]
    caption, note = markdown_cell(table.caption), markdown_cell(_note(table))
    return "\n".join([f"{caption}\n", *head, *map(line, _cells(table)), f"\n{note}"]).rstrip() + "\n"


def to_latex(table):
    """A tabular for the package booktabs, its caption and note as comments."""

    def line(cells):
        return " & ".join(map(latex_cell, cells)) + r" \\"

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
