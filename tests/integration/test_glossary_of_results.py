"""Every measure, status and axis in the files of all probes, with the statistics that jobs can ask for, is in the
glossary of the analysis package; so is every column of the tables that `stats --format csv` makes of them."""

import csv
import io
import json
import re
import subprocess
from functools import cache

import h5py
import pytest
import runs
import statistic_requests

from stereosweep_analysis.glossary import glossary, measure_term, term
from stereosweep_analysis.reasons import STOP_WORDS

JOBS = {
    "10_planted.yaml": (  # and all example requests
        "axes.groups={file: abc_groups, only: [women, men, teenagers]}", "axes.intersections=abc_pairs",
        "axes.rephrasings={file: voices, only: [none, bus]}", "measures=[ilps_star]", "priors.mask=false",
        "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word]}",
    ),
    "41_crossed_markers.yaml": (),
    "51_group_ratings.yaml": ("sampling={runs: 1, max_new_tokens: 4}",),
    "61_generated_contexts.yaml": ("samples=20",),
    "63_guo2021_ibd.yaml": (),
    "70_stereomap.yaml": ("axes.groups={file: stereomap_groups, only: [Nurses, Doctors, Men, Women, CEOs, Children]}",
                           "statistics.means={measures: [rating]}"),
}  # fmt: skip
# Terms of statistics in notes, beside the names of what src/stats computes, and names there that are ordinary English.
STATISTICAL = {"autocorrelation", "bayesian", "bootstrap", "covariance", "entropy", "estimator", "jackknife", "kurtosis", "likelihood",
               "logit", "median", "percentile", "permutation", "posterior", "quantile", "quartile", "regression", "resampling",
               "skewness", "studentized", "trimmed", "variance", "winsorized"}  # fmt: skip
ORDINARY = {"counter", "estimate", "flip", "increased", "order", "part", "sign", "summary", "visiting"}


WORD = re.compile(r"\w+(?:[-@]\w+)*")
TECHNICAL = re.compile(r"(?<![.:?] )(?<!^)(?<![\w-])(?:\w+[-@](?:[A-Z]|\d)\w*|[A-Z]\w*)(?![\w-])")


@cache
def _words():
    entries = glossary().items()
    text = " ".join(f"{name} {entry.title} {entry.definition}" for (_, name), entry in entries)
    return frozenset(word.lower() for word in WORD.findall(text))


def words_without_term(text, pattern=WORD):
    """Words that no entry of the glossary has in its name, title or sentence. `pattern`: WORD, or TECHNICAL for names
    within a sentence and what is written as no plain word is ("Holm", "max-T", "P@3")."""
    return {word for word in pattern.findall(text) if word.lower() not in _words()}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """(results and statistics, rows of the tables) of a small run of each job."""
    found, rows = [], []
    for job, settings in JOBS.items():
        folder = tmp_path_factory.mktemp("run")
        raw = [text for text in settings if not text.startswith("statistics.")]
        code, _, err = runs.run(runs.ROOT / "jobs" / job, folder, *raw)
        assert code == 0, err
        asked = [text for text in settings if text not in raw]
        if job == "10_planted.yaml":
            asked += statistic_requests.asked(folder, variance_shares="{measures: [ilps_star prior_word]}")
        command = [runs.PROGRAM, "stats", str(folder), *asked, "--format", "csv"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=runs.ROOT)
        rows += csv.DictReader(io.StringIO(done.stdout, newline=""))
        found += sorted(folder.glob("*.h5"))
    return found, rows


def names_in(path):
    """(kind, name) of every axis, status and measure."""
    with h5py.File(path) as file:
        for name, dataset in file.items():
            if isinstance(dataset, h5py.Dataset):
                if dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
                    yield "axis", name
                yield from (("status", flag) for flag in str(dataset.attrs.get("flag_meanings", "")).split())
                if name in ("measure", "variant", "source"):
                    yield from (("measure", label) for label in dataset.asstr()[:])


def test_the_glossary_lacks_nothing_that_files_hold(results):
    files, _ = results
    assert len(files) >= 2 * len(JOBS)
    lacking, seen = set(), {"axis": 0, "status": 0, "measure": 0}
    for path in files:
        for kind, name in names_in(path):
            seen[kind] += 1
            if (measure_term(name) if kind == "measure" else term(kind, name)) is None:
                lacking.add((kind, name, path.name))
    assert min(seen.values()) > 20
    assert not lacking


def test_the_glossary_has_every_column_of_the_tables(results):
    _, rows = results
    columns = {name for row in rows for name in row}
    ways = {row["adjustment"] for row in rows} - {""}
    assert {"p_adjusted", "contrast_name", "correlation_row", "subject"} <= columns and {"max_t", "holm"} <= ways
    lacking = {name for name in columns if term("column", name) is None and term("axis", name) is None}
    lacking |= {status for status in {row["status"] for row in rows} if term("status", status) is None}
    definitions = " ".join(entry.definition for (kind, _), entry in glossary().items() if kind == "number")
    lacking |= {way for way in ways if f"({way})" not in definitions}
    assert not lacking


def plain_words_without_term(text):
    """Statistical terms that are written as plain words; ordinary English needs no entry."""
    files = [path.stem for path in (runs.ROOT / "src/stats").rglob("*.hpp")]
    terms = STATISTICAL | {word.lower() for name in files for word in re.findall("[A-Z][a-z]+", name)} - ORDINARY
    singular = {word.lower().removesuffix("s") for word in words_without_term(text)}
    return {word for word in singular & terms if words_without_term(word)}


def test_the_glossary_has_the_words_of_heads_titles_and_notes(results):
    """Of every table that a file declares, which `stats`, `report` and `table` draw."""
    heads, sentences = set(), set()
    for path in results[0]:
        with h5py.File(path) as file:
            for array in file.values():
                for view in json.loads(array.attrs.get("views", "[]")):
                    heads |= {head for _, head in view["columns"]}
                    sentences.add(view["title"])
                sentences |= {str(array.attrs[name]) for name in ("notes", "warnings") if name in array.attrs}
    assert len(heads) > 10 and len(sentences) > 3
    lacking = {(head, word) for head in heads for word in words_without_term(head) - STOP_WORDS}
    lacking |= {(text, word) for text in sentences for word in words_without_term(text, TECHNICAL)}
    lacking |= {(text, word) for text in sentences for word in plain_words_without_term(text)}
    assert not lacking


def test_the_check_sees_what_is_missing():
    assert words_without_term("low of zorks") == {"zorks"} and words_without_term("By Holm, not Zork-T.", TECHNICAL) == {"Zork-T"}
    assert plain_words_without_term("Jackknives: a jackknife and other monotone ways of the two sides.") == {"jackknife"}
    assert term("status", "no such status") is None and measure_term("ilps_star no_such_prior") is None
