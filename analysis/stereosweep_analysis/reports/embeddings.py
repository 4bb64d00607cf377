"""Embedding tests: effects with intervals and p, words of single-set tests, detection of words."""

import numpy as np

from ..forest import ADJUSTED, COMBINED, RELABELLED, weat_columns
from ..pictures.curves import detection_curves
from ..pictures.dots import LONGEST_LABEL, Dot, interval_dots
from .blocks import Paragraph, Picture, Points
from .scores import texts
from .tables import Column, interval_columns, make_table, number_text, p_text, smallest_p_text

MOST_POINTS = 5


def effect_points(statistics):
    """The tests and words with the smallest adjusted p, in words."""
    blocks = []
    if "weat" in _kinds(statistics):
        rows = weat_columns(statistics)
        p, effect = rows[ADJUSTED[1]], rows[COMBINED[0]]
        best = [row for row in np.argsort(p, kind="stable")[:MOST_POINTS] if np.isfinite(p[row])]
        points = [f"{rows['test'][row]}: d {number_text(effect[row])} (adjusted p {p_text(p[row])})" for row in best]
        if best:
            blocks += [Paragraph(smallest_p_text("Tests of word sets", p[best[0]])), Points(points)]
    words = [row for row in _word_cells(statistics)[:MOST_POINTS] if np.isfinite(row[-1])]
    if words:
        points = [
            f"{word}, {test}: nearer to {near}, d {number_text(effect)} (adjusted p {p_text(p)})"
            for word, test, near, effect, _, _, p in words
        ]
        blocks += [Paragraph(smallest_p_text("Single words", words[0][-1])), Points(points)]
    return blocks


def _kinds(statistics):
    return texts(statistics, "test_kind", "test") if "combined_effect" in statistics else []


def test_blocks(statistics):
    """Tests that compare two target sets."""
    if "weat" not in _kinds(statistics):
        return []
    rows = weat_columns(statistics)
    effect, low, high = (rows[name] for name in COMBINED)
    names = [
        f"{test}: {title}" if str(title) else str(test)
        for test, title in zip(rows["test"], rows["test_title"], strict=True)
    ]
    confidence = f"{100 * float(statistics.attrs['confidence']):g} %"
    columns = [
        Column("test"),
        Column("d", "combined effect size; above 0 X is nearer to A and Y to B", "number"),
        *interval_columns(f"{confidence} Monte Carlo error of d over samples, which shrinks with more samples"),
        Column("sd", "standard deviation of d over samples", "number"),
        Column("p", "target words relabelled, two-sided", "p"),
        Column("adjusted p", "max-T in its family, two-sided", "p"),
        Column("family"),
        Column("tests", "size of the family", "number"),
    ]
    numbers = (effect, low, high, rows["effect_deviation"], rows[RELABELLED[1]], rows[ADJUSTED[1]])
    cells = [
        (
            name,
            *(float(values[place]) for values in numbers),
            str(rows["test_family"][place]),
            int(rows["family_size"][place]),
        )
        for place, name in enumerate(names)
    ]
    is_short = max(map(len, names)) <= LONGEST_LABEL  # cut names would be alike: the tests' labels stand alone
    dots = [
        Dot(names[place] if is_short else str(test), *(float(values[place]) for values in numbers[:3]))
        for place, test in enumerate(rows["test"])
    ]
    caption = f"Effect sizes of the tests. Lines: {confidence} Monte Carlo error over samples, nothing about chance."
    figure = interval_dots(dots, "effect size d: to the right, X is nearer to A and Y to B", 0.0)
    return [Picture(figure, "Embedding tests", caption), make_table("Embedding tests", columns, cells)]


def word_blocks(statistics):
    """Words of tests with one target set: how much nearer they are to A than to B."""
    if "wefat" not in _kinds(statistics):
        return []
    columns = [
        Column("word"),
        Column("test"),
        Column("nearer to"),
        Column("d", "mean effect over samples; above 0 nearer to A", "number"),
        Column("sd", "its standard deviation over samples", "number"),
        Column("p", "attribute words relabelled, two-sided", "p"),
        Column("adjusted p", "max-T among the words of the test", "p"),
    ]
    return [make_table("Words of tests with one set", columns, _word_cells(statistics), "Smallest adjusted p first.")]


def _word_cells(statistics):
    """Rows of word, test, nearer to, d, sd, p, adjusted p; smallest adjusted p first."""
    if "wefat" not in _kinds(statistics):
        return []
    fields = ("word_effect", "word_effect_deviation", "word_permutation_p_two_sided")
    values = {field: statistics[field].transpose("test", "target").values for field in fields}
    adjusted = statistics["adjusted_word_permutation_p_two_sided"].sel(adjustment="max_t").values
    words = statistics["word"].transpose("test", "target").values
    tests = texts(statistics, "test", "test")
    near, far = (texts(statistics, f"test_{side}", "test") for side in ("a", "b"))
    cells = [
        (
            str(words[place]),
            tests[place[0]],
            near[place[0]] if values["word_effect"][place] >= 0 else far[place[0]],
            *(float(values[field][place]) for field in fields),
            float(adjusted[place]),
        )
        for place in np.ndindex(words.shape)
        if np.isfinite(values["word_effect"][place])
    ]
    cells.sort(key=lambda row: (np.nan_to_num(row[6], nan=2.0), -abs(row[3])))
    return cells


def detection_blocks(statistics):
    """Curves of the detection of (emergent) intersectional words."""
    if "true_positive_rate" not in statistics:
        return []
    rates = [
        statistics[f"{side}_positive_rate"].transpose("detection", "detection_kind", "threshold").values
        for side in ("false", "true")
    ]
    kinds, names = texts(statistics, "detection_kind", "detection_kind"), texts(statistics, "detection", "detection")
    figure = detection_curves(*rates, kinds, names)
    caption = (
        "Detection of the words that belong to each group: share of them found against share of the others found, over "
        "thresholds. A word can cease to be emergent at a lower threshold, so that those lines may turn back."
    )
    fields = ("best_threshold", "best_accuracy", "chance")
    values = {field: statistics[field].transpose("detection", "detection_kind").values for field in fields}
    cells = [
        (names[i], kinds[j], *(float(values[field][i, j]) for field in fields))
        for i, j in np.ndindex(len(names), len(kinds))
    ]
    columns = [
        Column("group"),
        Column("kind"),
        Column("threshold", "of the highest accuracy", "number"),
        Column("accuracy", "words that are detected or not as validated", "number"),
        Column("chance", "validated words over all words", "number"),
    ]
    return [Picture(figure, "Detection of words", caption), make_table("Detection of words", columns, cells)]
