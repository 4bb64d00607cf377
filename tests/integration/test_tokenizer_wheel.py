"""Ids, byte offsets and decoded texts against the `tokenizers` wheel: a slice of tests/tokenizer/fuzz_against_wheel.py."""
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tokenizer"))
import fuzz_against_wheel as fuzz  # noqa: E402
from wheel_families import FAMILIES, write_family  # noqa: E402

PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep"))
DECODER = PROGRAM.parent.parent / "tests" / "tokenizer_decode_lines"
MAIN = ["minilm", "bert-uncased", "bert-cased", "roberta", "gpt2"]


@pytest.mark.parametrize("family", [*MAIN, *(name for name in FAMILIES if name not in MAIN)])
def test_same_ids_offsets_and_texts(family, tmp_path):
    wheel = write_family(family, tmp_path)
    texts = fuzz.strings_for(wheel, seed=1, count=1200 if family in MAIN else 300)
    assert fuzz.differences(PROGRAM, tmp_path, wheel, texts) == []
    assert fuzz.differences(PROGRAM, tmp_path, wheel, texts[:200], special=False) == []
    assert fuzz.decode_differences(DECODER, tmp_path, wheel, texts[:200], seed=1) == []
