"""tokenizer.model without tokenizer.json against the `sentencepiece` wheel: a slice of tests/tokenizer/fuzz_pieces.py."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tokenizer"))
import fuzz_pieces as fuzz  # noqa: E402
from fuzz_against_wheel import decoded, ours  # noqa: E402

PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep"))
DECODER = PROGRAM.parent.parent / "tests" / "tokenizer_decode_lines"


@pytest.mark.parametrize("family", fuzz.FAMILIES)
def test_same_pieces_and_texts(family, tmp_path):
    wheel = fuzz.write_model(family, tmp_path)
    texts = fuzz.strings_for(family, seed=1, count=1000)
    assert fuzz.differences(PROGRAM, DECODER, family, tmp_path, wheel, texts) == []


@pytest.fixture(scope="module")
def gemma():
    return fuzz.train("gemma")


def ids_of(folder, content, text, settings, model_type="llama"):
    (folder / "tokenizer.model").write_bytes(content)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    return ours(PROGRAM, folder, [text], special=True)[0]["ids"]


def test_what_is_put_around_a_text_follows_the_settings(gemma, tmp_path):
    content, wheel = gemma
    plain = wheel.encode("the cat")
    begin, end = wheel.bos_id(), wheel.eos_id()
    assert ids_of(tmp_path, content, "the cat", {}) == [begin, *plain]
    assert ids_of(tmp_path, content, "the cat", {"add_bos_token": False}, "t5") == plain
    assert ids_of(tmp_path, content, "the cat", {"add_eos_token": True}) == [begin, *plain, end]
    assert ids_of(tmp_path, content, "the cat", {"bos_token": {"content": "<blank>"}}) == [wheel["<blank>"], *plain]
    assert ids_of(tmp_path, content, "the cat", {"add_prefix_space": True}) == [begin, *wheel.encode(" the cat")]


def test_added_tokens_are_cut_out_and_have_no_mark_behind_them(gemma, tmp_path):
    content, wheel = gemma
    first = len(wheel)
    added = {str(first): {"content": "<|im_start|>", "special": True}, str(first + 1): {"content": "<think>"}}
    settings = {"add_bos_token": False, "add_prefix_space": True, "added_tokens_decoder": added}
    ids = ids_of(tmp_path, content, "the<|im_start|>cat<think> <start_of_turn>", settings)
    assert ids == [*wheel.encode(" the"), first, *wheel.encode("cat"), first + 1, *wheel.encode(" "), wheel["<start_of_turn>"]]
    (back,) = decoded(DECODER, tmp_path, [ids], "skip")
    assert back == "thecat<think> "


@pytest.mark.parametrize(("settings", "model_type", "message"), [
    ({}, "t5", "add_bos_token"),
    ({"bos_token": "<none>"}, "llama", "is no piece of tokenizer.model"),
    ({"added_tokens_decoder": {"5": {"content": "<more>"}}}, "llama", "has id 5"),
    ({"added_tokens_decoder": {"x": {"content": "<more>"}}}, "llama", "an id and its token are needed"),
])
def test_what_is_not_known_is_refused(gemma, tmp_path, settings, model_type, message):
    with pytest.raises(subprocess.CalledProcessError):
        ids_of(tmp_path, gemma[0], "a", settings, model_type)
    done = subprocess.run([PROGRAM, "tokenize", "--model", tmp_path], input=b"a\n", capture_output=True)
    assert done.returncode == 2
    assert message in done.stderr.decode()
