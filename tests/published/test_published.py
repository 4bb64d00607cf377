"""What follows from the papers' own tables and data, recomputed; skipped where their texts are not beside the repository."""

import check
import claims
import pytest

FEWEST = {"cao2022": 25, "guo2021": 8, "winoidentity": 17, "stereomap": 7}


@pytest.mark.parametrize("paper", check.PAPERS)
def test_claims_are_recomputed(paper):
    try:
        found = list(check.PAPERS[paper].all_claims())
    except claims.Missing as error:
        pytest.skip(str(error))
    assert len(found) >= FEWEST[paper]
    differ = [f"{claim.place}: {claim.what}: {claim.expected} != {claim.recomputed}" for claim in found if not claim.agrees]
    assert not differ, "\n".join(differ)


def test_a_number_that_differs_is_shown_and_counted():
    right = claims.Claim("Table 1", "a number", 2, 2, "fails")
    wrong = claims.Claim("Table 2", "another " * 20, [0.5], [0.25])
    lines = list(check.report({"paper": [right, wrong]}))
    assert lines[0].startswith("1 of 2 numbers") and "1 of them contradict" in lines[0]
    assert any(line.endswith("DIFFERS") for line in lines) and max(map(len, lines)) <= 100


def test_without_the_texts_nothing_is_claimed(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "SHARED", tmp_path)
    for paper in check.PAPERS.values():
        with pytest.raises(claims.Missing):
            list(paper.all_claims())


def test_the_script_refuses_a_paper_that_it_does_not_know(capsys):
    with pytest.raises(SystemExit) as stop:
        check.main(["cao2023"])
    assert stop.value.code == 2 and "there is no paper cao2023" in capsys.readouterr().err
