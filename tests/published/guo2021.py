"""Guo and Caliskan (AIES 2021), the appendix: tables 2 to 4, and the words of the validation set (9.5)."""

import itertools
import re

import claims
import numpy
from claims import Claim

MODELS = ["ELMo", "BERT", "GPT", "GPT-2"]
GROUPS = {"AF": ("African American", "Females"), "AM": ("African American", "Males"), "EF": ("European American", "Females"),
          "EM": ("European American", "Males"), "MF": ("Mexican American", "Females"), "MM": ("Mexican American", "Males")}  # fmt: skip


def paper():
    return claims.lines_of("guo2021-ceat-appendix")


def words_of(line):
    return [word.strip() for word in line.split(":**")[1].split("(random")[0].split(",")]


def validation_words():
    """{group: (words, chance in percent as printed)} of section 9.5."""
    found = {}
    for line in paper():
        chance = re.search(r"random chance of correct classification: ([\d.]+)%", line)
        if line.startswith("- **") and chance:
            found[line[4:].split(":**")[0]] = (words_of(line), chance[1])
    return found


def effects(pattern):
    """[(test, [(d, p as printed) of each model])] of the rows whose test the pattern matches."""
    rows = []
    for line in paper():
        label, *cells = (cell.strip() for cell in line.split("\t"))
        if re.match(pattern, label) and len(cells) >= 8:
            rows.append((label, [(float(cells[2 * i]), cells[2 * i + 1]) for i in range(4)]))
    return rows


def words():
    found = validation_words()
    distinct = set().union(*(set(group) for group, _ in found.values()))
    yield Claim("9.5", "distinct words, 'gangster' and 'gangsters' counted as two", (98, True),
                (len(distinct), {"gangster", "gangsters"} <= distinct), "holds")  # fmt: skip
    right = [name for name, (group, chance) in found.items() if f"{100 * len(group) / 98:.1f}" == chance]
    yield Claim("9.5", "printed chances that are n / 98", "18 of 18", f"{len(right)} of {len(found)}", "holds")
    lists = {name: set(group) for name, (group, _) in found.items()}
    differs = {}
    for code, (race, gender) in GROUPS.items():
        whole = lists[f"Intersectional Biases of {race} {gender}"]
        rule = whole - lists[f"Biases of {race}s"] - lists[f"Biases of {gender}"]
        printed = lists[f"Emergent Intersectional Biases of {race} {gender}"]
        if rule != printed:
            differs[code] = (sorted(rule - printed), sorted(printed - rule))
    yield Claim("9.5", "emergent lists that are not (intersectional - race - gender): missing, extra",
                {"AF": (["unintelligent"], []), "AM": (["unintelligent"], [])}, differs, "fails")  # fmt: skip


def sets():
    lines = paper()
    sizes = []
    for test in ("I1", "I2", "I3", "I4"):
        begin = next(i for i, line in enumerate(lines) if line.strip() == f"## 9.{test[1]} CEAT {test}" or line.endswith(f"CEAT {test}"))
        sizes.append(tuple(len(words_of(line)) for line in [line for line in lines[begin:] if line.startswith("- **")][:4]))
    yield Claim("9.1 to 9.4", "sizes of X, Y, A, B of I1 to I4", [(12, 12, n, n) for n in (13, 8, 12, 6)], sizes, "holds")


def tables():
    small = effects(r"[CI]\d+:")
    weak = [f"{test.split(':')[0]}/{model}" for test, row in small for model, (_, p) in zip(MODELS, row)
            if "<" not in p and float(p) > 0.05]  # fmt: skip
    yield Claim("Table 2", "tests that are not significant at .05", ["C4/GPT", "C7/GPT-2", "C10/BERT", "I1/GPT-2", "I2/GPT-2"], weak)
    named = {"C10/BERT", "C4/GPT", "C7/GPT-2", "I3/GPT-2", "I4/GPT-2"}
    yield Claim("Table 2", "of the five that its caption names, those that are significant in it", ["I3/GPT-2", "I4/GPT-2"],
                sorted(named - set(weak)), "fails")  # fmt: skip
    both = effects(r"[AEM][FM]/[AEM][FM], ")
    third, fourth = both[:60], both[60:]
    same = [label.replace("P/U*", "P/U") for label, _ in third] == [label.replace("P/U*", "P/U") for label, _ in fourth]
    yield Claim("Tables 3, 4", "tests in each, and whether they are the same", (60, 60, True), (len(third), len(fourth), same))
    first = numpy.array([[d for d, _ in row] for _, row in third])
    second = numpy.array([[d for d, _ in row] for _, row in fourth])
    change = abs(first - second)
    yield Claim("Tables 3, 4", "|difference of d|: largest, mean, number above 0.1 of 240", "0.52 0.122 114",
                f"{change.max():.2f} {change.mean():.3f} {(change > 0.1 + 1e-9).sum()}")  # fmt: skip
    flips = (first * second < 0) & (abs(first) >= 0.05 - 1e-9) & (abs(second) >= 0.05 - 1e-9)
    yield Claim("Tables 3, 4", "signs that differ where both |d| are 0.05 or more", 6, int(flips.sum()))


def formulas():
    """W_EIB of 8.2, printed as a union of differences, by brute force over all sets of three axes and four words."""
    right = True
    for masks in itertools.product(range(16), repeat=3):
        axes = [{w for w in range(4) if mask >> w & 1} for mask in masks]
        union = set().union(*({0, 1, 2, 3} - axis for axis in axes))
        right &= union == {0, 1, 2, 3} - set.intersection(*axes)
    yield Claim("8.2", "the union of (W_IB - W_i) drops only words that are in all W_i", True, right)


def all_claims():
    for part in (words, sets, tables, formulas):
        yield from part()
