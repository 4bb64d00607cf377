"""Pickle files of weights become safetensors; what is no table of tensors, or runs code, is refused."""

import json
import os
import pickle

import pytest
import torch
from safetensors.torch import load_file

from stereosweep_analysis.cli import main


def tensors():
    words = torch.arange(12.0).reshape(3, 4)
    return {"words": words, "head": words, "turned": words.t(), "half": words.half(), "ids": torch.arange(3)}


def same(first, second):
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) and first[name].dtype == second[name].dtype for name in first)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "adapter_model.bin"])
def test_one_file(tmp_path, name, capsys):
    torch.save(tensors(), tmp_path / name)
    assert main(["convert", str(tmp_path)]) == 0
    made = name.replace("pytorch_model.bin", "model.safetensors").replace(".bin", ".safetensors")
    assert f"wrote {tmp_path / made}" in capsys.readouterr().out
    same(load_file(tmp_path / made), tensors())


def test_shards(tmp_path):
    shards = {"pytorch_model-00001-of-00002.bin": ["words", "half"], "pytorch_model-00002-of-00002.bin": ["ids"]}
    for shard, names in shards.items():
        torch.save({name: tensors()[name] for name in names}, tmp_path / shard)
    index = {"weight_map": {name: shard for shard, names in shards.items() for name in names}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert main(["convert", str(tmp_path), "--out", str(tmp_path / "new")]) == 0
    made = json.loads((tmp_path / "new" / "model.safetensors.index.json").read_text())["weight_map"]
    read = {name: load_file(tmp_path / "new" / shard)[name] for name, shard in made.items()}
    same(read, {name: tensors()[name] for name in ["words", "half", "ids"]})


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("hostile",)


@pytest.mark.parametrize(
    ("content", "message"),
    [({"a": Hostile()}, "cannot be read as weights alone"), ({"a": 1}, "a is no tensor"), ([1], "no table of tensors")],
)
def test_what_holds_more_than_weights_is_refused(tmp_path, monkeypatch, capsys, content, message):
    monkeypatch.chdir(tmp_path)
    torch.save(content, tmp_path / "pytorch_model.bin")
    assert main(["convert", str(tmp_path)]) == 1
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pytorch_model.bin"]


def test_a_damaged_file_and_an_empty_folder(tmp_path, capsys):
    assert main(["convert", str(tmp_path)]) == 1
    assert "nothing to convert" in capsys.readouterr().err
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps({"a": 1})[:-3])
    assert main(["convert", str(tmp_path)]) == 1
    assert "cannot be read as weights alone" in capsys.readouterr().err
