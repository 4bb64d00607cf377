"""The commands that show what was found: `report`, `pictures`, `table`."""

import sys
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from ..open import PathLike, ResultError, require_label
from ..pictures.style import save
from ..tables import FORMATS, WIDTH, Table, add_options, chosen
from ..views import own_warnings
from .blocks import Picture
from .page import make_page, report_sections
from .runs import folder_of, open_comparison, open_runs, with_names_of

PICTURES = ("pdf", "png", "svg")


def report(*paths: PathLike, out: PathLike | None = None) -> Path:
    """Writes one HTML file about one or several runs; returns its path. Default: report.html in the first directory.

    Raises ResultError, OSError.
    """
    runs, comparison = _open(paths)
    out = Path(out) if out else folder_of(paths[0]) / "report.html"
    unfinished = out.with_name(out.name + ".part")
    unfinished.write_text(make_page(runs, comparison), encoding="utf-8", errors="replace")
    unfinished.replace(out)
    return out


def _open(paths):
    first, *others = open_runs(paths)
    try:
        return with_names_of(open_comparison(paths), [first, *others])
    except ResultError as error:  # of several probes, or one result alone
        return [first._replace(beside=(*first.beside, f"The runs are not compared: {error}")), *others], None


def figures(*paths: PathLike) -> dict[str, Figure]:
    """{name: matplotlib Figure}: the report's pictures, as wide as a page. Raises ResultError."""
    return {name: picture.figure for name, picture in _blocks_of(_open(paths), Picture).items()}


def _blocks_of(opened, kind, measures=()):
    """{name: block} of one kind in the report: its section's name; NAME-2 is a section's second one. `opened`: runs
    and what compares them; `measures`: in place of the recommended ones."""
    runs, comparison = opened
    for run in runs if measures else ():
        for measure in measures:
            require_label(run.statistics, "measure", measure)
        run.statistics.attrs["recommended_measures"] = "\n".join(measures)
    found = {}
    for section in report_sections(runs, comparison):
        for block in section.blocks:
            if isinstance(block, Picture):
                plt.close(block.figure)  # it stays a figure, but pyplot forgets it
        name = section.name if len(runs) > 1 else section.name.split("-", 1)[-1]
        chosen = [block for block in section.blocks if isinstance(block, kind)]
        found |= {name if number == 1 else f"{name}-{number}": block for number, block in enumerate(chosen, start=1)}
    return found


def _write_pictures(arguments):
    folder = arguments.out or folder_of(arguments.directories[0])
    for name, picture in _blocks_of(_open(arguments.directories), Picture, arguments.measure or ()).items():
        for ending in arguments.format or ("pdf",):
            path = folder / f"{name}.{ending}"
            save(picture.figure, path)
            print(f"{path}: {picture.caption}")


def _print_table(arguments):
    runs, comparison = _open(arguments.directories)
    tables = _blocks_of((runs, comparison), Table, arguments.measure or ())
    what = arguments.what or next(name for name in ("scores", *tables) if name in tables)
    if what not in tables:
        raise ResultError(f"there is no table '{what}': there are {', '.join(tables)}")
    table = chosen(tables[what], arguments.top, arguments.columns)
    print(FORMATS[arguments.format](table), end="")
    warnings = dict.fromkeys(line for run in runs for line in own_warnings(run.statistics))
    for line in warnings:
        print(textwrap.fill(line, WIDTH, subsequent_indent="  "), file=sys.stderr)


def add_parsers(commands):
    """The three commands on the package's command line."""
    page = commands.add_parser("report", help="one HTML file: what was asked, of what model, and what was found")
    page.add_argument("--out", type=Path, help="default: report.html in the first directory")
    page.set_defaults(action=lambda arguments: print(report(*arguments.directories, out=arguments.out)))
    pictures = commands.add_parser("pictures", help="the report's pictures as files, at the width of a page")
    pictures.add_argument("--out", type=Path, help="a folder; default: the first directory")
    pictures.add_argument(
        "--format", choices=PICTURES, action="append", help="may be given several times; default: pdf"
    )
    pictures.set_defaults(action=_write_pictures)
    table = commands.add_parser("table", help="a table of the report as text, with all its rows")
    table.add_argument(
        "--what", help="scores, contrasts, tests, people, statuses, ...; default: scores (decisions where none are)"
    )
    table.add_argument("--format", choices=sorted(FORMATS), default="csv", help="default: csv, with all digits")
    add_options(table)
    table.set_defaults(action=_print_table)
    for parser in (pictures, table):
        parser.add_argument("--measure", nargs="+", help="in place of the recommended measures")
    for parser in (page, pictures, table):
        parser.add_argument("directories", nargs="+", metavar="DIR", help="run directory or PROBE.stats.h5")
