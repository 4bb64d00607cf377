"""python -m stereosweep_analysis figures DIR [--subjects all] [--planted] --out DIR
python -m stereosweep_analysis report DIR... [--out FILE.html]
python -m stereosweep_analysis pictures DIR... [--format pdf|png|svg] [--out DIR]
python -m stereosweep_analysis table DIR... [--what scores] [--format csv|markdown|latex]
python -m stereosweep_analysis paper cao2022|guo2021|winoidentity|stereomap DIR... [--only TABLE...] [--out FOLDER]
python -m stereosweep_analysis answers FILE.json TABLE.tsv
python -m stereosweep_analysis keywords DIR --dictionary FILE [--mapping FILE] [--by group|cluster] [--output DIR]
python -m stereosweep_analysis reasons DIR --model DIR [--conversation LABEL] [--by group|cluster] [--output DIR]
python -m stereosweep_analysis convert DIR [--out DIR]
python -m stereosweep_analysis glossary [WORD...]"""

import argparse
import sys
import textwrap
from pathlib import Path

import matplotlib

from . import convert, drawings, text_commands
from .answers import read_answers, write_answers
from .forest import forest
from .glossary import glossary, matching
from .open import ResultError, open_statistics
from .papers import command as paper_command
from .reports import command as report_command


def _parser():
    parser = argparse.ArgumentParser(prog="stereosweep_analysis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("figures", help="heat map, and scatter against ratings; forest of WEAT tests")
    draw.add_argument("directory", help="run directory or PROBE.stats.h5")
    draw.add_argument("--planted", action="store_true", help="the ratings are what a planted model was trained on")
    draw.add_argument("--measure", help="a label of the score table, as 'ilps_star prior_word'; default: recommended")
    draw.add_argument(
        "--subjects", choices=drawings.SUBJECTS,
        help="rows of the heat map; default: groups, or intersections where there are no groups",
    )  # fmt: skip
    draw.add_argument("--out", type=Path, help="default: beside the statistics")
    draw.set_defaults(action=draw_figures)
    answers = commands.add_parser("answers", help="table of single answers from {annotator: {group: {pair: rating}}}")
    answers.add_argument("file", help="JSON file, as data_full.json of Cao et al.")
    answers.add_argument("table", help="where to write the table")
    answers.set_defaults(action=make_answers)
    words = commands.add_parser("glossary", help="what measures, axes, statuses and numbers of tables mean")
    words.add_argument("words", nargs="*", metavar="WORD", help="a name or a part of one; default: all")
    words.set_defaults(action=print_glossary)
    text_commands.add_parsers(commands)
    convert.add_parser(commands)
    report_command.add_parsers(commands)
    paper_command.add_parser(commands)
    return parser


def draw_figures(arguments):
    statistics = open_statistics(arguments.directory)
    directory = Path(arguments.directory)
    out = arguments.out or (directory if directory.is_dir() else directory.parent)
    made = {}
    measure = arguments.measure or ("mean_score" in statistics and drawings.default_measure(statistics))
    if drawings.is_contexts(statistics):
        has_words = measure and drawings.mean_scores(statistics, measure).size  # beside tests of two target sets
        if "weat" in statistics or not has_words:
            made["forest"] = forest(statistics)
        if not has_words:
            return drawings.save_figures(made, out)
    measure = measure or drawings.default_measure(statistics)
    made |= drawings.heat_maps(statistics, measure, arguments.subjects)
    ratings = drawings.people_means(statistics) if "people_mean" in statistics else None
    if ratings is not None:
        name, draw = ("recovery", drawings.recovery_scatter) if arguments.planted else ("human", drawings.human_scatter)
        made[name] = draw(statistics, ratings, measure)
    drawings.save_figures(made, out)
    if ratings is None:
        print("no ratings: no scatter (ask with 'statistics.people={ratings: TABLE}')")


def make_answers(arguments):
    rows = read_answers(arguments.file)
    write_answers(rows, arguments.table)
    print(f"{arguments.table}: {len(rows)} answers of {len({row[0] for row in rows})} annotators")


def print_glossary(arguments):
    found = matching(arguments.words)
    if not found:
        raise ResultError(f"the glossary has no {' or '.join(arguments.words)}; it has {len(glossary())} other names")
    for (kind, name), entry in found.items():
        title = "" if entry.title == name else f" ({entry.title})"
        print(f"{name}{title}, {kind}")
        print(textwrap.fill(entry.definition, 96, initial_indent="  ", subsequent_indent="  "))


def main(arguments=None):
    matplotlib.use("Agg")  # no display where jobs run
    try:
        parsed = _parser().parse_args(arguments)
        parsed.action(parsed)
    except (ResultError, OSError) as error:
        print(f"stereosweep_analysis: {error}", file=sys.stderr)
        return 1
    return 0
