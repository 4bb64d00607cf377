"""What a report is made of: sections of paragraphs, pictures, tables and facts; plain values, no HTML."""

from typing import NamedTuple

from matplotlib.figure import Figure

from ..tables import Table


class Paragraph(NamedTuple):
    text: str
    kind: str = ""  # "": plain; "warning"; "code": as it stands, in letters of one width


class Picture(NamedTuple):
    """`caption`: what is seen, in words; `more`: what a reader who cannot see it should know besides."""

    figure: Figure
    title: str
    caption: str
    more: str = ""


class Markup(NamedTuple):
    """A picture as trusted markup of `inline_svg`."""

    svg: str
    caption: str


class Facts(NamedTuple):
    rows: list[tuple[str, str]]


class Points(NamedTuple):
    rows: list[str]


class Folded(NamedTuple):
    """Shown on request."""

    title: str
    blocks: list


class Section(NamedTuple):
    """`name`: of the anchor, unique in the page."""

    name: str
    title: str
    blocks: list


KINDS = {
    Paragraph: "paragraph", Markup: "picture", Facts: "facts", Points: "points", Folded: "folded", Table: "table"
}  # fmt: skip


def kind_of(block):
    """What the page's template calls the block."""
    return KINDS[type(block)]
