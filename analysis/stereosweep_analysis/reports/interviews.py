"""How consistent an interview's answers are: who declined, how far ratings vary, how alike the texts are."""

from ..consistency import diversities, refusals, variations
from ..pictures.dots import Dot, interval_dots
from .blocks import Picture
from .tables import Column, interval_columns, make_table

INTERVAL = "interval over more draws of the same prompts (Clopper and Pearson)"


def refusal_blocks(statistics):
    """Shares of the texts that decline, or rate nothing, by form of the prompt and by subject."""
    found = [(axis, row) for axis in ("template", "subject") for row in refusals(statistics, axis)]
    if not found:
        return []
    columns = [
        Column("of"),
        Column("label"),
        Column("texts", "texts that were asked for ratings", "number"),
        Column("declines", "share of texts that decline to answer", "number"),
        *interval_columns(INTERVAL),
        Column("no rating", "share of texts without any rating", "number"),
    ]
    rows = [
        (axis, row.label, row.texts, row.refused, row.refused_low, row.refused_high, row.unrated) for axis, row in found
    ]
    table = make_table("Texts that decline to answer", columns, rows)
    dots = [Dot(row[1], *row[3:6]) for row in rows if row[0] == "subject" and row[3] is not None]
    dots.sort(key=lambda dot: -dot.value)
    if not any(dot.value > 0 for dot in dots):
        return [table]
    caption = "Share of the texts about each subject that decline to answer. Lines: interval over more draws."
    return [Picture(interval_dots(dots, "share that declines", None), "Refusals", caption), table]


def variation_blocks(statistics):
    """Coefficients of variation of the ratings, by dimension and form of the prompt."""
    rows = [tuple(row) for row in variations(statistics)]
    if not rows:
        return []
    columns = [
        Column("form"),
        Column("dimension"),
        Column("CV over rounds", "coefficient of variation (standard deviation over mean) of a subject's mean rating "
               "over repeated conversations, mean over subjects", "number"),
        Column("largest over rounds", "that of the subject with the largest one", "number"),
        Column("CV to first form", "the same of a subject's mean ratings under this form and the first one", "number"),
        Column("largest to first form", "that of the subject with the largest one", "number"),
    ]  # fmt: skip
    return [make_table("How far ratings vary", columns, rows, "0: the same rating every time.")]


def diversity_blocks(statistics):
    """Self-BLEU and entropy of the texts of every turn."""
    if "self_bleu_over_groups" not in statistics:
        return []
    columns = [
        Column("form"),
        Column("conversation"),
        Column("turn"),
        Column("n-gram", "so many neighbouring words", "number"),
        Column("texts", "texts of all subjects, rephrasings and rounds with at least so many words", "number"),
        Column("Self-BLEU", "mean BLEU of each text against the others: 1 all alike, 0 nothing in common", "number"),
        Column("Self-BLEU of a subject", "of the rounds of one subject and rephrasing, mean over them", "number"),
        Column("entropy in bit", "of the n-grams of all texts; larger: more varied", "number"),
    ]
    return [make_table("How alike the texts are", columns, [tuple(row) for row in diversities(statistics)])]
