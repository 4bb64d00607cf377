"""The main tables of four papers, laid out as theirs, with the numbers of a result."""

from .table import FORMATS, PaperTable, render

__all__ = ["FORMATS", "PaperTable", "render"]
