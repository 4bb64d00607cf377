"""The command `query` against transformers on tiny models with widened weights, and the promises of its contract."""
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from safetensors.torch import load_file, save_file
from rounding import ROUNDING, most_error
from tiny_models import make_bert, make_roberta, random_text

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep"))


def query(folder, lines, *options):
    """(answers, exit status) for queries given as objects, or as raw bytes."""
    raw = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    done = subprocess.run([PROGRAM, "query", "--model", folder, *options], input=raw, capture_output=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr.decode()
    answers = [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]
    assert len(answers) == len(lines)
    return answers, done.returncode


@pytest.fixture(scope="session", params=["bert", "bert-spare-rows", "roberta"])
def reference(request, tmp_path_factory):
    """A model folder and its transformers twin."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "roberta":
        return make_roberta(folder)
    return make_bert(folder, spare_rows=11 if request.param == "bert-spare-rows" else 0)


def fills(reference, count, seed=1):
    """Fill queries of mixed lengths, every mask with its own ids, the last ids of the vocabulary among them."""
    rng = random.Random(seed)
    made = []
    while len(made) < count:
        text = random_text(rng, rng.randint(1, 16), rng.randint(1, 3), reference.mask_token)
        if reference.length(text) <= reference.max_tokens:
            ids = [rng.sample(range(reference.width), rng.randint(1, 6)) + [reference.width - 1]
                   for _ in range(reference.masks(text))]
            made.append({"kind": "fill", "text": text, "ids": ids})
    return made


def largest_difference(answers, lines, reference):
    """Between the answers' log-probabilities and transformers'."""
    largest = 0.0
    for answer, line in zip(answers, lines):
        truth = reference.fill(line["text"], line["ids"])
        assert [len(row) for row in answer["logprob"]] == [len(row) for row in truth]
        largest = max([largest] + [abs(a - b) for ours, theirs in zip(answer["logprob"], truth)
                                   for a, b in zip(ours, theirs)])
    return largest


def test_fill_equals_transformers(reference):
    lines = fills(reference, 60)
    answers, status = query(reference.folder, lines)
    assert status == 0
    assert largest_difference(answers, lines, reference) < 1e-4
    spread = [value for answer in answers for row in answer["logprob"] for value in row]
    assert max(spread) - min(spread) > 8       # or the test would say little


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("kernels", ["own_kernels", "operators"])
def test_fill_in_16_bits_stays_near(reference, dtype, kernels, monkeypatch):
    monkeypatch.setenv("STEREOSWEEP_KERNELS", kernels)
    lines = fills(reference, 40)
    answers, status = query(reference.folder, lines, "--dtype", dtype)
    assert status == 0
    spread = numpy.std([value for answer in answers for row in answer["logprob"] for value in row])
    assert 1e-4 < largest_difference(answers, lines, reference) < most_error(dtype, 3, spread)


def scaled(folder, target, tensor, factor):
    """A copy of a model folder in which the tensors whose names end so are multiplied."""
    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    chosen = [name for name in weights if name.endswith(tensor)]
    assert chosen
    save_file(weights | {name: weights[name] * factor for name in chosen}, target / "model.safetensors")
    return target


@pytest.mark.parametrize("tensor", ["layer.1.intermediate.dense.weight", "layer.0.attention.self.query.weight",
                                    "layer.1.attention.self.value.weight"])
@pytest.mark.parametrize("kernels", ["own_kernels", "operators"])
def test_what_leaves_float16_is_an_error_that_says_so(reference, tensor, kernels, tmp_path, monkeypatch):
    """Never a NaN, and never a number that came out of an infinite one."""
    monkeypatch.setenv("STEREOSWEEP_KERNELS", kernels)
    folder = scaled(reference.folder, tmp_path / "model", tensor, 60000 if "self" in tensor else 30000)
    lines = [*fills(reference, 3), {"kind": "embed", "text": "the nurse", "span": [0, 3]}]
    answers, status = query(folder, lines, "--dtype", "float16")
    assert status == 1
    assert all("float16 ends at 65504" in answer.get("error", "") for answer in answers), answers
    assert query(folder, lines)[1] == query(folder, lines, "--dtype", "bfloat16")[1] == 0


def test_a_weight_that_float16_cannot_hold_is_named(reference, tmp_path):
    folder = scaled(reference.folder, tmp_path / "model", "layer.1.output.dense.weight", 1e6)
    done = subprocess.run([PROGRAM, "query", "--model", folder, "--dtype", "float16"], input=b"", capture_output=True)
    assert done.returncode == 2
    assert all(part in done.stderr for part in (b"layer.1.output.dense.weight", b"float16 ends at 65504", b"bfloat16"))


def test_embed_equals_transformers(reference):
    rng = random.Random(3)
    layers = reference.model.config.num_hidden_layers
    lines = []
    for _ in range(60):
        words = random_text(rng, rng.randint(2, 12), 0, "").split(" ")
        words[0] = rng.choice(["caf\u00e9", "\u65e5\u672c", words[0]])
        chosen = rng.randrange(len(words))
        start = len(" ".join(words[:chosen]).encode()) + (chosen > 0)
        span = [start, start + len(words[chosen].encode())]
        lines.append({"kind": "embed", "text": " ".join(words), "span": span,
                      "layer": rng.randint(-layers - 1, layers), "pool": rng.choice(["mean", "first", "last"])})
    answers, status = query(reference.folder, lines)
    assert status == 0
    for answer, line in zip(answers, lines):
        truth = reference.embed(line["text"], line["span"], line["layer"], line["pool"])
        size = max(abs(value) for value in truth)
        assert len(answer["vector"]) == len(truth)
        assert max(abs(a - b) for a, b in zip(answer["vector"], truth)) <= 1e-5 * size, line


def test_the_longest_text_is_answered_and_one_more_is_an_error(reference):
    text = reference.mask_token
    while reference.length(text + " the") <= reference.max_tokens:
        text += " the"
    assert reference.length(text) == reference.max_tokens
    lines = [{"kind": "fill", "text": text, "ids": [[7, 8]]}, {"kind": "fill", "text": text + " the", "ids": [[7, 8]]},
             {"kind": "fill", "text": reference.mask_token, "ids": [[7, 8]]}]
    answers, status = query(reference.folder, lines)
    assert status == 1
    assert "too long" in answers[1]["error"]
    assert largest_difference([answers[0], answers[2]], [lines[0], lines[2]], reference) < 1e-4


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_an_answer_depends_on_its_own_line_alone(reference, dtype):
    lines = fills(reference, 25)
    first, _ = query(reference.folder, lines, "--dtype", dtype)
    mixed = [(number, line) for number, line in enumerate(lines)] * 2
    random.Random(9).shuffle(mixed)
    second, status = query(reference.folder, [b"not json"] + [line for _, line in mixed], "--dtype", dtype)
    assert status == 1
    for (number, _), answer in zip(mixed, second[1:]):
        assert answer == first[number]
    alone, _ = query(reference.folder, [lines[4]], "--dtype", dtype)
    assert alone[0] == first[4]


def test_bad_lines_are_answered_and_the_rest_goes_on(reference):
    mask = reference.mask_token
    good = {"kind": "fill", "text": f"The {mask}.", "ids": [[5, 6]]}
    layers = reference.model.config.num_hidden_layers
    bad = [b"", b"{", b"[]", b'{"kind":"fill","text":"\xff","ids":[]}', {"kind": "guess"}, {"kind": "fill", "text": "a"},
           {**good, "ids": []}, {**good, "ids": [[5], [6]]}, {**good, "ids": [[reference.width]]}, {**good, "ids": [[-1]]},
           {**good, "text": 5}, {**good, "idz": 1},
           {"kind": "embed", "text": "the", "span": [3, 3]}, {"kind": "embed", "text": "the", "span": [9, 12]},
           {"kind": "embed", "text": "the", "span": [0, 3], "layer": layers + 1},
           {"kind": "embed", "text": "the", "span": [0, 3], "layer": -layers - 2},
           {"kind": "embed", "text": "the", "span": [0, 3], "pool": "max"},
           {"kind": "continue", "prompt": "a", "continuations": ["b"]},
           {"kind": "generate", "prompt": "a", "max_new_tokens": 1, "temperature": 0}]
    lines = [good] + [line for one in bad for line in (one, good)]
    answers, status = query(reference.folder, lines)
    assert status == 1
    for number, answer in enumerate(answers):
        assert ("error" in answer) == (number % 2 == 1), (lines[number], answer)
    assert all(answer == answers[0] for answer in answers[::2])
    (no_mask, no_ids), status = query(reference.folder, [{"kind": "fill", "text": "the", "ids": []}, {**good, "ids": [[]]}])
    assert "holds no mask" in no_mask["error"] and (no_ids, status) == ({"logprob": [[]]}, 1)


@pytest.mark.parametrize("options", [[], ["--model"], ["--model", "/nonexistent"], ["--dtype", "float8"],
                                     ["--threads", "0"], ["--threads", "100000"],
                                     ["--threads", "x"], ["--modle", "x"]])
def test_usage_and_models_end_with_two(reference, options):
    given = options if "--model" in options or not options else ["--model", str(reference.folder), *options]
    done = subprocess.run([PROGRAM, "query", *given], input=b"", capture_output=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.startswith(b"stereosweep: ")
    assert not done.stdout


@pytest.mark.parametrize("command", ["query", "tokenize"])
def test_lost_input_or_output_is_an_error(reference, command):
    arguments = [PROGRAM, command, "--model", reference.folder]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(arguments, input=b"the\n", stdout=full, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 1
    assert b"cannot write to standard output" in done.stderr
    folder = os.open("/", os.O_RDONLY)
    try:
        done = subprocess.run(arguments, stdin=folder, capture_output=True, timeout=300)
    finally:
        os.close(folder)
    assert done.returncode == 1
    assert b"cannot read standard input" in done.stderr


def test_each_answer_is_there_when_it_was_found(reference, tmp_path):
    mask = reference.mask_token
    (tmp_path / "lines").write_text(3000 * (json.dumps({"kind": "fill", "text": "a " + mask, "ids": [[5, 6, 7]]}) + "\n"))
    with (tmp_path / "lines").open("rb") as lines, subprocess.Popen([PROGRAM, "query", "--model", reference.folder], stdin=lines, stdout=subprocess.PIPE) as asked:
        assert "logprob" in json.loads(asked.stdout.readline())
        asked.kill()
        assert len(asked.stdout.read().splitlines()) < 500  # 64 KiB of them would be more


def test_the_missing_tensor_is_named(reference, tmp_path):
    from safetensors.torch import load_file, save_file
    for file in reference.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tensors = load_file(tmp_path / "model.safetensors")
    for name in [key for key in tensors if "position_embeddings" in key] + sorted(tensors)[::12]:
        rest = {key: value for key, value in tensors.items() if key != name}
        save_file(rest, tmp_path / "model.safetensors")
        done = subprocess.run([PROGRAM, "query", "--model", tmp_path], input=b"", capture_output=True, timeout=300)
        assert done.returncode == 2
        assert f'"{name}" is missing'.encode() in done.stderr
