"""What a page begins with: the answer, how to read it, what limits it, where it comes from; of several runs of each."""

import json
import re
from textwrap import shorten

from ..glossary import terms_in
from ..tables import MINUS, Column, Table
from ..views import measure_label, measures_of, own_warnings, recommended_measure, recommended_measures, texts
from .blocks import Facts, Folded, Paragraph, Points
from .probes import words_of_probe
from .runs import is_complete
from .shown import points

FIRST = ("contrast", "weat", "wefat", "mean_score")  # findings whose first rows are drawn where no sentence answers
MOST_ROWS = 3  # of such a finding, of tests, of warnings before those that unfold
LONGEST_SET = 80  # letters of the words of a set
ATTRIBUTES = ("model", "dtype", "created", "job_sha256")
HYPHEN = re.compile(r"(?<=\de)-(?=\d)|(?<![\w)-])-(?=\d)")  # of a number
UNFINISHED = "This run has not ended: the numbers are those of a part of it."


def head_blocks(run, found):
    """Of one run. `found`: its findings."""
    statistics, words = run.statistics, words_of_probe(run.probe)
    blocks = [Paragraph(UNFINISHED, "warning")] if not is_complete(statistics) else []
    answers = answers_of(found)
    blocks += [Points(answers, "answer"), *terms_of(answers)] if answers else []
    read = [Paragraph(str(text)) for name, text in statistics.attrs.items() if name in ("answers_read", "design")]
    for name in () if answers else FIRST:
        rows = [one.tables[0] for one in found if one.name.startswith(name)]
        blocks += [block for table in rows for block in points(table, MOST_ROWS)]
    has_contrasts = any(finding.name.startswith("contrast") for finding in found)
    reading = " ".join([words.reading, words.of_contrasts if has_contrasts else ""]).strip()
    blocks += [Paragraph(reading)] if reading else []
    return [*blocks, *_sets(statistics), *read, *warning_blocks(warnings_of(run, found)), *_limits(statistics)]


def _sets(statistics):
    """Of the first tests of word sets: what X, Y, A and B are."""
    rows = [row for table in word_sets(statistics) for row in table.rows]
    lines = []
    for test, *sets, _ in rows[:MOST_ROWS]:
        named = [(name, shorten(words, LONGEST_SET, placeholder=" …"))
                 for name, words in zip("XYAB", sets, strict=True) if words != "none"]  # fmt: skip
        lines.append(f"{test}: {'; '.join(map(' '.join, named))}")
    more = f" in the first {MOST_ROWS} of {len(rows)} tests" if len(rows) > MOST_ROWS else ""
    said = [Paragraph(f"The words that took part{more}:"), Points(lines)]
    return said if rows else []


def word_sets(statistics):
    """All words of all tests; none of other probes."""
    if "test_x_words" not in statistics:
        return []
    sets = [list(map(json.loads, texts(statistics, f"test_{role}_words", "test"))) for role in ("x", "y", "a", "b")]
    missing = texts(statistics, "test_missing", "test")
    rows = [
        (test, *(", ".join(words) or "none" for words in of_test), ", ".join(json.loads(absent or "[]")) or "none")
        for test, absent, *of_test in zip(texts(statistics, "test", "test"), missing, *sets, strict=True)
    ]  # fmt: skip
    columns = [Column("test"), *(Column(title) for title in ("X", "Y", "A", "B", "left out"))]
    return [Table("Words of the tests", columns, rows, "left out: words that the text or the vectors lack.")]


def terms_of(answers):
    """What the technical terms of sentences mean, on request."""
    terms = terms_in(" ".join(answers), "term")
    names = ", ".join(entry.title for entry in terms)
    return [Folded(f"What these words mean: {names}", [Facts(terms)])] if terms else []


def answers_of(found):
    """Sentences that answer what the job asks, as the file says them; no line ends between a sign and its number."""
    return [HYPHEN.sub(MINUS, text) for finding in found for text in finding.answers]


def warnings_of(run, found):
    """What keeps a reader from taking the numbers as they stand, each once."""
    own = own_warnings(run.statistics)
    return list(dict.fromkeys([*run.beside, *own, *(text for finding in found for text in finding.warnings)]))


def warning_blocks(warnings):
    first, more = warnings[:MOST_ROWS], warnings[MOST_ROWS:]
    blocks = [Points(first, "warning")] if first else []
    title = f"{len(more)} more warning{'s' * (len(more) > 1)}"
    return [*blocks, Folded(title, [Points(more, "warning")])] if more else blocks


def _limits(statistics):
    """Which measure is shown, and of how many numbers; the model and the job."""
    known, best = measures_of(statistics), recommended_measure(statistics)
    why = "which the file recommends" if best in recommended_measures(statistics) else "the first of the file"
    others = f" (it has {len(known)} measures; a view of another one says so)" if len(known) > 1 else ""
    sizes = [(statistics.sizes[axis], axis) for axis in ("subject", "item", "template", "rephrasing")]
    counts = ", ".join(f"{size:,} {axis}{'s' * (size != 1)}" for size, axis in sizes)
    model, dtype, started, job = (str(statistics.attrs.get(name) or "not said") for name in ATTRIBUTES)
    return [
        Paragraph(
            f"Shown is {measure_label(statistics, best)}, {why}{others}. {statistics['score'].size:,} numbers: "
            f"{counts}. Scores say how this model completes these sentences: others can give other scores."
        ),
        Paragraph(
            f"Model: {model}, in {dtype}. Started: {started}. Job: {job[:12]}. All hashes and versions stand under "
            "“What was run, and on what”.", "note",
        ),
    ]  # fmt: skip


def runs_table(runs, found_of):
    """All runs of a page in a table: what each found first. `found_of`: findings of each run."""
    rows = []
    for run, found in zip(runs, found_of, strict=True):
        said = answers_of(found) or [
            row for name in FIRST for one in found if one.name.startswith(name)
            for block in points(one.tables[0], 1)[1:] for row in block.rows
        ]  # fmt: skip
        model = str(run.statistics.attrs.get("model", "")) or "none"
        state = "ended" if is_complete(run.statistics) else "has not ended"
        rows.append((run.label, " ".join(said[:1]) or "no finding", model, len(warnings_of(run, found)), state))
    columns = (Column("run"), Column("found first", kind="long"), Column("model"), Column("warnings", kind="number"),
               Column("state"))  # fmt: skip
    return Table("Runs of this page", columns, rows)
