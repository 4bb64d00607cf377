"""Tables of single answers, from the published file where it is present."""

import json
from pathlib import Path
from statistics import fmean

import pytest

from stereosweep_analysis import answers
from stereosweep_analysis.cli import main
from stereosweep_analysis.open import ResultError

PUBLISHED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "cao2022-abc"


def test_the_published_means_follow_from_the_answers(tmp_path, capsys):
    if not PUBLISHED.exists():
        pytest.skip(f"the published data set is not at {PUBLISHED} (optional)")
    table = tmp_path / "answers.tsv"
    assert main(["answers", str(PUBLISHED / "data_full.json"), str(table)]) == 0
    assert "of 133 annotators" in capsys.readouterr().out
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "annotator\tgroup\tpair\trating"
    means = {}
    for _, group, pair, rating in answers.read_answers(PUBLISHED / "data_full.json"):
        means.setdefault((group, pair), []).append(rating)
    published = json.loads((PUBLISHED / "Aggregated_scores.json").read_text(encoding="utf-8"))
    cells = [(group, pair, float(value)) for group, pairs in published.items() for pair, value in pairs.items()]
    assert len(cells) == len(means) == 416
    assert sum(map(len, means.values())) == len(lines) - 1
    wrong = {(group, pair) for group, pair, value in cells if abs(fmean(means[group, pair]) - value) > 0.0051}
    assert wrong == {("women", "poor - wealthy"), ("women", "untrustworthy - trustworthy")}


def test_what_is_no_rating_is_named(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text('{"a1": {"women": {"cold - warm": "6o"}}}')
    with pytest.raises(ResultError, match="a1, women, cold - warm: '6o' is no rating"):
        answers.read_answers(path)
    path.write_text('{"a1": ["women"]}')
    with pytest.raises(ResultError, match="a1: a mapping is expected"):
        answers.read_answers(path)
    path.write_text("{")
    with pytest.raises(ResultError, match="cannot be read as JSON"):
        answers.read_answers(path)


def test_half_points_stay(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text('{"a1": {"women": {"cold - warm": 60.5, "poor - wealthy": "40"}}}')
    rows = answers.read_answers(path)
    assert rows == [("a1", "women", "cold - warm", 60.5), ("a1", "women", "poor - wealthy", 40)]
    answers.write_answers(rows, tmp_path / "table.tsv")
    assert (tmp_path / "table.tsv").read_text() == (
        "annotator\tgroup\tpair\trating\na1\twomen\tcold - warm\t60.5\na1\twomen\tpoor - wealthy\t40\n")
