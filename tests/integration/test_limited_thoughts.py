"""Interviews of a model whose thoughts have a limit of their own: what is closed, flagged and counted, on any ranks."""

import re

import h5py
import pytest
import runs
import tiny_causal
from cubes import opened
from test_interview import JOB, must_be_the_same, must_be_the_same_after_a_kill

CHAT = """{label: thinks, system: {handling: refused}, user: {prefix: "Q: ", suffix: "\\n"}, generation: "A: ",
  assistant: {prefix: "A: ", suffix: "\\n"}, thought: {opening: "<think>", closing: "</think>", begins: BEGINS}}"""
THOUGHT, ANSWER = 6, 9


def job_in(folder, begins="inside"):
    tiny_causal.make("llama2", folder / "model", positions=1024)
    text = JOB.replace("MODEL", str(folder / "model")).replace("chat: none", "chat: " + CHAT.replace("BEGINS", begins))
    text = text.replace("max_new_tokens: 3", f"max_new_tokens: {ANSWER}, max_thought_tokens: {THOUGHT}, long_thoughts: closed")
    (folder / "job.yaml").write_text(text.replace("engine: fake, ", "").replace("options: true", "options: false"))
    return folder / "job.yaml"


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return job_in(tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def reference(job, tmp_path_factory):
    output = tmp_path_factory.mktemp("reference") / "run"
    code, _, err = runs.run(job, output)
    assert code == 0, err
    return output


def test_every_thought_ends_and_every_answer_has_its_own_tokens(reference):
    result = opened(reference / "interview.h5")
    asked = result.answer_num_tokens.values > 0
    closed = result.answer_thought_end.values == 1
    assert closed[asked].any() and not closed[~asked].any()
    tokens = result.answer_num_tokens.values
    assert tokens[closed].min() > THOUGHT and tokens[closed].max() > THOUGHT + ANSWER
    assert tokens.max() <= THOUGHT + len("\n</think>\n\n") + 1 + ANSWER
    assert (result.answer_num_thought_tokens.values[asked] > 0).all()
    assert all("</think>" not in text for text in result.answer_text.values[asked])


def test_stats_says_how_thoughts_ended(reference):
    result = opened(reference / "interview.h5")
    statuses = result.answer_status.attrs["flag_meanings"].split()
    cut = result.answer_status.values == statuses.index("truncated_thought")
    thought = ~cut & (result.answer_num_thought_tokens.values > 0)
    closed = thought & (result.answer_thought_end.values == 1)
    counts = [int((thought & ~closed).sum()), int(closed.sum()), int(cut.sum())]
    total = sum(counts)
    assert counts[1] > 0
    done = runs.program("stats", reference)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    told = re.search(r"Of ([\d,]+) thoughts before answers ([\d,]+) \(([\d.]+) ?%\) ended by themselves, ([\d,]+) \(([\d.]+) ?%\) "
                     r"were closed at their limit, and ([\d,]+) \(([\d.]+) ?%\) were cut off\.", text)
    assert told, done.stdout
    assert [int(told[group].replace(",", "")) for group in (1, 2, 4, 6)] == [total, *counts]
    for count, group in zip(counts, (3, 5, 7), strict=True):
        assert abs(float(told[group]) - 100 * count / total) < 0.51
    with h5py.File(reference / "interview.stats.h5") as file:
        assert told[0] in file.attrs["answers_read"]


@pytest.mark.parametrize("ranks", [2, 3])
def test_same_digest_on_any_number_of_ranks(job, reference, tmp_path, ranks):
    must_be_the_same(job, reference, tmp_path / "run", ranks=ranks)


def test_same_digest_after_a_kill(job, reference, tmp_path):
    must_be_the_same_after_a_kill(job, reference, tmp_path / "run")


def test_a_text_that_opens_no_thought_is_all_answer(tmp_path):
    code, _, err = runs.run(job_in(tmp_path, "before"), tmp_path / "run")
    assert code == 0, err
    result = opened(tmp_path / "run" / "interview.h5")
    asked = result.answer_num_tokens.values > 0
    assert (result.answer_thought_end.values == 0).all() and (result.answer_num_thought_tokens.values == 0).all()
    assert result.answer_num_tokens.values[asked].max() == ANSWER


def test_a_limit_that_is_none_and_a_server_are_refused(job, tmp_path):
    code, _, err = runs.run(job, tmp_path / "none", "sampling.max_thought_tokens=0")
    assert code == 2 and "sampling.long_thoughts: closed without a limit" in err, err
    path = job.parent / "model"
    served = tmp_path / "served.yaml"
    served.write_text(job.read_text().replace(f"path: {path}", "server: 'http://127.0.0.1:9', name: m, interface: completions"))
    code, _, err = runs.run(served, tmp_path / "server")
    assert code == 2 and "sampling.long_thoughts: closed with a server" in err, err
