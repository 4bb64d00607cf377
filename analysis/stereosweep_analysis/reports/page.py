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
from . import audit
from .blocks import Facts, Folded, Markup, Paragraph, Picture, Section, kind_of
from .clusters import cluster_blocks
from .comparisons import contrast_blocks, contrast_points, correlation_blocks, people_blocks, table_of_people_blocks
from .conditions import condition_blocks
from .embeddings import detection_blocks, effect_points, test_blocks, word_blocks
from .findings import finding_points, means_picture, means_table, wording_blocks
from .intersections import intersection_blocks
from .interviews import diversity_blocks, refusal_blocks, variation_blocks
from .probes import words_of_probe
from .runs import is_complete, job_text, provenance
from .scores import measure_means, measures_of, recommended_measure
from .side_by_side import comparison_blocks, difference_blocks, shared_measure
from .svg import inline_svg
from .tables import Table, cell_text, cut_table

NO_TEXTS = "No text is kept beside these statistics (contexts jobs keep sentences with vectors.keep)."


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
    blocks = difference_blocks(comparison, shared_measure(runs))
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
    means = measure_means(statistics, recommended_measure(statistics))
    words = words_of_probe(run.probe)
    summary = []
    if not is_complete(run):
        summary.append(Paragraph("This run has not ended: the numbers are those of a part of it.", "warning"))
    summary += [Paragraph(words.reading), *(effect_points(statistics) or finding_points(statistics, means))]
    summary += contrast_points(statistics)
    shown = measure_term(means.measure)
    definition = f"{means.measure}: {means.description}" if shown is None else f"{shown.title}: {shown.definition}"
    pictures = condition_blocks(statistics, means) or means_picture(statistics, means)
    found = [
        ("summary", "What was found", summary),
        ("scores", "Scores", [Paragraph(definition), *pictures, means_table(statistics, means)]),
        ("contrasts", "Contrasts", contrast_blocks(statistics)),
        ("tests", "Tests of word sets", test_blocks(statistics)),
        ("words", "Single words", word_blocks(statistics)),
        ("detection", "Detected words", detection_blocks(statistics)),
        ("people", "Agreement with people", [*table_of_people_blocks(statistics), *people_blocks(statistics, means)]),
        ("intersections", "Intersections", intersection_blocks(statistics)),
        ("clusters", "Clusters", cluster_blocks(statistics)),
        ("correlations", "Correlations", correlation_blocks(statistics)),
        ("wordings", "Wordings", wording_blocks(statistics, means)),
        ("refusals", "Refusals", refusal_blocks(statistics)),
        ("variation", "Consistency of ratings", variation_blocks(statistics)),
        ("diversity", "Diversity of texts", diversity_blocks(statistics)),
        ("asked", "What the model was asked", [audit.prompt_table(run) or Paragraph(NO_TEXTS)]),
        ("answers", "What the model answered", [table for table in [audit.answer_table(run)] if table]),
        ("tokens", "Tokens", [table for table in [audit.token_table(run)] if table]),
        ("statuses", "Statuses", [audit.status_tables(run)]),
        ("run", "What was run, and on what", run_blocks(run)),
    ]
    return [Section(f"{anchor}-{name}", prefix + title, blocks) for name, title, blocks in found if blocks]


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
