"""Sentences for and against a stereotype under every marker, women's and men's pronouns apart (a coreference job)."""

import numpy as np

from ..pictures.dots import Dot
from ..pictures.panels import dot_panels
from .blocks import Picture
from .scores import cells, nan_mean, slices, t_interval, texts

MOST_PICTURES = 8
COORDINATES = ("subject_augmentation", "template_type", "template_stereotype", "template_gender")


def condition_blocks(statistics, means):
    """One picture for each type of sentence and placement of the marker: panels pro and anti, rows markers."""
    if any(name not in statistics.coords for name in COORDINATES):
        return []
    placements = texts(statistics, "subject_augmentation", "subject")
    types = list(dict.fromkeys(texts(statistics, "template_type", "template")))
    values = np.concatenate([cells(statistics, means.measure, part) for part in slices(len(means.subjects))])
    values = nan_mean(values, 2)[:, :, 0]  # [subject, template] of the first item, the referent
    pictures = []
    for placement in dict.fromkeys(placements):
        subjects = [place for place, name in enumerate(placements) if name == placement]
        if placement == "baseline":
            continue
        for kind in types:
            panels = _panels(statistics, means, values, subjects, kind)
            if panels and len(pictures) < MOST_PICTURES:
                label = means.label
                title = f"{kind} sentences, {placement}"
                caption = (
                    f"{label} of the {means.items[0]} in {kind} sentences with the marker placed as {placement}: means "
                    f"and {means.interval}. Dashed: the same sentences without a marker."
                )
                pictures.append(Picture(dot_panels(panels, label), title, caption))
    return pictures


def _panels(statistics, means, values, subjects, kind):
    """[(title, dots, {series: baseline})]"""
    types, stereotypes, genders = (texts(statistics, name, "template") for name in COORDINATES[1:])
    kinds = texts(statistics, "subject_kind", "subject")
    domains = texts(statistics, "subject_domain", "subject")
    panels = []
    for stereotype in dict.fromkeys(stereotypes):
        dots, lines = [], {}
        for gender in dict.fromkeys(genders):
            columns = [
                place
                for place in range(len(types))
                if (types[place], stereotypes[place], genders[place]) == (kind, stereotype, gender)
            ]
            if not columns:
                continue
            chosen = values[:, columns]
            mean = nan_mean(chosen, 1)
            low, high, _ = t_interval(chosen)
            if "baseline" in kinds:
                lines[gender] = float(mean[kinds.index("baseline")])
            dots += [
                Dot(_marker(means.subjects[s]), float(mean[s]), float(low[s]), float(high[s]), gender, domains[s])
                for s in subjects
                if np.isfinite(mean[s])
            ]
        if dots:
            panels.append((stereotype, dots, lines))
    return panels


def _marker(subject):
    """The subject without its placement, which the title says: "aug1 young" -> "young"."""
    return subject.split(" ", 1)[-1]
