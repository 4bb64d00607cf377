"""One self-contained HTML file about one or several runs of any probe."""

from .command import write_report as report

__all__ = ["report"]
