"""The report: its numbers against plain loops and scipy, hostile names, what is missing."""

import csv
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from report_files import add_contrasts, result_dataset, statistics_dataset, write
from scipy import stats

from stereosweep_analysis import ResultError, cli, report
from stereosweep_analysis.glossary import KINDS, glossary
from stereosweep_analysis.reports import audit
from stereosweep_analysis.reports.comparisons import correlation_blocks
from stereosweep_analysis.reports.formats import to_csv, to_latex, to_markdown
from stereosweep_analysis.reports.intersections import intersection_blocks
from stereosweep_analysis.reports.interviews import refusal_blocks
from stereosweep_analysis.reports.runs import Run, open_comparison, open_runs
from stereosweep_analysis.reports.scores import measure_means, recommended_measure
from stereosweep_analysis.reports.side_by_side import comparison_blocks, difference_blocks
from stereosweep_analysis.reports.tables import (
    MOST_ROWS,
    Column,
    cut_table,
    make_table,
    number_text,
    p_text,
    smallest_p_text,
)

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


def test_means_and_intervals_are_those_of_a_plain_loop():
    table = values()
    means = measure_means(statistics_dataset(table), "ilps_star prior_word")
    for subject in range(3):
        for item in range(2):
            chosen = table[subject, ..., item]
            cells = [[chosen[t, r].mean() for r in range(2)] for t in range(5)]  # replicates lack together
            of_templates = [np.nanmean(row) for row in cells if np.isfinite(row).any()]
            if not of_templates:
                assert np.isnan(means.mean[subject, item]) and np.isnan(means.low[subject, item])
                assert means.n[subject, item] == 0
                continue
            np.testing.assert_allclose(means.mean[subject, item], np.nanmean(cells), rtol=1e-12)
            assert means.n[subject, item] == len(of_templates)
            centre, error = np.mean(of_templates), stats.sem(of_templates)
            low, high = stats.t.interval(0.95, len(of_templates) - 1, centre, error)
            np.testing.assert_allclose((means.low[subject, item], means.high[subject, item]), (low, high), rtol=1e-9)


def test_one_template_has_no_interval_and_intervals_of_the_file_are_kept():
    single = measure_means(
        statistics_dataset(values(templates=1, rephrasings=1)[1:2] * 0 + 2.0), "ilps_star prior_word"
    )
    assert single.mean[0, 0] == 2 and np.isnan(single.low).all()
    statistics = statistics_dataset(values())
    for place, name in enumerate(("", "_low", "_high", "_n")):
        statistics[f"mean_score{name}"] = (("measure", "subject", "item"), np.full((1, 3, 2), float(place)))
    statistics["mean_score_low"].attrs["long_name"] = "lower end of the 90 % interval, rescaled"
    means = measure_means(statistics, "ilps_star prior_word")
    assert (means.mean == 0).all() and (means.low == 1).all() and (means.high == 2).all() and (means.n == 3).all()
    assert means.interval == "90 % interval, rescaled"


def test_mean_replicates_count_only_where_there_are_no_others():
    table = values(replicates=3)
    table[2, :, :, 1:] = np.nan
    labels = np.array(["mean", "run 1", "run 2"], dtype=object)
    statistics = statistics_dataset(table).assign_coords(replicate=labels).isel(template=[0], rephrasing=[0])
    means = measure_means(statistics, "ilps_star prior_word").mean[:, 0]
    np.testing.assert_allclose(means[1], table[1, 0, 0, 1:, 0].mean())
    np.testing.assert_allclose(means[2], table[2, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (-1.5, "\u22121.500"), (12.345, "12.35"), (1234.5, "1234.5"), (3, "3"), (12345, "12,345"),
     (1e-7, "1.00e\u221207"), (float("nan"), "none"), (None, "none"), (float("inf"), "none")],
)  # fmt: skip
def test_numbers_as_text(value, text):
    assert number_text(value) == text


def test_findings_say_where_no_p_is_small():
    assert smallest_p_text("Tests", 0.04) == "Tests with the smallest adjusted p:"
    assert "none of them at most 0.05" in smallest_p_text("Tests", 0.06)


def test_small_p_is_never_zero():
    assert (p_text(0.0004), p_text(0.05), p_text(float("nan"))) == ("<0.001", "0.050", "none")


def test_rows_that_are_left_out_are_counted():
    table = cut_table(make_table("t", [Column("a")], [(str(place),) for place in range(MOST_ROWS + 3)], "Note."))
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
        statistics_dataset(values(), title="my run"), ["one", "two"], [0.5, -2.0], [0.04, 0.0001]
    )
    write(tmp_path / "run", statistics, result_dataset([["Text A", "Text B"]], [[[1], [2]]], [[[0], [1]]]))
    assert cli.main(["report", str(tmp_path / "run")]) == 0
    path = tmp_path / "run" / "report.html"
    assert capsys.readouterr().out.strip() == str(path)
    page = path.read_text(encoding="utf-8")
    outline = Outline(page)
    text = " ".join(outline.text)
    assert "Contrasts in ILPS*, prior: generic word (nat) with the smallest adjusted p:" in text
    assert "Farthest out of 5 means" in text
    assert "two, item 0: \u22122.000, \u22123.000 to \u22121.000 (adjusted p <0.001)" in text
    for part in ("my run", "Which traits does the model expect", "Text A", "models/made-up", "@inproceedings{cao"):
        assert part in text
    assert "ab" * 32 in text and "joins" in text
    assert outline.tags.count("h1") == 1 and outline.tags.count("svg") >= 3
    assert len(outline.ids) == len(set(outline.ids))
    assert not {"src", "onclick"} & outline.attributes and "link" not in outline.tags


def test_several_runs_stand_in_one_page(tmp_path):
    table = values()
    write(tmp_path / "a", statistics_dataset(table, title="same title"))
    other = statistics_dataset(table[:2] + 3.0, ["subject 1", "only here"], title="same title")
    write(tmp_path / "b", other)
    out = report(tmp_path / "a", tmp_path / "b" / "association.stats.h5", out=tmp_path / "both.html")
    page = out.read_text()
    assert out == tmp_path / "both.html" and "same title (2): Scores" in page
    ids = Outline(page).ids
    assert len(ids) == len(set(ids))
    blocks = comparison_blocks(open_runs([tmp_path / "a", tmp_path / "b"]))
    rows = {row[:2]: row[2:] for row in blocks[-1].rows}
    assert set(rows) == {("subject 1", "item 0"), ("subject 1", "item 1")} and "6 means" in blocks[-1].note
    assert "Tests of the differences" in blocks[-1].note
    for item in range(2):
        one, two = (np.nanmean(table[place, ..., item]) for place in (1, 0))
        np.testing.assert_allclose(rows["subject 1", f"item {item}"], (one, two + 3, abs(two + 3 - one)), rtol=1e-12)


def test_a_sweeps_folder_is_all_its_runs_and_their_differences(tmp_path):
    for name in ("b", "a"):
        write(tmp_path / name, statistics_dataset(values(), title=name))
        (tmp_path / name / "job.resolved.yaml").write_text("name: x")
    assert [run.label for run in open_runs([tmp_path])] == ["a", "b"]
    axes = ("run_pair", "measure", "subject", "item")
    numbers = {"difference": [[0.5, 3.0]], "low": [[0.0, 2.0]], "high": [[1.0, 4.0]], "num_templates": [[5, 5]]}
    numbers |= {"p": [[0.5, 0.001]], "p_max_t": [[np.nan, np.nan]], "p_holm": [[0.5, 0.002]]}
    labels = {"run_pair": ["b minus a"], "measure": ["ilps_star prior_word"], "subject": ["women"], "item": ["i", "k"]}
    comparison = xr.Dataset(
        {f"run_{name}": (axes, np.array([[rows]], dtype=float)) for name, rows in numbers.items()},
        coords={axis: np.array(names, dtype=object) for axis, names in labels.items()},
        attrs={"schema": "stereosweep-runs", "schema_version": "1.0", "complete": 1},
    )
    comparison.to_netcdf(tmp_path / "runs.stats.h5", engine="h5netcdf")
    head, points, picture, table = difference_blocks(open_comparison([tmp_path]), "ilps_star prior_word")
    plt.close(picture.figure)
    assert [row[1:3] + row[-1:] for row in table.rows] == [("k", 3.0, 0.002), ("i", 0.5, 0.5)]
    assert head.text == "Differences (b minus a) with the smallest adjusted p:"
    assert points.rows[0] == "women: k, 3.000, 2.000 to 4.000 (adjusted p 0.002)"
    page = report(tmp_path).read_text()
    assert "Differences between runs" in page and "Side by side" in page and "Tests of the differences" not in page
    assert open_comparison([tmp_path / "a", tmp_path / "b"]) is None


def test_runs_without_anything_in_common_say_so(tmp_path):
    write(tmp_path / "a", statistics_dataset(values()))
    write(tmp_path / "b", statistics_dataset(values(), measure="other"))
    write(tmp_path / "c", statistics_dataset(values(), ["x", "y", "z"]))
    for name, reason in (("b", "no measure in common"), ("c", "share no subject")):
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
    write(tmp_path / "run", statistics_dataset(values() * np.nan))
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


def test_the_recommended_measure_is_the_probes():
    assert recommended_measure(statistics_dataset(values())) == "ilps_star prior_word"
    assert recommended_measure(statistics_dataset(values(), measure="own")) == "own"


def test_the_glossary_has_sentences():
    assert {kind for kind, _ in glossary()} == set(KINDS)
    for (kind, name), entry in glossary().items():
        assert entry.title and entry.definition.endswith("."), (kind, name)


def awkward_table():
    rows = [("a & b_1", 0.12345678901234567, float("nan"), 0.0001), ("c | d\n\\x", -2.0, 3, float("nan"))]
    columns = [Column("name"), Column("mean", "of all", "number"), Column("n", kind="number"), Column("p", kind="p")]
    return make_table("Caption", columns, rows, "Note.")


def test_csv_keeps_every_digit():
    rows = list(csv.reader(to_csv(awkward_table()).splitlines(keepends=True)))
    assert rows[0] == ["name", "mean", "n", "p"] and float(rows[1][1]) == 0.12345678901234567
    assert rows[1][2:] == ["", "0.0001"] and rows[2] == ["c | d\n\\x", "-2.0", "3", ""]


def test_markdown_and_latex_escape_what_means_something():
    markdown = to_markdown(awkward_table()).splitlines()
    assert markdown[2:4] == ["| name | mean | n | p |", "| --- | ---: | ---: | ---: |"]
    assert markdown[4:6] == [r"| a \& b\_1 | 0.123 | none | \<0.001 |", "| c \\| d \\\\x | \u22122.000 | 3 | none |"]
    assert markdown[-1] == "Note. mean: of all."
    latex = to_latex(awkward_table()).splitlines()
    assert latex[:3] == ["% Caption", "% Note. mean: of all.", r"\begin{tabular}{lrrr}"]
    assert latex[6] == r"a \& b\_1 & 0.123 & none & \textless{}0.001 \\"
    assert latex[7] == r"c \textbar{} d \textbackslash{}x & $-$2.000 & 3 & none \\" and latex[-1] == r"\end{tabular}"


def test_the_commands_table_and_pictures(tmp_path, capsys):
    write(tmp_path / "run", statistics_dataset(values()))
    assert cli.main(["table", str(tmp_path / "run")]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    expected = measure_means(statistics_dataset(values()), "ilps_star prior_word")
    found = {(row["subject"], row["item"]): (float(row["mean"]), float(row["low"])) for row in rows}
    assert len(rows) == 5  # one item of the third subject has no score
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


def test_emergent_scores_are_sorted_and_counted():
    names = ["a x b", "b x a"]
    dims = ("intersection_measure", "intersection", "item")
    numbers = {
        "score": [[3.0, 1.0], [-5.0, np.nan]], "first": [[1.0, 2.0], [0.0, 0.0]], "second": [[2.0, 0.0], [-1.0, 0.0]],
        "max": [[1.0, -1.0], [-5.0, np.nan]], "min": [[2.0, 1.0], [-4.0, np.nan]], "num_templates": [[4, 4], [4, 0]],
        "p": [[0.2, 0.9], [0.1, np.nan]], "p_max_t": [[0.4, 1.0], [0.3, np.nan]],
    }  # fmt: skip
    statistics = statistics_dataset(values()).assign(
        {f"emerge_{name}": (dims, np.array([numbers[name]], dtype=float)) for name in numbers}
    )
    labels = {"intersection": np.array(names, dtype=object), "intersection_measure": np.array(["m"], dtype=object)}
    picture, table = intersection_blocks(statistics.assign_coords(labels))
    assert [(row[0], row[5]) for row in table.rows] == [("b x a", 4.0), ("a x b", 1.0)]  # above, or below, both parts
    assert "2 in all" in picture.caption
    plt.close(picture.figure)


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


def test_refusals_are_the_files_shares():
    statistics = statistics_dataset(values())
    for axis in ("template", "subject"):
        count = statistics.sizes[axis]
        statistics[f"{axis}_rated_texts"] = (axis, np.full(count, 10, dtype="i4"))
        fields = [f"{name}_{end}" for name in ("refused", "unrated") for end in ("share", "low", "high")]
        for place, field in enumerate(fields):
            statistics[f"{axis}_{field}"] = (axis, np.arange(count) / 10 + place / 100)
    picture, table = refusal_blocks(statistics)
    plt.close(picture.figure)
    assert len(table.rows) == 8 and table.rows[-1] == ("subject", "subject 2", 10, *(0.2 + np.arange(4) / 100))


def test_correlations_among_all_are_drawn_and_all_are_listed():
    axis = "correlation"
    labels = {"row": ["warmth"] * 2, "column": ["status"] * 2, "measure": ["m"] * 2, "method": ["spearman"] * 2}
    labels |= {"among": ["cluster 0", "all"], "name": ["structure"] * 2}
    numbers = {"coefficient": [0.9, 0.5], "low": [np.nan, 0.1], "high": [np.nan, 0.8], "n": [4, 24], "p": [0.01, 0.2]}
    numbers["p_holm"] = [0.02, 0.4]
    statistics = statistics_dataset(values()).assign(
        {f"correlation_{name}": (axis, np.array(cells, dtype=float)) for name, cells in numbers.items()}
    )
    statistics = statistics.assign_coords(
        {f"correlation_{name}": (axis, np.array(cells, dtype=object)) for name, cells in labels.items()}
    )
    picture, table = correlation_blocks(statistics)
    plt.close(picture.figure)
    assert [row[4] for row in table.rows] == ["cluster 0", "all"] and table.rows[1][6:10] == (0.5, 0.1, 0.8, 24)
    names = [tick.get_text() for tick in picture.figure.axes[0].get_yticklabels()]
    assert names == ["warmth and status"]


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
