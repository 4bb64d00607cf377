"""Statements of the papers that can be recomputed: where the texts lie, how their tables are read, how a check is kept."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT / ".." / "shared"
CAPTION = re.compile(r"^(?:\d{4} )?(?:Table|Figure) [A-Z]?\d+:")


class Missing(Exception):
    """A text or a data set is not on this machine."""


@dataclasses.dataclass(frozen=True)
class Claim:
    place: str  # table or section of the paper
    what: str
    expected: object  # what this project says of it, in its documents
    recomputed: object
    paper: str = ""  # whether what the paper says of it holds: "holds", "fails", "" where it says nothing

    @property
    def agrees(self):
        return self.expected == self.recomputed


def shared(name):
    path = SHARED / name
    if not path.exists():
        raise Missing(f"{path} is not there")
    return path


def lines_of(name):
    return shared(f"papers/{name}.txt").read_text(encoding="utf-8").splitlines()


def above_caption(lines, name):
    """The lines between the caption "NAME:" and the caption before it."""
    end = next(i for i, line in enumerate(lines) if re.match(rf"(?:\d{{4}} )?{name}:", line))
    begin = next((i for i in range(end - 1, -1, -1) if CAPTION.match(lines[i])), -1)
    return lines[begin + 1 : end]


def number(text):
    """The number that a cell begins with, None without one."""
    found = re.match(r"-?\d*\.?\d+", text.strip())
    return float(found[0]) if found else None


def tab_rows(lines, cells):
    """{label: cells} of the rows with so many cells behind the label; cells are texts."""
    rows = {}
    for line in lines:
        label, *rest = (cell.strip() for cell in line.split("\t"))
        rest, beyond = rest[:cells], rest[cells:]
        if label and len(rest) == cells and not any(beyond) and any(number(cell) is not None for cell in rest):
            rows[label] = rest
    return rows


def decimals(values, digits=3):
    return " ".join(f"{value:.{digits}f}".replace("-0.", "-.").removeprefix("0") for value in values)
