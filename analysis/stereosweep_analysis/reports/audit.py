"""What was asked and what came of it: prompts as they were, how words were cut into tokens, statuses."""

import math

import numpy as np

from ..glossary import term
from ..open import ResultError, open_vectors
from ..tables import Column, Table
from ..views import texts
from .scores import slices

MOST_PROMPTS = 16
MOST_WORDS = 400
NOT_ASKED = ("not_asked", "not_applicable", "not_scored")  # statuses of what was never asked of the model
PROMPTS = ("prompt", "question", "sentence")  # what a probe calls its text


def status_tables(run):
    """One table of all statuses of the result and of the score table, with what each means."""
    rows = []
    for title, dataset, name in _status_variables(run):
        counts = count_flags(dataset[name])
        asked = sum(count for status, count in counts.items() if status not in NOT_ASKED)
        for status, count in counts.items():
            if count:
                share = None if status in NOT_ASKED else 100 * count / asked
                found = term("status", f"{name}.{status}") or term("status", status)
                rows.append((title, status, count, share, found.definition if found else ""))
    columns = (
        Column("numbers"), Column("status"), Column("count", kind="number"),
        Column("share of asked in %", kind="number"), Column("meaning"),
    )  # fmt: skip
    note = "share of asked: of all numbers but those that the job does not ask for or the run did not come to."
    return Table("What became of every number", columns, rows, note)


def _status_variables(run):
    if run.raw is not None:
        for name in run.raw.data_vars:
            if "flag_meanings" in run.raw[name].attrs and str(name).endswith("status"):
                yield f"raw: {str(name).replace('_', ' ')}", run.raw, name
    yield "scores", run.statistics, "score_status"


def count_flags(variable):
    """{meaning: count} of a variable with flag_values and flag_meanings, read in parts."""
    counts = np.zeros(256, dtype=np.int64)
    first = variable.dims[0]
    for part in slices(variable.sizes[first]):
        counts += np.bincount(variable.isel({first: part}).values.ravel().astype(np.uint8), minlength=256)
    return {name: int(counts[value]) for value, name in flag_names(variable).items()}


def flag_names(variable):
    """{value: meaning}"""
    names = str(variable.attrs["flag_meanings"]).split()
    values = np.atleast_1d(variable.attrs["flag_values"]).astype(int).tolist()
    return dict(zip(values, names, strict=True))


def prompt_table(run):
    """A spread sample of the texts that the model was given; None where no file beside the statistics keeps them."""
    for dataset in (run.raw, kept_vectors(run)):
        name = next((name for name in PROMPTS if dataset is not None and name in dataset), None)
        if name is not None:
            return _sample(dataset, name, "Texts that the model was given")
    return None


def kept_vectors(run):
    """The kept vectors of a contexts job, which have the sentences; None where there are none."""
    try:
        return open_vectors(run.path, allow_incomplete=True) if run.path.is_dir() else None
    except ResultError:
        return None


def answer_table(run):
    """A spread sample of the answers as the model wrote them, what became of each; None without sampled answers."""
    if run.raw is None or "answer_text" not in run.raw:
        return None
    return _sample(run.raw, "answer_text", "Answers as the model wrote them", "answer_status")


def _sample(raw, name, caption, status=None):
    """At most MOST_PROMPTS different texts of a variable, with their labels; `status`: a variable on the same axes."""
    variable = raw[name]
    lengths = [variable.sizes[axis] for axis in variable.dims]
    total = int(np.prod(lengths))
    meanings = flag_names(raw[status]) if status in raw and raw[status].dims == variable.dims else {}
    rows, seen = [], set()
    for place in _spread(total, 8 * MOST_PROMPTS):
        where = np.unravel_index(place, lengths)
        text = str(variable[where].values)
        if text and text not in seen and len(rows) < MOST_PROMPTS:
            seen.add(text)
            labels = [_label(variable, axis, index) for axis, index in zip(variable.dims, where, strict=True)]
            became = [meanings.get(int(raw[status][where].values), "")] if meanings else []
            rows.append((*labels, *became, text))
    columns = [Column(str(axis).replace("_", " ")) for axis in variable.dims]
    columns += [Column("status")] * bool(meanings) + [Column("text", kind="long")]
    note = f"{len(rows)} of {total:,} texts, spread over the run; all are in the result file under “{name}”."
    return Table(caption, columns, rows, note)


def _spread(total, count):
    """Places from first to last, different ones; by the golden section, so that every axis varies."""
    if total <= count:
        return list(range(total))
    step = round(total * 0.6180339887)
    while math.gcd(step, total) > 1:
        step += 1
    return [(index * step) % total for index in range(count)]


def _label(variable, axis, index):
    return str(variable[axis].values[index]) if axis in variable.coords else str(index)


def token_table(run):
    """How many tokens each word has, over all texts; None where the result does not say."""
    if run.raw is None or "num_subwords" not in run.raw:
        return None
    counts = run.raw["num_subwords"]
    axis = counts.dims[-1]
    if axis not in ("word", "occupation"):
        return None
    length = counts.sizes[axis]
    least, most = np.full(length, np.iinfo(int).max), np.zeros(length, dtype=int)
    first = counts.dims[0]
    for part in slices(counts.sizes[first]):
        values = counts.isel({first: part}).transpose(..., axis).values.reshape(-1, length).astype(int)
        most = np.maximum(most, values.max(0))
        least = np.minimum(least, np.where(values > 0, values, np.iinfo(int).max).min(0))
    pairs = texts(run.raw, f"{axis}_pair", axis)
    has_pairs = any(pairs)
    rows = [
        (label, *[pair] * has_pairs, int(low) if high else 0, int(high))
        for label, pair, low, high in zip(texts(run.raw, axis, axis), pairs, least, most, strict=True)
    ]
    rows.sort(key=lambda row: -row[-1])
    split = sum(row[-1] > 1 for row in rows)
    numbers = (Column(f"{which} tokens", kind="number") for which in ("fewest", "most"))
    columns = [Column(axis), *[Column("trait pair")] * has_pairs, *numbers]
    note = f"{split} of {len(rows)} are cut into more than one token in some text; 0 tokens: never scored."
    return Table("How the tokenizer cuts the words that are scored", columns, rows, note)
