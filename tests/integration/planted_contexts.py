"""A corpus and a tiny BERT with planted associations that only contexts carry: words of all target sets are alike.

Every sentence of a target word holds one marker, "bright" or "dim". The only layer attends to all tokens alike and hands on
one direction, which the markers and the attribute words have and nothing else has. So a word in a sentence leans as the
marker does, and a word of leaning L meets "bright" in the share (1 + L) / 2 of its sentences, exactly.
"""

import json

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

SENTENCES = 40  # of each target word
WORDS_PER_SENTENCE = 8
SET_SIZE = 8
HIDDEN = 48
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MARKERS = ["bright", "dim"]
FILLERS = ["the", "old", "road", "near", "seven", "hills", "was", "long", "and", "empty", "until", "noon"]


def names(stem, count=SET_SIZE):
    return [f"{stem}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"[:count]]


ATTRIBUTES = {"light": names("lum", 6), "dark": names("mur", 6)}


def sentences_of(word, leaning, rng):
    """`SENTENCES` lines: a word, a marker and fillers, in random order."""
    num_bright = round(SENTENCES * (1 + leaning) / 2)
    assert abs(num_bright - SENTENCES * (1 + leaning) / 2) < 1e-9, "the leaning must be a whole number of sentences"
    lines = []
    for number in range(SENTENCES):
        parts = [word, MARKERS[0 if number < num_bright else 1], *rng.choice(FILLERS, WORDS_PER_SENTENCE - 2)]
        lines.append(" ".join(rng.permutation(parts)) + ".")
    return lines


def attribute_sentences(word, rng):
    return [" ".join(rng.permutation([word, *rng.choice(FILLERS, WORDS_PER_SENTENCE - 1)])) + "." for _ in range(SENTENCES)]


def write_corpus(path, leanings, seed):
    """One line per sentence, in random order; `leanings` is {target word: leaning}."""
    rng = np.random.default_rng(seed)
    lines = [line for word, leaning in leanings.items() for line in sentences_of(word, leaning, rng)]
    lines += [line for words in ATTRIBUTES.values() for word in words for line in attribute_sentences(word, rng)]
    path.write_text("".join(f"{line}\n" for line in rng.permutation(lines)))


def embeddings(vocabulary, targets, rng):
    """Coordinates: 0 the direction, 1-15 targets, 16-31 attributes, 32-47 all else."""
    matrix = np.zeros((len(vocabulary), HIDDEN), np.float32)
    for word, row in vocabulary.items():
        light, dark = word in ATTRIBUTES["light"], word in ATTRIBUTES["dark"]
        part = slice(1, 16) if word in targets else slice(16, 32) if light or dark else slice(32, 48)
        own = rng.normal(size=part.stop - part.start)
        matrix[row, part] = 4 * own / np.linalg.norm(own)  # of one length: a marker moves every word alike
        matrix[row, 0] = 2.0 * (light - dark) + 4.0 * ((word == MARKERS[0]) - (word == MARKERS[1]))
    return matrix


def write_model(folder, targets, seed):
    """A BERT of one layer (no head) and its WordPiece tokenizer."""
    vocabulary = {word: row for row, word in enumerate([*SPECIALS, ".", *MARKERS, *FILLERS, *sum(ATTRIBUTES.values(), []), *targets])}
    rng = np.random.default_rng(seed)
    config = BertConfig(vocab_size=len(vocabulary), hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=16, max_position_embeddings=32)
    model = BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        model.embeddings.word_embeddings.weight.copy_(torch.from_numpy(embeddings(vocabulary, set(targets), rng)))
        model.embeddings.position_embeddings.weight.normal_(0, 0.05, generator=torch.Generator().manual_seed(seed))
        attention = model.encoder.layer[0].attention  # queries and keys are zero: every token counts alike
        attention.self.value.weight[0, 0] = 4.0
        attention.output.dense.weight[0, 0] = 1.0
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(SPECIALS)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "BertTokenizer", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
         "unk_token": "[UNK]", "mask_token": "[MASK]"}))


def planted_effect(x_leanings, y_leanings, seed, draws=200_000):
    """Mean effect size (divisor n - 1) where every word is +1 in the share (1 + L) / 2 of its draws, else -1."""
    rng = np.random.default_rng(seed)
    shares = (1 + np.array([*x_leanings, *y_leanings])) / 2
    signs = np.where(rng.random((draws, shares.size)) < shares, 1.0, -1.0)
    deviation = signs.std(axis=1, ddof=1)
    size = len(x_leanings)
    effects = (signs[:, :size].mean(axis=1) - signs[:, size:].mean(axis=1))[deviation > 0] / deviation[deviation > 0]
    return effects.mean()
