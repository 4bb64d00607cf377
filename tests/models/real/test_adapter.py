"""The bundled adapter: merging is exact and repeatable, and the merged model is as good as adapter.json says."""

import json
import pathlib

import numpy
import pytest
import safetensors.numpy

import merge

HERE = pathlib.Path(__file__).resolve().parent


def test_low_rank_updates_are_added():
    base = {"layer.weight": numpy.ones((2, 3), numpy.float32), "pooler.dense.weight": numpy.ones((1, 1), numpy.float32)}
    adapter = {"bert.layer.down": numpy.array([[1, 2, 4]], numpy.float16), "bert.layer.up": numpy.array([[1], [-0.5]], numpy.float16),
               "cls.predictions.bias": numpy.array([0.25], numpy.float16)}
    done = merge.merged(base, adapter)
    assert sorted(done) == ["bert.layer.weight", "cls.predictions.bias"]
    numpy.testing.assert_array_equal(done["bert.layer.weight"], [[2, 3, 5], [0.5, 0, -1]])


def test_bundled_files_are_small_and_are_those_described():
    record = json.loads((HERE / "adapter.json").read_text())
    assert (HERE / "adapter.safetensors").stat().st_size < 2_000_000
    assert merge.sha256(HERE / "adapter.safetensors") == record["adapter_sha256"]
    assert record["base"]["files"] == merge.BASE_FILES
    assert record["held_out"]["top_1"] > 0.29
    assert record["held_out"]["nat_per_token"] < record["held_out"]["unigram_nat_per_token"] - 2.5


def test_merging_gives_the_described_weights():
    record = json.loads((HERE / "adapter.json").read_text())
    base = safetensors.numpy.load_file(merge.base_directory() / "model.safetensors")
    tensors = merge.merged(base, safetensors.numpy.load_file(HERE / "adapter.safetensors"))
    assert merge.tensors_hash(tensors) == record["merged_sha256"]
    assert tensors["cls.predictions.bias"].shape == (30522,)


def test_held_out_sentences_are_predicted(tmp_path):
    pytest.importorskip("torch", exc_type=ImportError)
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    import glosses

    if not glosses.DICTIONARY.exists():
        pytest.skip("wordnet-base is not installed: no held-out sentences")
    import train_adapter

    base = merge.base_directory()
    merge.write(tmp_path, base, merge.merged(safetensors.numpy.load_file(base / "model.safetensors"),
                                             safetensors.numpy.load_file(HERE / "adapter.safetensors")))
    model = transformers.BertForMaskedLM.from_pretrained(tmp_path).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    _, held_out = glosses.split(glosses.sentences())
    encoded = train_adapter.encode(tokenizer, held_out[::6])

    def logits(ids, attention, rows):
        return model(input_ids=ids, attention_mask=attention).logits[rows]

    figures = train_adapter.measure(logits, encoded, tokenizer.token_to_id("[MASK]"), numpy.ones(30522))
    described = json.loads((HERE / "adapter.json").read_text())["held_out"]
    assert figures["masked_tokens"] > 500
    assert abs(figures["top_1"] - described["top_1"]) < 0.06  # a sixth of the sentences: 3 standard errors
    assert abs(figures["nat_per_token"] - described["nat_per_token"]) < 0.4
