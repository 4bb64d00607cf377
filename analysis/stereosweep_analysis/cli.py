"""python -m stereosweep_analysis report DIR... [--out FILE.html]
python -m stereosweep_analysis pictures DIR... [--format pdf|png|svg] [--measure NAME...] [--out DIR]
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

import matplotlib

from . import convert, text_commands
from .answers import read_answers, write_answers
from .glossary import glossary, matching
from .open import ResultError
from .papers import command as paper_command
from .reports import command as report_command


def _parser():
    parser = argparse.ArgumentParser(prog="stereosweep_analysis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
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
