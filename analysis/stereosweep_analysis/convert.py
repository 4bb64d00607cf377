"""Pickle files of weights -> safetensors, which the program reads.

torch reads them with `weights_only=True`: nothing but tensors and plain values is made, and no code of the file runs.
"""

import argparse
import json
import os
from pathlib import Path

from .open import ResultError

SINGLE = {"pytorch_model.bin": "model.safetensors", "adapter_model.bin": "adapter_model.safetensors"}
INDEX = "pytorch_model.bin.index.json"


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("convert", help="pytorch_model.bin or adapter_model.bin -> safetensors (needs torch)")
    parser.add_argument("directory", type=Path, help="folder of a checkpoint or of an adapter")
    parser.add_argument("--out", type=Path, help="folder for the new files; default: the same folder")
    parser.set_defaults(action=convert)


def convert(arguments: argparse.Namespace) -> None:
    for path in convert_folder(arguments.directory, arguments.out or arguments.directory):
        print(f"wrote {path}")


def convert_folder(directory: Path, out: Path) -> list[Path]:
    """The files that were written."""
    found = [name for name in SINGLE if (directory / name).is_file()]
    index = directory / INDEX
    if not found and not index.is_file():
        raise ResultError(f"{directory} holds neither {' nor '.join(SINGLE)} nor {INDEX}: there is nothing to convert")
    out.mkdir(parents=True, exist_ok=True)
    if found:
        return [_write(directory / name, out / SINGLE[name]) for name in found]
    shard_of = json.loads(index.read_text())["weight_map"]
    names = {shard: Path(shard).name.removesuffix(".bin") + ".safetensors" for shard in sorted(set(shard_of.values()))}
    if any(shard != Path(shard).name for shard in names):
        raise ResultError(f"{index} names files outside of the folder")
    written = [_write(directory / shard, out / name) for shard, name in names.items()]
    new_index = out / "model.safetensors.index.json"
    weight_map = {tensor: names[shard] for tensor, shard in shard_of.items()}
    new_index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}, indent=1))
    return [*written, new_index]


def _write(source: Path, target: Path) -> Path:
    try:
        import torch
        from safetensors.torch import save_file
    except ImportError as error:
        raise ResultError(f"convert needs torch and safetensors ({error}); build/python has them") from error
    try:
        tensors = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged or hostile pickle brings about
        raise ResultError(f"{source} cannot be read as weights alone: {str(error).splitlines()[0]}") from error
    if not isinstance(tensors, dict) or not tensors:
        raise ResultError(f"{source} holds no table of tensors")
    others = [str(name) for name, tensor in tensors.items() if not (isinstance(name, str) and torch.is_tensor(tensor))]
    if others:
        raise ResultError(f"{source}: {', '.join(others[:5])} {'is' if len(others) == 1 else 'are'} no tensor")
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:  # tensors that share memory, as tied embeddings do, are written once each
        save_file({name: tensor.contiguous().clone() for name, tensor in tensors.items()}, partial, {"format": "pt"})
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target
