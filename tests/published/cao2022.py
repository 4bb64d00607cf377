"""Cao et al. (NAACL 2022), tables 6 and A8 to A19, and their data set of people's answers."""

import collections
import json
import math

import claims
import numpy
from claims import Claim
from scipy import stats
from stereosweep_analysis import answers

COLUMNS = [f"{measure}/{model}" for measure in ("CEAT", "ILPS", "ILPS*", "SeT") for model in ("RoBERTa", "BERT")]
PILOT = {"Asian people", "Black people", "Hispanic people", "Immigrants"}
ONE_TIE = {"Asian people": 50.15, "Black people": 43.75, "Christians": 68.65}


def paper():
    return claims.lines_of("cao2022-abc-set")


def by_group(name):
    """{group: 8 numbers or None}, the columns of `COLUMNS`."""
    rows = claims.tab_rows(claims.above_caption(paper(), name), 8)
    return {group: [claims.number(cell) for cell in cells] for group, cells in rows.items()}


def overall():
    """Table 6: (tau, whether it has a dagger, P@3) of every column."""
    row = next(line for line in claims.above_caption(paper(), "Table 6") if line.startswith("Kendall"))
    cells = [cell.split() for cell in row.split("\t")[1:]]
    return [(claims.number(tau), "†" in tau, float(precision)) for tau, precision in cells]


def held_out():
    """Table A19: (tau, whether it has a dagger)."""
    row = next(line for line in claims.above_caption(paper(), "Table A19") if line.startswith("Kendall"))
    return [(claims.number(cell), "†" in cell) for cell in row.split("\t")[1:]]


def means_of_columns(table):
    return [numpy.mean([row[i] for row in table.values() if row[i] is not None]) for i in range(8)]


def critical_tau(n):
    """The |tau| without ties above which the normal approximation's two-sided p is below 0.05."""
    return stats.norm.isf(0.025) * math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))


def wrong_daggers(row, sizes):
    return [name for name, (tau, dagger), n in zip(COLUMNS, row, sizes) if (abs(tau) > critical_tau(n)) != dagger]


def agreement():
    tau = by_group("Table A11")
    multiples, other = set(), set()
    for group, row in tau.items():
        # (concordant - discordant) / 120, or over sqrt(120 x 119) with one tied pair
        pairs = math.sqrt(120 * 119) if group in ONE_TIE else 120
        for value in row:
            steps = None if value is None else round(value * pairs)
            fits = value is None or abs(steps / pairs - value) < 0.0005001
            fits_whole = value is None or abs(round(value * 120) / 120 - value) < 0.0005001
            parity = steps is None or steps % 2 == (1 if group in ONE_TIE else 0)
            (multiples if fits and parity else other).add(group)
            if not fits_whole:
                multiples.add(f"{group}: not k/60")
    yield Claim("Table A11", "groups whose tau are all k/60, or k/119.499 with one tied pair", "25 of 25",
                f"{len(set(tau) - other)} of {len(tau)}")  # fmt: skip
    yield Claim("Table A11", "groups that are not k/60", sorted(ONE_TIE),
                sorted(name.split(":")[0] for name in multiples if ":" in name))  # fmt: skip
    pooled = [row[0] for row in overall()]
    yield Claim("Table 6", "means of A11's columns", "-.002 .093 .160 .077 .168 .028 .197 .118",
                claims.decimals(means_of_columns(tau)))  # fmt: skip
    yield Claim("Table 6", "columns whose overall tau is the mean of A11", 0,
                sum(abs(a - b) < 0.0006 for a, b in zip(means_of_columns(tau), pooled)))  # fmt: skip
    rest = means_of_columns({group: row for group, row in tau.items() if group not in PILOT})
    tested = [row[0] for row in held_out()]
    yield Claim("Table A19", "columns whose tau is the mean of A11's 21 test groups", ["ILPS*/BERT"],
                [name for name, a, b in zip(COLUMNS, rest, tested) if abs(a - b) < 0.0006])  # fmt: skip
    yield Claim("Table 6", "|tau| of p = .05, n = 400 and 336", ".0656 .0717", claims.decimals(map(critical_tau, (400, 336)), 4))
    scored = [16 * sum(row[i] is not None for row in tau.values()) for i in range(8)]
    yield Claim("Table 6", "daggers that n = 336 (CEAT), 400 contradict", ["SeT/BERT"],
                wrong_daggers([row[:2] for row in overall()], scored), "fails")  # fmt: skip
    scored = [16 * sum(row[i] is not None for group, row in tau.items() if group not in PILOT) for i in range(8)]
    yield Claim("Table A19", "daggers that n = 304 (CEAT), 336 contradict", ["SeT/BERT"], wrong_daggers(held_out(), scored), "fails")


def precision():
    top, bottom = by_group("Table A12"), by_group("Table A13")
    assert list(map(str.lower, top)) == list(map(str.lower, bottom))
    whole = {i: [] for i in range(8)}
    for first, second in zip(top.values(), bottom.values()):
        for i, (a, b) in enumerate(zip(first, second)):
            if a is not None:
                whole[i].append((round(3 * a) + round(3 * b)) / 6)
    means = [numpy.mean(values) for values in whole.values()]
    printed = [row[2] for row in overall()]
    follows = [abs(a - b) < 0.0006 for a, b in zip(means, printed)]
    yield Claim("Table 6", "P@3 that is the mean over groups of (A12 + A13) / 2", "5 of 8", f"{sum(follows)} of 8", "fails")
    wrong = {name: (mean, value) for name, mean, value, right in zip(COLUMNS, means, printed, follows) if not right}
    yield Claim("Table 6", "P@3 from A12 and A13 where it is not", "ILPS*/BERT .573 SeT/RoBERTa .660 SeT/BERT .620",
                " ".join(f"{name} {claims.decimals([mean])}" for name, (mean, _) in wrong.items()))  # fmt: skip
    groups = {name: len(whole[COLUMNS.index(name)]) for name in wrong}
    yield Claim("Table 6", "cells of 1/3 that these are off by", [2, 1, 1],
                [round((mean - value) * 6 * groups[name]) for name, (mean, value) in wrong.items()])  # fmt: skip
    odd = [f"{group} {value}" for table in (top, bottom) for group, row in table.items() for value in row
           if value is not None and min(abs(value - third) for third in (0, 0.33, 0.67, 1)) > 1e-9]  # fmt: skip
    yield Claim("Tables A12, A13", "values that are no third", ["Buddhists 0.677"], odd, "fails")


def people():
    folder = claims.shared("data/cao2022-abc")
    texts = json.loads((folder / "Aggregated_scores.json").read_text(encoding="utf-8"))
    published = {group: {pair: float(value) for pair, value in pairs.items()} for group, pairs in texts.items()}
    rows = answers.read_answers(folder / "data_full.json")
    of_cell = collections.defaultdict(list)
    for _, group, pair, rating in rows:
        of_cell[group, pair].append(rating)
    means = {cell: numpy.mean(ratings) for cell, ratings in of_cell.items()}
    assert {(group, pair) for group, pairs in published.items() for pair in pairs} == set(means)
    off = {cell: (published[cell[0]][cell[1]], mean) for cell, mean in means.items()
           if abs(published[cell[0]][cell[1]] - mean) > 0.0051}  # fmt: skip
    yield Claim("data set", "means of people's answers that are the published ones", "414 of 416", f"{len(means) - len(off)} of {len(means)}")
    yield Claim("data set", "the others: published, recomputed", ["poor - wealthy 56.4 57.1", "untrustworthy - trustworthy 57.95 57.1"],
                sorted(f"{pair} {there:g} {mean:g}" for (group, pair), (there, mean) in off.items() if group.lower() == "women"))  # fmt: skip
    sheets = {(annotator, group) for annotator, group, _, _ in rows}
    yield Claim("§4", "annotators, their records, groups", (133, 522, 26),
                (len({annotator for annotator, _ in sheets}), len(sheets), len({group for _, group in sheets})))  # fmt: skip
    counts = collections.Counter(group for _, group in sheets)
    yield Claim("§4", "groups with 21 annotators, not 20", 2, sum(count == 21 for count in counts.values()), "fails")
    tied = {value for pairs in published.values() for value, count in collections.Counter(pairs.values()).items() if count > 1}
    yield Claim("data set", "tied published means", sorted(ONE_TIE.values()), sorted(tied))
    cells = [value for group, pairs in published.items() if group.lower() != "average people" for value in pairs.values()]
    yield Claim("§5.1", "cells, those of exactly 50", (400, 0), (len(cells), sum(value == 50 for value in cells)))
    above = numpy.mean(numpy.array(cells) > 50)
    yield Claim("§5.1", "P@3 of a random order: top, bottom, both", ".5175 .4825 .5000", claims.decimals([above, 1 - above, 0.5], 4))
    return published


def annotators():
    table = claims.tab_rows(claims.above_caption(paper(), "Table A18"), 4)
    rows = {group: [claims.number(cell) for cell in cells] for group, cells in table.items()}
    printed = rows.pop("overall")
    means = [numpy.mean([row[i] for row in rows.values() if row[i] is not None]) for i in range(4)]
    yield Claim("Table A18", "means of the columns (Black, white, men, women)", ".084 .193 .155 .183", claims.decimals(means))
    yield Claim("Table A18", "the row 'overall'", ".151 .187 .177 .164", claims.decimals(printed))
    parts = [claims.tab_rows(claims.above_caption(paper(), f"Table A{i}"), 4) for i in (14, 15, 16, 17)]
    white, black, men, women = [{pair: list(map(float, cells)) for pair, cells in part.items()} for part in parts]
    outside = collections.Counter()
    for pair in white:
        for i, group in enumerate(("Women", "Men", "White", "Black")):
            low, high = sorted((men[pair][i], women[pair][i]))
            outside[group] += not low - 0.05 <= white[pair][i] <= high + 0.05
    yield Claim("Table A14", "pairs of 16 outside of A16 and A17: Women, Men, White, Black", [1, 0, 6, 0],
                [outside[group] for group in ("Women", "Men", "White", "Black")], "fails")  # fmt: skip
    yield from weights(white, men, women)
    whole = all(row[1] == int(row[1]) for row in black.values())
    yield Claim("Table A15", "Men are whole numbers (one annotator is possible)", True, whole)


def weights(white, men, women):
    """The share of women among white annotators with which A14 is the mean of A16 and A17, where one fits."""
    for i, group, share in ((1, "Men", 1 / 2), (3, "Black", 5 / 8)):
        worst = max(abs((1 - share) * men[pair][i] + share * women[pair][i] - white[pair][i]) for pair in white)
        yield Claim("Table A14", f"{group}: largest distance from ({share:g} A17 + {1 - share:g} A16)", "0.30", f"{worst:.2f}")


def domains():
    full = {"socio": "socio", "socio-economic": "socio", "social-economic": "socio", "political stance": "politics"}
    short = lambda name: full.get(name.strip(), name.strip().split("/")[0])  # noqa: E731
    pairs = {}
    for line in claims.above_caption(paper(), "Table A9"):
        cells = line.split("\t")
        if len(cells) == 4 and claims.number(cells[2]) is not None:
            pairs[short(cells[0]), short(cells[1])] = (float(cells[2]), float(cells[3]))
    computed = {(a, b) if first > second else (b, a) for (a, b), (first, second) in pairs.items() if abs(first - second) >= 0.1 - 1e-9}
    dominates, dominated = set(), set()
    for line in claims.above_caption(paper(), "Table A8"):
        cells = line.replace("- ", "").split("\t")
        if len(cells) == 3 and cells[0]:
            domain = short(cells[0].replace(" ", ""))
            split = [[] if part.strip() in ("-", "") else part.split(",") for part in cells[1:]]
            dominates |= {(domain, short(other)) for other in split[0]}
            dominated |= {(short(other), domain) for other in split[1]}
    yield Claim("Table A9", "pairs of domains", 28, len(pairs))
    yield Claim("Table A8", "dominations of A9 by 0.1 that A8 lacks", [], sorted(computed - dominates), "holds")
    yield Claim("Table A8", "dominations that do not follow from A9", [("age", "religion")], sorted(dominates - computed), "fails")
    yield Claim("Table A8", "dominations that its second column lacks", [("age", "religion")], sorted(dominates - dominated), "fails")


def emergent():
    lines = claims.above_caption(paper(), "Table A10")
    rows, held = [], None
    for line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if cells[0] and len(cells) >= 4 and not cells[1]:
            held = cells[0]
        elif len(cells) == 4 and claims.number(cells[2]) is not None:
            rows.append((cells[0] or held, cells[1], float(cells[2]), float(cells[3])))
    yield Claim("Table A10", "rows that the text has (of 50), all of an increase, sorted", (49, True, True),
                (len(rows), all(row[2] > 0 for row in rows), rows == sorted(rows, key=lambda row: -row[2])))  # fmt: skip
    # A part's own score is at most the least "Max Score" of its rows, and each row's is one of its two parts'.
    bound = collections.defaultdict(lambda: math.inf)
    for group, trait, _, largest in rows:
        for part in parts_of(group):
            bound[part, trait] = min(bound[part, trait], largest)
    wrong = [group for group, trait, _, largest in rows if largest != max(bound[part, trait] for part in parts_of(group))]
    yield Claim("Table A10", "rows whose maximum cannot be a part's score, given the other rows", [], wrong, "holds")
    seen = [sum(word in group and trait == name and largest == value for group, trait, _, largest in rows)
            for word, name, value in (("mechanic", "trustworthy", -0.0449), ("Democrat", "sincere", -0.0205),
                                      ("autistic", "egotistic", -0.0708))]  # fmt: skip
    yield Claim("Table A10", "equal maxima: mechanic trustworthy, Democrat sincere, autistic egotistic", [3, 2, 4], seen)


def parts_of(group):
    """The two groups of an intersection of table A10, by the words that name them."""
    whole = {"Latina": "Hispanic female", "Native American": "Native", "teenage ": "teenager ", "with a disability": "disability"}
    for words, name in whole.items():
        group = group.replace(words, name)
    return [word for word in group.split() if word != "person"]



def all_claims():
    for part in (people, agreement, precision, annotators, domains, emergent):
        yield from part()
