#!/usr/bin/env python3
"""Makes the planted model: a tiny BERT whose associations of groups with traits are known, so that a sweep can be checked.

Every group g and trait pair p of configs/ gets a planted value v(g, p), uniform on [-2, 2] nat. In the model's world a
sentence about g ends in the word t with probability proportional to exp(+v/2) for words of the right pole and exp(-v/2)
for words of the left one; about "people" all words are equally likely. So the pair score of ILPS (right minus left,
minus the same of the prior) is v itself, up to what training leaves. planted.tsv holds the truth as ratings: 50 + 25 v.

The model is fitted to the expected loss over all such sentences (each context's exact distribution as the target)
rather than to a sample of them, in every template of configs/. Words of several subwords are filled left to right.

    PYTHON plant.py                # minutes on one core; rewrites the files beside itself
"""

import argparse
import json
import pathlib
import time

import numpy
import tokenizers
import torch
import torch.nn.functional as functional
import transformers
import yaml

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS = HERE.parents[2] / "configs"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def piece(axis, name):
    return yaml.safe_load((CONFIGS / axis / f"{name}.yaml").read_text())[axis]


def words_of(pole):
    return [pole] if isinstance(pole, str) else list(pole)


def label_of(pair):
    return f"{words_of(pair['left'])[0]} - {words_of(pair['right'])[0]}"


def sentence(template, group):
    """(text before the trait, text after it); group None is the mask that stands for a group."""
    singular = template.get("form") == "singular" or "{a group}" in template["text"]
    noun = "[MASK]" if group is None else group["singular" if singular else "plural"]
    article = "an" if noun[0].lower() in "aeiou" else "a"
    text = template["text"].replace("{a group}", f"{article} {noun}").replace("{group}", noun)
    return text.split("{trait}")


def make_tokenizer(texts):
    """WordPiece, as BERT's, over the words of the texts; letters keep anything else from being unknown."""
    normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    splitter = tokenizers.pre_tokenizers.BertPreTokenizer()
    words = sorted({word for text in texts for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))})
    vocabulary = list(dict.fromkeys(
        SPECIAL + list(LETTERS) + [f"##{letter}" for letter in LETTERS] + [".", ",", "?", "!", '"', "'", "-", ":"] + words))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(
        {word: index for index, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary.index("[CLS]")), ("[SEP]", vocabulary.index("[SEP]"))])
    tokenizer.decoder = tokenizers.decoders.WordPiece()
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


class World:
    """Groups, words, sentences and the planted probabilities."""

    def __init__(self):
        self.groups, self.templates = piece("groups", "abc_groups"), piece("templates", "abc_templates")
        self.pairs = piece("traits", "abc_traits")
        self.values = numpy.random.default_rng(20220710).uniform(-2, 2, (len(self.groups), len(self.pairs))).round(2)
        weights = {}
        for index, pair in enumerate(self.pairs):
            for sign, pole in ((-0.5, "left"), (0.5, "right")):
                for word in words_of(pair[pole]):
                    weights.setdefault(word, []).append(sign * self.values[:, index])
        self.words = list(weights)
        people = {"singular": "person", "plural": "people"}
        self.subjects = self.groups + [people, None]
        mass = numpy.exp(numpy.array([numpy.mean(weights[word], axis=0) for word in self.words]).T)
        mass /= mass.sum(1, keepdims=True)
        self.probability = numpy.vstack([mass, numpy.full((1, len(self.words)), 1 / len(self.words)), mass.mean(0)])
        self.tokenizer = make_tokenizer(self.texts())
        self.id = self.tokenizer.token_to_id
        self.subwords = [tuple(self.tokenizer.encode(word, add_special_tokens=False).ids) for word in self.words]

    def texts(self):
        yield from ("person people a an", *self.words)
        for group in self.groups:
            yield " ".join(str(value) for key, value in group.items() if key != "domain")
        for template in self.templates:
            yield from (" ".join(part.replace("{group}", " ").replace("{a group}", " ")
                        for part in template["text"].split("{trait}")),)
        for name in ("hearsay", "voices", "anew"):
            for rephrasing in piece("rephrasings", name):
                for text in (rephrasing.get("wrapper", ""), *rephrasing.get("alternatives", {}).values()):
                    for place in ("{prompt}", "{group}", "{a group}", "{trait}"):
                        text = text.replace(place, " ")
                    yield text
        lexical = yaml.safe_load((CONFIGS / "intersections" / "abc_pairs.yaml").read_text())["lexical"]
        yield from (f"{form['singular']} {form['plural']}" for form in lexical)

    def steps(self):
        """All masked places: (number of masks, subwords filled before, {next subword: {word index}})."""
        found = {}
        for index, subwords in enumerate(self.subwords):
            for position in range(len(subwords)):
                key = (len(subwords), subwords[:position])
                found.setdefault(key, {}).setdefault(subwords[position], []).append(index)
        return [(count, filled, following) for (count, filled), following in found.items()]

    def examples(self):
        """One input per subject, template and step, with the exact distribution of the next subword at its mask."""
        steps = self.steps()
        for subject, group in enumerate(self.subjects):
            for template in self.templates:
                before, after = sentence(template, group)
                for count, filled, following in steps:
                    ids = self.tokenizer.encode(before + "[MASK]" * count + after).ids
                    masks = [at for at, token in enumerate(ids) if token == self.id("[MASK]")]
                    group_is_after = group is None and "group}" in template["text"].split("{trait}")[1]
                    own = masks[:count] if group is not None or group_is_after else masks[-count:]
                    for at, token in zip(own, filled):
                        ids[at] = token
                    mass = {token: self.probability[subject, words].sum() for token, words in following.items()}
                    yield subject, count, filled, ids, own[len(filled)], mass


def to_tensors(world):
    examples = list(world.examples())
    width = max(len(example[3]) for example in examples)
    ids = torch.zeros((len(examples), width), dtype=torch.long)
    targets = torch.zeros((len(examples), world.tokenizer.get_vocab_size()))
    places = torch.tensor([example[4] for example in examples])
    importance = torch.ones(len(examples))
    for row, (_, count, filled, sentence_ids, _, mass) in enumerate(examples):
        ids[row, : len(sentence_ids)] = torch.tensor(sentence_ids)
        importance[row] = 1.0 if not filled else 0.1
        for token, value in mass.items():
            targets[row, token] = value
    return ids, places, targets / targets.sum(1, keepdim=True), importance


def train(world, arguments):
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=world.tokenizer.get_vocab_size(), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        pad_token_id=0)
    model = transformers.BertForMaskedLM(config)
    ids, places, targets, importance = to_tensors(world)
    print(f"{len(ids)} inputs, {sum(p.numel() for p in model.parameters())} numbers", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.99), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: arguments.rate * min(1, (step + 1) / 100) * (
        0.5 + 0.5 * numpy.cos(numpy.pi * min(1, step / arguments.steps))))
    first = (importance == 1).nonzero()[:, 0]
    later = (importance < 1).nonzero()[:, 0]
    began, entropy = time.time(), -(targets * targets.clamp_min(1e-9).log()).sum(1)
    for step in range(arguments.steps):
        rows = torch.cat([first[torch.randint(len(first), (224,))], later[torch.randint(len(later), (32,))]])
        width = int((ids[rows] != 0).sum(1).max())
        hidden = model.bert(input_ids=ids[rows, :width], attention_mask=(ids[rows, :width] != 0).long()).last_hidden_state
        logits = model.cls(hidden[torch.arange(len(rows)), places[rows]])
        divergence = -(targets[rows] * functional.log_softmax(logits, 1)).sum(1) - entropy[rows]
        loss = divergence.mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 500 == 499:
            print(f"step {step + 1}  {time.time() - began:.0f} s  divergence {loss.item():.5f} nat", flush=True)
    return model.eval()


def write(world, model):
    model.to(torch.float32).save_pretrained(HERE, safe_serialization=True)
    for extra in ("generation_config.json",):
        (HERE / extra).unlink(missing_ok=True)
    config = json.loads((HERE / "config.json").read_text())
    (HERE / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    world.tokenizer.save(str(HERE / "tokenizer.json"))
    with open(HERE / "planted.tsv", "w", encoding="utf-8") as table:
        table.write("group\tpair\tplanted_nat\tmean\n")
        for group, values in zip(world.groups, world.values):
            for pair, value in zip(world.pairs, values):
                table.write(f"{group['plural']}\t{label_of(pair)}\t{value:.2f}\t{50 + 25 * value:.2f}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=3e-3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    world = World()
    write(world, train(world, arguments))


if __name__ == "__main__":
    main()
