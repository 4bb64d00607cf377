"""stereosweep-analysis paper cao2022|guo2021|winoidentity|stereomap DIR [DIR...]"""

import sys
import textwrap
from pathlib import Path

from ..open import ResultError, open_statistics
from ..pictures.style import save
from ..reports.runs import resolved_job
from ..tables import FORMATS, WIDTH, add_options, chosen, latex_cell, markdown_cell
from ..views import own_warnings
from . import cao2022, guo2021, stereomap, winoidentity
from .layout import lay_out, of_measures
from .printed import CARD, card
from .table import render, side_by_side

PAPERS = {"cao2022": cao2022, "guo2021": guo2021, "winoidentity": winoidentity, "stereomap": stereomap}
SHOWN = 20  # rows of a card's tables above the paper's own


def add_parser(commands):
    parser = commands.add_parser("paper", help="a paper's tables, and its printed numbers, beside those of a result")
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument(
        "directories", nargs="+", metavar="DIR", help="run directory or PROBE.stats.h5; several: a column for each"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument(
        "--only", nargs="+", metavar="TABLE",
        help=f"numbers of the paper's tables, or '{CARD}': printed numbers beside ours (CSV: only so); default: all",
    )  # fmt: skip
    parser.add_argument("--measure", nargs="+", help="default: the recommended ones and those that the paper prints")
    add_options(parser)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="draw the paper's figures, too")
    parser.set_defaults(action=show)


def show(arguments):
    paper = PAPERS[arguments.paper]
    is_csv, only = arguments.format.startswith("csv"), arguments.only
    runs, cards, missing = [], [], []
    for directory in arguments.directories:
        with open_statistics(directory) as opened:
            job = resolved_job(directory)
            statistics, left_out = opened, []
            if arguments.measure or not is_csv:
                printed = getattr(paper, "PRINTED_MEASURES", ())
                statistics, left_out = of_measures(opened, arguments.measure, printed)
            made, lines = lay_out(paper.LAYOUTS, statistics, job)
            title = str(statistics.attrs.get("title") or directory)
            runs.append((title, made))
            if CARD in only if only else not is_csv:
                cards.append((title, card(arguments.paper, paper, opened, job)))
            if arguments.out:
                folder = arguments.out / Path(directory).name if len(arguments.directories) > 1 else arguments.out
                filled = {table.number for table in made}
                for layout in [one for one in paper.LAYOUTS if one.draw and one.numbers in filled]:
                    for name, figure in layout.draw(statistics).items():
                        save(figure, folder / f"{name}.png")
                        print(folder / f"{name}.png")
            lines = [*own_warnings(opened), *lines]
            lines += [f"measures that are not shown (--measure): {', '.join(left_out)}"] if left_out else []
            missing += [line for line in lines if line not in missing]
    tables = runs[0][1] if len(runs) == 1 else side_by_side(runs)
    if only:
        known = dict.fromkeys([*(table.number for table in tables), CARD])
        if lacking := [number for number in only if number not in known]:
            raise ResultError(f"no table {', '.join(lacking)}: the result fills {', '.join(known)}")
        tables, missing = [table for table in tables if table.number in only], []
    laid = [made._replace(title=f"{title}: {made.title}") if len(cards) > 1 else made
            for title, found in cards for made in found.laid]  # fmt: skip
    if not is_csv:
        print("".join(_opening(paper, title, found, arguments.format) for title, found in cards), end="")
        most = SHOWN if arguments.top is None and only != [CARD] else arguments.top
        laid = [chosen(made, most, None) for made in laid]
    tables = [chosen(made, arguments.top, arguments.columns) for made in tables]
    print(render([*laid, *tables], arguments.format), end="")
    for line in missing:
        print(textwrap.fill(line, WIDTH, subsequent_indent="  "), file=sys.stderr)


def _opening(paper, title, found, form):
    """What a card says, above its tables: a paragraph for each sentence."""
    cells = {"text": lambda line: textwrap.fill(line, WIDTH), "markdown": markdown_cell, "latex": latex_cell}
    return "".join(f"{cells[form](line)}\n\n" for line in (f"{title} beside {paper.TITLE}", *found.sentences))
