"""Phrases of reasons: choices against brute force, mentions by hand, and the whole way through the real encoder."""

import csv
import itertools

import numpy as np
import pytest
from interview_files import BUILD, REASONS, ROOT, interview_dataset, write_interview

from stereosweep_analysis import reasons
from stereosweep_analysis.cli import main
from stereosweep_analysis.encoder import encode
from stereosweep_analysis.interviews import find_turn, said
from stereosweep_analysis.open import ResultError

ENCODER = ROOT / "build" / "models" / "minilm"
PROGRAM = BUILD / "bin" / "stereosweep"


def directions_of_length_one(number, dimension=6, seed=5):
    vectors = np.random.default_rng(seed).normal(size=(number, dimension))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_every_form_of_a_group_becomes_they():
    mentions = reasons.Mentions(
        {"nurses": {"nurses"}, "poor people": {"poor people"}, "women": {"women"}, "thieves": {"thieves"}}
    )
    for group, text, wanted in (
        ("nurses", "A Nurse's day: the NURSES care, nursing helps.", "they day: they care, nursing helps."),
        ("poor people", "Poor people and a poor person; the poor", "they and a poor person; the poor"),
        ("women", "Woman by woman, womanly; men", "they by they, womanly; men"),
        ("thieves", "The thieves steal; a thief; thieves' theft", "they steal; they; they' theft"),
        ("women", "", ""),
    ):
        assert mentions.replace(group, text) == wanted


def test_candidates_skip_stop_words_and_stop_at_marks():
    assert reasons.candidates("they care for the sick, in 2 hospitals") == {
        "care", "sick", "care sick", "hospitals",
    }  # fmt: skip
    assert "well-paid jobs often-held" in reasons.candidates("well-paid jobs are often-held")
    assert reasons.candidates("they are what it is") == set()


@pytest.mark.parametrize("diversity", [0.0, 0.2, 0.7, 1.0])
def test_mmr_is_carbonell_and_goldstein_word_for_word(diversity):
    vectors, document = directions_of_length_one(12), directions_of_length_one(1, seed=6)[0]
    relevance = vectors @ document
    chosen, left = [], list(range(12))
    while len(chosen) < 7:
        worth = {
            place: (1 - diversity) * relevance[place]
            - diversity * max((float(vectors[place] @ vectors[other]) for other in chosen), default=0)
            for place in left
        }
        best = max(left, key=(lambda place: relevance[place]) if not chosen else worth.__getitem__)
        chosen.append(best)
        left.remove(best)
    assert reasons.choose_mmr(relevance, vectors, 7, diversity) == chosen
    assert len(reasons.choose_mmr(relevance, vectors, 99, diversity)) == 12


def test_max_sum_has_the_least_sum_of_cosines():
    vectors, document = directions_of_length_one(14, seed=8), directions_of_length_one(1, seed=9)[0]
    relevance = vectors @ document
    nearest = sorted(range(14), key=lambda place: -relevance[place])[:9]
    wanted = min(
        itertools.combinations(nearest, 4),
        key=lambda places: sum(float(vectors[a] @ vectors[b]) for a, b in itertools.combinations(places, 2)),
    )
    assert reasons.choose_max_sum(relevance, vectors, 4, 9) == list(wanted)
    with pytest.raises(ResultError, match="lower --candidates"):
        reasons.choose_max_sum(np.zeros(40), directions_of_length_one(40), 20, 40)


def test_a_unit_is_the_mean_of_its_reasons():
    axes = {"red car": [1, 0], "blue sea": [0, 1], "red": [2, 0], "car": [1, 2], "blue": [0, 5], "sea": [4, 3]}
    found = reasons.phrases(
        {"a": ["red car", "blue sea", "red car"], "b": ["it is"]},
        lambda texts: np.array([axes.get(text, [1, 1]) for text in texts]),
        reasons.Choice("cosine", top=3),
    )
    length = 5**0.5  # the mean is (2, 1) / 3
    assert [(row.unit, row.phrase, row.reasons) for row in found] == [
        ("a", "sea", 1), ("a", "red", 2), ("a", "red car", 2),
    ]  # fmt: skip
    assert [(row.share, row.difference) for row in found] == [(1 / 3, 1 / 3), (2 / 3, 2 / 3), (2 / 3, 2 / 3)]
    assert np.allclose([row.cosine for row in found], [11 / 5 / length, 2 / length, 2 / length], rtol=0, atol=1e-15)
    often = reasons.phrases(
        {"a": ["red car", "blue sea", "red car"]},
        lambda texts: np.array([axes[text] for text in texts]),
        reasons.Choice("cosine", top=9, least_reasons=2),
    )
    assert [row.phrase for row in often] == ["red", "red car", "car"]


def test_phrases_are_compared_with_all_other_units():
    units = {"a": ["red car", "red"], "b": ["red sea", "sea", "blue sea", "sea"], "c": ["car", "blue"]}
    found = reasons.phrases(units, lambda texts: np.ones((len(texts), 2)), reasons.Choice("cosine", top=9))
    for row in found:
        own = [row.phrase in reasons.candidates(text) for text in units[row.unit]]
        others = [row.phrase in reasons.candidates(text) for unit in units if unit != row.unit for text in units[unit]]
        assert (row.reasons, row.share) == (sum(own), np.mean(own))
        assert row.difference == pytest.approx(np.mean(own) - np.mean(others), abs=1e-15)
    alone = reasons.phrases({"a": ["red"]}, lambda texts: np.ones((len(texts), 2)), reasons.Choice("cosine"))
    assert [row.difference for row in alone] == [None]


def test_texts_of_any_turn_are_explanations(tmp_path):
    made = interview_dataset()
    turn = find_turn(made, ("reasons", "text"), None, None)
    assert turn == ("traits", 1, "why", "reasons")
    commas = made.assign_coords(conversation_turns=("conversation", ["one, two, why, scale", "rating, explanation"]))
    assert find_turn(commas, ("reasons",), None, "1").label == "1"  # a label holds a comma: places in their stead
    turn = find_turn(made, ("reasons", "text"), "structure", None)
    assert turn == find_turn(made, ("reasons", "text"), None, "explanation") == ("structure", 1, "explanation", "text")
    texts, counts = said(made, turn)
    assert texts["nurses"] == ["nurses have jobs, why.", "No jobs of round 0"]
    assert sum(map(len, texts.values())) == 6 and counts == {"answered": 6}
    with pytest.raises(ResultError, match="no keywords in structure; asked for them: traits: "):
        find_turn(made, ("keywords",), "structure", None)


def needs_encoder():
    if not (ENCODER / "model.safetensors").exists():
        pytest.skip(f"the bundled encoder is not at {ENCODER} (env/quickstart.sh makes it)")


def test_the_real_encoder_finds_what_reasons_are_about(capsys, tmp_path):
    needs_encoder()
    write_interview(tmp_path, {"nurses": 1, "doctors": 1, "thieves": 0})
    command = ["reasons", str(tmp_path), "--model", str(ENCODER), "--program", str(PROGRAM), "--top", "4"]
    assert main([*command, "--output", str(tmp_path / "out")]) == 0
    first = capsys.readouterr().out
    assert max(map(len, first.splitlines())) <= 100
    with (tmp_path / "out" / "reasons.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    best = {row["unit"]: row["phrase"] for row in rows if row["rank"] == "1"}
    assert set(best) == set(REASONS)
    assert "income" in best["doctors"] and best["thieves"] == "steal money"
    assert not any(name in row["phrase"] for row in rows for name in ("nurse", "doctor", "thief", "they"))
    assert main([*command, "--output", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "reasons.csv").read_bytes() == (tmp_path / "out" / "reasons.csv").read_bytes()
    capsys.readouterr()
    for choice in ("max_sum", "cosine"):
        assert main([*command, "--by", "cluster", "--choice", choice]) == 0
        assert "cluster 1: nurses, doctors" in capsys.readouterr().out


def test_a_text_that_is_too_long_is_named(tmp_path):
    needs_encoder()
    with pytest.raises(ResultError, match="no vector of 'care care"):
        encode(["short", "care " * 2000], ENCODER, PROGRAM)
    with pytest.raises(ResultError, match="no program 'none-such'"):
        encode(["short"], ENCODER, "none-such")
    with pytest.raises(ResultError, match="failed: "):
        encode(["short"], tmp_path / "no-model", PROGRAM)
