"""Diversity, consistency and refusals of an interview as recomputed from its raw file: by nltk, scipy and counting."""

import collections
import itertools
import math
import re
import warnings

import numpy as np
import pytest
import runs
from cubes import flags, opened
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from scipy import stats

# The fake engine says only: yes, no, often, never, some, many, warm, able.
JOB = """
schema: stereosweep/1
name: interview
seed: 11
model: {path: MODEL, chat: none}
probe: interview
axes:
  groups: {file: stereomap_groups, only: [Lawyers, Students, Nurses]}
  conversations:
    - label: traits
      scale: [[often, 5], [some, 4], [many, 3], [yes, 2], [never, 1]]
      turns:
        - {label: why, kind: text, when: with_steps, ask: 'Why {group}?'}
        - label: rate
          kind: ratings
          ask: "Rate {group}, with {scale}.\\n{items}"
          items: [{label: friendly, text: warm, dimension: warmth}, {label: unable, text: able, dimension: competence, polarity: negative}]
    - label: status
      scale: [[often, 5], [some, 4], [many, 3], [yes, 2], [never, 1]]
      turns:
        - {label: one, kind: rating, ask: 'Are {group} {item}: {scale}?', items: [{label: rich, dimension: status}]}
  templates: {file: stereomap_forms, only: [full, without_both]}
  rephrasings: [{label: none, wrapper: '{prompt}'}, {label: please, wrapper: 'Please: {prompt}'}]
sampling: {rounds: 4, max_new_tokens: 9}
execution: {engine: fake}
"""
STATUSES = ["ok", "no_values", "too_few", "constant", "not_finite"]


def interviewed(folder, *settings, statistics=()):
    """(raw file, statistics file, what `stats` prints)"""
    job = folder / "job.yaml"
    job.write_text(JOB.replace("MODEL", str(runs.ROOT / "tests/models/letters")))
    code, _, err = runs.run(job, folder / "run", *settings)
    assert code == 0, err
    done = runs.program("stats", folder / "run", "--top", "5", *statistics)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("written:")]
    assert max(map(len, lines)) <= 100
    return opened(folder / "run/interview.h5"), opened(folder / "run/interview.stats.h5"), done.stdout


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    return interviewed(tmp_path_factory.mktemp("sampled"), statistics=["statistics.inference.confidence=0.9"])


def words(text):
    return re.findall(r"[a-z]+|\d+|[^\sa-z\d]", text.lower())


def self_bleu(texts, order):
    texts = [text for text in texts if len(text) >= order]
    if len(texts) < 2:
        return math.nan, len(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [sentence_bleu(texts[:own] + texts[own + 1:], text, weights=[1 / order] * order,
                                smoothing_function=SmoothingFunction().method1) for own, text in enumerate(texts)]
    return sum(scores) / len(scores), len(texts)


def entropy(texts, order):
    """(bit, n-grams)"""
    counts = collections.Counter(gram for text in texts for gram in zip(*(text[skip:] for skip in range(order))))
    return (stats.entropy(list(counts.values()), base=2) if counts else math.nan), counts.total()


def check_diversity(found, over, texts, order):
    bleu, compared = self_bleu(texts, order)
    bits, ngrams = entropy(texts, order)
    assert int(found[f"texts_{over}_n"]) == compared and int(found[f"texts_{over}_ngrams"]) == ngrams
    for name, value, few in ((f"texts_{over}_self_bleu", bleu, compared), (f"texts_{over}_entropy", bits, ngrams)):
        status = STATUSES[int(found[f"{name}_status"])]
        if math.isnan(value):
            assert np.isnan(found[name]) and status == ("too_few" if few == 1 else "no_values")
        else:
            assert status == "ok" and abs(float(found[name]) - value) < 1e-12


def check_texts(raw, derived):
    """Every cell of the three sets of texts."""
    assert derived.texts_over_rounds_self_bleu.dims == ("subject", "conversation", "template", "rephrasing", "turn", "ngram")
    asked = flags(raw.answer_status) == "ok"
    texts = raw.answer_text.values
    dims = raw.answer_text.dims
    axes = {"over_rounds": ("group", "conversation", "template", "rephrasing", "turn"),
            "over_wordings": ("group", "conversation", "turn"), "over_groups": ("conversation", "template", "turn")}
    for over, names in axes.items():
        for place in itertools.product(*(range(raw.sizes[name]) for name in names)):
            at = dict(zip(names, place, strict=True))
            cell = tuple(at.get(name, slice(None)) for name in dims)
            kept = [words(text) for text in texts[cell][asked[cell]].ravel()]
            where = {"subject" if name == "group" else name: index for name, index in at.items()}
            for number, order in enumerate((2, 3)):
                check_diversity(derived.isel(where | {"ngram": number}), over, kept, order)


def test_texts_against_nltk(sampled):
    raw, derived, text = sampled
    check_texts(raw, derived)
    assert {str(order) for order in derived.ngram.values} == {"2", "3"} and derived.texts_over_groups_entropy.attrs["units"] == "bit"
    values = derived.texts_over_rounds_self_bleu.values
    assert np.isfinite(values).any() and len(np.unique(values[np.isfinite(values)])) > 10
    row = next(line.split() for line in text.splitlines() if line.startswith("traits  ") and line.split()[3:5] == ["3", "24"])
    own = derived.isel(conversation=0, turn=0, template=0, ngram=1)
    own_rounds = float(own.texts_over_rounds_self_bleu.mean())
    assert abs(float(own.texts_over_groups_self_bleu_of_rounds) - own_rounds) < 1e-12
    expected = [float(own.texts_over_groups_self_bleu), own_rounds, float(own.texts_over_groups_entropy)]
    np.testing.assert_allclose([float(cell) for cell in row[5:]], expected, rtol=5e-4, atol=5e-4)


@pytest.mark.parametrize("length", [1, 9])
def test_one_greedy_round(tmp_path, length):
    """One text a cell, of one word or several: no Self-BLEU over rounds; no draws: no intervals."""
    raw, derived, text = interviewed(tmp_path, "sampling.rounds=1", "sampling.temperature=0", f"sampling.max_new_tokens={length}")
    check_texts(raw, derived)
    expected = {"no_values"} if length == 1 else {"too_few", "no_values"}  # not every form and conversation has every turn
    assert {STATUSES[code] for code in derived.texts_over_rounds_self_bleu_status.values.ravel()} == expected
    assert np.isnan(derived.rating_variation_over_rounds).all() and not derived.rating_variation_over_rounds_n.any()
    assert np.isnan(derived.subject_refused_low).all() and np.isfinite(derived.subject_refused_share).all()
    assert "greedy answers are no draws" in " ".join(text.split())


def variation(values):
    values = np.array(values)[np.isfinite(values)]
    return stats.variation(values, ddof=1) if len(values) > 1 else math.nan


def mean(values):
    values = values[np.isfinite(values)]
    return values.mean() if values.size else math.nan


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_consistency_against_scipy(sampled):
    raw, derived, text = sampled
    del raw
    rating = derived.score.sel(measure="rating").values  # [subject, template, rephrasing, round, item]
    dimensions = [str(name) for name in derived.rated_dimension.values]
    assert dimensions == ["warmth", "competence", "status"]
    form_row = None
    for (place, name), form in itertools.product(enumerate(dimensions), range(2)):
        own = rating[..., derived.item_dimension.values.astype(str) == name]
        rounds = [variation([mean(of[form, :, turn]) for turn in range(4)]) for of in own]
        means = [[mean(np.nanmean(of[at], axis=1)) for at in range(2)] for of in own]  # a cell is the mean of its rounds
        first = [variation(of) if form else math.nan for of in means]
        at = {"template": form, "rated_dimension": place}
        for kind, sizes in (("over_rounds", np.abs(rounds)), ("to_first_form", np.abs(first))):
            count = np.isfinite(sizes).sum()
            assert int(derived[f"rating_variation_{kind}_n"][at]) == count
            expected = [np.nanmean(sizes), np.nanmax(sizes)] if count else [math.nan] * 2
            found = [float(derived[f"rating_variation_{kind}{end}"][at]) for end in ("", "_largest")]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            form_row = expected if (kind, form, name) == ("over_rounds", 1, "warmth") else form_row
    assert np.isfinite(derived.rating_variation_over_rounds).sum() >= 4
    row = next(line.split() for line in text.splitlines() if line.startswith("without_both") and " warmth " in line)
    np.testing.assert_allclose([float(cell) for cell in row[2:4]], form_row, rtol=5e-4, atol=5e-4)


def test_shares_of_texts_against_scipy(sampled):
    raw, derived, text = sampled
    reads = flags(raw.rating_status)
    rated = {"subject": collections.Counter(), "template": collections.Counter()}
    for place in np.ndindex(reads.shape[:-1]):
        items = reads[place][:2] if place[1] == 0 else reads[place][2:]
        status = "rated" if "answered" in items else "refused" if "refused" in items else "unrated"
        for axis, own in (("subject", place[0]), ("template", place[2])):
            rated[axis].update([(own, "texts"), (own, status)])
    for axis, counts in rated.items():
        for own in range(derived.sizes[axis]):
            texts = counts[own, "texts"]
            assert int(derived[f"{axis}_rated_texts"][own]) == texts == {"subject": 32, "template": 48}[axis]
            for name, count in (("refused", counts[own, "refused"]), ("unrated", counts[own, "refused"] + counts[own, "unrated"])):
                interval = stats.binomtest(count, texts).proportion_ci(0.9, method="exact")
                found = [float(derived[f"{axis}_{name}_{end}"][own]) for end in ("share", "low", "high")]
                np.testing.assert_allclose(found, [count / texts, interval.low, interval.high], rtol=1e-9, atol=1e-12)
    assert "90 % interval" in " ".join(text.split())
    assert any(count for (_, status), count in rated["subject"].items() if status == "unrated")
