"""Keywords of a small interview against a dictionary of five words: everything counted by hand."""

import csv

import pytest
from interview_files import KEYWORDS, write_interview

from stereosweep_analysis import keywords
from stereosweep_analysis.cli import main
from stereosweep_analysis.dictionary import Dictionary
from stereosweep_analysis.open import open_result

TABLE = (
    "word\tdimension\tdirection\n"
    "caring\tsociability\t1\ncaring\tmorality\t1\nhelpful\tsociability\t1\narrogant\tsociability\t-1\n"
    "intelligent\tability\t1\nteacher\twork\t0\nbold\tassertiveness\t1\ndishonest\tmorality\t-1\ndoctor\twork\tNA\n"
)
MAPPING = "risk takers\tbold\nzany\tbold\n"
CLUSTERS = {"nurses": 1, "doctors": 1, "thieves": 0}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.tsv").write_text(TABLE)
    (tmp_path / "mapping.tsv").write_text(MAPPING)
    return write_interview(tmp_path, CLUSTERS)


def run(capsys, folder, *arguments):
    table = ("--dictionary", str(folder / "table.tsv"))
    assert main(["keywords", str(folder), *table, "--output", str(folder / "out"), *arguments]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100, printed
    tables = {}
    for path in (folder / "out").glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return printed, tables


def test_coverage_by_stage(capsys, folder):
    # 15 keywords, "Risk takers" left out: 14 said, 11 different in lower case (caring 3, intelligent 2)
    printed, tables = run(capsys, folder)
    assert [tuple(row.values()) for row in tables["coverage"]] == [
        ("raw", "5", "11", "8", "14"),
        ("lemmas", "7", "10", "10", "14"),  # teacher, doctor; zanier is zany
        ("mapping", "7", "10", "10", "14"),
    ]
    assert printed.startswith("71.4 % of 14 keywords are in the dictionary (70.0 % of 10 different ones)\n")
    assert "15 keywords of conversation 'traits', turn 'words'; answers: 5 answered, 1 refused" in printed
    assert "left out: 1 of several words" in printed
    assert [tuple(row.values()) for row in tables["left_out"]] == [("risk takers", "1")]


def test_the_users_mapping_comes_last_and_keeps_its_phrases(capsys, folder):
    printed, tables = run(capsys, folder, "--mapping", str(folder / "mapping.tsv"))
    assert [tuple(row.values()) for row in tables["coverage"]] == [
        ("raw", "5", "12", "8", "15"),
        ("lemmas", "7", "11", "10", "15"),
        ("mapping", "8", "10", "13", "15"),  # bold: risk takers, zany, and zanier by its lemma
    ]
    assert not tables["left_out"]
    assert printed.startswith("86.7 % of 15 keywords")


def test_directions_count_each_word_once_and_by_frequency(capsys, folder):
    _, tables = run(capsys, folder, "--by", "cluster", "--mapping", str(folder / "mapping.tsv"))
    rows = {(row["unit"], row["dimension"]): row for row in tables["dimensions"]}
    # cluster 1: caring 3, helpful 1, arrogant 1, intelligent 2, teacher 1, doctor 1, bold 2: 7 words that are held
    sociability = rows["1", "sociability"]
    assert (sociability["words"], sociability["said"], sociability["rank"]) == ("3", "5", "1")
    assert float(sociability["share"]) == 3 / 7
    assert float(sociability["direction"]) == (1 + 1 - 1) / 3
    assert float(sociability["direction_by_frequency"]) == (3 + 1 - 1) / 5
    work = rows["1", "work"]
    assert (work["words"], work["without_direction"], float(work["direction"])) == ("2", "1", 0)
    assert [row["dimension"] for row in tables["dimensions"] if row["unit"] == "1"] == [
        "sociability", "work", "morality", "ability", "assertiveness",
    ]  # fmt: skip
    assert float(rows["0", "morality"]["direction"]) == -1


def test_words_without_a_direction_make_none():
    known = Dictionary(["work", "age"], {"doctor": {"work": None}, "old": {"age": 0}})
    units, _ = keywords.normalise({"a": ["doctor", "old"]}, keywords.Normaliser(known))
    first, second = keywords.directions(units, known)
    assert first == keywords.Direction("a", 1, "work", 1, 0.5, None, 1, 1, None)
    assert second == keywords.Direction("a", 2, "age", 1, 0.5, 0, 0, 1, 0)


def test_overlaps(capsys, folder):
    printed, tables = run(capsys, folder, "--pair", "nurses", "doctors")
    row = next(row for row in tables["overlaps"] if (row["left"], row["right"]) == ("nurses", "doctors"))
    assert (row["shared"], row["only_left"]) == ("caring", "hardworking; helpful; teacher")
    assert row["only_right"] == "arrogant; doctor; intelligent; zany"
    assert float(row["jaccard"]) == 1 / 8
    assert "nurses and doctors: Jaccard 0.125" in printed
    assert len(tables["overlaps"]) == 3


def test_a_unit_without_words_overlaps_with_none():
    normaliser = keywords.Normaliser(Dictionary())
    units, left_out = keywords.normalise({"a": ["two words"], "b": ["two words"]}, normaliser)
    assert keywords.overlap("a", "b", keywords.word_sets(units)) == keywords.Overlap("a", "b", [], [], [], None)
    assert left_out == {"two words": 2}


def test_lemmas_of_words_that_the_dictionary_holds():
    known = Dictionary(["ability"], {"educated": {"ability": 1}})
    assert keywords.Normaliser(known).forms("Educated,") == ("educated", "educated", "educated")
    assert keywords.Normaliser(known, lemmas="all").forms("educated").lemmas == "educate"
    phrases = keywords.Normaliser(known, phrases="keep")
    assert phrases.forms("\u201cGood  Leaders\u201d") == ("good leaders", "good leader", "good leader")


def test_what_is_not_there_is_named(capsys, folder):
    table = ["--dictionary", str(folder / "table.tsv")]
    for more, message in (
        (["--conversation", "structure"], "no keywords in structure; asked for them: traits: words"),
        (["--pair", "nurses", "pilots"], "no keywords of the group 'pilots'"),
        (["--by", "cluster", "--source", "refused"], "unknown cluster_source 'refused'"),
    ):
        assert main(["keywords", str(folder), *table, *more]) == 1
        assert message in capsys.readouterr().err


def test_a_dictionary_that_knows_no_keyword(capsys, folder):
    (folder / "table.tsv").write_text("word\tdimension\tdirection\nqueue\twork\t0\n")
    printed, tables = run(capsys, folder)
    assert printed.startswith("0.0 % of 14 keywords") and "no keyword is in the dictionary: no dimensions" in printed
    assert not tables["dimensions"]


def test_clusters_of_a_table(capsys, folder):
    (folder / "mine.tsv").write_text("group\tcluster\nnurses\thelpers\ndoctors\thelpers\n")
    printed, tables = run(capsys, folder, "--by", "cluster", "--clusters", str(folder / "mine.tsv"))
    assert {row["unit"] for row in tables["dimensions"]} == {"helpers"}
    assert "groups in no cluster: 1 thieves; clusters of " in printed


def test_the_fixture_opens_as_a_result(folder):
    with open_result(folder) as result:
        said = [str(word) for word in result["keyword"].values.ravel() if word]
    assert sorted(said) == sorted(word for rounds in KEYWORDS.values() for words in rounds for word in words)
