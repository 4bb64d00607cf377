"""stereosweep-analysis paper cao2022|guo2021|winoidentity|stereomap DIR"""

from ..open import open_statistics
from . import cao2022, guo2021, stereomap, winoidentity
from .table import FORMATS, render

PAPERS = {"cao2022": cao2022, "guo2021": guo2021, "winoidentity": winoidentity, "stereomap": stereomap}


def add_parser(commands):
    parser = commands.add_parser("paper", help="a paper's main tables with the numbers of a result")
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("directory", help="run directory or PROBE.stats.h5")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.set_defaults(action=show)


def show(arguments):
    with open_statistics(arguments.directory) as statistics:
        tables = PAPERS[arguments.paper].tables(statistics)
    print(render(tables, arguments.format), end="")
