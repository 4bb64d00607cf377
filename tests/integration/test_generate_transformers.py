"""Greedy texts of 64 tokens of every family: the ids are those of transformers' generate."""
import sys
from pathlib import Path

import pytest
import torch
from causal_models import VARIANTS, save, tiny
from test_query_transformers import query

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
