"""What a report is made of: sections of paragraphs, pictures, tables and facts; plain values, no HTML."""

from typing import NamedTuple

from matplotlib.figure import Figure


class Paragraph(NamedTuple):
    text: str
    kind: str = ""  # "": plain; "warning"; "code": as it stands, in letters of one width


class Picture(NamedTuple):
    """`caption`: what is seen, in words, and what is not drawn; `cells`: of a heat map, [row][column] (subject,
    item)."""

    figure: Figure
    title: str
    caption: str
    cells: list[list[tuple[str, str]]] = []  # noqa: RUF012, nothing changes it


def picture_of(drawn, title, caption):
    """The picture of what a function of `pictures` has drawn; the caption says what is left out."""
    return Picture(drawn.figure, title, f"{caption} {drawn.left_out}".strip())


class Facts(NamedTuple):
    rows: list[tuple[str, str]]


class Points(NamedTuple):
    rows: list[str]
    kind: str = ""  # "": plain; "answer": what was asked for; "warning"


class Folded(NamedTuple):
    """Shown on request."""

    title: str
    blocks: list


class Section(NamedTuple):
    """`name`: of the anchor, unique in the page; `fold`: how it stands in the page: "open", "closed" (both fold), or
    "head", which does not fold; `run`: place of the run that it is about (None: all). Its blocks may be sections."""

    name: str
    title: str
    blocks: list
    fold: str = "closed"
    run: int | None = None
