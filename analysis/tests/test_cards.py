"""Replication cards: printed numbers beside those of small results that were put there by hand."""

import csv
import io
import itertools

import numpy as np
import pytest
import xarray as xr
from report_files import texts
from scipy import stats
from test_paper_tables import association, coreference

from stereosweep_analysis import cli
from stereosweep_analysis.papers import cao2022, guo2021, printed, stereomap, winoidentity
from stereosweep_analysis.tables import Table

PAPERS = {"cao2022": cao2022, "guo2021": guo2021, "winoidentity": winoidentity, "stereomap": stereomap}


def card(name, statistics, job=""):
    return printed.card(name, PAPERS[name], statistics, job)


def rows(made, title):
    (table,) = [table for table in made.laid if title in table.title]
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def effects_of(model, effects):
    """Statistics of contexts with effects of these tests, and intervals of +- 0.1."""
    values = np.array(list(effects.values()))
    columns = {"weat": values, "weat_sampling_low": values - 0.1, "weat_sampling_high": values + 0.1}
    return xr.Dataset(
        {name: ("weat_test", column) for name, column in columns.items()},
        coords={"weat_test": texts(list(effects))}, attrs={"model": model, "schema": "stereosweep-statistics/contexts"},
    )  # fmt: skip


def test_agreement_is_that_of_the_papers_own_model():
    # Table 2, BERT: C1 0.96, C2 0.93, C8 -0.07, C10 0.00
    made = card("guo2021", effects_of("models/bert-base-cased/", {"C1": 0.9, "C2": 1.2, "C8": 0.3, "C10": 0.2}))
    assert "the paper's BERT" in made.sentences[0]
    (agreement,) = rows(made, "agree")
    assert (agreement["table"], agreement["model"], agreement["compared"]) == ("2", "BERT", "4 of 14")
    assert (agreement["same sign"], agreement["in interval"]) == ("2 of 3", "1 of 4")
    assert agreement["tau-b"] == pytest.approx(
        stats.kendalltau([0.96, 0.93, -0.07, 0.0], [0.9, 1.2, 0.3, 0.2]).statistic
    )
    assert agreement["distance"] == pytest.approx((0.06 + 0.27 + 0.37 + 0.2) / 4)
    beside = rows(made, "beside ours")
    assert [(row["row"], row["BERT"], row["ours"]) for row in beside] == [
        ("C1", 0.96, 0.9), ("C2", 0.93, 1.2), ("C8", -0.07, 0.3), ("C10", 0.0, 0.2)
    ]  # fmt: skip
    assert "ELMo" not in beside[0]
    assert any("Rows of these tables that the result lacks: 10 (C3, C4," in line for line in made.sentences)
    assert all(isinstance(table.table(), Table) for table in made.laid) and len(made.laid) == 3


@pytest.mark.parametrize("model", ["models/bert-base-uncased", "my-bert", "bert-base-cased-finetuned", ""])
def test_another_model_is_held_against_all_of_them_and_said(model):
    made = card("guo2021", effects_of(model, {"C1": 1.0, "EM/EF career": 1.0}), "draws: own\nsamples: 50\n")
    assert (
        "none of the paper's models (ELMo, BERT, GPT, GPT-2)" in made.sentences[0]
        and "signs and order" in made.sentences[0]
    )
    assert [row["model"] for row in rows(made, "agree")] == ["ELMo", "BERT", "GPT", "GPT-2"] * 2
    assert {row["table"] for row in rows(made, "agree")} == {"2", "3"}
    first = rows(made, "beside ours")[0]
    assert [first[name] for name in ("ELMo", "BERT", "GPT", "GPT-2")] == [1.39, 0.96, 1.05, 0.13]
    assert ("sentences of tests", "own") in [(row["what"], row["this result"]) for row in rows(made, "set-up")]


def test_draws_of_a_permutation_test_are_none_of_sentences():
    made = card("guo2021", effects_of("gpt2", {"C1": 1.0}), "samples: 50\nstatistics:\n  draws: 1000000\nname: x\n")
    assert [(row["what"], row["this result"]) for row in rows(made, "set-up")] == [("samples", "50")]


def test_a_result_without_the_papers_rows_says_so():
    made = card("guo2021", effects_of("gpt2", {"my own test": 1.0}))
    assert any("Nothing can be compared" in line for line in made.sentences)
    assert [table.title for table in made.laid] == ["set-up"]
    for paper in PAPERS:
        made = card(paper, xr.Dataset(attrs={"model": "x"}))
        assert any("Nothing can be compared" in line for line in made.sentences)


def test_changes_by_a_marker_are_held_against_changes():
    made = card("winoidentity", coreference().assign_attrs(model="Mixtral-8x7B-v0.1"))
    old = {(row["table"], row["column"]): row for row in rows(made, "beside ours") if row["row"] == "old"}
    assert set(old) == {("14", "pro"), ("14", "anti"), ("15", "pro")}
    # table 14: mixtral, old, 0.93 and 0.63; table 13: men 0.99 and 0.92, women 0.98 and 0.81
    assert old["14", "pro"]["mixtral-8x7B"] == pytest.approx(0.93 - 0.985)
    assert old["14", "anti"]["mixtral-8x7B"] == pytest.approx(0.63 - 0.865)
    assert (old["14", "anti"]["ours"], old["14", "anti"]["low"], old["14", "anti"]["high"]) == (11.0, 21.0, 31.0)
    (baseline,) = [row for row in rows(made, "beside ours") if row["table"] == "13"]
    assert (baseline["row"], baseline["mixtral-8x7B"], baseline["ours"]) == ("female / anti", 0.81, 4.0)


def test_agreement_with_people_by_group():
    made = association().isel(people_row=[0, 1]).assign_coords(
        measure=texts(["ilps_star prior_word", "set_code_augmented prior_word"]),
        people_row_name=("people_row", texts(["pooled", "Non-Binary people"])),
    )  # fmt: skip
    made = made.assign(people_tau_low=made["people_tau"] - 0.1, people_tau_high=made["people_tau"] + 0.1)
    found = {(row["table"], row["column"]): row for row in rows(card("cao2022", made), "beside ours")}
    assert found["A11", "tau-b ILPS*"]["RoBERTa"] == 0.117 and found["A11", "tau-b ILPS*"]["ours"] == 0.1
    assert found["A12", "top 3 SeT"]["BERT"] == 0.67 and found["A12", "top 3 SeT"]["ours"] == 0.4
    assert found["6", "tau-b SeT"]["RoBERTa"] == 0.199 and found["6", "tau-b SeT"]["low"] == pytest.approx(0.7)
    assert not [column for _, column in found if "ILPS" in column and "*" not in column]


def test_sides_of_clusters_are_compared_as_words():
    flags = {"flag_values": np.arange(3, dtype="u1"), "flag_meanings": "low middle high"}
    by_place = ("cluster_source", "cluster_place", "cluster_dimension")
    made = xr.Dataset(
        {
            "cluster_centre": (by_place, np.array([[[2.0, 1.5], [3.0, 4.0]]])),
            "cluster_number": ("cluster_source", np.array([2])),
            "cluster_of_subject": (("cluster_source", "subject"), np.array([[0, 0, 1]])),
            "cluster_side": (by_place, np.array([[[0, 0], [0, 2]]], dtype="u1"), flags),
        },
        coords={"cluster_source": texts(["option_text"]), "cluster_dimension": texts(["warmth", "competence"]),
                "subject": texts(["poor women", "old men", "rich men"])},
    )  # fmt: skip
    found = {row["row"]: row for row in rows(card("winoidentity", made), "beside ours")}
    assert (found["poor women"]["people"], found["poor women"]["ours"]) == ("low-low", "low-low")
    assert (found["old men"]["llama3-70b"], found["old men"]["mistral-7B"], found["old men"]["ours"]) == (
        "low-low",
        "-",
        "low-low",
    )
    assert (found["rich men"]["people"], found["rich men"]["ours"]) == ("high-low", "high-low")
    agreement = {row["model"]: row["same sign"] for row in rows(card("winoidentity", made), "agree")}
    assert agreement["people"] == "3 of 3" and agreement["llama3-70b"] == "2 of 2"


def test_order_is_kendalls_tau_b():
    random = np.random.default_rng(5)
    for size in range(2, 40):
        first, second = random.integers(0, 6, size), random.normal(size=size).round(1)
        np.testing.assert_allclose(printed.tau_b(first, second), stats.kendalltau(first, second).statistic, rtol=1e-12)
    assert np.isnan(printed.tau_b([1, 1, 1], [1, 2, 3])) and np.isnan(printed.tau_b([1], [2]))


def test_printed_numbers_are_whole_and_what_they_are_less_exists():
    sizes = {"cao2022": 350, "guo2021": 134, "winoidentity": 990, "stereomap": 190}
    for paper, module in PAPERS.items():
        found = printed.read_printed(paper)
        keys = [(row.table, row.row, row.column) for row in found]
        assert len(set(keys)) == len(keys) and len(keys) >= sizes[paper]
        for row in found:
            assert row.place and row.values and set(row.values) <= {*module.MODELS, printed.PEOPLE}
            for other in filter(None, row.less.split(";")):
                assert tuple(other.split("|")) in keys
        if paper == "winoidentity":
            counts = [sum(row.table == number for row in found) for number in map(str, range(14, 26))]
            assert counts == [50] * 4 + [52] * 8


def run_of(folder, statistics, schema):
    whole = statistics.assign_attrs(
        {**statistics.attrs, "schema": f"stereosweep-statistics/{schema}", "schema_version": "1.0", "complete": 1}
    )
    folder.mkdir()
    whole.to_netcdf(folder / f"{schema}.stats.h5", engine="h5netcdf")
    return folder


def test_the_command_opens_with_the_card(tmp_path, capsys):
    effects = {test: 0.1 * place for place, test in enumerate(["C1", "C2", "C3", "C4"], start=1)}
    statistics = effects_of("gpt2", effects).assign(
        weat_samples=("weat_test", [10] * 4), weat_p=("weat_test", [0.5] * 4)
    )
    run = run_of(tmp_path / "run", statistics.assign_attrs(job_warnings="made of a hash"), "contexts")
    assert cli.main(["paper", "guo2021", str(run)]) == 0
    text, err = capsys.readouterr()
    assert err.startswith("made of a hash\n")
    assert "The folder 'gpt2' has the name of the paper's GPT-2" in " ".join(text.split("card: how far")[0].split())
    assert text.index("card: how far") < text.index("card: printed numbers") < text.index("1: Combined effects")
    assert max(map(len, text.splitlines())) <= 100
    for form, start in (("markdown", "run beside Guo"), ("latex", "run beside Guo")):
        assert cli.main(["paper", "guo2021", str(run), "--format", form]) == 0
        assert start in capsys.readouterr().out.splitlines()[0].replace(str(tmp_path) + "/", "")
    assert cli.main(["paper", "guo2021", str(run), "--format", "csv"]) == 0
    assert not any(row["table"] == "card" for row in csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert cli.main(["paper", "guo2021", str(run), "--format", "csv", "--only", "card"]) == 0
    cells = {(row["row"], row["column"]): row["value"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert cells["2 / section 8.4 / C2 / d", "GPT-2"] == "-0.28" and cells["2 / section 8.4 / C2 / d", "ours"] == "0.2"


def test_rows_and_columns_can_be_chosen(tmp_path, capsys):
    effects = {f"C{place}": 0.1 * place for place in range(1, 9)}
    statistics = effects_of("gpt2", effects).assign(
        weat_samples=("weat_test", [10] * 8), weat_p=("weat_test", [0.5] * 8)
    )
    run = run_of(tmp_path / "run", statistics, "contexts")
    assert cli.main(["paper", "guo2021", str(run), "--only", "1", "--top", "3", "--columns", "d", "p"]) == 0
    text = capsys.readouterr().out
    assert [line.split()[0] for line in text.splitlines() if line.startswith("C")] == ["C1", "C2", "C3"]
    assert "test      d      p" in text and "5 further rows are not shown: --top" in " ".join(text.split())
    assert cli.main(["paper", "guo2021", str(run), "--only", "1", "--columns", "z"]) == 1
    assert "no column z: the table has d, sd, p, p of z" in capsys.readouterr().err


def test_measures_can_be_chosen(tmp_path, capsys):
    axes = {name: variable.rename(measure="people_measure") for name, variable in association().data_vars.items()}
    statistics = xr.Dataset(axes).assign_attrs(recommended_measures="set word")
    run = run_of(tmp_path / "run", statistics, "association")
    shown = {
        (): ["set word"],
        ("--measure", "ilps word"): ["ilps word"],
        ("--measure", "set word", "ilps word"): ["ilps word", "set word"],
    }
    for asked, expected in shown.items():
        assert cli.main(["paper", "cao2022", str(run), "--only", "A11", *asked, "--format", "markdown"]) == 0
        head = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| group"))
        assert head.strip("| ").split(" | ") == ["group", *expected]
    assert cli.main(["paper", "cao2022", str(run)]) == 0
    assert "measures that are not shown (--measure): ilps word" in capsys.readouterr().err
    assert cli.main(["paper", "cao2022", str(run), "--measure", "none"]) == 1
    assert "no measure 'none'" in capsys.readouterr().err
    assert list(itertools.chain(*shown.values()))
