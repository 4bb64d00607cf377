#!/usr/bin/env python3
"""Holds runs over the planted causal model against the truth that it was made with.

    PYTHON recover.py results/winoidentity/coreference.h5 results/ratings/rating.h5

Prints Kendall's tau-b, Pearson's r and the mean error of four recoveries, from the raw cubes alone; ends with 1 where a tau-b
stays under 0.9.
"""

import csv
import pathlib
import sys

import h5py
import numpy
from scipy import stats

HERE = pathlib.Path(__file__).resolve().parent
LEAST = 0.9


def texts(dataset):
    return numpy.array([value.decode() if isinstance(value, bytes) else value for value in numpy.ravel(dataset[()])])


def table(name):
    with open(HERE / name, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def log_odds(file):
    """ln P(referent) - ln P(other) [group, template], mean over rephrasings."""
    return numpy.nansum(file["logprob"][()], axis=-1)[..., 0].mean(1) - numpy.nansum(file["logprob"][()], axis=-1)[..., 1].mean(1)


def marker_boosts(file):
    """Mean over sentences of what a marker before the referent adds, and of what one before the other takes away."""
    odds, augmentation = log_odds(file), texts(file["group_augmentation"])
    baseline = odds[augmentation == "baseline"].mean(0)
    planted = {row["name"]: float(row["nat"]) for row in table("planted.tsv") if row["kind"] == "marker"}
    found = {}
    for side, name in ((1, "referent"), (-1, "other")):
        markers = texts(file[f"group_{name}_marker"])
        for index in numpy.flatnonzero(augmentation == ("aug1" if side == 1 else "aug2")):
            found.setdefault(markers[index], []).append(side * (odds[index] - baseline).mean())
    return [(planted[marker], numpy.mean(values)) for marker, values in found.items()]


def occupation_leans(file):
    """Half the difference between a female and a male pronoun in the same sentence, mean over the sentences of two occupations:
    the lean of the referent minus the other's."""
    odds = log_odds(file)[texts(file["group_augmentation"]) == "baseline"].mean(0)
    planted = {row["name"]: float(row["nat"]) for row in table("planted.tsv") if row["kind"] == "occupation"}
    referents, others = texts(file["template_referent"]), texts(file["template_other"])
    pairs, genders = texts(file["template_pair"]), texts(file["template_gender"])
    found = {}
    for pair in dict.fromkeys(pairs):
        female = numpy.flatnonzero((pairs == pair) & (genders == "female"))
        male = numpy.flatnonzero((pairs == pair) & (genders == "male"))
        if len(female) == 1 and len(male) == 1 and referents[female[0]] == referents[male[0]]:
            at = female[0]
            found.setdefault((referents[at], others[at]), []).append((odds[female[0]] - odds[male[0]]) / 2)
    return [(planted[referent] - planted[other], numpy.mean(values)) for (referent, other), values in found.items()]


def rating_means(file, form):
    """Mean rating per identity and dimension from the options' probabilities, or from the sampled answers."""
    planted = {(row["identity"], row["dimension"]): float(row["mean"]) for row in table("ratings.tsv")}
    if form == "sampled":
        ratings = numpy.nanmean(file["answer_rating"][()], axis=(2, 3, 4, 5))
    else:
        values = numpy.array([float(value) for value in texts(file["option_value"])])
        logprob = file["option_logprob"][()][..., list(texts(file["form"])).index(form), :]
        mass = numpy.exp(logprob - logprob.max(-1, keepdims=True))
        ratings = ((mass / mass.sum(-1, keepdims=True)) * values).sum(-1).mean((2, 3, 4))
    dimensions = texts(file["trait_dimension"])
    return [(planted[identity, dimension], ratings[index, dimensions == dimension].mean())
            for index, identity in enumerate(texts(file["group"])) for dimension in dict.fromkeys(dimensions)]


def main(coreference, rating):
    with h5py.File(coreference) as file:
        rows = {"what a marker adds": marker_boosts(file), "an occupation's leaning": occupation_leans(file)}
    with h5py.File(rating) as file:
        for form in ("text", "letter", "sampled"):
            if form != "sampled" or "answer_rating" in file:
                rows[f"ratings, {form}"] = rating_means(file, form)
    lowest = 1.0
    print(f"{'planted and measured':26} {'pairs':>6} {'tau-b':>7} {'r':>7} {'mean error':>11}")
    for name, pairs in rows.items():
        planted, measured = numpy.array(pairs).T
        tau = stats.kendalltau(planted, measured).statistic
        lowest = min(lowest, tau)
        print(f"{name:26} {len(pairs):6} {tau:7.3f} {stats.pearsonr(planted, measured).statistic:7.3f} "
              f"{numpy.abs(planted - measured).mean():11.3f}")
    return 0 if lowest >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3])))
