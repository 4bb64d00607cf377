"""Vocabularies trained with the `tokenizers` wheel on text that is here anyway."""
import functools
import importlib
import inspect
import json
import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers


@functools.cache
def corpus():
    """Some real English and some text of many scripts."""
    modules = ["argparse", "asyncio", "collections", "csv", "decimal", "difflib", "email", "fractions", "json",
               "logging", "random", "statistics", "string", "tarfile", "textwrap", "typing", "unittest", "zipfile"]
    lines = []
    for name in modules:
        lines += inspect.getsource(importlib.import_module(name)).splitlines()
    rng = random.Random(1)
    scripts = [(0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA), (0x620, 0x64A), (0x905, 0x939),
               (0x3041, 0x30FE), (0x4E00, 0x4FFF), (0xAC00, 0xAFFF), (0x1F600, 0x1F64F)]
    for _ in range(2000):
        low, high = rng.choice(scripts)
        lines.append(" ".join("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 6)))
                              for _ in range(rng.randint(1, 8))))
    return lines


def byte_level(specials, prefix=False, normalizer=None, pre=None, size=5000, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre or pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def sentence_piece(specials, size=4000):
    """A BPE vocabulary as conversions of SentencePiece models have it: byte tokens, "▁" for spaces."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    names = [*specials, *(f"<0x{b:02X}>" for b in range(256))]
    tokenizer.train_from_iterator([line.replace(" ", "▁") for line in corpus()], trainers.BpeTrainer(
        vocab_size=size, special_tokens=names, show_progress=False, limit_alphabet=200))
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [{**t, "normalized": False} for t in document["added_tokens"]
                                if not t["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(document))
