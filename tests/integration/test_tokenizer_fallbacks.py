"""vocab.json and merges.txt without tokenizer.json against what transformers builds from them, family by family."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import transformers

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tokenizer"))
import fuzz_against_wheel as fuzz  # noqa: E402
from causal_families import gptj, neox, opt, qwen  # noqa: E402
from wheel_families import openai_gpt  # noqa: E402

PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep"))
END = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
FALSE = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
CASES = {
    "gpt2": ("gpt2", "GPT2Tokenizer", gptj, END),
    "gpt2-begin": ("gpt2", "GPT2Tokenizer", gptj, {**END, "add_bos_token": True, "add_prefix_space": True}),
    "gpt2-named": ("gpt2", "GPT2Tokenizer", gptj, {**END, "eos_token": {"content": "the", "__type": "AddedToken", **FALSE},
                                                  "add_eos_token": True}),
    "gptj": ("gptj", "GPT2Tokenizer", gptj, END),
    "opt": ("opt", "GPT2Tokenizer", opt, {"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>",
                                          "add_bos_token": True}),
    "gpt_neox": ("gpt_neox", "GPTNeoXTokenizer", neox, {**END, "pad_token": "<|padding|>"}),
    "qwen2": ("qwen2", "Qwen2Tokenizer", qwen, {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}),
    "openai-gpt": ("openai-gpt", "OpenAIGPTTokenizer", openai_gpt, {"unk_token": "<unk>"}),
}


def write_directory(case, folder):
    model_type, name, make, settings = CASES[case]
    tokenizer = make()
    tokenizer.model.save(str(folder))
    known = tokenizer.model.token_to_id
    added = {i: t for i, t in tokenizer.get_added_tokens_decoder().items() if case.startswith(("gptj", "gpt_neox", "qwen"))}
    extra = {str(i): {"content": t.content, "special": t.special, **FALSE, "normalized": t.normalized}
             for i, t in added.items() if known(t.content) in (None, i)}
    settings = {"tokenizer_class": name, **settings, **({"added_tokens_decoder": extra} if extra else {})}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    return tokenizer


@pytest.mark.parametrize("case", CASES)
def test_same_ids_as_transformers(case, tmp_path):
    made = write_directory(case, tmp_path)
    name = CASES[case][1]
    theirs = getattr(transformers, name).from_pretrained(tmp_path)
    texts = fuzz.strings_for(made, seed=3, count=600)
    wanted = theirs(texts)["input_ids"]
    found = [(t, a["ids"], w) for t, a, w in zip(texts, fuzz.ours(PROGRAM, tmp_path, texts, True), wanted) if a["ids"] != w]
    assert found == []
    plain = theirs(texts[:100], add_special_tokens=False)["input_ids"]
    assert [a["ids"] for a in fuzz.ours(PROGRAM, tmp_path, texts[:100], False)] == plain


def test_unknown_families_are_refused_with_those_that_are_known(tmp_path):
    write_directory("gpt2", tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    (tmp_path / "config.json").write_text('{"model_type": "bart"}')
    done = subprocess.run([PROGRAM, "tokenize", "--model", tmp_path], input=b"a\n", capture_output=True)
    assert done.returncode == 2
    assert "bart" in done.stderr.decode() and "openai-gpt" in done.stderr.decode()
