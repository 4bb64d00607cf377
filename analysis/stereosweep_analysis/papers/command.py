"""stereosweep-analysis paper cao2022|guo2021|winoidentity|stereomap DIR [DIR...]"""

import sys
from pathlib import Path

from ..drawings import save_figures
from ..open import ResultError, open_statistics
from ..reports.runs import RESOLVED_JOB
from ..tables import FORMATS
from . import cao2022, guo2021, stereomap, winoidentity
from .layout import lay_out
from .table import render, side_by_side

PAPERS = {"cao2022": cao2022, "guo2021": guo2021, "winoidentity": winoidentity, "stereomap": stereomap}


def add_parser(commands):
    parser = commands.add_parser("paper", help="a paper's tables with the numbers of one or several results")
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument(
        "directories", nargs="+", metavar="DIR", help="run directory or PROBE.stats.h5; several: a column for each"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="numbers of the paper's tables; default: all")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="draw the paper's figures, too")
    parser.set_defaults(action=show)


def _job_text(path):
    """The resolved job beside the statistics; "" where there is none."""
    path = Path(path)
    job = (path if path.is_dir() else path.parent) / RESOLVED_JOB
    return job.read_text(encoding="utf-8") if job.is_file() else ""


def _draw(statistics, layouts, numbers, folder):
    for layout in layouts:
        if layout.draw and layout.numbers in numbers:
            save_figures(layout.draw(statistics), folder)


def show(arguments):
    runs, missing = [], []
    for directory in arguments.directories:
        with open_statistics(directory) as statistics:
            made, lines = lay_out(PAPERS[arguments.paper].LAYOUTS, statistics, _job_text(directory))
            runs.append((str(statistics.attrs.get("title") or directory), made))
            if arguments.out:
                folder = arguments.out / Path(directory).name if len(arguments.directories) > 1 else arguments.out
                _draw(statistics, PAPERS[arguments.paper].LAYOUTS, {table.number for table in made}, folder)
            missing += [line for line in lines if line not in missing]
    tables = runs[0][1] if len(runs) == 1 else side_by_side(runs)
    if arguments.only:
        known = dict.fromkeys(table.number for table in tables)
        if lacking := [number for number in arguments.only if number not in known]:
            raise ResultError(f"no table {', '.join(lacking)}: the result fills {', '.join(known)}")
        tables, missing = [table for table in tables if table.number in arguments.only], []
    print(render(tables, arguments.format), end="")
    for line in missing:
        print(line, file=sys.stderr)
