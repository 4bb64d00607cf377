"""Vocabularies trained with the `tokenizers` wheel on text that is here anyway."""
import functools
import importlib
import inspect
import io
import json
import random

import sentencepiece
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


def byte_level(specials, prefix=False, normalizer=None, pre=None, size=3000, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre or pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def fields(message):
    """Numbers and values of the length-delimited and integer fields of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        key = varint()
        length = {0: 0, 1: 8, 5: 4}.get(key & 7)
        if length == 0:
            yield key >> 3, varint()
            continue
        length = varint() if length is None else length
        yield key >> 3, message[at:at + length]
        at += length


@functools.cache
def pieces(**settings):
    """The bytes of a tokenizer.model trained with these settings."""
    out = io.BytesIO()
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=out, hard_vocab_limit=False, minloglevel=2,
        character_coverage=0.99, num_threads=1, seed_sentencepiece_size=10000, num_sub_iterations=1, **{"vocab_size": 2500, **settings})
    return out.getvalue()


def character_map(rule):
    """SentencePiece's compiled character map of this name."""
    normalizer = dict(fields(pieces(vocab_size=1200, model_type="bpe", normalization_rule_name=rule)))[3]
    return dict(fields(normalizer))[2]


def scored_pieces():
    wheel = sentencepiece.SentencePieceProcessor(model_proto=pieces(model_type="unigram"))
    return [(wheel.id_to_piece(i), wheel.get_score(i)) for i in range(len(wheel))]


@functools.cache
def trained_pairs(specials, size):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    names = [*specials, *(f"<0x{b:02X}>" for b in range(256))]
    tokenizer.train_from_iterator([line.replace(" ", "▁") for line in corpus()], trainers.BpeTrainer(
        vocab_size=size, special_tokens=names, show_progress=False, limit_alphabet=200))
    return tokenizer.to_str()


def sentence_piece(specials, size=3000):
    """A BPE vocabulary as conversions of SentencePiece models have it: byte tokens, "▁" for spaces."""
    document = json.loads(trained_pairs(tuple(specials), size))
    document["added_tokens"] = [{**t, "normalized": False} for t in document["added_tokens"]
                                if not t["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(document))
