"""The commands on what models say of groups: keywords, reasons."""

from pathlib import Path

from . import interviews, keywords, reasons
from .dictionary import MALFORMED, read_dictionary, read_mapping
from .encoder import encode
from .open import ResultError, open_result, open_statistics
from .tables import cut, render, write_csv

TOP_DIMENSIONS = 5  # of a unit, as in StereoMap's figure 4
UNITS = ("group", "cluster")


def add_parsers(commands):
    words = commands.add_parser("keywords", help="keywords of an interview: coverage, dimensions, overlaps")
    _add_source(words)
    words.add_argument("--dictionary", required=True, help="table of words, dimensions and directions")
    words.add_argument("--mapping", help="your own table: word, tab, word of the dictionary")
    words.add_argument("--malformed", choices=MALFORMED, default="refuse", help="cells that cannot be read")
    words.add_argument("--lemmas", choices=keywords.LEMMAS, default="missing",
                       help="words that become lemmas: those the dictionary lacks, or all")  # fmt: skip
    words.add_argument("--phrases", choices=keywords.PHRASES, default="drop", help="keywords of several words")
    words.add_argument("--pair", nargs=2, action="append", metavar=("UNIT", "UNIT"), help="print their overlap")
    words.set_defaults(action=show_keywords)
    why = commands.add_parser("reasons", help="phrases that stand for the reasons or explanations of an interview")
    _add_source(why)
    why.add_argument("--model", required=True, help="checkpoint of a sentence encoder")
    why.add_argument("--program", help="default: $STEREOSWEEP_PROGRAM, else stereosweep")
    why.add_argument("--threads", type=int, default=1)
    default = reasons.Choice()
    why.add_argument("--choice", choices=reasons.CHOICES, default=default.method)
    why.add_argument("--top", type=int, default=default.top, help="phrases of each unit")
    why.add_argument("--diversity", type=float, default=default.diversity, help="of mmr: 0 to 1")
    why.add_argument("--candidates", type=int, default=default.candidates, help="of max_sum: nearest phrases looked at")
    why.add_argument("--least", type=int, default=default.least_reasons, help="reasons that must hold a phrase")
    why.set_defaults(action=show_reasons)


def _add_source(parser):
    parser.add_argument("directory", help="run directory or interview.h5")
    parser.add_argument("--by", choices=UNITS, default="group")
    parser.add_argument("--conversation", help="default: the first that asks for them")
    parser.add_argument("--turn", help="label of the question; default: the first that asks for them")
    parser.add_argument("--source", help="measure whose clusters are taken; default: rating")
    parser.add_argument("--clusters", help="your own table with the columns group, cluster; default: those of 'stats'")
    parser.add_argument("--rows", type=int, default=60, help="rows of a table that are printed")
    parser.add_argument("--output", type=Path, help="folder for CSV files with everything")


def read_said(arguments, *kinds):
    """({unit: texts}, lines that say where they come from); in reasons and texts the group's own name is "they"."""
    with open_result(arguments.directory) as result:
        turn = interviews.find_turn(result, kinds, arguments.conversation, arguments.turn)
        said, counts = interviews.said(result, turn)
        if turn.kind != "keywords":
            mentions = reasons.Mentions(interviews.group_names(result))
            said = {group: [mentions.replace(group, text) for text in texts] for group, texts in said.items()}
    if not said:
        raise ResultError(f"no {turn.kind} in '{turn.conversation}': {counts}")
    what, answers = turn.kind.removesuffix("s") + "s", "reasons" if turn.kind == "reasons" else "answers"
    statuses = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    where = f"conversation '{turn.conversation}', turn '{turn.label}'"
    lines = [cut(f"{sum(map(len, said.values())):,} {what} of {where}; {answers}: {statuses}", 100)]
    if arguments.by == "group":
        return said, lines
    if arguments.clusters:
        clusters, source = interviews.read_clusters(arguments.clusters), arguments.clusters
    else:
        with open_statistics(arguments.directory) as statistics:
            clusters, source = interviews.clusters_of(statistics, arguments.source)
    said, lost = interviews.in_clusters(said, clusters)
    if not said:
        raise ResultError(f"none of the groups is in a cluster of {source}")
    lines.append(cut(f"groups in no cluster: {len(lost)} {', '.join(lost)}".rstrip() + f"; clusters of {source}", 100))
    for cluster in sorted(set(clusters.values())):
        members = ", ".join(group for group, place in clusters.items() if place == cluster)
        lines.append(cut(f"  cluster {cluster}: {members}", 100))
    return said, lines


def _share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def show_keywords(arguments):
    dictionary = read_dictionary(arguments.dictionary, arguments.malformed)
    mapping = read_mapping(arguments.mapping) if arguments.mapping else {}
    said, sources = read_said(arguments, "keywords")
    normaliser = keywords.Normaliser(dictionary, mapping, arguments.lemmas, arguments.phrases)
    units, left_out = keywords.normalise(said, normaliser)
    for pair in arguments.pair or ():
        for unit in pair:
            if unit not in units:
                raise ResultError(f"no keywords of the {arguments.by} '{unit}'; there are {', '.join(units)}")
    stages = keywords.coverage(units, dictionary)
    found = keywords.directions(units, dictionary)
    last = stages[-1]
    print(
        f"{_share(last.covered, last.total)} of {last.total:,} keywords are in the dictionary"
        f" ({_share(last.distinct_covered, last.distinct)} of {last.distinct:,} different ones)"
    )
    print("\n".join(sources))
    print(f"left out: {left_out.total():,} of several words (--phrases keep; a mapping keeps those it names)")
    if dictionary.skipped:
        print(f"cells and rows of the dictionary passed over: {len(dictionary.skipped)}")
    print("\nCoverage")
    table = [
        (stage.stage, stage.distinct_covered, stage.distinct, _share(stage.distinct_covered, stage.distinct),
         stage.covered, stage.total, _share(stage.covered, stage.total))
        for stage in stages
    ]  # fmt: skip
    columns = ("after", "different", "of", "share", "said", "of", "share")
    print("\n".join(render(columns, table)))
    _print_dimensions(arguments, found)
    for pair in arguments.pair or ():
        _print_overlap(keywords.overlap(*pair, keywords.word_sets(units)))
    if arguments.output:
        _write_keywords(arguments, units, left_out, stages, found, dictionary)


def _print_dimensions(arguments, found):
    if not found:
        print("\nno keyword is in the dictionary: no dimensions")
        return
    print(f"\nThe {TOP_DIMENSIONS} dimensions with most words; direction (-1 to 1): each word once; as often as said")
    table = [
        (cut(row.unit, 30), row.dimension, row.words, f"{100 * row.share:.0f} %", row.direction, row.said,
         row.direction_by_frequency)
        for row in found
        if row.rank <= TOP_DIMENSIONS
    ]  # fmt: skip
    columns = (arguments.by, "dimension", "words", "share", "direction", "said", "by frequency")
    print("\n".join(render(columns, table, arguments.rows)))


def _print_overlap(found):
    jaccard = "none: no words" if found.jaccard is None else f"{found.jaccard:.3f}"
    print(f"\n{cut(found.left, 35)} and {cut(found.right, 35)}: Jaccard {jaccard}")
    for name, words in (
        ("shared", found.shared), (f"only {cut(found.left, 30)}", found.only_left),
        (f"only {cut(found.right, 30)}", found.only_right),
    ):  # fmt: skip
        print(cut(f"  {name} ({len(words)}): {', '.join(words)}", 100))


def _write_keywords(arguments, units, left_out, stages, found, dictionary):
    names, sets = list(units), keywords.word_sets(units)
    overlaps = [keywords.overlap(left, right, sets) for place, left in enumerate(names) for right in names[place + 1 :]]
    words = [
        (unit, *form, count, int(form.mapping in dictionary))
        for unit, forms in units.items()
        for form, count in sorted(forms.items())
    ]
    tables = {
        "coverage": (keywords.Coverage._fields, stages),
        "dimensions": (keywords.Direction._fields, found),
        "overlaps": (keywords.Overlap._fields, overlaps),
        "keywords": (("unit", *keywords.Forms._fields, "said", "in_dictionary"), words),
        "left_out": (("keyword", "said"), sorted(left_out.items())),
    }
    print(f"\nwritten under {arguments.output}:")
    for name, (columns, rows) in tables.items():
        print(f"  {write_csv(arguments.output, name, columns, rows).name}: {len(rows):,} rows")


def _choice(arguments):
    choice = reasons.Choice(
        arguments.choice, arguments.top, arguments.diversity, arguments.candidates, arguments.least
    )  # fmt: skip
    if choice.top < 1 or choice.candidates < 1 or choice.least_reasons < 1 or arguments.threads < 1:
        raise ResultError("--top, --candidates, --least and --threads are at least 1")
    if not 0 <= choice.diversity <= 1:
        raise ResultError(f"--diversity {choice.diversity}: 0 to 1")
    return choice


def show_reasons(arguments):
    choice = _choice(arguments)
    units, sources = read_said(arguments, "reasons", "text")
    found = reasons.phrases(
        units, lambda texts: encode(texts, arguments.model, arguments.program, arguments.threads), choice
    )
    how = {"mmr": f"mmr, diversity {choice.diversity:g}", "max_sum": f"max_sum of {choice.candidates}"}
    print(f"Phrases of {len(units):,} {arguments.by}s nearest to their reasons, by {how.get(choice.method, 'cosine')}")
    print("\n".join(sources))
    print("difference: share of the reasons that hold the phrase, minus that of all others; without a test")
    table = [(cut(row.unit, 30), row.rank, cut(row.phrase, 35), *row[3:]) for row in found]
    columns = (arguments.by, "rank", "phrase", "cosine", "reasons", "share", "difference")
    print("\n".join(render(columns, table, arguments.rows)))
    if arguments.output:
        path = write_csv(arguments.output, "reasons", reasons.Phrase._fields, found)
        print(f"written: {path.name} under {cut(str(arguments.output), 70)}")
