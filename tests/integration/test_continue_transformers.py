"""The queries `continue`, `embed` and `generate` of causal models against transformers on tiny checkpoints."""
import random

import numpy
import pytest
from rounding import most_error
from test_query_transformers import query, scaled
from tiny_causal import make

WORDS = ["the", "nurse", "doctor", "said", "that", "un", "happy", "ness", "caf\u00e9", "na\u00efve", "\u65e5\u672c", "\U0001f600",
         "Ans", "wer", "don", "'t", "12", "345", "e\u0301", "\u05e9\u05dc\u05d5\u05dd"]
SPACES = ["", " ", "  ", "\n", " \n ", "\t", "\u3000", "\u00a0", "\u2028", "\u200b"]


@pytest.fixture(scope="session", params=["gpt2", "llama2", "llama3"])
def reference(request, tmp_path_factory):
    """A model folder and its transformers twin."""
    return make(request.param, tmp_path_factory.mktemp(request.param))


def has_numbers(reference, prompt, continuation):
    """Whether every token of the continuation has one before it, and there is one."""
    ids, begin = reference.joint(prompt, continuation)
    return 0 < begin < len(ids) <= reference.max_tokens


def prompts(reference, count, seed):
    """Prompts that share beginnings, borders of every kind, repeats, empty ones."""
    rng = random.Random(seed)
    beginnings = ["", *(" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(5))]
    lines = []
    while len(lines) < count:
        prompt = rng.choice(beginnings) + rng.choice(SPACES) + "".join(rng.choices(WORDS, k=rng.randint(0, 2)))
        prompt += rng.choice(SPACES)
        continuations = [rng.choice(SPACES) + rng.choice(["", " "]).join(rng.choices(WORDS, k=rng.randint(1, 3)))
                         for _ in range(rng.randint(1, 4))]
        continuations += continuations[:1] * (rng.random() < 0.2)
        if all(has_numbers(reference, prompt, one) for one in continuations):
            lines.append({"kind": "continue", "prompt": prompt, "continuations": continuations})
    return lines


def test_continue_equals_transformers(reference):
    lines = prompts(reference, 60, seed=1)
    answers, status = query(reference.folder, lines)
    assert status == 0
    largest, values = 0.0, []
    for line, answer in zip(lines, answers):
        truth = [reference.tokens(line["prompt"], one) for one in line["continuations"]]
        assert [len(row) for row in answer["tokens"]] == [len(row) for row in truth], line
        for ours, theirs, total in zip(answer["tokens"], truth, answer["logprob"]):
            largest = max([largest] + [abs(a - b) for a, b in zip(ours, theirs)])
            assert total == pytest.approx(sum(theirs), abs=1e-4 * len(theirs))
            values += ours
    assert largest < 1e-4
    assert max(values) <= 0 and max(values) - min(values) > 4      # or the test would say little


def test_the_border_is_where_the_ids_first_differ(reference):
    pairs = [("The answer is", " yes"), ("The answer is ", "yes"), ("The answer is", "yes"), ("Ans", "wer"),
             ("x", ": C"), ("x ", " C"), ("x\n\n", "C"), ("caf", "\u00e9"), ("e", "\u0301"), ("don", "'t"), ("12", "3456")]
    lines = [{"kind": "continue", "prompt": prompt, "continuations": [one]} for prompt, one in pairs
             if has_numbers(reference, prompt, one)]
    assert len(lines) >= 8
    answers, status = query(reference.folder, lines)
    assert status == 0
    for line, answer in zip(lines, answers):
        truth = reference.tokens(line["prompt"], line["continuations"][0])
        assert answer["tokens"][0] == pytest.approx(truth, abs=1e-4), line


def test_a_token_with_nothing_before_it_is_an_error(reference):
    lines = [{"kind": "continue", "prompt": prompt, "continuations": ["the nurse"]} for prompt in ("", " ", "\n\u3000")]
    lines += [{"kind": "generate", "prompt": "", "max_new_tokens": 2}]
    answers, status = query(reference.folder, lines)
    adds_first = bool(reference.ids(""))
    assert status == (0 if adds_first else 1)
    for line, answer in zip(lines, answers):
        if not adds_first:
            assert "error" in answer
        elif line["kind"] == "continue":
            truth = reference.tokens(line["prompt"], "the nurse")
            assert answer["tokens"][0] == pytest.approx(truth, abs=1e-4)


def test_the_longest_text_is_answered_and_one_more_is_an_error(reference):
    def line(count):
        return {"kind": "continue", "prompt": "the" + " the" * count, "continuations": [" nurse"]}

    count = 0
    while len(reference.joint(line(count)["prompt"], " nurse")[0]) < reference.max_tokens:
        count += 1
    assert len(reference.joint(line(count)["prompt"], " nurse")[0]) == reference.max_tokens
    answers, status = query(reference.folder, [line(count), line(count + 1), line(3)])
    assert status == 1
    assert "too long" in answers[1]["error"]
    for number in (0, 2):
        truth = reference.tokens([line(count), None, line(3)][number]["prompt"], " nurse")
        assert answers[number]["tokens"][0] == pytest.approx(truth, abs=1e-4)


def test_embed_equals_transformers(reference):
    rng = random.Random(3)
    lines = []
    for _ in range(20):
        words = rng.choices([word for word in WORDS if word.isascii() and word.isalpha()], k=rng.randint(2, 9))
        chosen = rng.randrange(len(words))
        start = len(" ".join(words[:chosen]).encode()) + (chosen > 0)
        lines.append({"kind": "embed", "text": " ".join(words), "span": [start, start + len(words[chosen].encode())],
                      "layer": rng.randint(-4, 3), "pool": "mean"})
    answers, status = query(reference.folder, lines)
    assert status == 0
    for line, answer in zip(lines, answers):
        truth = reference.vector(line["text"], line["span"], line["layer"])
        size = max(abs(value) for value in truth)
        assert max(abs(a - b) for a, b in zip(answer["vector"], truth)) <= 1e-5 * size, line


@pytest.mark.parametrize("kernels", ["own_kernels", "operators"])
def test_float16_is_near_or_an_error_that_says_so(reference, kernels, tmp_path, monkeypatch):
    monkeypatch.setenv("STEREOSWEEP_KERNELS", kernels)
    lines = prompts(reference, 20, seed=8)
    near, status = query(reference.folder, lines, "--dtype", "float16")
    assert status == 0
    pairs = numpy.array([pair for line, answer in zip(lines, near)
                         for continuation, tokens in zip(line["continuations"], answer["tokens"])
                         for pair in zip(tokens, reference.tokens(line["prompt"], continuation))])
    assert 1e-4 < abs(pairs[:, 0] - pairs[:, 1]).max() < most_error("float16", 3, pairs[:, 1].std())
    projection = "0.attn.c_attn.weight" if "gpt2" in reference.folder.name else "0.self_attn.k_proj.weight"
    folder = scaled(reference.folder, tmp_path / "model", projection, 90000)
    lines = [lines[0], {"kind": "generate", "prompt": "the nurse", "max_new_tokens": 2, "temperature": 0},
             {"kind": "embed", "text": "the nurse", "span": [4, 9]}]
    answers, status = query(folder, lines, "--dtype", "float16")
    assert status == 1
    assert all("float16 ends at 65504" in answer.get("error", "") for answer in answers), answers
    assert query(folder, lines)[1] == 0


def test_greedy_text_is_that_of_transformers(reference):
    lines = [{"kind": "generate", "prompt": prompt, "max_new_tokens": 12, "temperature": 0}
             for prompt in ("the nurse", "don't", "caf\u00e9 12", "that doctor said ")]
    answers, status = query(reference.folder, lines)
    assert status == 0
    for line, answer in zip(lines, answers):
        ids = reference.greedy(line["prompt"], 12)
        assert answer["ids"] == ids
        assert answer["text"] == reference.tokenizer.decode(ids, skip_special_tokens=True)


def test_an_answer_depends_on_its_own_line_alone(reference):
    lines = prompts(reference, 15, seed=5)
    lines += [{"kind": "generate", "prompt": line["prompt"] + "the", "max_new_tokens": 6, "temperature": 0.9, "top_p": 0.8,
               "seed": number} for number, line in enumerate(lines[:5])]
    first, status = query(reference.folder, lines)
    assert status == 0
    mixed = [(number, line) for number, line in enumerate(lines)] * 2
    random.Random(9).shuffle(mixed)
    second, _ = query(reference.folder, [line for _, line in mixed])
    assert all(answer == first[number] for (number, _), answer in zip(mixed, second))


def test_bad_lines_are_answered_and_the_rest_goes_on(reference):
    good = {"kind": "continue", "prompt": "the nurse", "continuations": [" said"]}
    text = {"kind": "generate", "prompt": "the", "max_new_tokens": 2}
    bad = [{**good, "continuations": [" said", ""]}, {**good, "continuations": " said"}, {**good, "prompt": None},
           {**good, "continuation": " a"}, {"kind": "continue", "prompt": "a"},
           {"kind": "fill", "text": "the", "ids": []}, {**text, "max_new_tokens": -1}, {**text, "temperature": -0.5},
           {**text, "top_p": 0}, {**text, "top_p": 1.5}, {**text, "top_k": -1}, {**text, "seed": -1}, {**text, "stop": [""]},
           {**text, "max_new_tokens": 10**6}, {"kind": "embed", "text": "the", "span": [0, 3], "layer": 4},
           {"kind": "generate", "messages": [{"role": "user", "content": "the"}], "max_new_tokens": 2},   # no template
           b'{"kind":"continue","prompt":"\xff","continuations":["a"]}']
    lines = [good] + [line for one in bad for line in (one, good)]
    answers, status = query(reference.folder, lines)
    assert status == 1
    for number, answer in enumerate(answers):
        assert ("error" in answer) == (number % 2 == 1), (lines[number], answer)
    assert all(answer == answers[0] for answer in answers[::2])
    empty, status = query(reference.folder, [{**good, "continuations": []}, {**text, "max_new_tokens": 0}])
    assert (empty, status) == ([{"logprob": [], "tokens": []}, {"text": "", "ids": []}], 0)
