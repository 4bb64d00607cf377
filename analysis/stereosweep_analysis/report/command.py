"""`report DIR... [--out FILE.html]`"""

import os
import shutil
from pathlib import Path

from .page import make_page
from .runs import open_runs


def program():
    """The program that computes missing statistics: $STEREOSWEEP_PROGRAM, else that of the path, or None."""
    return os.environ.get("STEREOSWEEP_PROGRAM") or shutil.which("stereosweep")


def write_report(paths, out=None):
    """One HTML file about one or several runs; returns its path. Default: report.html in the first run's directory.

    Raises ResultError, OSError.
    """
    first = Path(paths[0]) if paths else Path()
    out = Path(out) if out else (first if first.is_dir() else first.parent) / "report.html"
    text = make_page(open_runs(paths, program()))
    unfinished = out.with_name(out.name + ".part")
    unfinished.write_text(text, encoding="utf-8", errors="replace")
    unfinished.replace(out)
    return out


def add_parser(commands):
    """The command `report` on the package's command line."""
    parser = commands.add_parser("report", help="one HTML file: what was asked, of what model, and what was found")
    parser.add_argument("directories", nargs="+", metavar="DIR", help="run directory or PROBE.stats.h5")
    parser.add_argument("--out", type=Path, help="default: report.html in the first directory")
    parser.set_defaults(action=lambda arguments: print(write_report(arguments.directories, arguments.out)))
