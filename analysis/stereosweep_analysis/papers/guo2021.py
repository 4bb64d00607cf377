"""Tables 1 to 4 of Guo and Caliskan (AIES 2021): combined effects of embedding tests, and of pairs of groups."""

import numpy as np

from .layout import Layout
from .printed import Ours, setting
from .table import PaperTable

TITLE = "Guo and Caliskan (2021)"
MODELS = {"ELMo": ("elmo",), "BERT": ("bert-base-cased",), "GPT": ("openai-gpt",), "GPT-2": ("gpt2",)}
BY_COLUMN = False
NOTE = "Intervals: of d over other samples of sentences of the same text."

PAIRED = ("pleasant", "career", "math", "science")
SMALL_NUMBER = 1000  # of samples: table 2; other numbers: table 1
PAIR_TABLES = {"": "3", "own": "3", "shared": "4"}  # by the job's `draws`, which is left out where it is the default


def _effects(statistics):
    """{test: (d, sd over samples, p to cite, p of z, low, high)} of the WEAT tests."""
    names = ("weat", "weat_sd", "weat_p", *(f"weat_sampling_{name}" for name in ("log10_p", "low", "high")))
    nothing = np.full(statistics.sizes["weat_test"], np.nan)  # one sample: no z
    columns = [statistics[name].values if name in statistics else nothing for name in names]
    rows = zip(statistics["weat_test"].values, *columns, strict=True)
    return {str(row[0]): tuple(map(float, (*row[1:4], 10 ** row[4], *row[5:]))) for row in rows}


def _pair_of(test):
    """(pair of groups, attributes) of a test of table 3; (None, None) of another."""
    pair, _, attribute = test.rpartition(" ")
    return (pair, attribute) if pair and attribute in PAIRED else (None, None)


def _single(statistics, _):
    rows = [(name, *numbers[:4]) for name, numbers in _effects(statistics).items() if not _pair_of(name)[0]]
    if not rows:
        return []
    samples = int(statistics["weat_samples"].max())
    note = (
        f"{samples:,} samples (table 1: 10,000; table 2: 1,000). d: combined effect; sd: over samples; p: the "
        "largest of target words, attribute words, both, two-sided; p of z shrinks with more samples."
    )
    number = "2" if samples == SMALL_NUMBER else "1"
    return [PaperTable(number, "Combined effects", ("test", "d", "sd", "p", "p of z"), rows, note)]


def _pairs(statistics, job):
    pairs = {}
    for name, numbers in _effects(statistics).items():
        pair, attribute = _pair_of(name)
        if pair:
            pairs.setdefault(pair, {})[attribute] = numbers
    if not pairs:
        return []
    rows = [
        (pair, *(number for attribute in PAIRED for number in found.get(attribute, (None,) * 4)[:4:2]))
        for pair, found in pairs.items()
    ]
    head = ("groups", *(f"{attribute} {what}" for attribute in PAIRED for what in ("d", "p")))
    number = PAIR_TABLES.get(setting(job, "draws"), "3 or 4") if job else "3 or 4"
    note = "p: the largest of target words, attribute words, both. Table 3: sentences drawn for each test; "
    note += "table 4: once for all (draws)."
    return [PaperTable(number, "Combined effects of pairs of groups", head, rows, note)]


def compared(statistics, job):
    """{(table, row, column) of the paper: Ours}."""
    if "weat" not in statistics:
        return {}
    pairs = PAIR_TABLES.get(setting(job, "draws"), "3")
    return {
        (pairs if _pair_of(test)[0] else "2", test, "d"): Ours(numbers[0], *numbers[4:])
        for test, numbers in _effects(statistics).items()
    }


LAYOUTS = (
    Layout("1 or 2", "weat", _single, "axes.tests with two target sets (WEAT), as in jobs/62_guo2021.yaml"),
    Layout("3 or 4", "weat", _pairs, "axes.tests: guo_pairs, as in jobs/62_guo2021.yaml"),
)
