"""Greedy texts of every family, each prompt alone and all in one call: the ids are those of transformers' generate.

Texts have 64 tokens, or what STEREOSWEEP_NEW_TOKENS says. The one call is made by `bench_generation`, where it is built.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from causal_models import VARIANTS, save, tiny
from test_query_transformers import PROGRAM, query

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizer"))
from wheel_training import byte_level  # noqa: E402

FAMILIES = ["gpt2", "openai-gpt", "gpt_bigcode", "gpt_neox", "gptj", "falcon 7b", "falcon 40b", "falcon rw", "opt",
            "llama3 scaling", "mistral window", "mixtral", "qwen2 windows", "qwen3", "phi3", "olmo2", "starcoder2",
            "stablelm", "gemma", "gemma2", "gemma3", "cohere2", "glm4", "granite", "olmo3", "qwen3_moe", "smollm3", "gpt_oss",
            "bloom"]
PROMPTS = ["the nurse said that", "People say: the old doctor who lived by the river was never", "x"]
COUNT = int(os.environ.get("STEREOSWEEP_NEW_TOKENS", "64"))
LONGEST = COUNT + 96
ONE_CALL = Path(PROGRAM).resolve().parents[1] / "bench" / "bench_generation"


@pytest.fixture(scope="module")
def tokenizer():
    """Bytes and a few merges."""
    return byte_level(["<|endoftext|>"], size=300)


@torch.inference_mode()
def greedy(model, ids):
    """New ids of transformers, without the end token."""
    new = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                         do_sample=False, max_new_tokens=COUNT, pad_token_id=0)[0, len(ids):].tolist()
    return new[:new.index(model.config.eos_token_id)] if model.config.eos_token_id in new else new


def in_one_call(folder):
    """Ids of all prompts, which run together."""
    jobs, results = folder / "jobs.jsonl", folder / "results.jsonl"
    jobs.write_text("".join(json.dumps({"id": i, "prompt": prompt}) + "\n" for i, prompt in enumerate(PROMPTS)))
    subprocess.run([ONE_CALL, "--model", folder, "--jobs", jobs, "--new-tokens", str(COUNT), "--results", results],
                   check=True, capture_output=True)
    return [json.loads(line)["value"] for line in results.read_text().splitlines()]


def saved_model(variant, tokenizer, folder):
    """A tiny model with room for long prompts, and its tokenizer, in a folder."""
    model_type, settings = VARIANTS[variant]
    positions = {key: LONGEST for key in ("n_positions", "max_position_embeddings", "seq_length") if key in settings}
    model = tiny(model_type, **(settings | positions), vocab_size=tokenizer.get_vocab_size())
    save(model, folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return model


@pytest.mark.parametrize("variant", FAMILIES)
def test_greedy_ids(variant, tokenizer, tmp_path):
    model = saved_model(variant, tokenizer, tmp_path)
    lines = [{"kind": "generate", "prompt": prompt, "max_new_tokens": COUNT, "temperature": 0} for prompt in PROMPTS]
    answers, status = query(tmp_path, lines)
    assert status == 0, answers
    for prompt, answer in zip(PROMPTS, answers):
        assert answer["ids"] == greedy(model, tokenizer.encode(prompt).ids), prompt
    if ONE_CALL.exists():
        assert in_one_call(tmp_path) == [answer["ids"] for answer in answers]


@pytest.mark.parametrize("variant, penalty", [("gpt2", 1.4), ("qwen3", 1.1), ("gemma2", 0.8)])
@torch.inference_mode()
def test_repetition_penalty(variant, penalty, tokenizer, tmp_path):
    """Greedy ids under the penalty, their mean log-probability without it, and how each text ended."""
    model = saved_model(variant, tokenizer, tmp_path)
    asked = {"kind": "generate", "max_new_tokens": COUNT, "repetition_penalty": penalty, "details": True}
    answers, status = query(tmp_path, [asked | {"prompt": prompt} for prompt in PROMPTS])
    assert status == 0, answers
    for prompt, answer in zip(PROMPTS, answers):
        ids = tokenizer.encode(prompt).ids
        found = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                               do_sample=False, max_new_tokens=COUNT, pad_token_id=0, repetition_penalty=penalty,
                               output_logits=True, return_dict_in_generate=True)
        new = found.sequences[0, len(ids):].tolist()
        logprobs = [float(row[0].double().log_softmax(-1)[token]) for row, token in zip(found.logits, new)]
        ended = "end_token" if new[-1] == model.config.eos_token_id else "length"
        assert (answer["ids"] + new[-1:] if ended == "end_token" else answer["ids"]) == new, prompt
        assert answer["ended"] == ended
        assert answer["mean_logprob"] == pytest.approx(sum(logprobs) / len(logprobs), abs=1e-4)


def with_limited_thought(model, tokenizer, ids, thought, answer_tokens):
    """A plain loop: think for so many tokens at most, close the thought where it is still open, then answer."""
    def more(before, count):
        new = model.generate(torch.tensor([before]), attention_mask=torch.ones(1, len(before), dtype=torch.long),
                             do_sample=False, max_new_tokens=count, pad_token_id=0)[0, len(before):].tolist()
        end = model.config.eos_token_id
        return (new[:new.index(end)], True) if end in new else (new, False)

    thinking, is_over = more(ids, thought["tokens"])
    for count in range(1, len(thinking) + 1):
        if thought["closing"] in tokenizer.decode(thinking[:count]):
            return thinking[:count] + more(ids + thinking[:count], answer_tokens)[0], False
    if is_over:
        return thinking, False
    closed = thinking + tokenizer.encode(thought["closing_text"], add_special_tokens=False).ids
    return closed + more(ids + closed, answer_tokens)[0], True


@pytest.mark.parametrize("variant", ["gpt2", "qwen3", "gemma2"])
@torch.inference_mode()
def test_limited_thoughts(variant, tokenizer, tmp_path):
    """Thoughts that are closed at their limit, and some that end by themselves, each with an answer of its own length."""
    model = saved_model(variant, tokenizer, tmp_path)
    lines, expected = [], []
    for prompt in PROMPTS:
        ids = tokenizer.encode(prompt).ids
        drawn = [tokenizer.decode([token]) for token in greedy(model, ids)]
        marks = [text for text in drawn[4:9] if text and "\ufffd" not in text][:1] + ["</think>"]
        for closing in marks:
            for tokens, answer_tokens in ((1, 9), (12, 5), (12, 0)):
                thought = {"tokens": tokens, "closing": closing, "closing_text": f"\n{closing}\n\n"}
                lines.append({"kind": "generate", "prompt": prompt, "max_new_tokens": answer_tokens, "thought": thought})
                expected.append(with_limited_thought(model, tokenizer, ids, thought, answer_tokens) if answer_tokens else None)
    answers, status = query(tmp_path, lines)
    assert status == 0, answers
    for line, answer, wanted in zip(lines, answers, expected):
        if wanted is None:
            assert len(answer["ids"]) <= 12 + len(line["thought"]["closing_text"])
        else:
            assert (answer["ids"], answer.get("closed_thought", False)) == wanted, line
    assert any(wanted and wanted[1] for wanted in expected) and any(wanted and not wanted[1] for wanted in expected)


def test_generation_config(tokenizer, tmp_path):
    """Any of several end tokens ends a text; a setting that is not obeyed is named once."""
    model = tiny(*VARIANTS["gpt2"][:1], **(VARIANTS["gpt2"][1] | {"n_positions": LONGEST}), vocab_size=tokenizer.get_vocab_size())
    save(model, tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    ids = tokenizer.encode(PROMPTS[0]).ids
    before = greedy(model, ids)
    ends = [299, before[7]]
    new = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), do_sample=False,
                         max_new_tokens=COUNT, pad_token_id=0, eos_token_id=ends)[0, len(ids):].tolist()
    assert new[-1] == ends[1]
    line = json.dumps({"kind": "generate", "prompt": PROMPTS[0], "max_new_tokens": COUNT, "temperature": 0})
    for settings, named in (({"temperature": 0.6, "top_p": 0.9, "repetition_penalty": 1.0}, []),
                            ({"do_sample": True, "temperature": 0.6, "top_p": 0.9},
                             [b"do_sample true (here false)", b"temperature 0.6 (here 0)", b"top_p 0.9 (here 1)"]),
                            ({"repetition_penalty": 1.5, "suppress_tokens": [4]}, [b"repetition_penalty", b"suppress_tokens"])):
        (tmp_path / "generation_config.json").write_text(json.dumps(settings | {"eos_token_id": ends}))
        done = subprocess.run([PROGRAM, "query", "--model", tmp_path], input=f"{line}\n{line}\n".encode(),
                              capture_output=True, check=True)
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        assert [answer["ids"] for answer in answers] == [new[:-1]] * 2
        assert all(key in done.stderr for key in named)
        assert done.stderr.count(b"not obeyed") == (1 if named else 0)
