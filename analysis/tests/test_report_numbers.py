"""The numbers that a report shows are those of the statistics file: each is replaced by another one, none like any
other, and must be found in its own place of the page."""

import html
import re
from html.parser import HTMLParser
from typing import NamedTuple

import numpy as np
import pytest

from stereosweep_analysis import cli, open_statistics, report
from stereosweep_analysis.glossary import glossary
from stereosweep_analysis.papers.command import PAPERS

KEPT = ("score", "true_positive", "false_positive", "cluster_", "elbow_", "pole_score")
COUNTS = ("_n", "num_templates", "num_intersections", "rated_texts", "family_size")


class Shown(NamedTuple):
    """A table of the page: its caption's beginning; the coordinate behind each column of labels; the array behind each
    column of numbers; labels that the page does not show."""

    probe: str
    caption: str
    labels: dict
    numbers: dict
    fixed: dict


def shown(probe, caption, labels, numbers, **fixed):
    return Shown(probe, caption, dict(zip(labels[::2], labels[1::2], strict=True)),
                 dict(zip(numbers[::2], numbers[1::2], strict=True)), fixed)  # fmt: skip


MEANS = ["mean", "mean_score", "low", "mean_score_low", "high", "mean_score_high", "cells", "mean_score_n"]
SUBJECT_ITEM = ["subject", "subject", "item", "item"]
CORRELATION = ["row", "correlation_row", "column", "correlation_column", "among", "correlation_among",
               "method", "correlation_method"]  # fmt: skip
COEFFICIENT = ["r", "correlation_coefficient", "low", "correlation_low", "high", "correlation_high",
               "n", "correlation_n", "p", "correlation_p"]  # fmt: skip
REFUSED = "n", "{}_rated_texts", "declines", "{}_refused_share", "low", "{}_refused_low", "high", "{}_refused_high"
ILPS_STAR = "ilps_star prior_word"

TABLES = (
    shown("association", "Means of", SUBJECT_ITEM, MEANS, measure=ILPS_STAR),
    shown("association", "Contrasts in", ["contrast", "contrast_name", "item", "contrast_item"],
          ["difference", "contrast_difference", "low", "contrast_low", "high", "contrast_high",
           "templates", "contrast_num_templates", "p", "contrast_p"], contrast_measure=ILPS_STAR),
    shown("association", "Scores beyond each part", ["intersection", "intersection", "trait", "pole"],
          ["score", "pole_emerge_score", "first", "pole_emerge_first", "second", "pole_emerge_second",
           "beyond the parts", "pole_emerge_beyond", "templates", "pole_emerge_num_templates",
           "p", "pole_emerge_p", "p Holm", "pole_emerge_p_holm"], measure=ILPS_STAR),
    shown("association", "Which domain", ["domains", "domain_pair"],
          ["tau-b first", "dominance_tau_first", "tau-b second", "dominance_tau_second",
           "difference", "dominance_difference", "low", "dominance_low", "high", "dominance_high",
           "n", "dominance_num_intersections"], measure=ILPS_STAR),
    shown("association", "Correlations over", CORRELATION, COEFFICIENT, correlation_measure=ILPS_STAR),
    shown("contexts", "Two target sets", ["test", "weat_test"],
          ["d", "weat", "sd", "weat_sd", "low", "weat_low", "high", "weat_high", "p", "weat_p", "p Holm", "weat_p_holm",
           "p targets", "weat_p_targets", "p attributes", "weat_p_attributes", "p both", "weat_p_both"]),
    shown("contexts", "Words, d > 0: nearer to A, d < 0: nearer to B; test, A, B: cold - warm",
          ["word", "wefat_word_word"],
          ["d", "wefat", "sd", "wefat_sd", "p", "wefat_p", "p Holm", "wefat_p_holm", "least", "wefat_p_least"],
          wefat_word_test="cold - warm"),
    shown("coreference", "Means of", SUBJECT_ITEM, MEANS, measure="share"),
    shown("rating", "Means of", SUBJECT_ITEM, MEANS, measure="option_text"),
    shown("interview", "Means of", SUBJECT_ITEM, MEANS, measure="rating"),
    shown("interview", "Correlations over subjects: structure", CORRELATION, COEFFICIENT, correlation_measure="rating",
          correlation_name="structure"),
    *(shown("interview", f"Texts that decline to answer, by {axis}", [axis, axis],
            [name.format(axis) for name in REFUSED])
      for axis in ("template", "subject")),
    shown("interview", "How alike",
          ["form", "template", "conversation", "conversation", "n-gram", "ngram", "turn", "turn"],
          ["n", "texts_over_groups_n", "Self-BLEU", "texts_over_groups_self_bleu",
           "entropy in bit", "texts_over_groups_entropy"]),
)  # fmt: skip


def replaced(statistics):
    """The dataset with other numbers, all different, of the same kind: floats from 0 to 1, counts up to 9,999."""
    generator = np.random.default_rng(9)
    made = statistics.copy(deep=True)
    for name in sorted(map(str, statistics.data_vars)):
        values = made[name].values
        if values.dtype.kind == "f" and not name.startswith(KEPT):
            made[name].values = np.where(np.isfinite(values), generator.uniform(0.001, 1, values.shape), values)
        elif values.dtype.kind == "i" and name.endswith(COUNTS):
            made[name].values = np.where(values > 0, generator.integers(1000, 9999, values.shape), values)
    return made


class Tables(HTMLParser):
    """[(caption, columns, rows)] of a page, cells as texts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.found.append(("", [], []))
        elif tag == "tr" and self.found:
            self.found[-1][2].append([])
        if tag in ("caption", "th", "td"):
            self.text = ""

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.found[-1] = (self.text, *self.found[-1][1:])
        elif tag in ("th", "td"):
            self.found[-1][2][-1].append(self.text)
        elif tag == "thead":
            self.found[-1][1].extend(self.found[-1][2].pop())


def places_of(statistics, variable, labels):
    """Indices of an array where every coordinate of `labels` has the wanted text."""
    kept = np.ones(variable.shape, dtype=bool)
    for name, wanted in labels.items():
        source = statistics[name]
        if set(source.dims) <= set(variable.dims):
            kept &= _spread(variable, source.values.astype(str) == wanted, source.dims)
    return np.argwhere(kept)


def _spread(variable, values, axes):
    """`values` over `axes`, repeated over the other axes of the variable."""
    order = [axis for axis in variable.dims if axis in axes]
    moved = np.transpose(values, [axes.index(axis) for axis in order])
    return moved.reshape([variable.sizes[axis] if axis in axes else 1 for axis in variable.dims])


def value_at(statistics, name, labels):
    variable = statistics[name]
    axes = [axis for axis in variable.dims if str(axis).endswith("_measure") and "measure" in labels]
    own = labels | dict.fromkeys(axes, labels.get("measure"))
    own = {key: text for key, text in own.items() if key in statistics}
    found = places_of(statistics, variable, own)
    assert len(found) == 1, (name, labels, len(found))
    return float(variable.values[tuple(found[0])])


def differs(text, value):
    """Whether the text of a page is another number than the value, as far as its decimals tell."""
    if re.fullmatch("-|[a-z ]+", text) or not np.isfinite(value):  # "none", or why there is none
        return bool(re.fullmatch("-|[a-z ]+", text)) == np.isfinite(value)
    plain, _, power = text.replace("\u2212", "-").replace(",", "").partition("e")
    decimals = len(plain.split(".")[1]) if "." in plain else 0
    scale = 10.0 ** int(power or 0)
    return abs(float(plain) * scale - value) > 0.5000001 * 10**-decimals * scale


@pytest.fixture(scope="module")
def pages(bundled, tmp_path_factory):
    """A function: (statistics with other numbers, tables of the report on them, their file, the report) of a probe."""
    made = {}

    def page(probe):
        if probe not in made:
            with open_statistics(bundled(probe)) as statistics:
                other = replaced(statistics.load())
            path = tmp_path_factory.mktemp(probe) / f"{probe}.stats.h5"
            other.drop_encoding().to_netcdf(path, engine="h5netcdf")  # HDF5 2.0 fails on some layouts
            text = report(path).read_text(encoding="utf-8")
            made[probe] = other, Tables(text).found, path, text
        return made[probe]

    return page


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.probe}-{table.caption}")
def test_the_page_shows_the_files_numbers(pages, table):
    statistics, tables, *_ = pages(table.probe)
    found = [entry for entry in tables if entry[0].startswith(table.caption)]
    assert len(found) == 1, [entry[0] for entry in tables]
    _, columns, rows = found[0]
    checked = 0
    for row in rows:
        cells = dict(zip(columns, row, strict=True))
        labels = table.fixed | {coordinate: cells[column] for column, coordinate in table.labels.items()}
        for column, name in table.numbers.items():
            value = value_at(statistics, name, labels)
            assert not differs(cells[column], value), (labels, column, cells[column], value)
            checked += 1
    assert checked >= len(table.numbers)


class Words(HTMLParser):
    """What a page says but for whole texts, tokens and settings, until its last section but one; and the terms that
    this one explains."""

    def __init__(self, page):
        super().__init__()
        self.said, self.explained, self.inside = [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.inside.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.inside.pop()[0] != tag:  # tags that nothing ends
            pass

    def handle_data(self, data):
        tags = {tag for tag, _ in self.inside}
        if "dt" in tags:
            self.explained.add(data)
        elif not tags & {"pre", "td", "style", "script", "template", "dd", "title", "desc", "text"}:
            self.said.append(data)


@pytest.mark.parametrize("probe", ["association", "contexts", "coreference", "rating", "interview"])
def test_every_term_of_a_page_is_explained_in_it(pages, probe, capsys):
    *_, path, text = pages(probe)
    words = Words(text)
    said = " ".join(words.said)
    terms = {name: entry.title for (kind, name), entry in glossary().items() if kind in ("term", "number")}
    used = {name for name in terms if re.search(rf"(?<!\w){re.escape(name)}s?(?!\w)", said)}
    assert len(used) > 15
    assert {terms[name] for name in used} - words.explained == set()
    assert {"coreference": {"aug1", "marker", "baseline"}, "association": {"nat", "prior", "pole"},
            "contexts": {"WEAT"} & used, "interview": {"elbow", "k-means"}, "rating": set()}[probe] <= used  # fmt: skip
    check_cards(path, probe, text, capsys)


def check_cards(path, probe, text, capsys):
    """The page's replication cards are those of the command `paper`."""
    flat = " ".join(html.unescape(text).split())
    heads = {name: f"<summary>{paper.TITLE}; same sign or side: " for name, paper in PAPERS.items()}
    shown = [name for name, head in heads.items() if head in flat]
    assert ("Beside what the papers print" in flat) == bool(shown)
    assert {"association": "cao2022", "interview": "stereomap"}.get(probe) in [*shown, None]
    for name in shown:
        assert cli.main(["paper", name, str(path), "--only", "card"]) == 0
        sentences = [" ".join(part.split()) for part in capsys.readouterr().out.split("\n\n")]
        ends = [part.split("same sign or side: ")[1] for part in sentences if "same sign or side: " in part]
        signs = [end.split(";")[0].strip(".") for end in ends]
        head = flat.split(heads[name])[1].split("</summary>")[0]
        assert signs and re.findall(r"\d+ of \d+|-(?=,|$)", head) == signs
        assert all(f"<li>{part}</li>" in flat for part in sentences[1:3])


def test_the_check_sees_another_number():
    assert differs("0.124", 0.1233) and differs("none", 0.5) and differs("0.5", np.nan) and differs("1.2e-05", 1.3e-5)
    assert differs("too few", 1.0) and not differs("too few", np.nan) and not differs("1.2e\u221205", 1.2e-5)
    assert not differs("0.123", 0.1233) and not differs("\u22121,234", -1234.0) and not differs("none", np.nan)
