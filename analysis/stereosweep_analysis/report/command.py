"""The commands that show what was found: `report`, `pictures`, `table`."""

import os
import shutil
from pathlib import Path

import matplotlib.pyplot as plt

from ..open import ResultError
from .blocks import Picture
from .formats import FORMATS
from .page import make_page, report_sections
from .runs import open_comparison, open_runs
from .tables import Table

PICTURES = ("pdf", "png", "svg")
DOTS_PER_INCH = 300


def program():
    """The program that computes missing statistics: $STEREOSWEEP_PROGRAM, else that of the path, or None."""
    return os.environ.get("STEREOSWEEP_PROGRAM") or shutil.which("stereosweep")


def write_report(paths, out=None):
    """One HTML file about one or several runs; returns its path. Default: report.html in the first run's directory.

    Raises ResultError, OSError.
    """
    runs = open_runs(paths, program())
    out = Path(out) if out else _folder_of(paths[0]) / "report.html"
    unfinished = out.with_name(out.name + ".part")
    unfinished.write_text(make_page(runs, open_comparison(paths, program())), encoding="utf-8", errors="replace")
    unfinished.replace(out)
    return out


def write_pictures(paths, out=None, formats=("pdf",)):
    """The report's pictures as files, at the width of a page; returns [(path, caption)]. Default folder: that of the
    first run. Raises ResultError, OSError."""
    runs = open_runs(paths, program())
    folder = Path(out) if out else _folder_of(paths[0])
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for section in report_sections(runs, open_comparison(paths, program())):
        name = section.name if len(runs) > 1 else section.name.split("-", 1)[-1]
        pictures = [block for block in section.blocks if isinstance(block, Picture)]
        for number, picture in enumerate(pictures, start=1):
            stem = name if len(pictures) == 1 else f"{name}-{number}"
            for ending in formats:
                path = folder / f"{stem}.{ending}"
                with plt.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):  # letters stay letters
                    picture.figure.savefig(path, dpi=DOTS_PER_INCH)
                written.append((path, picture.caption))
            plt.close(picture.figure)
    return written


def tables_of(paths):
    """{name: Table} of the report, with all rows; NAME-2 is a section's second one. Raises ResultError."""
    runs = open_runs(paths, program())
    found = {}
    for section in report_sections(runs, open_comparison(paths, program())):
        name = section.name if len(runs) > 1 else section.name.split("-", 1)[-1]
        tables = [block for block in section.blocks if isinstance(block, Table)]
        found |= {name if number == 1 else f"{name}-{number}": table for number, table in enumerate(tables, start=1)}
        for block in section.blocks:
            if isinstance(block, Picture):
                plt.close(block.figure)
    return found


def _folder_of(path):
    path = Path(path)
    return path if path.is_dir() else path.parent


def _print_pictures(arguments):
    for path, caption in write_pictures(arguments.directories, arguments.out, arguments.format or ("pdf",)):
        print(f"{path}: {caption}")


def _print_table(arguments):
    tables = tables_of(arguments.directories)
    if arguments.what not in tables:
        raise ResultError(f"there is no table '{arguments.what}': there are {', '.join(tables)}")
    print(FORMATS[arguments.format](tables[arguments.what]), end="")


def add_parsers(commands):
    """The three commands on the package's command line."""
    report = commands.add_parser("report", help="one HTML file: what was asked, of what model, and what was found")
    report.add_argument("--out", type=Path, help="default: report.html in the first directory")
    report.set_defaults(action=lambda arguments: print(write_report(arguments.directories, arguments.out)))
    pictures = commands.add_parser("pictures", help="the report's pictures as files, at the width of a page")
    pictures.add_argument("--out", type=Path, help="a folder; default: the first directory")
    pictures.add_argument(
        "--format", choices=PICTURES, action="append", help="may be given several times; default: pdf"
    )
    pictures.set_defaults(action=_print_pictures)
    table = commands.add_parser("table", help="a table of the report as text, with all its rows")
    table.add_argument("--what", default="scores", help="scores (default), contrasts, tests, people, statuses, ...")
    table.add_argument("--format", choices=sorted(FORMATS), default="csv", help="default: csv, with all digits")
    table.set_defaults(action=_print_table)
    for parser in (report, pictures, table):
        parser.add_argument("directories", nargs="+", metavar="DIR", help="run directory or PROBE.stats.h5")
