"""Sentences for and against a stereotype under every marker, women's and men's pronouns apart (a coreference job)."""

import numpy as np

from ..pictures.dots import Dot, dot_panels
from ..views import texts
from .blocks import picture_of
from .scores import interval_text

MOST_PICTURES = 8
AXES = ("group", "type", "stereotype", "gender")
EVERY = "all"  # label of an axis that stands for all others


def condition_blocks(statistics, means):
    """One picture for each type of sentence and placement of the marker: panels pro and anti, rows markers."""
    arrays = [statistics.get(f"mean{end}") for end in ("", "_low", "_high")]
    if any(array is None or set(array.dims) != {*AXES, "metric"} for array in arrays):
        return []
    if means.measure not in texts(statistics, "metric", "metric"):
        return []
    numbers = [array.sel(metric=means.measure).transpose(*AXES).values for array in arrays]
    placements = texts(statistics, "group_augmentation", "group")
    pictures = []
    for placement in dict.fromkeys(placements):
        groups = [place for place, name in enumerate(placements) if name == placement]
        for kind, name in enumerate(texts(statistics, "type", "type")):
            panels = _panels(statistics, [array[:, kind] for array in numbers], groups)
            if placement != "baseline" and panels and len(pictures) < MOST_PICTURES:
                interval = interval_text(statistics["mean_low"].attrs.get("long_name", ""))
                caption = (
                    f"{means.label} of the {means.items[0]} in {name} sentences with the marker placed as {placement}, "
                    f"with its {interval}. Dashed: the same sentences without a marker."
                )
                drawn = dot_panels(panels, means.label)
                pictures.append(picture_of(drawn, f"{name} sentences, {placement}", caption))
    return pictures


def _panels(statistics, numbers, groups):
    """[(title, dots, {series: baseline})]; `numbers`: value, low, high [group, stereotype, gender]."""
    kinds, domains, names = (texts(statistics, name, "group") for name in ("group_kind", "group_domain", "group"))
    panels = []
    for i, stereotype in enumerate(texts(statistics, "stereotype", "stereotype")):
        dots, lines = [], {}
        for j, gender in enumerate(texts(statistics, "gender", "gender")):
            if EVERY in (stereotype, gender):
                continue
            if "baseline" in kinds:
                lines[gender] = float(numbers[0][kinds.index("baseline"), i, j])
            dots += [
                Dot(_marker(names[g]), *(float(array[g, i, j]) for array in numbers), gender, domains[g])
                for g in groups
                if np.isfinite(numbers[0][g, i, j])
            ]
        if dots:
            panels.append((stereotype, dots, lines))
    return panels


def _marker(subject):
    """The subject without its placement, which the title says: "aug1 young" -> "young"."""
    return subject.split(" ", 1)[-1]
