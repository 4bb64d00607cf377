"""Dictionaries of both forms, and what is wrong with them."""

from pathlib import Path

import pytest

from stereosweep_analysis.dictionary import read_dictionary, read_mapping
from stereosweep_analysis.open import ResultError

OURS = Path(__file__).resolve().parents[2] / "configs" / "dictionaries" / "stereotype_content.tsv"
PUBLISHED = (
    "original word,Sociability dictionary,Sociability direction,work dictionary,tokens\n"
    "Friendly,1,1,0,3\n"
    '"cold",1,-1.0,0,3\n'
    "nurse,0,NA,1,3\n"
    "social,1,NA,NA,3\n"
    "table,0,0,0,3\n"
    "nurse,0,NA,1,3\n"
)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_dictionary_reads():
    found = read_dictionary(OURS)
    assert len(found.directions) >= 500 and len(found.dimensions) >= 10 and not found.skipped
    assert found.directions["friendly"] == {"sociability": 1}
    assert found.directions["hostile"] == {"sociability": -1, "morality": -1}
    for name in ("sociability", "morality", "ability", "assertiveness", "status", "beliefs", "health"):
        signs = {belongs[name] for belongs in found.directions.values() if name in belongs}
        assert signs == {-1, 0, 1}, name
    assert "CC0-1.0" in OURS.read_text(encoding="utf-8")


def test_the_published_form_reads(tmp_path):
    found = read_dictionary(write(tmp_path / "full.csv", PUBLISHED))
    assert found.dimensions == ["Sociability", "work"]
    assert found.directions == {
        "friendly": {"Sociability": 1}, "cold": {"Sociability": -1}, "nurse": {"work": None},
        "social": {"Sociability": None},
    }  # fmt: skip


def test_malformed_cells_are_named_together_or_skipped(tmp_path):
    text = PUBLISHED + "odd,1,-1;0,0,3\nodder,x,0,1,3\nfriendly,1,-1,0,3\n"
    path = write(tmp_path / "full.csv", text)
    with pytest.raises(ResultError) as error:
        read_dictionary(path)
    lines = str(error.value).splitlines()
    assert len(lines) == 4 and "--malformed skip leaves these 3 out" in lines[3]
    assert "line 8: '-1;0' under 'Sociability direction' is none of -1, 0, 1, NA" in lines[0]
    assert "line 9: 'x' under 'Sociability dictionary' is none of 0, 1, NA" in lines[1]
    assert "line 10: 'friendly' differs from its row in line 2" in lines[2]
    found = read_dictionary(path, "skip")
    assert len(found.skipped) == 3
    assert found.directions["odd"] == {"Sociability": None}
    assert found.directions["odder"] == {"work": None}
    assert found.directions["friendly"] == {"Sociability": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# a comment\nword\tdimension\tdirection\nkind\tmorality\t2\n", "line 3: direction '2' is none of"),
        ("word\tdimension\tdirection\nkind\tmorality\t1\nKind\tmorality\t0\n", "line 3: 'kind' stands under morality"),
        ("word\tdimension\tdirection\nkind\t1\n", "line 2: 2 columns, not 3"),
        ("word\tdimension\tsign\nkind\tmorality\t1\n", "line 1: columns"),
        ("word\tdimension\tdirection\n", "holds no word"),
        ("original word,Morality direction,Ability dictionary\n", "line 1: a direction without"),
        ("original word,Morality\n", "line 1: no column is called"),
        ("# a comment\noriginal word,Morality\n", "line 2: no column is called"),
        ("original word,Morality dictionary\nkind,1,1\n", "line 2: 3 columns, not 2"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(ResultError, match=message):
        read_dictionary(write(tmp_path / "table", text))


def test_a_mapping_reads(tmp_path):
    path = write(tmp_path / "mapping.tsv", "# mine\nRisk  takers\trisk taker\n\nrn\tnurse\n")
    assert read_mapping(path) == {"risk takers": "risk taker", "rn": "nurse"}
    with pytest.raises(ResultError, match="line 2: 'rn' is mapped twice, first in line 1"):
        read_mapping(write(path, "rn\tnurse\nRN\tdoctor\n"))
    with pytest.raises(ResultError, match="line 1: a word, a tab and a word"):
        read_mapping(write(path, "rn nurse\n"))
