"""Tables 1 and 3 of Guo and Caliskan (AIES 2021): combined effects of embedding tests, and of pairs of groups."""

from ..open import ResultError
from .table import PaperTable

PAIRED = ("pleasant", "career", "math", "science")


def _effects(statistics):
    """{test: (d, sd over samples, p of relabelling, two-sided; p of z)} of the WEAT tests."""
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
        deviation, p = (float(statistics[name].sel(at)) for name in ("effect_deviation", "permutation_p_two_sided"))
        found[str(test)] = (combined, deviation, p, float(10 ** statistics["log10_p_two_sided"].sel(at | chosen)))
    return found


def tables(statistics):
    """Of a contexts result with WEAT tests. Raises ResultError."""
    if "combined_effect" not in statistics:
        raise ResultError("no embedding tests: name a result of the probe contexts")
    effects = _effects(statistics)
    if not effects:
        raise ResultError("no WEAT tests (two target sets) in this result")
    pairs = {}
    for name in effects:
        pair, _, attribute = name.rpartition(" ")
        if pair and attribute in PAIRED:
            pairs.setdefault(pair, {})[attribute] = effects[name]
    single = [(name, *numbers) for name, numbers in effects.items() if name.rpartition(" ")[0] not in pairs]
    made = []
    if single:
        head = ("test", "d", "sd", "p", "p of z")
        note = "d: combined effect; sd: over samples; p: relabelled words, two-sided; p of z shrinks with more samples."
        made.append(PaperTable("1", "Combined effects", head, single, note))
    if pairs:
        rows = [
            (pair, *(number for attribute in PAIRED for number in found.get(attribute, (None,) * 4)[:3:2]))
            for pair, found in pairs.items()
        ]
        head = ("groups", *(f"{attribute} {what}" for attribute in PAIRED for what in ("d", "p")))
        made.append(
            PaperTable("3", "Combined effects of pairs of groups", head, rows, "p: relabelled words, two-sided.")
        )
    return made
