"""The query `embed` against transformers on tiny checkpoints of every family: every hidden state, every pool, spans of
several tokens in texts of mixed lengths; and the rows of the input embedding matrix."""
import json
import random
import sys
from pathlib import Path

import numpy
import pytest
import torch
from causal_models import VARIANTS, tiny
from causal_models import save as save_causal
from test_query_transformers import query
from tiny_models import make_bert, make_roberta

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizer"))
from wheel_training import byte_level  # noqa: E402

BOUND = 1e-5      # of a vector's length
POOLS = ["mean", "first", "last"]
WORDS = ["the", "nurse", "unhappiness", "caf\u00e9", "na\u00efve", "\u65e5\u672c", "well-known", "zzyzx", "don't", "1024"]
TEXTS = 6
# One variant of each causal family, and of those that change what a hidden state is.
CAUSAL = [name for number, name in enumerate(VARIANTS)
          if VARIANTS[name][0] not in [VARIANTS[other][0] for other in list(VARIANTS)[:number]]]
MORE = ["falcon rw", "opt norms after, no biases", "stablelm parallel", "qwen2 windows"]


@pytest.fixture(scope="module")
def tokenizer():
    return byte_level(["<|endoftext|>"], size=340)


@pytest.fixture(scope="module", params=["bert", "roberta", *CAUSAL, *MORE])
def checkpoint(request, tmp_path_factory, tokenizer):
    """(folder, tokenizer, transformers model)"""
    folder = tmp_path_factory.mktemp("checkpoint")
    if request.param in ("bert", "roberta"):
        made = (make_bert if request.param == "bert" else make_roberta)(folder)
        return folder, made.tokenizer, made.model
    model_type, settings = VARIANTS[request.param]
    model = tiny(model_type, **(settings | dict(vocab_size=tokenizer.get_vocab_size())))
    save_causal(model, folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return folder, tokenizer, model


def texts_with_spans(tokenizer):
    """(text, bytes, tokens that overlap them): one word or two at any place, one of them of several tokens."""
    rng, found = random.Random(7), []
    while len(found) < TEXTS:
        words = rng.choices(WORDS, k=2 + len(found))
        first = rng.randrange(len(words))
        chosen = words[first:first + rng.randint(1, 2)]
        text, start = " ".join(words), len(" ".join(words[:first])) + (first > 0)
        end = start + len(" ".join(chosen))
        encoding = tokenizer.encode(text)
        hit = [i for i, (begin, stop) in enumerate(encoding.offsets) if begin < end and stop > start and begin < stop]
        if len(hit) > 1 and len(encoding.ids) <= 38:
            found.append((text, [len(text[:start].encode()), len(text[:end].encode())], hit))
    return found


def pooled(rows, pool):
    """What the answer must be, in float64."""
    return {"mean": rows.mean(0), "first": rows[0], "last": rows[-1]}[pool]


def relative_error(vector, truth):
    vector = numpy.array(vector)
    assert vector.shape == truth.shape
    return numpy.linalg.norm(vector - truth) / numpy.linalg.norm(truth)


@torch.inference_mode()
def test_every_layer_and_pool_equals_transformers(checkpoint):
    folder, tokenizer, model = checkpoint
    layers = model.config.get_text_config().num_hidden_layers
    lines, truths = [], []
    for text, span, hit in texts_with_spans(tokenizer):
        states = model(torch.tensor([tokenizer.encode(text).ids]), output_hidden_states=True).hidden_states
        assert len(states) == layers + 1
        for layer in range(-layers - 1, layers + 1):
            for pool in POOLS:
                lines.append({"kind": "embed", "text": text, "span": span, "layer": layer, "pool": pool})
                truths.append(pooled(states[layer][0][hit].double().numpy(), pool))
    answers, status = query(folder, lines)
    assert status == 0
    errors = [relative_error(answer["vector"], truth) for answer, truth in zip(answers, truths)]
    worst = max(range(len(errors)), key=errors.__getitem__)
    assert errors[worst] <= BOUND, (lines[worst], errors[worst])


@torch.inference_mode()
def test_input_vectors_are_rows_of_the_embedding_matrix(checkpoint):
    folder, tokenizer, model = checkpoint
    matrix = model.get_input_embeddings().weight.double().numpy()
    lines, truths = [], []
    for text, span, hit in texts_with_spans(tokenizer):
        ids = tokenizer.encode(text).ids
        for pool in POOLS:
            lines.append({"kind": "embed", "text": text, "span": span, "layer": "input", "pool": pool})
            truths.append(pooled(matrix[[ids[i] for i in hit]], pool))
    answers, status = query(folder, lines)
    assert status == 0
    assert max(relative_error(answer["vector"], truth) for answer, truth in zip(answers, truths)) <= 1e-7
    bfloat16, status = query(folder, lines, "--dtype", "bfloat16")
    assert status == 0
    errors = [relative_error(answer["vector"], truth) for answer, truth in zip(bfloat16, truths)]
    assert 0 < max(errors) < 2 ** -8


def test_an_input_vector_needs_no_room_in_the_model(checkpoint):
    folder, _, _ = checkpoint
    text = "the " * 400
    lines = [{"kind": "embed", "text": text, "span": [1596, 1599], "layer": layer} for layer in (0, "input", "output")]
    answers, status = query(folder, lines)
    assert status == 1
    assert "too long" in answers[0]["error"]
    assert "vector" in answers[1]
    assert "unknown layer" in answers[2]["error"]
