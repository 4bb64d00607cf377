"""Tables 1 to 4 of Guo and Caliskan (AIES 2021): combined effects of embedding tests, and of pairs of groups."""

import re

from .layout import Layout
from .table import PaperTable

PAIRED = ("pleasant", "career", "math", "science")
SMALL_NUMBER = 1000  # of samples: table 2; other numbers: table 1
PAIR_TABLES = {"own": "3", "shared": "4"}  # by the job's `draws`


def _effects(statistics):
    """{test: (d, sd over samples, p to cite, p of z)} of the WEAT tests."""
    chosen = {
        "variance": str(statistics.attrs.get("variance", "paper")),
        "estimator": str(statistics.attrs.get("estimator", "dersimonian_laird")),
    }
    found = {}
    for test, kind in zip(statistics["test"].values, statistics["test_kind"].values, strict=True):
        if str(kind) != "weat":
            continue
        at = {"test": str(test)}
        combined = float(statistics["combined_effect"].sel(at | chosen))
        deviation, p = (float(statistics[name].sel(at)) for name in ("effect_deviation", "p_cite"))
        found[str(test)] = (combined, deviation, p, float(10 ** statistics["log10_p_two_sided"].sel(at | chosen)))
    return found


def _pair_of(test):
    """(pair of groups, attributes) of a test of table 3; (None, None) of another."""
    pair, _, attribute = test.rpartition(" ")
    return (pair, attribute) if pair and attribute in PAIRED else (None, None)


def _single(statistics, _):
    rows = [(name, *numbers) for name, numbers in _effects(statistics).items() if not _pair_of(name)[0]]
    if not rows:
        return []
    samples = int(statistics["num_samples_used"].max())
    note = (
        f"{samples:,} samples (table 1: 10,000; table 2: 1,000). d: combined effect; sd: over samples; p: target or "
        "attribute words relabelled, two-sided, the larger; p of z shrinks with more samples."
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
    note = "p: target or attribute words relabelled, the larger. Table 3: sentences drawn for each test; "
    note += "table 4: once for all (draws)."
    return [PaperTable(number, "Combined effects of pairs of groups", head, rows, note)]


LAYOUTS = (
    Layout("1 or 2", "combined_effect", _single, "WEAT tests, two target sets: jobs/62_guo2021.yaml"),
    Layout("3 or 4", "combined_effect", _pairs, "the tests guo_pairs: jobs/62_guo2021.yaml"),
)
