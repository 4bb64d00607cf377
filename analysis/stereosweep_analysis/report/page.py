"""Runs -> sections -> one HTML file that needs nothing else."""

import base64
import datetime
import hashlib
from importlib import resources

import jinja2
import markupsafe

from ..glossary import glossary, measure_term, term
from . import audit, findings
from .blocks import Facts, Folded, Paragraph, Section, kind_of
from .probes import words_of_probe
from .runs import is_complete, job_text, provenance
from .scores import measure_means, measures_of, recommended_measure
from .tables import cell_text

TOOL = """@software{stereosweep,
  title = {stereosweep: measuring social stereotypes in language models},
  version = {%s},
  note = {job SHA-256 %s}
}"""


def make_page(runs):
    """The report as HTML text. `runs`: of open_runs."""
    sections = []
    for place, run in enumerate(runs):
        sections += run_sections(run, f"r{place}", "" if len(runs) == 1 else f"{run.label}: ")
    sections += [words_section(runs), citation_section(runs)]
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
    summary += [Paragraph(words.reading), *findings.finding_points(statistics, means)]
    shown = measure_term(means.measure)
    definition = f"{means.measure}: {means.description}" if shown is None else f"{shown.title}: {shown.definition}"
    scores = [Paragraph(definition), *findings.means_picture(statistics, means, f"{anchor}-means")]
    scores.append(findings.means_table(statistics, means))
    found = [
        ("summary", "What was found", summary),
        ("scores", "Scores", scores),
        ("contrasts", "Contrasts", findings.contrast_blocks(statistics, f"{anchor}-contrasts-picture")),
        ("people", "Agreement with people", findings.people_blocks(statistics, means, f"{anchor}-people-picture")),
        ("clusters", "Clusters", findings.cluster_blocks(statistics, f"{anchor}-clusters-picture")),
        ("wordings", "Wordings", findings.wording_blocks(statistics, means, f"{anchor}-wordings-picture")),
        ("asked", "What the model was asked", [table for table in [audit.prompt_table(run)] if table]),
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


def words_section(runs):
    """Definitions of the measures, axes and statuses that the runs have."""
    rows = []
    for run in runs:
        descriptions = run.statistics["measure_description"].values if "measure_description" in run.statistics else None
        for place, name in enumerate(measures_of(run.statistics)):
            found = measure_term(name)
            own = str(descriptions[place]) if descriptions is not None else ""
            rows.append((name, f"{found.title}. {found.definition}" if found else own))
        rows += [
            (axis, found.definition) for axis in map(str, run.statistics["score"].dims) if (found := term("axis", axis))
        ]
    rows += [(entry.title, entry.definition) for (kind, _), entry in glossary().items() if kind == "number"]
    return Section("words", "What the words mean", [Facts(list(dict.fromkeys(rows)))])


def citation_section(runs):
    """BibTeX of the measures' papers and of the program, with what tells this result from others."""
    blocks = [Paragraph("Cite the paper whose measure you report, and the program with the job's hash:")]
    papers = dict.fromkeys(words_of_probe(run.probe).citation for run in runs)
    blocks += [Paragraph(text, "code") for text in papers if text]
    for run in runs:
        version, job = (str(run.statistics.attrs.get(name, "")) for name in ("software_version", "job_sha256"))
        blocks.append(Paragraph(TOOL % (version, job), "code"))
    blocks.append(Paragraph("A score is a property of a model in the given sentences, not of people."))
    return Section("cite", "How to cite", blocks)
