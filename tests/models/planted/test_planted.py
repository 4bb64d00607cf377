"""The planted model holds what planted.tsv says: tau-b of the truth and of scores computed here, without our program.

Scores come from transformers' forward pass and from the slow form of the sensitivity test (every competitor sorted), in
two templates; the sweep itself is checked by the quickstart's job on all of them.
"""

import csv
import pathlib

import numpy
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
transformers = pytest.importorskip("transformers")
scipy_stats = pytest.importorskip("scipy.stats")
tokenizers = pytest.importorskip("tokenizers")
import plant  # noqa: E402  (needs torch)

HERE = pathlib.Path(__file__).resolve().parent


def set_distance(logits, hidden, target):
    """Least Frobenius change of [decoder | bias] that makes `target` win by 1 (column squishing, sorted in full)."""
    norm = float(numpy.sqrt(1 + (hidden**2).sum()))
    gaps = (numpy.delete(logits, target) - logits[target] + 1) / norm**2
    level = 0.0
    for count, gap in enumerate(sorted(gaps, reverse=True), 1):
        if gap <= level:
            break
        level = (count * level + gap) / (count + 1)
    return norm * float(numpy.sqrt(level**2 + (numpy.minimum(0, level - gaps) ** 2).sum()))


class Scorer:
    def __init__(self):
        self.tokenizer = tokenizers.Tokenizer.from_file(str(HERE / "tokenizer.json"))
        self.model = transformers.BertForMaskedLM.from_pretrained(HERE).eval()

    @torch.no_grad()
    def word(self, before, after, word):
        """(ln p of the first subword, ln(1 - D) of the hardest subword), filled left to right."""
        subwords = self.tokenizer.encode(word, add_special_tokens=False).ids
        mask = self.tokenizer.token_to_id("[MASK]")
        ids = self.tokenizer.encode(before + "[MASK]" * len(subwords) + after).ids
        places = [at for at, token in enumerate(ids) if token == mask]
        first, hardest = None, 0.0
        for at, subword in zip(places, subwords):
            hidden = self.model.bert(torch.tensor([ids])).last_hidden_state[0, at]
            hidden = self.model.cls.predictions.transform(hidden)
            logits = self.model.cls.predictions.decoder(hidden)
            first = float(torch.log_softmax(logits, 0)[subword]) if first is None else first
            distance = set_distance(logits.double().numpy(), hidden.double().numpy(), subword)
            assert distance < 1
            hardest = min(hardest, numpy.log1p(-distance))
            ids[at] = subword
        return first, hardest


@pytest.fixture(scope="module")
def measured():
    """{(group, pair): (planted, ILPS, SeT)} in one plural and one singular template, one adjective per pole, minus the prior."""
    scorer, found = Scorer(), {}
    people = {"singular": "person", "plural": "people"}
    templates = [item for item in plant.piece("templates", "abc_templates") if item["label"] in ("nearly_all", "one_of_them")]
    pairs, groups = plant.piece("traits", "abc_traits"), plant.piece("groups", "abc_groups")[::8]
    with open(HERE / "planted.tsv", encoding="utf-8") as table:
        planted = {(row["group"], row["pair"]): float(row["planted_nat"]) for row in csv.DictReader(table, delimiter="\t")}

    def score(group, pair):
        total = numpy.zeros(2)
        for template in templates:
            before, after = plant.sentence(template, group)
            left, right = (scorer.word(before, after, plant.words_of(pair[pole])[0]) for pole in ("left", "right"))
            total += numpy.subtract(right, left) / len(templates)
        return total

    for pair in pairs:
        prior = score(people, pair)
        for group in groups:
            key = (group["plural"], plant.label_of(pair))
            found[key] = (planted[key], *(score(group, pair) - prior))
    return found


def test_the_truth_is_recovered(measured):
    values = numpy.array(list(measured.values()))
    assert scipy_stats.kendalltau(values[:, 0], values[:, 1]).statistic > 0.9
    assert scipy_stats.kendalltau(values[:, 0], values[:, 2]).statistic > 0.9


def test_scores_are_in_the_planted_unit(measured):
    single = numpy.array([row for (_, pair), row in measured.items() if "-status" not in pair and "science" not in pair])
    assert numpy.abs(single[:, 1] - single[:, 0]).mean() < 0.1
