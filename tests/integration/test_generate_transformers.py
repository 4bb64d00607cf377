"""Greedy texts of 64 tokens of every family: the ids are those of transformers' generate."""
import json
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
            "stablelm", "gemma", "gemma2", "gemma3"]
PROMPTS = ["the nurse said that", "People say: the old doctor who lived by the river was never", "x"]
COUNT = 64


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


@pytest.mark.parametrize("variant", FAMILIES)
def test_greedy_ids(variant, tokenizer, tmp_path):
    model_type, settings = VARIANTS[variant]
    positions = {key: 160 for key in ("n_positions", "max_position_embeddings") if key in settings}
    model = tiny(model_type, **(settings | positions), vocab_size=tokenizer.get_vocab_size())
    save(model, tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    lines = [{"kind": "generate", "prompt": prompt, "max_new_tokens": COUNT, "temperature": 0} for prompt in PROMPTS]
    answers, status = query(tmp_path, lines)
    assert status == 0, answers
    for prompt, answer in zip(PROMPTS, answers):
        assert answer["ids"] == greedy(model, tokenizer.encode(prompt).ids), prompt


def test_generation_config(tokenizer, tmp_path):
    """Any of several end tokens ends a text; a setting that is not obeyed is named once."""
    model = tiny(*VARIANTS["gpt2"][:1], **(VARIANTS["gpt2"][1] | {"n_positions": 160}), vocab_size=tokenizer.get_vocab_size())
    save(model, tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    ids = tokenizer.encode(PROMPTS[0]).ids
    before = greedy(model, ids)
    ends = [299, before[7]]
    new = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), do_sample=False,
                         max_new_tokens=COUNT, pad_token_id=0, eos_token_id=ends)[0, len(ids):].tolist()
    assert new[-1] == ends[1]
    line = json.dumps({"kind": "generate", "prompt": PROMPTS[0], "max_new_tokens": COUNT, "temperature": 0})
    for settings, named in (({"do_sample": True, "temperature": 0.6, "top_p": 0.9, "repetition_penalty": 1.0}, []),
                            ({"repetition_penalty": 1.5, "suppress_tokens": [4]}, [b"repetition_penalty", b"suppress_tokens"])):
        (tmp_path / "generation_config.json").write_text(json.dumps(settings | {"eos_token_id": ends}))
        done = subprocess.run([PROGRAM, "query", "--model", tmp_path], input=f"{line}\n{line}\n".encode(),
                              capture_output=True, check=True)
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        assert [answer["ids"] for answer in answers] == [new[:-1]] * 2
        assert all(key in done.stderr for key in named)
        assert done.stderr.count(b"not obeyed") == (1 if named else 0)
