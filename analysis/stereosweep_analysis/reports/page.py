"""Runs -> sections -> one HTML file that needs nothing else."""

import base64
import datetime
import hashlib
import itertools
import re
from importlib import resources

import jinja2
import markupsafe
import matplotlib.pyplot as plt

from ..citations import citations, program_citation
from ..glossary import measure_term, term, terms_in
from ..papers.command import PAPERS
from ..papers.printed import card
from ..tables import MOST_ROWS, Table, cut_table, row_texts
from ..views import findings, measure_label, measures_of, recommended_measure, texts
from . import audit, own_pictures
from .blocks import Facts, Folded, Paragraph, Picture, Points, Section
from .conditions import condition_blocks
from .evidence import Evidence
from .head import head_blocks, runs_table, warning_blocks, word_sets
from .means import means_picture, wording_blocks
from .probes import words_of_probe
from .runs import job_text, provenance
from .scores import asks_in_rounds, measure_means, why_no_means
from .shown import finding_blocks, interval_picture
from .side_by_side import comparison_blocks, difference_head
from .svg import inline_svg

NO_TEXTS = "No text is kept beside these statistics (contexts jobs keep sentences with vectors.keep)."
# Headings of findings in the order of the page, and what they are called on the command line; others come behind them
# as the file has them, called as they are headed.
ORDER = {
    "Contrasts": "contrasts", "Decisions": "decisions", "Tests of word sets": "tests", "Single words": "words",
    "Detected words": "detection", "Samples": "samples", "Agreement with people": "people",
    "Intersections": "intersections", "Clusters": "clusters",
    "Correlations": "correlations", "Highest and lowest means": "extremes", "Where scores vary": "variance",
    "Refusals": "refusals", "Consistency of ratings": "variation", "Diversity of texts": "diversity",
    "Places in the list of options": "places",
}  # fmt: skip
MOST_DRAWN_RUNS = 3  # whose pictures are in one page
MOST_FOLDS = 8
MOST_PRINTED = 40  # rows of a card's table
LEAST_ROWS = 100  # of a table, however many runs there are
OWN_PICTURES = {
    "Decisions": own_pictures.decisions, "Intersections": own_pictures.single_traits,
    "Agreement with people": own_pictures.agreement, "Clusters": own_pictures.clusters,
    "Detected words": own_pictures.detection,
}  # fmt: skip


def make_page(runs, comparison=None):
    """The report as HTML text. `runs`: of open_runs; `comparison`: of open_comparison."""
    found = report_sections(runs, comparison)
    sections = [*found, citation_section(runs)]
    if len(runs) > MOST_DRAWN_RUNS:
        sections = [section if section.run is None else _without_pictures(section) for section in sections]
    most = max(MOST_ROWS // len(runs), LEAST_ROWS)
    sections = [section._replace(blocks=_folded(section.blocks, most)) for section in sections]
    evidence = Evidence(runs, {
        name: (range(len(runs)) if section.run is None else [section.run], block)
        for section in sections for name, block in _named(section.blocks, section.name)
    })  # fmt: skip
    sections.insert(-1, words_section(runs, [*found, Paragraph(evidence.note)]))
    models = sorted({f"{run.statistics.attrs.get('model') or 'no model'} ({run.probe})" for run in runs})
    style, script = (_resource(name) for name in ("style.css", "tables.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.globals |= {"kind_of": _kind_of, "row_texts": row_texts, "svg_of": _svg_of, "box_of": _box_of}
    return environment.get_template("page.html").render(
        title=" and ".join(run.label for run in runs) if len(runs) <= MOST_DRAWN_RUNS else f"{len(runs)} runs",
        models=models if len(models) <= MOST_DRAWN_RUNS else [f"{len(models)} models"],
        sections=_gathered(sections, runs), evidence=evidence,
        questions=list(dict.fromkeys(words_of_probe(run.probe).question for run in runs)),
        made=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"), policy=digest,
        style=markupsafe.Markup(style), script=markupsafe.Markup(script),
    )  # fmt: skip


def report_sections(runs, comparison=None):
    """What was found, run by run; several runs side by side first."""
    sections, found = [], [findings(run.statistics) for run in runs]
    beside = [text for run in runs for text in run.beside]
    if len(runs) > 1:
        of_runs = findings(comparison) if comparison is not None else []
        differences = [block for finding in of_runs for block in finding_blocks(finding)]
        head = [*difference_head(of_runs), *warning_blocks(beside), runs_table(runs, found)]
        sections = [Section("found", "What was found", head, "head")]
        sections += [Section("differences", "Differences between runs", differences, "open")] if differences else []
        fold = "closed" if differences else "open"
        sections.append(Section("side-by-side", "Side by side", comparison_blocks(runs, comparison), fold))
    for place, run in enumerate(runs):
        sections += run_sections(run, found[place], place)
    return sections


def _without_pictures(section):
    left_out = [block for block in section.blocks if isinstance(block, Picture)]
    for block in left_out:
        plt.close(block.figure)
    note = f"{len(left_out)} pictures are not in this page: 'stereosweep report' of the run's own directory draws them."
    kept = [block for block in section.blocks if not isinstance(block, Picture)]
    return section._replace(blocks=[*kept, Paragraph(note)] if left_out else kept)


def _named(blocks, name):
    """(name in the page, block), those that are folded too."""
    for place, block in enumerate(blocks, start=1):
        yield f"{name}-{place}", block
        if isinstance(block, Folded):
            yield from _named(block.blocks, f"{name}-{place}")


def _folded(blocks, most):
    """The first picture and the first table of a section stand open; others unfold, those of one title and what is said
    below them together, those beyond MOST_FOLDS at its end together. `most`: rows of the open table, of others a
    third."""
    kept, seen, own = [], set(), None
    for block in blocks:
        title = block.caption if isinstance(block, Table) else block.title if isinstance(block, Picture) else ""
        is_folded = title and (type(block) in seen or Table in seen)
        is_below = isinstance(block, Paragraph) and not block.kind
        cut = cut_table(block, most // 3 if is_folded else most) if isinstance(block, Table) else block
        if own and (is_below or (is_folded and own.title == title)):
            own.blocks.append(cut)
        else:
            own = Folded(title, [cut]) if is_folded else None
            kept.append(own or cut)
        seen.add(type(block))
    more = [block for block in kept if isinstance(block, Folded)][MOST_FOLDS:]
    rest = [Folded(f"{len(more)} more tables and pictures", more)] if more else []
    return [block for block in kept if all(block is not other for other in more)] + rest


def _gathered(sections, runs):
    """Sections of one of several runs stand inside of a section of that run."""
    made = []
    for place, of_run in itertools.groupby(sections, lambda section: section.run):
        if place is None or len(runs) == 1:
            made += of_run
        else:
            inner = [section._replace(fold="closed") for section in of_run]
            made.append(Section(f"r{place}", f"Run {runs[place].label}", inner))
    return made


def _kind_of(block):
    """What the page's template calls the block."""
    return type(block).__name__.lower()


def _svg_of(picture, name):
    """The picture as markup whose ids begin with `name`."""
    return markupsafe.Markup(inline_svg(picture.figure, name, picture.title, picture.caption))


def _box_of(picture):
    """Left, top, width and height of a heat map's cells, in percent of the picture, which is drawn."""
    left, bottom, right, top = picture.figure.axes[0].get_position().extents * 100
    return " ".join(str(round(float(value), 3)) for value in (left, 100 - top, right - left, top - bottom))


def _resource(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def run_sections(run, found, place):
    """All that is said of one run. `found`: its findings; `place`: among the runs."""
    statistics = run.statistics
    own = _finding_sections(statistics, found)
    sections = [
        ("summary", "What was found", head_blocks(run, found)),
        ("scores", "Scores", _scores(statistics, found)),
        *own,
        ("wordings", "Wordings", _wordings(statistics)),
        ("sets", "Words of the tests", word_sets(statistics)),
        ("asked", "What the model was asked", [audit.prompt_table(run) or Paragraph(NO_TEXTS)]),
        ("answers", "What the model answered", [table for table in [audit.answer_table(run)] if table]),
        ("tokens", "Tokens", [table for table in [audit.token_table(run)] if table]),
        ("statuses", "Statuses", [audit.status_tables(run)]),
        ("card", "Beside what the papers print", card_blocks(run)),
        ("run", "What was run, and on what", run_blocks(run)),
    ]
    first = next((finding.heading for finding in found if finding.answers), "")  # its section stands open
    asked = next((name for name, heading, blocks in own if blocks and first in ("", heading)), "scores")
    folds = {"summary": "head", asked: "open"}
    return [
        Section(f"r{place}-{name}", title, blocks, folds.get(name, "closed"), place)
        for name, title, blocks in sections if blocks
    ]  # fmt: skip


def _scores(statistics, found):
    """What the measure is, and its means as pictures and table."""
    measure = recommended_measure(statistics)
    shown = measure_term(measure)
    descriptions = dict(zip(measures_of(statistics), texts(statistics, "measure_description", "measure"), strict=True))
    definition = f"{shown.title}: {shown.definition}" if shown else f"{measure}: {descriptions[measure]}"
    blocks = [Paragraph(definition)]
    means = measure_means(statistics)
    if means is None:
        reason = f"The statistics hold no means of the scores: {why_no_means(statistics)}."
        return [*blocks, Paragraph(reason, "warning")]
    pictures = condition_blocks(statistics, means) or means_picture(statistics, means)
    for finding in found:
        if finding.name.startswith("mean_score"):
            blocks += finding_blocks(finding, pictures or interval_picture(finding.tables[0]))
    return blocks


def _finding_sections(statistics, found):
    """(anchor, heading, blocks)."""
    anchors = {heading: re.sub(r"\W+", "-", heading.lower()) for heading in (finding.heading for finding in found)}
    anchors |= ORDER
    blocks = {heading: [] for heading in ORDER}
    for finding in found:
        if not finding.name.startswith("mean_score"):
            known = blocks.setdefault(finding.heading, [])  # findings of one heading may share notes
            known += [one for one in finding_blocks(finding) if not isinstance(one, Paragraph) or one not in known]
    for heading, pictures in OWN_PICTURES.items():
        blocks[heading] = [*pictures(statistics), *blocks[heading]]
    return [(anchors[heading], heading, of) for heading, of in blocks.items()]


def _wordings(statistics):
    if asks_in_rounds(statistics):
        return []
    measure = recommended_measure(statistics)
    return wording_blocks(statistics, measure, measure_label(statistics, measure))


def card_blocks(run):
    """The replication cards of papers that print numbers of this result's kind, as the command `paper` shows them."""
    made, job = [], job_text(run)
    for name, paper in PAPERS.items():
        found = card(name, paper, run.statistics, job)
        signs = ", ".join(f"{source} {same}" for source, same in found.signs.items())
        why = f"see stereosweep-analysis paper {name}"
        tables = [cut_table(laid.table(), MOST_PRINTED, why) for laid in found.laid]
        tables = [table._replace(caption=f"{paper.TITLE}, {table.caption}") for table in tables]
        if signs:
            made.append(Folded(f"{paper.TITLE}; same sign or side: {signs}", [Points(found.sentences), *tables]))
    return made


def run_blocks(run):
    blocks = [Facts(provenance(run))]
    job = job_text(run)
    if job:
        blocks.append(Folded("The job with all its settings", [Paragraph(job, "code")]))
    return blocks


def words_section(runs, sections):
    """Definitions of the measures and axes that the runs have, and of the numbers that the sections name."""
    rows = []
    for run in runs:
        descriptions = run.statistics["measure_description"].values if "measure_description" in run.statistics else None
        for place, name in enumerate(measures_of(run.statistics)):
            own = str(descriptions[place]) if descriptions is not None else ""
            parts = name.split(" ") if measure_term(name) else [name]  # variant and prior
            rows += [(part, _definition(measure_term(part), own)) for part in parts]
        rows += [
            (axis, found.definition) for axis in map(str, run.statistics["score"].dims) if (found := term("axis", axis))
        ]
    said = " ".join(map(_words_of, sections))
    rows += terms_in(said, "number", "term")
    return Section("words", "What the words mean", [Facts(list(dict.fromkeys(rows)))])


def _words_of(block):
    """What stands in the page but for whole texts and the job: titles, heads, labels, notes, captions, sentences."""
    if isinstance(block, Table):
        labels = {str(cell) for row in block.rows for cell in row[: block.labels]}
        heads = (f"{column.title} {column.definition}" for column in block.columns)
        return " ".join([block.caption, block.note, *heads, *labels])
    if isinstance(block, Picture):
        return f"{block.title} {block.caption}"
    if isinstance(block, Points):
        return " ".join(block.rows)
    if isinstance(block, Paragraph):
        return block.text * (block.kind != "code")
    return " ".join([block.title, *map(_words_of, block.blocks)]) if isinstance(block, Folded | Section) else ""


def _definition(found, otherwise):
    return f"{found.title}: {found.definition}" if found else otherwise


def citation_section(runs):
    """BibTeX of the measures' papers and of the program, with what tells this result from others."""
    blocks = [Paragraph("Cite the paper whose measure you report, and the program with the job's hash:")]
    keys = dict.fromkeys(key for run in runs for key in words_of_probe(run.probe).citations)
    blocks += [Paragraph(citations()[key], "code") for key in keys]
    for run in runs:
        version, job = (str(run.statistics.attrs.get(name, "")) for name in ("software_version", "job_sha256"))
        blocks.append(Paragraph(program_citation(version, job), "code"))
    blocks.append(Paragraph("A score is a property of a model in the given sentences, not of people."))
    return Section("cite", "How to cite", blocks)
