"""Interviews: one digest for any number of ranks and kills, conversations that follow their answers, scores as recomputed."""

import collections
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import runs
import tiny_causal
from cubes import flags, opened

from stereosweep_analysis.glossary import term

# The fake engine says only: yes, no, often, never, some, many, warm, able.
JOB = """
schema: stereosweep/1
name: interview
seed: 7
model: {path: MODEL, chat: none}
probe: interview
axes:
  groups: {file: stereomap_groups, only: [Lawyers, Students, Nurses]}
  conversations:
    - label: traits
      instructions: Say what most people think.
      scale: [[often, 5], [some, 3], [never, 1]]
      turns:
        - {label: words, kind: keywords, when: with_steps, most: 3, ask: 'Which words fit {group}?'}
        - {label: why, kind: reasons, when: with_steps, ask: 'Why?'}
        - label: rate
          kind: ratings
          ask: "Rate {group}, with {scale}.\\n{items}"
          items: [{label: friendly, text: warm, dimension: warmth}, {label: unable, text: able, dimension: competence, polarity: negative}]
    - label: status
      scale: [[often, 5], [some, 3], [never, 1]]
      turns:
        - label: one
          kind: rating
          ask: '{item}'
          options: true
          items:
            - {label: rich, dimension: status, question: 'Are {group} rich: {scale}?'}
            - {label: famous, dimension: status, question: 'Are {group} famous: {scale}?'}
        - {label: why_so, kind: text, ask: 'Why so?'}
  templates: {file: stereomap_forms, only: [full, without_both]}
sampling: {rounds: 5, max_new_tokens: 3}
statistics: {means: all}
execution: {engine: fake, contexts_per_block: 3}
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    path = tmp_path_factory.mktemp("job") / "job.yaml"
    path.write_text(JOB.replace("MODEL", str(runs.ROOT / "tests/models/letters")))
    return path


@pytest.fixture(scope="module")
def reference(job, tmp_path_factory):
    output = tmp_path_factory.mktemp("reference") / "run"
    code, _, err = runs.run(job, output)
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def raw(reference):
    return opened(reference / "interview.h5")


@pytest.fixture(scope="module")
def derived(reference):
    done = runs.program("stats", reference)
    assert done.returncode == 0, done.stderr
    assert "answers were read by rules" in done.stdout and done.stdout.count("WARNING") == 1, done.stdout  # of the engine
    asked = re.search(r"ratings \(([\d,]+) asked\):(.*?)(?=^\S)", done.stdout, re.M | re.S)
    counts = re.findall(r"\b(\w+)\s+([\d,]+)\s+\(([\d.]+)\s+%\)", asked.group(2))
    total = int(asked.group(1).replace(",", ""))
    assert counts and sum(int(count.replace(",", "")) for _, count, _ in counts) == total
    assert all(abs(float(share) - 100 * int(count.replace(",", "")) / total) < 0.006 for _, count, share in counts)
    return opened(reference / "interview.stats.h5")


def test_means_say_how_many_answers_they_are_of(raw, derived):
    values = raw.rating.values[:, :, :, 0]  # [group, conversation, template, round, item]
    read = np.isfinite(values).sum(axis=(1, 2, 3))
    found = derived.mean_score_answers.sel(measure="rating").transpose("subject", "item").values
    assert (found == read).all() and found.min() < found.max()
    asked = flags(raw.rating_status) != "not_asked"
    usable = derived.mean_score_answers.sel(measure="usable").transpose("subject", "item").values
    assert (usable == asked[:, :, :, 0].sum(axis=(1, 2, 3))).all()


def test_the_share_that_was_read_stands_first(reference, derived, raw):
    done = runs.program("stats", reference)
    first = " ".join(done.stdout.split("\n\n")[0].split())
    status = flags(raw.rating_status)
    read, asked = (status == "answered").sum(), (status != "not_asked").sum()
    said = f"Ratings that were read from sampled answers: {read} of {asked} asked ({round(100 * read / asked, 2):g} %)."
    assert first.startswith(said) and said == derived.attrs["answers_read"]
    page = runs.program("report", reference, env=os.environ | {"STEREOSWEEP_PYTHON": sys.executable})
    assert page.returncode == 0, page.stderr
    html = (reference / "report.html").read_text()
    assert derived.attrs["answers_read"] in html
    for name in ("rating_status", "keyword_status"):
        for one in set(flags(raw[name]).ravel()):
            assert (term("status", f"{name}.{one}") or term("status", one)).definition in html, (name, one)


def must_be_the_same(job, reference, output, *settings, ranks=1):
    code, _, err = runs.run(job, output, *settings, ranks=ranks)
    assert code == 0, err
    assert runs.digest(output) == runs.digest(reference)


def must_be_the_same_after_a_kill(job, reference, output):
    process = runs.start_held(job, output, block=2, ranks=2)
    runs.kill_tree(process)
    runs.finish(process)
    assert runs.status(output)["state"] != "done"
    must_be_the_same(job, reference, output, ranks=3)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_same_digest_on_any_number_of_ranks(job, reference, tmp_path, ranks):
    must_be_the_same(job, reference, tmp_path / "run", ranks=ranks)


def test_same_digest_after_a_kill_and_with_other_blocks(job, reference, tmp_path):
    must_be_the_same_after_a_kill(job, reference, tmp_path / "run")
    must_be_the_same(job, reference, tmp_path / "wide", "execution.contexts_per_block=1000")


def test_raw_cubes(raw):
    assert raw.answer_text.dims == ("group", "conversation", "template", "rephrasing", "round", "turn")
    assert raw.answer_text.shape == (3, 3, 2, 1, 5, 3)
    assert list(raw.conversation.values) == ["traits", "status rich", "status famous"]
    status = flags(raw.answer_status)
    assert set(status[:, 0, 0].ravel()) == {"ok"}
    assert set(status[:, 0, 1, 0, :, :2].ravel()) == {"not_asked"} and set(status[:, 1:, ..., 2].ravel()) == {"not_asked"}
    texts = raw.answer_text.values[status == "ok"]
    assert all(len(text.split()) == 3 for text in texts)
    assert (raw.answer_num_tokens.values[status == "ok"] == 3).all()
    assert (raw.answer_mean_logprob.values[status == "ok"] < 0).all()
    assert np.isnan(raw.answer_mean_logprob.values[status != "ok"]).all()
    assert len(set(raw.answer_text.values[0, 0, 0, 0, :, 0])) > 1, "rounds draw anew"
    assert raw.question.values[0, 0, 0, 0, 0] == "Say what most people think.\n\nWhich words fit lawyers?"
    assert raw.question.values[0, 0, 1, 0, 2] == "Rate lawyers, with often, some, never.\n- warm\n- able"
    assert raw.question.values[1, 1, 0, 0, 0] == "Are students rich: often, some, never?"


def test_ratings_keywords_and_reasons_are_those_of_the_parse_command(raw):
    """The stored readings are what `parse` says of the stored texts."""
    asked, stored = [], []
    status, reads = flags(raw.answer_status), flags(raw.rating_status)
    endings = flags(raw.answer_ending)
    scale = {"options": ["often", "some", "never"]}
    for place in np.ndindex(3, 2, 1, 5):
        group, form, wording, turn = place
        cell = (group, 0, form, wording, turn)
        text = raw.answer_text.values[(*cell, 2)]
        finished = endings[(*cell, 2)] != "length"
        asked.append({"kind": "ratings", "items": ["warm", "able"], **scale, "text": text, "finished": finished})
        stored.append((list(reads[cell][:2]), raw.rating.values[cell][:2]))
    lines = subprocess.run([runs.PROGRAM, "parse"], input="".join(json.dumps(one) + "\n" for one in asked), text=True,
                           capture_output=True, check=True).stdout.splitlines()
    values = [5, 3, 1]
    for line, (statuses, ratings) in zip(map(json.loads, lines), stored, strict=True):
        assert line["statuses"] == statuses
        for value, status_name, rating in zip(line["values"], statuses, ratings, strict=True):
            if status_name == "answered":
                assert rating == values[int(value)]
            else:
                assert np.isnan(rating)
    counts = collections.Counter(name for statuses, _ in stored for name in statuses)
    assert len(counts) > 1, counts
    assert set(reads[:, 0, ..., 2:].ravel()) == {"not_asked"} and status.shape[-1] == 3


def test_score_table(raw, derived):
    assert list(derived.measure.values) == ["rating", "rating_complete_answers", "usable", "refused", "option_rating",
                                            "option_share"]
    assert derived.score.dims == ("measure", "subject", "template", "rephrasing", "replicate", "item")
    status = flags(raw.rating_status)  # [group, conversation, form, wording, round, item]
    own = np.array([0, 0, 1, 2])          # conversation of each item
    reads = np.stack([status[:, own[item], ..., item] for item in range(4)], axis=-1)
    ratings = np.stack([raw.rating.values[:, own[item], ..., item] for item in range(4)], axis=-1)
    ratings[..., 1] = 6 - ratings[..., 1]
    score = derived.score.values
    np.testing.assert_array_equal(score[0], ratings)
    complete = ratings.copy()
    gap = np.isnan(ratings[..., :2]).any(axis=-1)
    complete[..., :2][gap] = np.nan
    np.testing.assert_array_equal(score[1], complete)
    np.testing.assert_array_equal(score[2], reads == "answered")
    np.testing.assert_array_equal(score[3], reads == "refused")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of items that no answer rates
        means = np.nanmean(np.nanmean(ratings, axis=3), axis=(1, 2))
    np.testing.assert_allclose(derived.mean_score.values[0], means, rtol=1e-12)


def test_a_questionnaire_over_several_conversations(job, tmp_path):
    """An answer is complete where all items of warmth and competence of its round are rated, whatever asks for them."""
    text = job.read_text()
    for before, after in (("text: warm, dimension: warmth", "text: warm, dimension: manner"),
                          ("able, dimension: competence", "able, dimension: manner"),
                          ("rich, dimension: status", "rich, dimension: warmth"),
                          ("famous, dimension: status", "famous, dimension: competence")):
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "job.yaml"
    path.write_text(text)
    code, _, err = runs.run(path, tmp_path / "run", "sampling.rounds=40")
    assert code == 0, err
    assert runs.program("stats", tmp_path / "run").returncode == 0
    score = opened(tmp_path / "run/interview.stats.h5").score.values  # items: two of one turn; two conversations
    complete = score[0].copy()
    for items in (slice(0, 2), slice(2, 4)):
        complete[..., items][np.isnan(score[0][..., items]).any(axis=-1)] = np.nan
    np.testing.assert_array_equal(score[1], complete)
    kept, rated = np.isfinite(score[1]).sum(axis=(0, 1, 2, 3)), np.isfinite(score[0]).sum(axis=(0, 1, 2, 3))
    assert 0 < kept[2] == kept[3] < min(rated[2:])


def test_second_opinion_of_options(raw, derived):
    """Probabilities of the scale's answers after the same conversation, for the items that ask them."""
    status = flags(raw.option_status)
    assert set(status[:, 0].ravel()) == {"not_asked"} and set(status[:, 1, ..., 2].ravel()) == {"ok"}
    for conversation, item in ((1, 2), (2, 3)):
        logprob = raw.option_logprob.values[:, conversation, ..., item, :]
        shares = np.exp(logprob - logprob.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(derived.score.values[4, ..., item], shares @ [5, 3, 1], rtol=1e-12)
        np.testing.assert_allclose(derived.score.values[5, ..., item], shares.max(axis=-1), rtol=1e-12)
    assert np.isnan(derived.score.values[4:, ..., :2]).all()


def test_reparse_show_plan_and_validate(job, reference, derived, tmp_path):
    again = runs.program("stats", reference, "--reparse", "--output", tmp_path / "again.h5")
    assert again.returncode == 0, again.stderr
    np.testing.assert_array_equal(opened(tmp_path / "again.h5").score.values, derived.score.values)
    shown = runs.program("show", reference, "--answers", "--group", "Lawyers", "--top", "2")
    assert shown.returncode == 0 and shown.stdout.count("round ") == 2
    assert "Which words fit lawyers?" in shown.stdout and "Nurses" not in shown.stdout and "read as: friendly" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 100
    assert runs.program("show", reference, "--answers", "--group", "Lawers").returncode == 2
    assert runs.program("show", reference, "--group", "Lawyers").returncode == 2
    plan = runs.program("plan", job)
    assert plan.returncode == 0, plan.stderr
    later = 3 * 5 * (2 + 2 * 2)           # groups, rounds: two steps of one form; an explanation in two conversations and forms
    assert f"{later} answers to turns after the first" in plan.stdout
    answers = later + 3 * 5 * 6
    checked = runs.program("validate", job)
    assert checked.returncode == 0 and f"{answers} sampled answers" in checked.stdout
    long = runs.program("plan", job, "sampling.max_new_tokens=8000")
    megabytes = float(re.search(r"^output +about ([\d.]+) MB", long.stdout, re.MULTILINE)[1])
    assert megabytes == pytest.approx(answers * 8_000 * 4 / 1e6, rel=0.05), "four bytes a token, of all turns"
    wrapper = "axes.rephrasings=[{label: end, wrapper: '{prompt}<|im_end|>'}]"
    told = runs.program("plan", runs.ROOT / "jobs/04_example_interview.yaml", wrapper)
    assert re.search(r"WARNING control tokens inside the job's own texts.*\n +<\|im_end\|>", told.stdout), told.stdout


def test_real_model_with_greedy_answers(job, tmp_path):
    """Greedy answers of the bundled model: each turn's answer is what `query` gives for the documented prompt."""
    model = runs.ROOT / "tests/models/planted_causal"
    code, _, err = runs.run(job, tmp_path / "run", f"model.path={model}", "execution.engine=torch", "sampling.temperature=0",
                            "sampling.rounds=1", "axes.groups={file: stereomap_groups, only: [Nurses]}")
    assert code == 0, err
    data = opened(tmp_path / "run/interview.h5")
    prompt = f"Question: {data.question.values[0, 1, 0, 0, 0]}\nAnswer:"
    query = {"kind": "continue", "prompt": prompt, "continuations": [" often", " some", " never"]}
    np.testing.assert_allclose(data.option_logprob.values[0, 1, 0, 0, 0, 2], runs.ask(model, query)["logprob"], rtol=1e-6)
    questions, answers = data.question.values[0, 0, 0, 0], data.answer_text.values[0, 0, 0, 0, 0]
    prompt = ""
    for question, answer in zip(questions, answers, strict=True):
        prompt += f"Question: {question.strip()}\nAnswer:"
        query = {"kind": "generate", "prompt": prompt, "max_new_tokens": 3, "temperature": 0}
        assert runs.ask(model, query)["text"] == answer
        prompt += f" {answer.strip()}\n\n"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    """A job of a real body whose texts do not have room for all that they may become: they enter, wait and run anew. A block
    holds two groups."""
    folder = tmp_path_factory.mktemp("waiting")
    tiny_causal.make("llama2", folder / "model", positions=4096)
    groups = "Lawyers, Students, Nurses, Doctors, Teachers, Children, Criminals"
    text = JOB.replace("MODEL", str(folder / "model")).replace("Lawyers, Students, Nurses", groups)
    text = text.replace("max_new_tokens: 3", "max_new_tokens: 100, stop: [he]")
    (folder / "job.yaml").write_text(text.replace("engine: fake, contexts_per_block: 3", "contexts_per_block: 12, batch_tokens: 80"))
    code, _, err = runs.run(folder / "job.yaml", folder / "run")
    assert code == 0, err
    return folder / "job.yaml", folder / "run"


def test_texts_that_wait_are_texts_of_different_lengths(waiting, tmp_path):
    job, reference = waiting
    with opened(reference / "interview.h5") as data:
        assert data.attrs["num_blocks"] == 4
        lengths = data.answer_num_tokens.values[flags(data.answer_status) == "ok"]
        assert set(flags(data.answer_status).ravel()) == {"ok", "not_asked"}
        assert lengths.max() == 100 and (lengths < 32).mean() > 0.2 and (lengths > 48).mean() > 0.1
    code, _, err = runs.run(job, tmp_path / "roomy", "execution.batch_tokens=4096")
    assert code == 0, err
    with opened(reference / "interview.h5") as data, opened(tmp_path / "roomy/interview.h5") as roomy:
        assert (data.answer_text.values == roomy.answer_text.values).mean() > 0.99
        assert data.attrs["num_distinct_tokens"] > roomy.attrs["num_distinct_tokens"], "no text has run anew"


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_texts_that_wait_are_the_same_on_any_number_of_ranks(waiting, tmp_path, ranks):
    job, reference = waiting
    must_be_the_same(job, reference, tmp_path / "run", ranks=ranks)


def test_texts_that_wait_are_the_same_after_a_kill(waiting, tmp_path):
    job, reference = waiting
    must_be_the_same_after_a_kill(job, reference, tmp_path / "run")
