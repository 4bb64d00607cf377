"""The report: what it shows of a file, hostile names, what is missing."""

import csv
import re
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from report_files import add_contrasts, add_finding, add_means, result_dataset, statistics_dataset, view, write

from stereosweep_analysis import ResultError, cli, report
from stereosweep_analysis.glossary import KINDS, glossary
from stereosweep_analysis.reports import audit, head, page
from stereosweep_analysis.reports.blocks import Folded, Paragraph, Picture, Points
from stereosweep_analysis.reports.evidence import Evidence
from stereosweep_analysis.reports.runs import Run, open_comparison, open_runs, with_names_of
from stereosweep_analysis.reports.scores import measure_means
from stereosweep_analysis.reports.shown import interval_picture, interval_words, points, smallest_p_text
from stereosweep_analysis.reports.side_by_side import comparison_blocks
from stereosweep_analysis.tables import (
    FORMATS,
    MOST_ROWS,
    Column,
    Missing,
    Table,
    cut_table,
    number_text,
    p_text,
    row_texts,
    text_lines,
    to_csv,
    to_latex,
    to_markdown,
)
from stereosweep_analysis.views import findings, recommended_measure

open_module = import_module("stereosweep_analysis.open")  # the package has a function of this name
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)> $x$ \"'&{{ 7*7 }}"


def values(subjects=3, templates=5, rephrasings=2, replicates=2, items=2):
    generator = np.random.default_rng(5)
    made = generator.normal(size=(subjects, templates, rephrasings, replicates, items))
    made[0, 1:2] = np.nan  # a template without any score
    made[1, 2:3, 0] = np.nan  # of one rephrasing
    made[2:3, :, :, :, 1] = np.nan  # an item without any
    return made


class Outline(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.ids, self.text = [], set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_data(self, data):
        self.text.append(data)


def test_means_and_intervals_are_the_files():
    statistics = add_means(statistics_dataset(values()))
    means = measure_means(statistics)
    np.testing.assert_array_equal(means.mean, statistics["mean_score"].values[0])
    np.testing.assert_array_equal(means.high - means.low, np.where(np.isfinite(means.mean), 1.0, np.nan))
    assert means.n[0, 0] == 8 and means.interval == "95 % interval"
    assert means.label == "ILPS*, prior: generic word (nat)"


def test_without_means_the_report_computes_none_and_says_what_to_ask(tmp_path):
    statistics = statistics_dataset(values())
    assert measure_means(statistics) is None and measure_means(add_means(statistics), "own") is None
    text = " ".join(Outline(report(write(tmp_path / "run", statistics)).read_text(encoding="utf-8")).text)
    assert "The statistics hold no means of the scores: 'stereosweep stats DIR --means'" in text
    assert "How much the wording matters" in text
    statistics.attrs["num_rounds"] = 3  # of such a run the program refuses means
    text = " ".join(Outline(report(write(tmp_path / "rounds", statistics)).read_text(encoding="utf-8")).text)
    assert "this run asked no more of a row once it was known" in text and "--means" not in text
    assert "How much the wording matters" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (-1.5, "\u22121.500"), (12.345, "12.35"), (1234.5, "1234.5"), (3, "3"), (12345, "12,345"),
     (1e-7, "1.00e\u221207"), (0.01234, "0.0123"),
     (0.00494, "0.00494"), (Missing("too few"), "too few"), (float("nan"), "none"),
     (None, "none"), (float("inf"), "none")],
)  # fmt: skip
def test_numbers_as_text(value, text):
    assert number_text(value) == text


def test_an_end_that_is_rounding_beside_its_number_is_zero():
    assert interval_words(0.3, -2e-15, 0.6) == "0.300, 0.000 to 0.600"
    assert interval_words(3e-14, 2e-15, 6e-14) == "3.00e\u221214, 2.00e\u221215 to 6.00e\u221214"
    columns = [
        Column("who"), Column("value", kind="number", role="value", name="value"),
        Column("low", kind="number", role="low", of=("value",)), Column("p", kind="p", role="p", of=("value",)),
        Column("other", kind="number", role="value", name="other"),
    ]  # fmt: skip
    expected = ["a", "0.300", "0.000", "1.0e\u221220", "2.00e\u221215"]
    assert row_texts(["a", 0.3, 2e-15, 1e-20, 2e-15], columns) == expected


def test_findings_say_where_no_p_is_small():
    assert smallest_p_text("Tests", 0.04) == "Tests, smallest p first:"
    assert "no adjusted one at most 0.05" in smallest_p_text("Tests", 0.06)


def test_small_p_is_never_zero():
    assert (p_text(0.0004), p_text(0.05), p_text(float("nan"))) == ("4.0e\u221204", "0.050", "none")
    assert p_text(0.0) == "<1e\u2212300"


def test_rows_that_are_left_out_are_counted():
    table = cut_table(Table("t", [Column("a")], [(str(place),) for place in range(MOST_ROWS + 3)], "Note."))
    assert len(table.rows) == MOST_ROWS and table.note.startswith("Note. 3 further rows")


def test_audit_counts_what_is_there(tmp_path):
    generator = np.random.default_rng(2)
    counts, status = generator.integers(0, 4, (70, 3, 2)), generator.integers(0, 2, (70, 3, 2))
    counts[:, :, 1] = 1
    prompts = [[f"group {group} in template {template}" for template in range(3)] for group in range(70)]
    result = result_dataset(prompts, counts, status)
    run = Run("made up", "association", tmp_path, statistics_dataset(values()), result)
    tokens = {row[0]: row[2:] for row in audit.token_table(run).rows}
    positive = counts[:, :, 0][counts[:, :, 0] > 0]
    assert tokens == {"word 0": (positive.min(), counts[:, :, 0].max()), "word 1": (1, 1)}
    rows = {(row[0], row[1]): row[2] for row in audit.status_tables(run).rows}
    assert rows["raw: status", "joins"] == status.sum() and rows["raw: status", "ok"] == (status == 0).sum()
    assert rows["scores", "missing"] == np.isnan(values()).sum()
    table = audit.prompt_table(run)
    assert len(table.rows) == audit.MOST_PROMPTS
    assert all(row[-1] == f"{row[0]} in {row[1]}" for row in table.rows)
    assert len({row[0] for row in table.rows}) > 5 and len({row[1] for row in table.rows}) == 3


def test_a_page_holds_what_was_found(tmp_path, capsys):
    statistics = add_contrasts(
        add_means(statistics_dataset(values(), title="my run")), ["one", "two"], [0.5, -2.0], [0.04, 0.0001]
    )
    write(tmp_path / "run", statistics, result_dataset([["Text A", "Text B"]], [[[1], [2]]], [[[0], [1]]]))
    assert cli.main(["report", str(tmp_path / "run")]) == 0
    path = tmp_path / "run" / "report.html"
    assert capsys.readouterr().out.strip() == str(path)
    page = path.read_text(encoding="utf-8")
    outline = Outline(page)
    text = " ".join(outline.text)
    assert "Contrasts in ILPS*, prior: generic word (nat), smallest p first:" in text
    assert "Means of ILPS*, prior: generic word (nat), the first 3:" in text
    assert "two, item 0: \u22122.000, \u22123.000 to \u22121.000 (n 7, adjusted p 2.0e\u221204)" in text
    for note in ("How means are computed.", "How contrasts are tested.", "Few templates.", "Another."):
        assert note in outline.text  # notes and warnings of the file, each a paragraph
    for part in ("my run", "Which traits does the model expect", "Text A", "models/made-up", "@inproceedings{cao"):
        assert part in text
    assert "ab" * 32 in text and "joins" in text
    assert outline.tags.count("h1") == 1 and outline.tags.count("svg") >= 3
    assert len(outline.ids) == len(set(outline.ids))
    assert not {"src", "onclick"} & outline.attributes and "link" not in outline.tags


def test_answers_stand_first_and_every_warning_at_the_head(tmp_path):
    statistics = add_contrasts(add_means(statistics_dataset(values())), ["one"], [0.5], [0.04])
    told = ["ilps_star prior_word\tOne leans further.", "\tOf all measures.", "another\tNot shown."]
    statistics["contrast_difference"].attrs["answers"] = "\n".join(told)
    statistics.attrs["recommended_measures"] = "ilps_star prior_word"
    statistics["mean_score"].attrs["warnings"] = "A third.\nA fourth."
    text = report(write(tmp_path / "run", statistics)).read_text(encoding="utf-8")
    head = text[text.index("What was found") : text.index("<nav")]
    assert head.index("One leans further.") < head.index("Of all measures.") < head.index("<p>")
    assert "Not shown." not in text and "1 more warning<" in head
    assert all(f"<li>{warning}</li>" in head for warning in ("Few templates.", "Another.", "A third.", "A fourth."))


def test_several_runs_stand_in_one_page(tmp_path):
    table = values()
    write(tmp_path / "a", add_means(statistics_dataset(table, title="same title")))
    other = add_means(statistics_dataset(table[:2] + 3.0, ["subject 1", "only here"], title="same title"))
    write(tmp_path / "b", other)
    out = report(tmp_path / "a", tmp_path / "b" / "association.stats.h5", out=tmp_path / "both.html")
    page = out.read_text()
    assert out == tmp_path / "both.html" and "Run same title (2)" in page and page.count(">Scores<") == 2
    ids = Outline(page).ids
    assert len(ids) == len(set(ids))
    blocks = comparison_blocks(open_runs([tmp_path / "a", tmp_path / "b"]))
    rows = {row[:2]: row[2:] for row in blocks[-1].rows}
    assert set(rows) == {("subject 1", "item 0"), ("subject 1", "item 1")} and "6 means" in blocks[-1].note
    assert "Tests of the differences" in blocks[-1].note
    for item in range(2):
        one, two = (np.nanmean(table[place, ..., item]) for place in (1, 0))
        np.testing.assert_allclose(rows["subject 1", f"item {item}"], (one, two + 3), rtol=1e-12)


def test_a_sweeps_folder_is_all_its_runs_and_their_differences(tmp_path):
    for name in ("b", "a"):
        write(tmp_path / name, statistics_dataset(values(), title=name))
        (tmp_path / name / "job.resolved.yaml").write_text("name: x")
    assert [run.label for run in open_runs([tmp_path])] == ["a", "b"]
    axes = ("run_pair", "measure", "subject", "item")
    arrays = {"difference": ([0.5, 3.0], "value"), "low": ([0.0, 2.0], "low"), "high": ([1.0, 4.0], "high"),
              "num_templates": ([5, 5], "n"), "p": ([0.5, 0.001], "p"), "p_holm": ([0.5, 0.002], "adjusted")}
    labels = {"run_pair": ["b minus a"], "measure": ["ilps_star prior_word"], "subject": ["women"], "item": ["i", "k"],
              "run": ["dtype=float32", "dtype=bfloat16"]}  # fmt: skip
    comparison = xr.Dataset(
        coords={axis: np.array(names, dtype=object) for axis, names in labels.items()},
        attrs={"schema": "stereosweep-runs", "schema_version": "1.0", "complete": 1},
    )
    comparison = comparison.assign_coords(run_name=("run", np.array(["b", "a"], dtype=object)))
    columns = [("run_pair", "runs"), ("subject", "subject"), ("item", "item")]
    columns += [(f"run_{name}", name) for name in arrays]
    arrays = {f"run_{name}": ([[[row]]], role) for name, (row, role) in arrays.items()}
    comparison = add_finding(comparison, axes, arrays, [view("Differences in ", columns, "run_p")])
    comparison.to_netcdf(tmp_path / "runs.stats.h5", engine="h5netcdf")
    runs, comparison = with_names_of(open_comparison([tmp_path]), open_runs([tmp_path]))
    assert [run.label for run in runs] == ["dtype=bfloat16", "dtype=float32"]
    sections = {section.name: section.blocks for section in page.report_sections(runs, comparison)}
    (_, table, *_), (head, points, *_) = sections["differences"], sections["found"]
    plt.close("all")
    assert [row[1:4] + row[-1:] for row in table.rows] == [("women", "k", 3.0, 0.002), ("women", "i", 0.5, 0.5)]
    assert head.text == "Differences in ILPS*, prior: generic word, smallest p first:"
    assert points.rows[0] == "b minus a, women, k: 3.000, 2.000 to 4.000 (n 5, adjusted p 0.002)"
    text = report(tmp_path).read_text()
    assert "Differences between runs" in text and "Side by side" in text and "Tests of the differences" not in text
    assert "Run dtype=float32" in text and "dtype=float32: Scores" not in text
    assert open_comparison([tmp_path / "a", tmp_path / "b"]) is None


def test_a_folder_of_runs_and_other_things_is_its_runs(tmp_path, monkeypatch):
    """As for `stats` and `status`; what has no result, or cannot be compared, is said at the head of the page."""
    monkeypatch.delenv("STEREOSWEEP_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, state in (("sw.a", "status.json"), ("sw.b", "job.resolved.yaml")):
        write(tmp_path / name, add_means(statistics_dataset(values(), title=name)))
        (tmp_path / name / state).write_text("{}")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "association.h5").write_text("of a run that was moved")
    (tmp_path / "sw.c").mkdir()
    (tmp_path / "sw.c" / "status.json").write_text("{}")
    for given in (tmp_path, tmp_path / "sw"):
        runs = open_runs([given])
        assert [run.label for run in runs] == ["sw.a", "sw.b"] and len(runs[0].beside) == 1 and not runs[1].beside
        text = report(given, out=tmp_path / "page.html").read_text()
        head = text[text.index("What was found") : text.index("<nav")]
        assert "The run &#39;sw.c&#39; is left out: " in head and "Run sw.b" in text
    with pytest.raises(ResultError, match=r"sw\.c"):
        report(tmp_path / "sw.a", tmp_path / "sw.c")
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'no subject is in all results' >&2\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("STEREOSWEEP_PROGRAM", str(program))
    assert "The runs are not compared: " in report(tmp_path, out=tmp_path / "page.html").read_text()


def test_statistics_are_read_once(tmp_path, monkeypatch):
    write(tmp_path / "run", add_means(statistics_dataset(values())).assign_attrs(statistics_arguments=""))
    read = []
    monkeypatch.setenv("STEREOSWEEP_PROGRAM", "/bin/false")
    monkeypatch.setattr(open_module, "check_seal", lambda path: read.append(Path(path).name))
    assert len(open_runs([tmp_path / "run"])) == 1 and read == ["association.stats.h5"]


def test_a_contrasts_row_opens_the_sentences_of_both_sides(tmp_path):
    names = [f"subject {place}" for place in range(9)]
    scores = np.arange(9 * 4.0).reshape(9, 4, 1, 1, 1)  # the last ones have the strongest scores
    statistics = add_contrasts(
        statistics_dataset(scores, names), ["one", "subject 8", "zero"], [1.0, 2.0, 3.0], [0.5, 0.4, 0.3],
        [("subject 1, subject 2, subject 3, subject 4", "subject 5"), ("subject 0", "subject 6"), ("subject 7", "")],
    )  # fmt: skip
    (run,) = open_runs([write(tmp_path / "run", statistics)])
    rows = findings(statistics)[0].tables[0].rows
    (behind,) = Evidence([run], {}).behind
    found = {row[0]: [names[subject] for subject, _ in behind.cells_of(row[:2])] for row in rows}
    assert found["one"] == ["subject 1", "subject 5", "subject 2", "subject 3", "subject 4"]
    assert found["subject 8"] == ["subject 0", "subject 6"] and found["zero"] == ["subject 7"]
    assert behind.cells_of(("another", "item 0"))[0] == (8, 0)  # of no contrast: the strongest
    blocks = {"rows": ([0], Table("", [Column("who"), Column("what")], rows, labels=2))}
    assert "Sentences behind 8 of 8 pairs of a subject and an item" in Evidence([run], blocks).note  # it has no means
    (run,) = open_runs([write(tmp_path / "with means", add_means(statistics))])
    assert "Sentences behind 8 of 8 means (a subject and an item)" in Evidence([run], blocks).note


def test_runs_without_anything_in_common_say_so(tmp_path):
    write(tmp_path / "a", add_means(statistics_dataset(values())))
    write(tmp_path / "b", add_means(statistics_dataset(values(), measure="other")))
    write(tmp_path / "c", add_means(statistics_dataset(values(), ["x", "y", "z"])))
    for name, reason in (("b", "means of no common measure"), ("c", "share no subject")):
        blocks = comparison_blocks(open_runs([tmp_path / "a", tmp_path / name]))
        assert len(blocks) == 1 and reason in blocks[0].text


def test_hostile_names_stay_text(tmp_path):
    statistics = statistics_dataset(values(), subjects=[HOSTILE, "bell\x07 \ud800", "x" * 5000], title=HOSTILE)
    statistics = add_contrasts(statistics, [HOSTILE], [1.0], [0.5]).assign_attrs(model=HOSTILE, job_sha256=HOSTILE)
    path = tmp_path / "association.stats.h5"
    statistics = statistics.assign_coords(subject=np.array([HOSTILE, "bell\x07", "x" * 5000], dtype=object))
    statistics.to_netcdf(path, engine="h5netcdf")
    outline = Outline(report(path).read_text(encoding="utf-8"))
    assert outline.tags.count("script") == 1 and "img" not in outline.tags and "onerror" not in outline.attributes
    assert any("onerror=alert(1)" in text for text in outline.text) and not any("49 " in text for text in outline.text)


def test_a_run_without_any_score_has_a_report(tmp_path):
    write(tmp_path / "run", add_means(statistics_dataset(values() * np.nan)))
    assert "missing" in report(tmp_path / "run").read_text()


def test_unfinished_runs_are_said(tmp_path):
    write(tmp_path / "run", statistics_dataset(values()).assign_attrs(source_complete=0))
    assert "This run has not ended" in report(tmp_path / "run").read_text()


def test_what_is_no_run_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("STEREOSWEEP_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["report", str(tmp_path / "nothing")]) == 1
    assert "is no run directory" in capsys.readouterr().err
    assert cli.main(["report", str(tmp_path)]) == 1
    assert "run 'stereosweep stats" in capsys.readouterr().err
    with pytest.raises(ResultError, match="no run is named"):
        report()
    xr.Dataset(attrs={"schema": "stereosweep-statistics/x", "schema_version": "1.0", "complete": 1}).to_netcdf(
        tmp_path / "x.stats.h5", engine="h5netcdf"
    )
    assert cli.main(["report", str(tmp_path)]) == 1
    assert "no score table" in capsys.readouterr().err


def test_missing_statistics_are_computed_by_the_program(tmp_path, monkeypatch, capsys):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'the reason' >&2\nexit 2\n")
    program.chmod(0o755)
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("STEREOSWEEP_PROGRAM", str(program))
    assert cli.main(["report", str(tmp_path / "run")]) == 1
    assert "stats failed: the reason" in capsys.readouterr().err


def test_the_recommended_measure_is_the_files():
    statistics = statistics_dataset(values())
    both = xr.concat([statistics, statistics.assign_coords(measure=["other"])], "measure", data_vars="minimal")
    assert recommended_measure(both) == "ilps_star prior_word"
    assert recommended_measure(both.assign_attrs(recommended_measures="lacking\nother")) == "other"
    assert recommended_measure(both.assign_attrs(recommended_measures="lacking")) == "ilps_star prior_word"


def test_views_are_drawn_as_the_file_declares_them():
    statistics = statistics_dataset(values(subjects=2))
    both = xr.concat([statistics, statistics.assign_coords(measure=["other"])], "measure", data_vars="minimal")
    numbers = np.array([[[1.0, np.nan], [-3.0, 2.0]], [[5.0, 6.0], [7.0, 8.0]]])  # [measure, subject, item]
    columns = [("subject", "who"), ("item", "what"), ("shift", "shift"), ("shift_low", "low"), ("shift_p", "p")]
    both = add_finding(
        both, ("measure", "subject", "item"),
        {"shift": (numbers, "value"), "shift_low": (numbers - 1, "low"), "shift_p": (np.abs(numbers) / 10, "p")},
        [view("Shifts of ", columns, "-shift", ("measure", "subject"))], named=["other"],
    )  # fmt: skip
    both["shift_status"] = (
        ("measure", "subject", "item"), np.isnan(numbers).astype("u1"),
        {"role": "status", "of": "shift", "flag_values": np.array([0, 1], dtype="u1"), "flag_meanings": "ok too_few"},
    )  # fmt: skip
    title = "Shifts of ILPS*, prior: generic word (nat), subject"
    (found,) = findings(both.assign_attrs(recommended_measures="ilps_star prior_word"))
    assert [table.caption for table in found.tables] == [
        f"{title} 0", f"{title} 1", "Shifts of other (nat), subject 0", "Shifts of other (nat), subject 1"
    ]  # fmt: skip
    assert found.tables[1].rows == [("subject 1", "item 0", -3.0, -4.0, 0.3), ("subject 1", "item 1", 2.0, 1.0, 0.2)]
    assert found.tables[0].rows[1][1] == "item 1" and found.tables[0].rows[1][2].reason == "too few"
    assert "too few" in text_lines(found.tables[0])[-1]
    assert to_csv(found.tables[0]).splitlines()[-1] == "subject 0,item 1,,,"
    both["shift"].attrs["named_measures"] = ""
    (found,) = findings(both.assign_attrs(recommended_measures="ilps_star prior_word"))
    assert len(found.tables) == 2  # of other measures nothing


def test_a_table_with_an_interval_has_a_picture():
    statistics = add_contrasts(statistics_dataset(values()), ["one", "two"], [0.5, -2.0], [0.04, 0.0001])
    (found,) = findings(statistics)
    (picture,) = interval_picture(found.tables[0])
    plt.close(picture.figure)
    assert [tick.get_text() for tick in picture.figure.axes[0].get_yticklabels()] == ["two", "one"]
    assert interval_picture(Table("t", [Column("a"), Column("b", "", "number", "value")], [("x", 1.0)])) == []


def test_an_interval_is_that_of_its_own_number():
    """Another number may stand between them: the contexts of a test's rarest word."""
    arrays = {"effect": ([0.5, -0.3], "value"), "contexts": ([900.0, 800.0], "value"), "low": ([0.1, -0.9], "low"),
              "high": ([0.8, 0.2], "high")}  # fmt: skip
    columns = [("subject", "test"), *((name, name) for name in arrays)]
    statistics = statistics_dataset(values(subjects=2))
    (found,) = findings(add_finding(statistics, ("subject",), arrays, [view("Tests", columns)]))
    (picture,) = interval_picture(found.tables[0])
    plt.close(picture.figure)
    axes = picture.figure.axes[0]
    assert axes.get_xlim()[1] < 2 and axes.get_xlabel() == "Tests: effect"
    assert points(found.tables[0])[1].rows[0] == "subject 0: 0.500, 0.100 to 0.800"


def test_zero_is_drawn_of_differences_and_below_it():
    def lines(differences, **attributes):
        statistics = add_contrasts(statistics_dataset(values()), ["one", "two"], differences, [0.04, 0.0001])
        statistics["contrast_difference"].attrs |= attributes
        (picture,) = interval_picture(findings(statistics)[0].tables[0])
        plt.close(picture.figure)
        return len(picture.figure.axes[0].lines)

    with_zero = lines([2.0, 3.0], zero="drawn")
    assert with_zero == lines([2.0, -3.0]) == lines([0.5, 3.0]) == lines([2.0, 3.0]) + 1  # also where an end is below


def test_sections_are_those_that_findings_name():
    """In the page's order; what it does not know follows, by its own name where the file gives no heading."""
    statistics = statistics_dataset(values())
    headings = {"shift_of_all": "", "zork": "Zorks, all of them", "error": "Where scores vary", "more": "Contrasts"}
    for name, heading in headings.items():
        columns = (("subject", "subject"), (name, "number"))
        statistics = add_finding(statistics, ("subject",), {name: (np.arange(3.0), "value")}, [view(name, columns)])
        statistics[name].attrs |= {"heading": heading} if heading else {}
    sections = page._finding_sections(statistics, findings(statistics))
    assert [(anchor, heading) for anchor, heading, blocks in sections if blocks] == [
        ("contrasts", "Contrasts"), ("variance", "Where scores vary"), ("shift-of-all", "shift of all"),
        ("zorks-all-of-them", "Zorks, all of them"),
    ]  # fmt: skip


def test_many_tables_of_a_section_unfold_together():
    tables = [Table(f"table {place}", [Column("a")], [("x",)]) for place in range(1 + page.MOST_FOLDS + 3)]
    kept = page._folded([*tables, Paragraph("note")], 10)
    folded = [f"table {1 + place}" for place in range(page.MOST_FOLDS)]
    assert kept[0] is tables[0] and [block.title for block in kept[1:-1]] == folded
    assert kept[-1].title == "3 more tables and pictures" and kept[-1].blocks[-1].blocks[-1].text == "note"
    assert [name for name, block in page._named(kept, "s") if block is tables[-1]] == [f"s-{len(kept)}-3-1"]


def test_a_table_unfolds_with_its_picture_and_is_named_once():
    def pair(title):
        return Picture(plt.figure(), title, "seen"), Table(title, [Column("a")], [("x",)] * 30)

    pairs = [pair(title) for title in ("one", "two", "three")]
    plt.close("all")
    kept = page._folded([block for both in pairs for block in both], 30)
    assert kept[:2] == list(pairs[0]) and [block.title for block in kept[2:]] == ["two", "three"]
    assert [type(block) for block in kept[2].blocks] == [Picture, Table] and len(kept[2].blocks[1].rows) == 10
    first = [Points(["answer"]), Folded("terms", []), Paragraph("how to read it")]
    assert page._folded(first, 30) == first


def test_numbers_of_answers_are_written_as_those_of_tables():
    """No browser ends a line behind a minus sign; hyphens of words, ranges of minutes and contrasts stay."""
    finding = SimpleNamespace(answers=["men - women: non-binary, aug-2 lean to -0.5 nat, -1.2 .. -0.1, p 2e-04 (3-4)."])
    wanted = "men - women: non-binary, aug-2 lean to \u22120.5 nat, \u22121.2 .. \u22120.1, p 2e\u221204 (3-4)."
    assert head.answers_of([finding]) == [wanted]


def test_answers_explain_their_terms_and_findings_of_a_heading_share_notes():
    statistics = statistics_dataset(values(), title="x")
    for name in ("one", "two"):
        views = [view(name, [("subject", "subject"), (name, "number")])]
        arrays = {name: (np.arange(3.0), "value")}
        statistics = add_finding(statistics, ("subject",), arrays, views, "The same note.")
        statistics[name].attrs |= {"heading": "Both", "answers": "\ta leans further than aug2 b: 0.5 nat."}
    found = findings(statistics)
    ((_, _, blocks),) = [section for section in page._finding_sections(statistics, found) if section[2]]
    assert [block.text for block in blocks if isinstance(block, Paragraph)] == ["The same note."]
    points, folded = head.terms_of(head.answers_of(found)), head.terms_of(["nothing said"])
    assert not folded and points[0].title == "What these words mean: nat, aug2"
    assert [title for title, _ in points[0].blocks[0].rows] == ["nat", "aug2"]


@pytest.mark.parametrize(
    ("answering", "heading"), [("", "contrast difference"), ("shift", "Shift"), ("mean_score", "Scores")]
)
def test_the_section_that_answers_first_is_open(tmp_path, answering, heading):
    statistics = add_contrasts(add_means(statistics_dataset(values())), ["a"], [1.0], [0.5])
    arrays = {"shift": (np.arange(3.0), "value")}
    statistics = add_finding(statistics, ("subject",), arrays, [view("s", [("subject", "subject"), ("shift", "n")])])
    statistics["shift"].attrs |= {"heading": "Shift"}
    if answering:
        statistics[answering].attrs |= {"answers": "\tone answer", "heading": heading}
    text = report(write(tmp_path / "run", statistics)).read_text(encoding="utf-8")
    assert re.findall(r'class="section" open><summary>\s*<h2[^>]*>([^<]*)<', text) == [heading]


def test_the_glossary_has_sentences():
    assert {kind for kind, _ in glossary()} == set(KINDS)
    for (kind, name), entry in glossary().items():
        assert entry.title and entry.definition.endswith("."), (kind, name)


def awkward_table():
    rows = [("a & b_1", 0.12345678901234567, float("nan"), 0.0001), ("c | d\n\\x", -2.0, 3, float("nan"))]
    columns = [Column("name"), Column("mean", "of all", "number"), Column("n", kind="number"), Column("p", kind="p")]
    return Table("Caption", columns, rows, "Note.")


def test_csv_keeps_spreadsheets_from_computing():
    texts = ["=1+1", "+x", "-y", "@SUM(A1)", "\t=1", "plain", "-1.5", "-"]
    table = Table("t", [Column("text"), Column("number", kind="number")], [[text, -0.25] for text in texts])
    cells = [row[0] for row in csv.reader(FORMATS["csv"](table).splitlines()[1:])]
    assert cells == ["'=1+1", "'+x", "'-y", "'@SUM(A1)", "'\t=1", "plain", "-1.5", "-"]
    assert [row[0] for row in csv.reader(FORMATS["csv-as-is"](table).splitlines()[1:])] == texts
    assert all(line.endswith(",-0.25") for line in FORMATS["csv"](table).splitlines()[1:])


def test_csv_keeps_every_digit():
    rows = list(csv.reader(to_csv(awkward_table()).splitlines(keepends=True)))
    assert rows[0] == ["name", "mean", "n", "p"] and float(rows[1][1]) == 0.12345678901234567
    assert rows[1][2:] == ["", "0.0001"] and rows[2] == ["c | d\n\\x", "-2.0", "3", ""]


def test_markdown_and_latex_escape_what_means_something():
    markdown = to_markdown(awkward_table()).splitlines()
    assert markdown[2:4] == ["| name | mean | n | p |", "| --- | ---: | ---: | ---: |"]
    assert markdown[4:6] == [
        "| a \\& b\\_1 | 0.123 | none | 1.0e\u221204 |", "| c \\| d \\\\x | \u22122.000 | 3 | none |"
    ]  # fmt: skip
    assert markdown[-1] == "Note. mean: of all."
    latex = to_latex(awkward_table()).splitlines()
    assert latex[1].startswith(r"\begin{longtable}{") and latex[2] == r"\caption{Caption. Note. mean: of all.}\\"
    assert latex[13] == r"a \& b\_1 & 0.123 & none & 1.0e$-$04 \\"
    assert latex[14] == r"c \textbar{} d \textbackslash{}x & $-$2.000 & 3 & none \\" and latex[-2] == r"\end{longtable}"


def test_the_commands_table_and_pictures(tmp_path, capsys):
    write(tmp_path / "run", add_means(statistics_dataset(values()).assign_attrs(job_warnings="made of a hash")))
    assert cli.main(["table", str(tmp_path / "run")]) == 0
    out, err = capsys.readouterr()
    assert err == "made of a hash\n"
    rows = list(csv.DictReader(out.splitlines()))
    expected = measure_means(add_means(statistics_dataset(values())))
    found = {(row["subject"], row["item"]): (float(row["mean"]), float(row["low"])) for row in rows if row["mean"]}
    assert len(rows) == 6 and len(found) == 5  # one item of the third subject has no score
    for (subject, item), numbers in found.items():
        place = expected.subjects.index(subject), expected.items.index(item)
        assert numbers == (expected.mean[place], expected.low[place])
    assert cli.main(["table", str(tmp_path / "run"), "--what", "nothing"]) == 1
    assert "there are scores, statuses" in capsys.readouterr().err
    out = tmp_path / "pictures"
    assert cli.main(["pictures", str(tmp_path / "run"), "--out", str(out), "--format", "svg", "--format", "pdf"]) == 0
    assert {path.name for path in out.iterdir()} == {"scores.svg", "scores.pdf", "wordings.svg", "wordings.pdf"}
    assert "subject 2" in (out / "scores.svg").read_text() and (out / "scores.pdf").read_bytes().startswith(b"%PDF")
    assert "Mean ILPS*" in capsys.readouterr().out


def test_answers_stand_with_their_status(tmp_path):
    result = result_dataset([["a", "b"]], [[[1], [1]]], [[[0], [0]]])
    axes = ("group", "template", "rephrasing", "run")
    flags = {"flag_values": np.array([0, 4], dtype="u1"), "flag_meanings": "ok refused"}
    answers = np.array([[[["A. very", "I cannot say"]], [["", "B"]]]], dtype=object)
    result["answer_text"] = (axes, answers)
    result["answer_status"] = (axes, np.array([[[[0, 4]], [[0, 0]]]], dtype="u1"), flags)
    table = audit.answer_table(Run("x", "rating", tmp_path, statistics_dataset(values()), result))
    assert {row[-2:] for row in table.rows} == {("ok", "A. very"), ("refused", "I cannot say"), ("ok", "B")}
    assert [column.title for column in table.columns][-2:] == ["status", "text"]


def test_statuses_are_shares_of_what_was_asked(tmp_path):
    result = result_dataset([["a", "b"]], [[[1], [1]]], [[[0], [0]]])
    names = {"flag_values": np.arange(4, dtype="u1"), "flag_meanings": "answered missing not_asked not_scored"}
    statuses = {"keyword_status": [0, 0, 2, 2], "reason_status": [0, 1, 1, 2], "rating_status": [2, 2, 2, 3]}
    for name, flags in statuses.items():
        result[name] = (("group", "round", "place"), np.array(flags, dtype="u1").reshape(1, 1, 4), names)
    run = Run("x", "interview", tmp_path, statistics_dataset(values()), result)
    rows = {(row[0], row[1]): row[2:] for row in audit.status_tables(run).rows}
    assert rows["raw: keyword status", "answered"] == (2, 100.0, "The text gives keywords.")
    assert rows["raw: keyword status", "not_asked"][:2] == (2, None)
    assert rows["raw: reason status", "answered"][:2] == (1, pytest.approx(100 / 3))
    missing = "The text gives no reason for the keyword."
    assert rows["raw: reason status", "missing"][1:] == (pytest.approx(200 / 3), missing)
    assert "at this place" in rows["raw: reason status", "not_asked"][2]
    assert {rows["raw: rating status", name][1] for name in ("not_asked", "not_scored")} == {None}


def test_kept_vectors_give_the_sentences_of_a_contexts_job(tmp_path):
    folder = write(tmp_path / "run", statistics_dataset(values()))
    run = Run("x", "contexts", folder, statistics_dataset(values()), None)
    assert audit.prompt_table(run) is None
    sentences = np.array([["Roses smell.", ""], ["A wasp stings.", "The wasp flies."]], dtype=object)
    vectors = xr.Dataset(
        {
            "vector": (("word", "context", "dimension"), np.zeros((2, 2, 3))),
            "sentence": (("word", "context"), sentences),
        },
        coords={"word": np.array(["rose", "wasp"], dtype=object)},
        attrs={"schema": "stereosweep/contexts", "schema_version": "1.0", "complete": 1},
    )
    vectors.to_netcdf(folder / "contexts.vectors.h5", engine="h5netcdf")
    rows = {(row[0], row[-1]) for row in audit.prompt_table(run).rows}
    assert rows == {("rose", "Roses smell."), ("wasp", "A wasp stings."), ("wasp", "The wasp flies.")}
