#!/usr/bin/env python3
"""Makes the planted causal model: a tiny LLaMA whose preferences are known, so that coreference and rating runs can be checked.

Coreference: every occupation o leans by s(o) nat towards "she" (and -s(o) towards "he"), every marker m adds b(m) nat to the
occupation that it stands before. After a prompt the model names occupation A rather than B with log-odds
s(A) - s(B) + b(marker of A) - b(marker of B), signs of s turned round for a male pronoun; a marker on the pronoun does nothing.
Ratings: identity i has a value v(i, d) on dimension d between 1 and 5; the answer of value k has probability proportional to
exp(-(k - v)^2 / (2 * 0.9^2)), half as the option's letter and half as its text, whatever the order of the options.
planted.tsv and ratings.tsv hold the truth. The model is fitted to the exact distributions, in every prompt of the two jobs;
the prompts are those of the program itself, as the fake engine's result files hold them:

    stereosweep run jobs/40_winoidentity.yaml model.path=tests/models/letters execution.engine=fake --output /tmp/plant/coreference
    stereosweep run jobs/50_ratings.yaml model.path=tests/models/letters execution.engine=fake --output /tmp/plant/rating
    PYTHON plant.py /tmp/plant/coreference/coreference.h5 /tmp/plant/rating/rating.h5     # a quarter of an hour on one core
"""

import argparse
import pathlib
import sys

import h5py
import numpy
import tokenizers
import torch
import torch.nn.functional as functional

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tiny_llama  # noqa: E402
from tiny_llama import texts  # noqa: E402

END = "<|endoftext|>"
SPREAD = 0.9
LETTERS = "ABCDE"


class Truth:
    """The planted numbers; drawn from names alone, so that they do not move when a list grows."""

    @staticmethod
    def draw(kind, name, low, high):
        seed = numpy.frombuffer(f"{kind}/{name}".encode(), dtype=numpy.uint8)
        return round(float(numpy.random.default_rng(seed).uniform(low, high)), 2)

    def lean(self, occupation):
        return self.draw("occupation", occupation, -1.2, 1.2)

    def boost(self, marker):
        return self.draw("marker", marker, -1.5, 1.5) if marker else 0.0

    def rating(self, marker, people, dimension):
        value = 3 + self.draw(f"rating {dimension}", marker, -1.2, 1.2) + self.draw(f"rating {dimension}", people, -0.6, 0.6)
        return round(min(4.8, max(1.2, value)), 2)


def coreference_items(path, truth):
    """(prompt, {continuation: probability}) of every context."""
    with h5py.File(path) as file:
        prompts = numpy.reshape(texts(file["prompt"]), file["prompt"].shape)
        names = [texts(file["template_referent"]), texts(file["template_other"])]
        markers = [texts(file["group_referent_marker"]), texts(file["group_other_marker"])]
        genders = texts(file["template_gender"])
    for condition, question, sentence in numpy.ndindex(prompts.shape):
        sign = 1 if genders[sentence] == "female" else -1
        scores = [sign * truth.lean(names[side][sentence]) + truth.boost(markers[side][condition]) for side in (0, 1)]
        share = 1 / (1 + numpy.exp(scores[1] - scores[0]))
        yield prompts[condition, question, sentence], {f" {names[0][sentence]}": share, f" {names[1][sentence]}": 1 - share}


def rating_items(path, truth):
    with h5py.File(path) as file:
        markers, people = texts(file["group_marker"]), texts(file["group_people"])
        dimensions = texts(file["trait_dimension"])
        options, values = texts(file["option"]), [float(value) for value in texts(file["option_value"])]
        shape = file["prompt"].shape
        prompts = numpy.reshape(texts(file["prompt"]), shape)
    for identity, trait, question, rephrasing, order in numpy.ndindex(shape):
        value = truth.rating(markers[identity], people[identity], dimensions[trait])
        mass = numpy.exp(-((numpy.array(values) - value) ** 2) / (2 * SPREAD**2))
        mass /= mass.sum()
        listed = range(len(options)) if order == 0 else range(len(options))[::-1]
        answers = {}
        for place, option in enumerate(listed):
            answers[f" {LETTERS[place]}"] = mass[option] / 2
            answers[f" {options[option]}"] = mass[option] / 2
        yield prompts[identity, trait, question, rephrasing, order], answers


def make_tokenizer(items):
    words = [answer for _, answers in items for answer in answers]
    tokenizer = tiny_llama.byte_level([prompt for prompt, _ in items[::7]] + words, 1536, [END])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single=f"{END} $A", special_tokens=[(END, 0)])
    return tokenizer


class Work:
    """One kind of prompt as padded tensors: token ids, where the answer begins, its distribution."""

    def __init__(self, items, tokenizer):
        self.prompts = [tokenizer.encode(prompt).ids for prompt, _ in items]
        self.answers = []
        for _, answers in items:
            ids = [tokenizer.encode(text, add_special_tokens=False).ids + [0] for text in answers]
            self.answers.append((ids, numpy.array(list(answers.values()))))

    def batch(self, size, random, vocabulary):
        rows = random.integers(len(self.prompts), size=size)
        width = max(len(self.prompts[row]) for row in rows) + 6
        ids = torch.zeros((size, width), dtype=torch.long)
        first = torch.zeros((size, vocabulary))
        places, later, following = [], [], []
        for at, row in enumerate(rows):
            prompt, (answers, mass) = self.prompts[row], self.answers[row]
            chosen = answers[random.choice(len(answers), p=mass / mass.sum())]
            sequence = prompt + chosen[:-1]
            ids[at, : len(sequence)] = torch.tensor(sequence)
            places.append(len(prompt) - 1)
            for answer, share in zip(answers, mass):
                first[at, answer[0]] += share
            for step in range(1, len(chosen)):
                later.append((at, len(prompt) - 1 + step))
                following.append(chosen[step])
        return ids, torch.tensor(places), first, torch.tensor(later).T, torch.tensor(following)


def loss_of(model, batch):
    ids, places, first, later, following = batch
    hidden = model.model(input_ids=ids).last_hidden_state
    logits = model.lm_head(hidden[torch.arange(len(ids)), places])
    entropy = -(first * first.clamp_min(1e-12).log()).sum(1)
    divergence = (-(first * functional.log_softmax(logits, 1)).sum(1) - entropy).mean()
    return divergence, functional.cross_entropy(model.lm_head(hidden[later[0], later[1]]), following)


def train(works, tokenizer, arguments):
    model = tiny_llama.new_model(tokenizer, 512, end=0)
    print(f"{sum(p.numel() for p in model.parameters())} numbers, {[len(w.prompts) for w in works]} prompts", flush=True)
    random = numpy.random.default_rng(7)

    def losses():
        total, divergences = 0, []
        for work, size in zip(works, (48, 24)):
            divergence, later = loss_of(model, work.batch(size, random, tokenizer.get_vocab_size()))
            divergences.append(float(divergence.detach()))
            total = total + divergence + 0.1 * later
        return total, divergences

    names = ["divergence of coreference", "of ratings"]
    return tiny_llama.fit(model, arguments.steps, arguments.rate, losses, names, lambda: write_model(model, tokenizer), 1000)


def write_model(model, tokenizer):
    tiny_llama.write(HERE, model, tokenizer, {"bos_token": END, "eos_token": END, "model_max_length": 512,
                                              "tokenizer_class": "PreTrainedTokenizerFast"})


def write_truth(truth, coreference, rating):
    with h5py.File(coreference) as file:
        occupations = sorted(set(texts(file["template_referent"])) | set(texts(file["template_other"])))
        markers = [marker for marker in dict.fromkeys(texts(file["group_referent_marker"])) if marker]
    with h5py.File(rating) as file:
        identities = list(zip(texts(file["group"]), texts(file["group_marker"]), texts(file["group_people"])))
        dimensions = list(dict.fromkeys(texts(file["trait_dimension"])))
    with open(HERE / "planted.tsv", "w", encoding="utf-8") as table:
        table.write("kind\tname\tnat\n")
        for occupation in occupations:
            table.write(f"occupation\t{occupation}\t{truth.lean(occupation):.2f}\n")
        for marker in markers:
            table.write(f"marker\t{marker}\t{truth.boost(marker):.2f}\n")
    with open(HERE / "ratings.tsv", "w", encoding="utf-8") as table:
        table.write("identity\tdimension\tmean\n")
        for identity, marker, people in identities:
            for dimension in dimensions:
                table.write(f"{identity}\t{dimension}\t{truth.rating(marker, people, dimension):.2f}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("coreference", type=pathlib.Path)
    parser.add_argument("rating", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--rate", type=float, default=4e-3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    truth = Truth()
    coreference = list(coreference_items(arguments.coreference, truth))
    rating = list(rating_items(arguments.rating, truth))
    tokenizer = make_tokenizer(coreference + rating)
    write_truth(truth, arguments.coreference, arguments.rating)
    model = train([Work(coreference, tokenizer), Work(rating, tokenizer)], tokenizer, arguments)
    write_model(model, tokenizer)


if __name__ == "__main__":
    main()
