"""Tables 1 to 4 of Guo and Caliskan (AIES 2021): combined effects of embedding tests, and of pairs of groups."""

import re

import numpy as np

from .layout import Layout
from .table import PaperTable

PAIRED = ("pleasant", "career", "math", "science")
SMALL_NUMBER = 1000  # of samples: table 2; other numbers: table 1
PAIR_TABLES = {"own": "3", "shared": "4"}  # by the job's `draws`


def _effects(statistics):
    """{test: (d, sd over samples, p to cite, p of z)} of the WEAT tests."""
    names = ("weat", "weat_sd", "weat_p", "weat_sampling_log10_p")
    nothing = np.full(statistics.sizes["weat_test"], np.nan)  # one sample: no z
    columns = [statistics[name].values if name in statistics else nothing for name in names]
    rows = zip(statistics["weat_test"].values, *columns, strict=True)
    return {str(test): (float(d), float(sd), float(p), float(10**log10_p)) for test, d, sd, p, log10_p in rows}


def _pair_of(test):
    """(pair of groups, attributes) of a test of table 3; (None, None) of another."""
    pair, _, attribute = test.rpartition(" ")
    return (pair, attribute) if pair and attribute in PAIRED else (None, None)


def _single(statistics, _):
    rows = [(name, *numbers) for name, numbers in _effects(statistics).items() if not _pair_of(name)[0]]
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
        (pair, *(number for attribute in PAIRED for number in found.get(attribute, (None,) * 4)[::2]))
        for pair, found in pairs.items()
    ]
    head = ("groups", *(f"{attribute} {what}" for attribute in PAIRED for what in ("d", "p")))
    draws = re.search(r"^draws: (\w+)$", job, re.MULTILINE)
    number = PAIR_TABLES.get(draws and draws[1], "3 or 4")
    note = "p: the largest of target words, attribute words, both. Table 3: sentences drawn for each test; "
    note += "table 4: once for all (draws)."
    return [PaperTable(number, "Combined effects of pairs of groups", head, rows, note)]


LAYOUTS = (
    Layout("1 or 2", "weat", _single, "WEAT tests, two target sets: jobs/62_guo2021.yaml"),
    Layout("3 or 4", "weat", _pairs, "the tests guo_pairs: jobs/62_guo2021.yaml"),
)
