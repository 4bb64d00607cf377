"""One number, one place: what `stats` prints, its tables as CSV, the page of `report`, `table` and `paper` show the numbers
of the statistics file, of every example job. The file itself is read with h5py, not with the package that is tested."""

import base64
import contextlib
import csv
import io
import json
import math
import re
import subprocess
import zlib
from html.parser import HTMLParser

import h5py
import numpy as np
import pytest
import runs
import statistic_requests
import yaml

from stereosweep_analysis.cli import main

FEW = "axes.groups={file: abc_groups, only: [women, men, teenagers, Black people]}"
TEMPLATES = "axes.templates={file: abc_templates, only: [one_of_them, often, quite, the_word]}"
QUICK = "statistics.inference={replicates: 100, draws: 200}"
CONTRAST = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]"
EVERYTHING = "every example request"
SMALL_TALK = "axes.groups={file: stereomap_groups, only: [Nurses, Doctors, Rich people, Women]}"
# job: (settings of the run, what stats is asked, paper)
JOBS = {
    "01_example": (("model.path=tests/models/planted",), (QUICK,), None),
    "02_example_contexts": (("samples=20",), (), None),
    "03_example_coreference": ((), (), None),
    "04_example_interview": ((), (), None),
    "05_example_rating": ((), (), None),
    "10_planted": (
        (FEW, TEMPLATES, "axes.intersections={pairs: [[Black people, women], [Black people, men]], both_orders: true}",
         "axes.rephrasings={file: voices, only: [none, bus]}", "measures=[ilps, ilps_star]"),
        (QUICK, EVERYTHING), "cao2022",
    ),
    "20_real": (("model.path=tests/models/planted", FEW, TEMPLATES, "axes.intersections=none"), (CONTRAST, QUICK), None),
    "40_winoidentity": (("axes.augmentations=[baseline, aug1]",), (), None),
    "42_winoidentity_tables": ((), ("statistics.inference={family: measure, draws: 200, replicates: 100}",), "winoidentity"),
    "50_ratings": (
        ("axes.identities={file: scm_identities, only: [young women, old men, rich women, poor men, gay women]}",
         "axes.rating_questions={file: scm_questions, only: [regarded]}", "sampling=none"),
        ("statistics.clusters={number: 2}",), None,
    ),
    "60_ceat": (  # vectors of the fake engine, of every word of the pieces in two sentences
        ("model.path=tests/models/letters", "execution.engine=fake", "corpus.files=[FOLDER/words.txt]", "samples=20"),
        ("statistics.draws=1000",), None,
    ),
    "61_generated_contexts": (("samples=20",), (), None),
    "63_guo2021_ibd": ((), (), None),
    "70_stereomap": ((SMALL_TALK, "sampling.rounds=2"), (QUICK, "statistics.clusters={number: 2}"), "stereomap"),
}  # fmt: skip
TABLES = ("05_example_rating", "10_planted", "50_ratings")  # whose `table` is looked at: it lays out the whole page
# Sections that have a place on the page, in its order; it shows what else the file heads behind them, each heading once.
SECTIONS = {
    "10_planted": ["Contrasts", "Decisions", "Agreement with people", "Intersections", "Clusters", "Correlations",
                   "Highest and lowest means", "Where scores vary"],
    "61_generated_contexts": ["Single words", "Samples"],
}  # fmt: skip
# Cells of papers' tables that are no number of the file: ranks, counts of members, sums of two numbers of the file.
PAPERS_OWN = {"rank", "groups", "larger part", "dominates (number)", "dominated by (number)"}
NUMBER = re.compile(r"[-\u2212]?[\d,]*\.?\d+(e[-+\u2212]?\d+)?|[-\u2212]?\d+")
WORDS = re.compile(r"-|[a-z][a-z ]*")


class Finding:
    """The rows of one finding as its arrays, labels and views in the file say."""

    def __init__(self, file, name):
        self.file, self.first = file, file[name]
        self.views = json.loads(self.first.attrs["views"])
        self.axes = [self.first.dims[place][0].name.lstrip("/") for place in range(self.first.ndim)]
        self.named = str(self.first.attrs.get("named_measures", "")).split("\n")

    def over_rows(self, array):
        own = [array.dims[place][0].name.lstrip("/") for place in range(array.ndim)]
        order = [own.index(axis) for axis in self.axes if axis in own]
        shape = [array.shape[own.index(axis)] if axis in own else 1 for axis in self.axes]
        return np.broadcast_to(array[...].transpose(order).reshape(shape), self.first.shape).ravel()

    def labels(self, name):
        """Of every row; None where the finding has no such axis or coordinate."""
        for place, axis in enumerate(self.axes):
            is_axis = axis == name or (name == "measure" and axis.endswith("_measure"))
            source = axis if is_axis else f"{axis}_{name}" if f"{axis}_{name}" in self.file else None
            if source is not None:
                shape = [1] * len(self.axes)
                shape[place] = -1
                return np.broadcast_to(self.file[source].asstr()[...].reshape(shape), self.first.shape).ravel()
        return None

    def cells(self, name):
        if name not in self.file or self.labels(name) is not None:
            return [str(label) for label in self.labels(name)]
        values = self.over_rows(self.file[name])
        if "flag_meanings" in self.file[name].attrs:
            meanings = str(self.file[name].attrs["flag_meanings"]).split()
            return [meanings[int(flag)].replace("_", " ") for flag in values]
        return [float(value) for value in values]

    def tables(self, view, shown):
        """{title: rows of the view's columns, in its order}; `shown`: measures, None: all."""
        columns = [self.cells(name) for name, _ in view["columns"]]
        rows = np.arange(self.first.size)
        if (measures := self.labels("measure")) is not None and shown is not None:
            rows = rows[np.isin(measures, [*shown, *self.named])]
        if "only" in view:
            rows = rows[np.isfinite(self.over_rows(self.file[view["only"]])[rows].astype(float))]
        if by := view["by"].removeprefix("-"):
            values = self.over_rows(self.file[by])[rows]
            rows = rows[np.argsort(-np.abs(values) if view["by"].startswith("-") else values, kind="stable")]
        each = [labels for name in view["each"] if (labels := self.labels(name)) is not None]
        found = {}
        for row in sorted(rows):
            found.setdefault(view["title"] + ", ".join(labels[row] for labels in each), [])
        for row in rows:
            found[view["title"] + ", ".join(labels[row] for labels in each)].append([column[row] for column in columns])
        return found


def value_of(text):
    return float(text.replace("\u2212", "-").replace(",", ""))


def agree(text, value):
    """Whether a cell shows the value, as far as its digits tell; words stand where there is no number."""
    if isinstance(value, str):
        return text.replace("_", " ") == value.replace("_", " ")
    if not math.isfinite(value):
        return WORDS.fullmatch(text) is not None
    if not NUMBER.fullmatch(text):
        return False
    digits, _, power = text.replace(",", "").partition("e")
    decimals = len(digits.partition(".")[2])
    return abs(value_of(text) - value) <= 0.5000001 * 10.0 ** (int(power.replace("\u2212", "-") or 0) - decimals)


def printed_tables(text):
    """{title: [[rows of cells of a block]]} of what `stats` prints: blocks under a rule, wide tables in several blocks."""
    found, title, last = {}, "", ""
    block = None
    for line in text.splitlines():
        if re.fullmatch("-{5,}", line):
            block = []
            found.setdefault(title, []).append(block)
        elif not line.strip():
            block, last = None, ""
        elif block is not None and not line.startswith("("):
            block.append(re.split(r" {2,}", line.strip()))
        elif last == "":
            title = line if not line.startswith(" ") else title
        last = line
    return found


class Page(HTMLParser):
    """{caption: rows of cells} of the tables of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.text, self.rows, self.cell = {}, [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.rows = []
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        if tag in ("caption", "th", "td"):
            self.cell = ""

    def handle_data(self, data):
        self.text.append(data)
        self.cell = None if self.cell is None else self.cell + data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[self.cell] = self.rows
        elif tag in ("th", "td") and self.rows:
            self.rows[-1].append(self.cell)
        if tag in ("caption", "th", "td"):
            self.cell = None


def stats(*arguments):
    done = subprocess.run([runs.PROGRAM, "stats", *map(str, arguments)], capture_output=True, text=True, cwd=runs.ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Run:
    def __init__(self, job, folder):
        settings, asked, self.paper = JOBS[job]
        path = runs.ROOT / "jobs" / f"{job}.yaml"
        parsed = yaml.safe_load(path.read_text())
        if parsed.pop("sweep", None):  # over models that are not here
            path = folder / f"{job}.yaml"
            path.write_text(yaml.safe_dump(parsed))
        words = sorted(set(re.findall("[A-Za-z]+", (runs.ROOT / "configs/tests/caliskan.yaml").read_text())))
        (folder / "words.txt").write_text("".join(f"a {word} is here\nthere is a {word} too\n" for word in words))
        settings = [setting.replace("FOLDER", str(folder)) for setting in settings]
        if EVERYTHING in asked:
            asked = [*(setting for setting in asked if setting != EVERYTHING), *statistic_requests.asked(folder)]
        self.folder = folder / job
        code, _, err = runs.run(path, self.folder, *settings)
        assert code == 0, err
        self.text = stats(self.folder, *asked, "--means", "--top", 100000)
        self.csv = stats(self.folder, *asked, "--means", "--format", "csv")
        self.path = next(self.folder.glob("*.stats.h5"))

    def analysis(self, *arguments):
        """What a command of the package prints; in this process, since each start would take seconds."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main([str(part) for part in arguments]) == 0
        return printed.getvalue()


@pytest.fixture(scope="module", params=JOBS)
def run(request, tmp_path_factory):
    return Run(request.param, tmp_path_factory.mktemp("agree"))


def findings(file):
    return [Finding(file, name) for name in file if isinstance(file[name], h5py.Dataset) and "views" in file[name].attrs]


def recommended(file):
    return str(file.attrs["recommended_measures"]).split("\n")


def test_the_text_of_stats_shows_the_file(run):
    tables = printed_tables(run.text)
    checked = 0
    with h5py.File(run.path) as file:
        for finding in findings(file):
            for view in finding.views:
                for title, rows in finding.tables(view, recommended(file)).items():
                    assert title in tables or not rows or len(title) > 90, (title, list(tables))
                    checked += compare_blocks(title, tables.get(title, []), rows)
    assert checked or "mean_score" not in run.text


def compare_blocks(title, blocks, rows):
    """How many cells were compared: a block has the table's first column and the next ones of the others."""
    first, checked = 1, 0
    for block in blocks:
        width = max(map(len, block))
        if len(block[0]) == 1 < width:  # the first column stands in lines of its own, above each row
            block = [["", *line] for line in block if len(line) == width]
            width += 1
        lines = [line for line in block if len(line) == width]  # others go on with a name of the line above
        assert len(lines) == len(rows), (title, len(lines), len(rows))
        for line, row in zip(lines, rows, strict=True):
            for text, value in zip(line[1:], row[first : first + width - 1], strict=True):
                is_whole = not isinstance(value, str) or text == value  # a long name goes on below
                assert not is_whole or agree(text, value), (title, line, row)
                checked += is_whole
        first += width - 1
    return checked


def test_tables_of_stats_are_the_files_numbers(run):
    rows = list(csv.DictReader(io.StringIO(run.csv, newline="")))
    assert rows
    with h5py.File(run.path) as file:
        known = {}
        for row in rows:
            name = row["statistic"]
            if name not in known:
                known[name] = set(file[name][...].ravel().tolist())
            assert not row["value"] or float(row["value"]) in known[name], row
            assert not row["unit"] or "flag_meanings" not in file[name].attrs, row


def test_the_page_and_the_tables_show_the_file(run):
    text = open(run.analysis("report", run.folder, "--out", run.folder / "page.html").strip(), encoding="utf-8").read()
    page = Page(text)
    said = "".join(page.text)
    if run.folder.name in SECTIONS:
        headings = re.findall("<h2[^>]*>([^<]*)", text)
        sections = headings[headings.index("Scores") + 1 : headings.index("Wordings")]
        first = SECTIONS[run.folder.name]
        assert sections[: len(first)] == first
        with h5py.File(run.path) as file:
            assert sorted(sections) == sorted({finding.first.attrs["heading"] for finding in findings(file)} - {"Scores"})
    with h5py.File(run.path) as file:
        found = findings(file)
        for finding in found:
            for view in finding.views:
                heads = [head for _, head in view["columns"]]
                tables = [(rows[0], rows[1:]) for caption, rows in page.tables.items() if caption.startswith(view["title"])]
                expected = [rows for rows in finding.tables(view, recommended(file)).values() if rows]
                assert len(tables) >= len(expected), (view["title"], list(page.tables))
                for (head, shown), rows in zip(tables, expected, strict=False):
                    places = [heads.index(name) for name in head]
                    for line, row in zip(shown, rows[:len(shown)], strict=True):
                        assert all(agree(text, row[place]) for text, place in zip(line, places, strict=True)), (line, row)
            for name in ("notes", "warnings"):
                for text in str(finding.first.attrs.get(name, "")).split("\n"):
                    assert " ".join(text.split()) in " ".join(said.split()) or not any(finding.tables(view, recommended(file)).values())
    for warning in re.findall(r"^WARNING:? (.*?)(?=\n\n|\n\S|\Z)", run.text, re.MULTILINE | re.DOTALL):
        assert " ".join(warning.split()) in " ".join(said.split())
    assert bool(found) or "no means" in said


def behind(path):
    """What a page keeps of the sentences behind its rows: texts in place of their numbers."""
    packed = re.search('<template id="evidence">([^<]*)</template>', path.read_text(encoding="utf-8"))
    kept = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    texts = kept["texts"]
    for run, subject, item, mean, wordings, rows, sentences in kept["cells"]:
        lines = [(texts[sentence], texts[score], texts[status].split(",")[0], [[texts[part] for part in answer] for answer in answers])
                 for _, sentence, score, status, answers in rows]  # fmt: skip
        yield texts[subject], texts[item], texts[mean], wordings, lines, [texts[sentence] for sentence in sentences]


def test_what_lies_behind_is_the_files(run):
    path = run.folder / "page.html"
    if not path.exists():
        run.analysis("report", run.folder, "--out", path)
    raw_path = run.path.with_name(run.path.name.replace(".stats.h5", ".h5"))
    cells = list(behind(path))
    assert len(cells) > 1
    with h5py.File(run.path) as file, h5py.File(raw_path) as raw:
        labels = {axis: file[axis].asstr()[...].tolist() for axis in ("measure", "subject", "item", "replicate")}
        measure = next(name for name in recommended(file) if name in labels["measure"])
        scores, flags = (file[name][labels["measure"].index(measure)] for name in ("score", "score_status"))
        meanings = file["score_status"].attrs["flag_meanings"].split()
        for subject, item, mean, wordings, lines, _ in cells:
            place = labels["subject"].index(subject), labels["item"].index(item)
            own, status = (np.moveaxis(array, (0, -1), (0, 1))[place] for array in (scores, flags))
            own, status = (array.reshape(-1, len(labels["replicate"])) for array in (own, status))
            asked = [[meanings[flag] not in ("not_asked", "not_applicable", "not_scored") for flag in row] for row in status]
            assert wordings == sum(map(any, asked)) and len(lines) == min(wordings, 12)
            means = sorted(np.mean(row[np.isfinite(row)]) for row in own if np.isfinite(row).any())
            shown = [score for _, score, _, _ in lines if score != "none"]
            assert all(any(agree(score, value) for value in means) for score in shown), (subject, item, shown)
            assert not means or agree(shown[0], means[0]) and (len(means) < wordings or agree(shown[-1], means[-1]))
            assert all(name in meanings and (name == "ok") == (score != "none") for _, score, name, _ in lines)
            sentences = [sentence for sentence, *_ in lines]
            assert not lines or any(sentences) == ("prompt" in raw or "question" in raw)
            assert are_texts_of(raw, ("prompt", "question"), subject, sentences)
            assert are_texts_of(raw, ("answer_text",), subject, [answer[0] for *_, answers in lines for answer in answers])
            if "mean_score" in file and mean:
                axis = file[file["mean_score"].dims[0][0].name.lstrip("/")].asstr()[...].tolist()
                assert agree(mean.split(", ")[0], file["mean_score"][(axis.index(measure), *place)])


def are_texts_of(raw, names, subject, wanted):
    """Whether all of the texts stand in a variable of the result, of this group."""
    name = next((name for name in names if name in raw), None)
    if name is None:
        return not any(wanted)
    known = set(raw[name].asstr()[raw["group"].asstr()[...].tolist().index(subject)].ravel().tolist())
    return all(text in known or (len(text) == 500 and any(one.startswith(text[:-1]) for one in known)) for text in wanted)


def test_table_prints_what_the_page_shows(run):
    if run.folder.name not in TABLES:
        return
    rows = list(csv.DictReader(io.StringIO(run.analysis("table", run.folder, "--what", "scores"), newline="")))
    with h5py.File(run.path) as file:
        (finding,) = [one for one in findings(file) if one.first.name == "/mean_score"]
        (view,) = finding.views
        expected = next(iter(finding.tables(view, recommended(file)).values()))
        assert len(rows) == len(expected) > 0
        for row, values in zip(rows, expected, strict=True):
            for (_, head), value in zip(view["columns"], values, strict=True):
                text = row[head]
                assert text == value if isinstance(value, str) else (float(text) if text else math.nan) == value or text == ""
                assert text != "" or isinstance(value, float) and math.isnan(value)


def test_papers_show_the_files_numbers(run):
    if run.paper is None:
        return
    rows = list(csv.DictReader(io.StringIO(run.analysis("paper", run.paper, run.folder, "--format", "csv"), newline="")))
    with h5py.File(run.path) as file:
        known = set()
        for array in file.values():
            if isinstance(array, h5py.Dataset) and array.dtype.kind in "fiu":
                known |= set(array[...].ravel().tolist())
    checked = 0
    for row in rows:
        is_number = re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", row["value"]) is not None
        if is_number and row["column"] not in PAPERS_OWN and row["row"] != "mean":
            assert float(row["value"]) in known, row
            checked += 1
    assert checked > 10


def test_the_check_sees_another_number():
    assert agree("0.123", 0.1233) and agree("1.2e-05", 1.24e-5) and agree("too few", math.nan) and agree("\u22121,234", -1234.0)
    assert not agree("0.124", 0.1233) and not agree("none", 0.5) and not agree("0.5", math.nan) and not agree("a", "b")
    assert printed_tables("Means\nhead  n\n------\na  1\n  more\nb  2\n\nNext") == {"Means": [[["a", "1"], ["more"], ["b", "2"]]]}
    with pytest.raises(AssertionError):
        compare_blocks("Means", [[["a", "1"], ["b", "2"]]], [["a", 1.0], ["b", 3.0]])
