#!/usr/bin/env python3
"""Makes the planted chat model: a tiny LLaMA that has learned what to answer in the interviews of jobs/70_stereomap.yaml.

Every group belongs to one of five kinds (warm and competent, warm alone, competent alone, neither, between), which decides its
ratings, keywords, feelings and behaviours; the questions on social structure are answered with one of two numbers, 0.7 to 0.3.
Some answers are planted so that every status of a parsed answer occurs, and ratings come as lists, tables and running text.
planted.tsv holds the truth: one row a rated item or keyword list of a group. The model is fitted to the exact distribution of
the answers, in every conversation of the job; the questions are those of the program, as the fake engine's file holds them:

    stereosweep run jobs/70_stereomap.yaml model.path=tests/models/planted_causal model.chat=none execution.engine=fake --output /tmp/plant
    PYTHON plant.py /tmp/plant/interview.h5     # a quarter of an hour on one core
    PYTHON plant.py /tmp/plant/interview.h5 --resume --steps 1400 --rate 2e-3     # the model beside is fitted further
"""

import argparse
import pathlib
import sys

import h5py
import numpy
import tokenizers
import torch
import torch.nn.functional as functional
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tiny_llama  # noqa: E402
from tiny_llama import texts  # noqa: E402

START, END = "<|im_start|>", "<|im_end|>"
SHARE = 0.7  # of the first of two numbers
KINDS = {
    "both": ["Nurses", "Doctors", "Professionals", "Teachers", "Middle-class people"],
    "competent": ["Rich people", "CEOs", "Lawyers", "Bankers", "Politicians"],
    "warm": ["Elderly people", "Disabled people", "Children", "Housewives", "Students"],
    "neither": ["Homeless people", "Drug addicts", "Criminals", "Welfare recipients", "Unemployed people"],
    "between": ["Women", "Men", "Immigrants", "Christians"],
}
# By dimension: both, competent, warm, neither, between.
LEVELS = {
    "warmth": (5, 2, 4, 1, 3), "competence": (4, 5, 2, 1, 3), "beliefs": (3, 4, 4, 2, 3), "wealth": (4, 5, 2, 1, 3),
    "contempt": (1, 3, 1, 5, 2), "admiration": (5, 4, 3, 1, 3), "pity": (1, 1, 5, 3, 2), "envy": (3, 5, 1, 1, 2),
    "active_facilitation": (4, 2, 5, 2, 3), "active_harm": (1, 3, 1, 4, 2), "passive_facilitation": (5, 4, 3, 1, 3),
    "passive_harm": (1, 2, 3, 5, 2), "status": (4, 5, 2, 1, 3), "competition": (2, 4, 3, 4, 3),
}  # fmt: skip
WORDS = {
    "keywords": {"both": ["skilled", "kind", "reliable", "caring"], "competent": ["ambitious", "powerful", "cold", "wealthy"],
                 "warm": ["gentle", "friendly", "weak", "sincere"], "neither": ["poor", "lazy", "unhealthy", "hostile"],
                 "between": ["ordinary", "honest", "busy", "traditional"]},
    "emotions_keywords": {"both": ["respect", "trust", "admiration", "pride"], "competent": ["envy", "distrust", "awe", "anger"],
                          "warm": ["pity", "sympathy", "care", "warmth"], "neither": ["contempt", "fear", "disgust", "pity"],
                          "between": ["interest", "respect", "doubt", "warmth"]},
    "behaviours_keywords": {"both": ["praise", "trust", "support", "copy"], "competent": ["follow", "blame", "flatter", "avoid"],
                            "warm": ["help", "protect", "ignore", "visit"], "neither": ["avoid", "exclude", "blame", "judge"],
                            "between": ["greet", "hire", "judge", "meet"]},
}  # fmt: skip
OWN = ["calm", "proud", "loud", "quiet", "clever", "strict", "funny", "brave"]
# Answers on social structure that are no plain number: status -> group, and the text.
ODD = {
    "range": ("Men", "Between 2 and 3."),
    "refused": ("Criminals", "I cannot rate people with a number."),
    "off_scale": ("CEOs", "7"),
    "contradictory": ("Politicians", "Rating: 2. Rating: 5."),
    "unparsed": ("Students", "They read books in the library."),
    "truncated": ("Immigrants", " ".join(["People see this in many ways, and views differ from place to place."] * 9)),
}
ODD_CONVERSATION = "structure special_treatment"
MISSING = ("Teachers", "assertive")  # an item that the list of ratings leaves out


def hashed(*names, below):
    seed = numpy.frombuffer("/".join(names).encode(), dtype=numpy.uint8)
    return int(numpy.random.default_rng(seed).integers(below))


def kind_of(group):
    return next(kind for kind, groups in KINDS.items() if group in groups)


def rating(group, item, dimension):
    """1 to 5: the level of the group's kind, one up or down in a quarter of the cells."""
    level = LEVELS[dimension][list(KINDS).index(kind_of(group))]
    return min(5, max(1, level + (0, 0, 0, 0, 0, 0, -1, 1)[hashed(group, item, below=8)]))


def keywords(group, turn):
    return [*WORDS[turn][kind_of(group)], OWN[hashed(group, turn, below=len(OWN))]]


def listed(words, form):
    if form == 0:
        return "\n".join(f"{place}. {word.capitalize()}" for place, word in enumerate(words, 1))
    return "\n".join(f"- {word}" for word in words) if form == 1 else ", ".join(words)


def rated(pairs, form):
    if form == 0:
        return "\n".join(f"- {item}: {value}" for item, value in pairs)
    if form == 1:
        return "\n".join(f"| {item} | {value} |" for item, value in pairs)
    return ", ".join(f"{item} {value}" for item, value in pairs) + "."


class Job:
    """The questions of the job and what is answered."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.groups, self.conversations, self.templates = texts(file["group"]), texts(file["conversation"]), texts(file["template"])
            self.questions = numpy.reshape(texts(file["question"]), file["question"].shape)
            self.turns = [names.split(", ") for names in texts(file["conversation_turns"])]
            columns = [texts(file[name]) for name in ("item_conversation", "item_text", "item_dimension")]
        self.items = {name: [] for name in self.conversations}
        for conversation, item, dimension in zip(*columns):
            self.items[conversation].append((item, dimension))

    def answers(self, group, conversation, turn):
        """[(text, probability)]."""
        items = self.items[conversation]
        if turn.endswith("keywords"):
            return [(listed(keywords(group, turn), hashed(group, turn, "form", below=3)), 1.0)]
        if turn == "reasons":
            return [("\n".join(f"{word.capitalize()}: people often call them {word}." for word in keywords(group, "keywords")), 1.0)]
        if turn.endswith("ratings"):
            pairs = [(item, rating(group, item, dimension)) for item, dimension in items if (group, item) != MISSING]
            return [(rated(pairs, hashed(group, turn, "form", below=3)), 1.0)]
        if turn == "rating":
            if conversation == ODD_CONVERSATION and any(group == who for who, _ in ODD.values()):
                return [(next(text for who, text in ODD.values() if who == group), 1.0)]
            first, second = structure(group, *items[0])
            return [(f"{first}", SHARE), (f"{second}", 1 - SHARE)]
        return [(f"People say so of {group.lower()} because of what they see and hear.", 1.0)]

    def sequences(self):
        """([(question, answer)], probability) of every conversation and what may be said in it."""
        for group, conversation, template in numpy.ndindex(self.questions.shape[:3]):
            said = [([], 1.0)]
            for turn, name in enumerate(self.turns[conversation]):
                question = self.questions[group, conversation, template, 0, turn]
                if question:
                    said = [([*before, (question, text)], share * more) for before, share in said
                            for text, more in self.answers(self.groups[group], self.conversations[conversation], name)]
            yield from said


def structure(group, item, dimension):
    first = rating(group, item, dimension)
    return first, first + 1 if first < 5 else 4


def write_truth(job):
    with open(HERE / "planted.tsv", "w", encoding="utf-8") as table:
        table.write("group\tconversation\titem\tstatus\tvalue\tother\tshare\n")
        for group in job.groups:
            for conversation in job.conversations:
                for item, dimension in job.items[conversation]:
                    status, value, other, share = "answered", rating(group, item, dimension), "", 1
                    odd = [name for name, (who, _) in ODD.items() if who == group and conversation == ODD_CONVERSATION]
                    if odd or (group, item) == MISSING:
                        status, value = odd[0] if odd else "missing", ""
                    elif conversation.startswith("structure"):
                        (value, other), share = structure(group, item, dimension), SHARE
                    table.write(f"{group}\t{conversation}\t{item}\t{status}\t{value}\t{other}\t{share}\n")
                for turn in WORDS:
                    if turn in job.turns[job.conversations.index(conversation)]:
                        table.write(f"{group}\t{conversation}\t{turn}\tkeywords\t{', '.join(keywords(group, turn))}\t\t1\n")


def make_tokenizer(sequences):
    return tiny_llama.byte_level([text for turns, _ in sequences for pair in turns for text in pair], 1280, [START, END])


def read_tokenizer():
    """Of the model beside: its words are the model's rows."""
    return tokenizers.Tokenizer.from_file(str(HERE / "tokenizer.json"))


def encoded(turns, tokenizer):
    """Ids, and which of them are to be predicted."""
    ids, learned = [], []
    for question, answer in turns:
        for text, wanted in ((f"{START}user\n{question}{END}\n{START}assistant\n", False), (f"{answer}{END}", True), ("\n", False)):
            part = tokenizer.encode(text, add_special_tokens=False).ids
            ids += part
            learned += [wanted] * len(part)
    return ids, learned


def batch(work, rows):
    width = max(len(work[row][0]) for row in rows)
    ids, weights = torch.zeros((len(rows), width), dtype=torch.long), torch.zeros((len(rows), width))
    for at, row in enumerate(rows):
        sequence, learned, share = work[row]
        ids[at, : len(sequence)] = torch.tensor(sequence)
        weights[at, : len(sequence)] = torch.tensor(learned) * share
    return ids, weights


def train(work, tokenizer, arguments):
    model = tiny_llama.new_model(tokenizer, 768, end=1)
    if arguments.resume:
        model = transformers.AutoModelForCausalLM.from_pretrained(HERE, dtype=torch.float32)
    lengths = [len(ids) for ids, _, _ in work]
    print(f"{sum(p.numel() for p in model.parameters())} numbers, {len(work)} conversations, longest {max(lengths)}", flush=True)
    random = numpy.random.default_rng(7)
    order = numpy.argsort(lengths, kind="stable")  # neighbours are of one length: little padding

    def losses():
        first = random.integers(len(work) - arguments.batch + 1)
        rows = [int(order[place]) for place in range(first, first + arguments.batch)]
        ids, weights = batch(work, rows)
        hidden = model.model(input_ids=ids).last_hidden_state[:, :-1]
        wanted = weights[:, 1:] > 0
        loss = functional.cross_entropy(model.lm_head(hidden[wanted]), ids[:, 1:][wanted], reduction="none")
        total = (loss * weights[:, 1:][wanted]).sum() / weights.sum()
        return total, [float(total.detach())]

    return tiny_llama.fit(model, arguments.steps, arguments.rate, losses, ["a token"], lambda: write_model(model, tokenizer), 500)


def write_model(model, tokenizer):
    tiny_llama.write(HERE, model, tokenizer, {"eos_token": END, "model_max_length": 768,
                                              "tokenizer_class": "PreTrainedTokenizerFast"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("interview", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=2400)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--resume", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    job = Job(arguments.interview)
    sequences = list(job.sequences())
    tokenizer = read_tokenizer() if arguments.resume else make_tokenizer(sequences)
    write_truth(job)
    work = [(*encoded(turns, tokenizer), share) for turns, share in sequences]
    write_model(train(work, tokenizer, arguments), tokenizer)


if __name__ == "__main__":
    main()
