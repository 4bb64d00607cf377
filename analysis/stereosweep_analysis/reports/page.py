"""Runs -> sections -> one HTML file that needs nothing else."""

import base64
import datetime
import hashlib
import re
from importlib import resources

import jinja2
import markupsafe

from ..citations import citations, program_citation
from ..glossary import glossary, measure_term, term
from ..tables import Table, cell_text, cut_table
from ..views import findings, measure_label, measures_of, recommended_measure, texts
from . import audit, own_pictures
from .blocks import Facts, Folded, Markup, Paragraph, Picture, Section, kind_of
from .conditions import condition_blocks
from .means import means_picture, wording_blocks
from .probes import words_of_probe
from .runs import is_complete, job_text, provenance
from .scores import TO_ASK, measure_means
from .shown import finding_blocks, interval_picture, points
from .side_by_side import comparison_blocks, difference_blocks
from .svg import inline_svg

NO_TEXTS = "No text is kept beside these statistics (contexts jobs keep sentences with vectors.keep)."
# Headings of findings in the order of the page, and what they are called on the command line; others come behind them
# as the file has them, called as they are headed.
ORDER = {
    "Contrasts": "contrasts", "Tests of word sets": "tests", "Single words": "words", "Detected words": "detection",
    "Samples": "samples", "Agreement with people": "people", "Intersections": "intersections", "Clusters": "clusters",
    "Correlations": "correlations", "Highest and lowest means": "extremes", "Where scores vary": "variance",
    "Refusals": "refusals", "Consistency of ratings": "variation", "Diversity of texts": "diversity",
    "Places in the list of options": "places",
}  # fmt: skip
POINTS = ("contrast", "weat", "wefat", "mean_score")  # findings whose first rows are the summary
OWN_PICTURES = {
    "Intersections": own_pictures.single_traits, "Agreement with people": own_pictures.agreement,
    "Clusters": own_pictures.clusters, "Detected words": own_pictures.detection,
}  # fmt: skip


def make_page(runs, comparison=None):
    """The report as HTML text. `runs`: of open_runs; `comparison`: of open_comparison."""
    found = report_sections(runs, comparison)
    sections = [*found, words_section(runs, found), citation_section(runs)]
    sections = [section._replace(blocks=[*_with_markup(section)]) for section in sections]
    style, script = (_resource(name) for name in ("style.css", "tables.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.globals |= {"kind_of": kind_of, "cell_text": cell_text}
    return environment.get_template("page.html").render(
        title=" and ".join(run.label for run in runs), runs=runs, sections=sections,
        questions=list(dict.fromkeys(words_of_probe(run.probe).question for run in runs)),
        made=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"), policy=digest,
        style=markupsafe.Markup(style), script=markupsafe.Markup(script),
    )  # fmt: skip


def report_sections(runs, comparison=None):
    """What was found, run by run; several runs side by side first."""
    sections = []
    blocks = comparison_blocks(runs, comparison)
    if blocks:
        sections.append(Section("side-by-side", "Side by side", blocks))
    blocks = difference_blocks(comparison)
    if blocks:
        sections.append(Section("differences", "Differences between runs", blocks))
    for place, run in enumerate(runs):
        sections += run_sections(run, f"r{place}", "" if len(runs) == 1 else f"{run.label}: ")
    return sections


def _with_markup(section):
    """The section's blocks, pictures as SVG."""
    for place, block in enumerate(section.blocks):
        if isinstance(block, Picture):
            name = f"{section.name}-picture-{place}"
            description = f"{block.caption} {block.more}".strip()
            yield Markup(inline_svg(block.figure, name, block.title, description), block.caption)
        else:
            yield cut_table(block) if isinstance(block, Table) else block


def _resource(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def run_sections(run, anchor, prefix):
    """All that is said of one run."""
    statistics = run.statistics
    found = findings(statistics)
    sections = [
        ("summary", "What was found", _summary(run, found)),
        ("scores", "Scores", _scores(statistics, found)),
        *_finding_sections(statistics, found),
        ("wordings", "Wordings", _wordings(statistics)),
        ("asked", "What the model was asked", [audit.prompt_table(run) or Paragraph(NO_TEXTS)]),
        ("answers", "What the model answered", [table for table in [audit.answer_table(run)] if table]),
        ("tokens", "Tokens", [table for table in [audit.token_table(run)] if table]),
        ("statuses", "Statuses", [audit.status_tables(run)]),
        ("run", "What was run, and on what", run_blocks(run)),
    ]
    return [Section(f"{anchor}-{name}", prefix + title, blocks) for name, title, blocks in sections if blocks]


def _summary(run, found):
    """How scores are read, and the first rows of what says most about them."""
    blocks = []
    if not is_complete(run):
        blocks.append(Paragraph("This run has not ended: the numbers are those of a part of it.", "warning"))
    for name, text in run.statistics.attrs.items():
        blocks += [Paragraph(line, "warning") for line in str(text).split("\n") if str(name).endswith("warnings")]
    blocks.append(Paragraph(words_of_probe(run.probe).reading))
    if "answers_read" in run.statistics.attrs:
        blocks.append(Paragraph(str(run.statistics.attrs["answers_read"])))
    for name in POINTS:
        blocks += [block for one in found if one.name.startswith(name) for block in points(one.tables[0])]
    return blocks


def _scores(statistics, found):
    """What the measure is, and its means as pictures and table."""
    measure = recommended_measure(statistics)
    shown = measure_term(measure)
    descriptions = dict(
        zip(measures_of(statistics), texts(statistics, "measure_description", "measure"), strict=True)
    )
    definition = f"{shown.title}: {shown.definition}" if shown else f"{measure}: {descriptions[measure]}"
    blocks = [Paragraph(definition)]
    means = measure_means(statistics)
    if means is None:
        return [*blocks, Paragraph(f"The statistics hold no means of the scores: {TO_ASK}.", "warning")]
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
            blocks.setdefault(finding.heading, []).extend(finding_blocks(finding))
    for heading, pictures in OWN_PICTURES.items():
        blocks[heading] = [*pictures(statistics), *blocks[heading]]
    return [(anchors[heading], heading, of) for heading, of in blocks.items()]


def _wordings(statistics):
    measure = recommended_measure(statistics)
    return wording_blocks(statistics, measure, measure_label(statistics, measure))


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
    said = " ".join(_words_of(block) for section in sections for block in section.blocks)
    rows += [
        (entry.title, entry.definition)
        for (kind, name), entry in glossary().items()
        if kind == "number" and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)
    ]
    return Section("words", "What the words mean", [Facts(list(dict.fromkeys(rows)))])


def _words_of(block):
    """What a table's head and note and a picture's caption say; of other blocks nothing."""
    if isinstance(block, Table):
        return " ".join([block.note, *(f"{column.title} {column.definition}" for column in block.columns)])
    return block.caption if isinstance(block, Picture) else ""


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
