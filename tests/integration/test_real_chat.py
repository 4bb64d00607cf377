"""A real chat model, SmolLM2-135M-Instruct as GGUF, in a whole interview: its own template, any number of ranks, statuses."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import runs
from cubes import flags, opened

sys.path.insert(0, str(Path(__file__).parents[1] / "models/real"))
import fetch_chat  # noqa: E402

JOB = runs.ROOT / "jobs/72_real_chat.yaml"
SMALL = ["axes.groups={file: stereomap_groups, only: [Nurses, Criminals]}", "sampling.rounds=2", "sampling.max_new_tokens=12"]


@pytest.fixture(scope="module")
def model():
    return fetch_chat.fetched_or_skipped()


@pytest.fixture(scope="module")
def interview(model, tmp_path_factory):
    output = tmp_path_factory.mktemp("real") / "run"
    code, _, err = runs.run(JOB, output, f"model.path={model}", *SMALL, ranks=2)
    assert code == 0, err
    return output


def test_any_number_of_ranks_asks_the_same(model, interview, tmp_path):
    code, _, err = runs.run(JOB, tmp_path / "run", f"model.path={model}", *SMALL)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(interview)


def test_prompts_are_those_of_the_models_own_template(model, interview):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name)
    done = runs.program("plan", JOB, f"model.path={model}", *SMALL, "--show-prompts")
    assert done.returncode == 0, done.stderr
    shown = [json.loads(line.split("\t")[2]) for line in done.stdout.splitlines() if line.count("\t") == 2]
    asked = "Answer for society as a whole: what do most people think?"
    first = [text for text in shown if asked in text and "Which three words" in text and "nurses" in text]
    question = asked + "\n\nWhich three words do most people use for nurses? Give only the words."
    expected = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True, tokenize=False)
    assert first == [expected] and expected.startswith("<|im_start|>system\n")


def test_every_question_has_an_answer_and_a_status(interview):
    with opened(interview / "interview.h5") as file:
        answered = flags(file["answer_status"])
        read = flags(file["rating_status"])
        texts = file["answer_text"].values
        assert set(np.unique(answered)) <= {"ok", "not_asked"} and (texts[answered == "ok"] != "").mean() > 0.9
        groups = [read[place] for place in range(read.shape[0])]
        assert len(groups) == 2
        for of_group in groups:  # 3 items x 2 templates x 2 rounds of each
            asked = of_group[of_group != "not_asked"]
            assert len(asked) == 12 and set(asked) <= {"answered", "refused", "unparsed", "truncated", "contradictory", "range",
                                                       "off_scale", "empty"}
        rated = file["rating"].values[read == "answered"]
        assert ((rated >= 1) & (rated <= 5)).all()
    assert "Ratings that were read from sampled answers" in runs.program("stats", interview).stdout
