"""WinoIdentity ("Can LLMs help us detect stereotypes?", under review): tables 3 and 5 to 25, Figure 13, and WinoBias."""

import re

import claims
import numpy
from claims import Claim

MODELS = ["llama3-70b", "mixtral-8x7B", "mistral-7B", "pythia-12B", "falcon-40B"]
PAIRS = [("young", "old"), ("thin", "fat"), ("neurotypical", "neurodivergent"), ("able-bodied", "disabled"),
         ("cisgender", "transgender"), ("English-speaking", "non-English-speaking"), ("American", "immigrant"),
         ("heterosexual", "gay"), ("rich", "poor"), ("White", "Black"), ("White", "Asian"), ("White", "Hispanic"),
         ("Christian", "Muslim"), ("Christian", "Jewish")]  # fmt: skip  # Table 1
MARKERS = sorted({marker for pair in PAIRS for marker in pair})


def paper():
    return claims.lines_of("winoidentity-scm")


def table(number):
    """{row: 5 models x (pro, anti)}; lines of the review copy are numbered in some cells."""
    rows = {}
    for line in claims.above_caption(paper(), f"Table {number}"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        values = [cell for cell in cells if re.fullmatch(r"[01]\.\d\d", cell)]
        if len(values) == 10:
            label = re.sub(r"^(\d{4} ?)+", "", cells[cells.index(values[0]) - 1])
            rows[{"ablebodied": "able-bodied"}.get(label, label)] = numpy.array(values, float).reshape(5, 2)
    return rows


def copies():
    short, full = table(3), table(7)
    shared = [name for name in short if name != "baseline"]
    yield Claim("Table 3", "rows that Table 7 has with the same numbers", "10 of 10",
                f"{sum(numpy.array_equal(short[name], full[name]) for name in shared)} of {len(shared)}", "holds")  # fmt: skip
    same = [model for model, a, b in zip(MODELS, full["cisgender"], full["heterosexual"]) if numpy.array_equal(a, b)]
    yield Claim("Table 7", "models with equal rows 'cisgender' and 'heterosexual' (a copy)", ["mistral-7B", "pythia-12B", "falcon-40B"],
                same, "fails")  # fmt: skip
    sums = [(first[name] + second[name]).max() for a, b in ((7, 8), (9, 10), (11, 12), (18, 19), (20, 21), (22, 23), (24, 25))
            for first, second in [(table(a), table(b))] for name in first if name in second]  # fmt: skip
    yield Claim("Tables 7 to 25", "largest probability of referent plus other occupation", "0.97", f"{max(sums):.2f}")


def hundredths(values):
    return numpy.rint(100 * values).astype(int)  # exact sums: printed numbers tie often


def baseline_accuracy():
    """{pro or anti: of every model, the sum of men's and women's accuracy in hundredths} of Table 13."""
    sums = {}
    for line in claims.above_caption(paper(), "Table 13"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        for kind in ("pro", "anti"):
            if any(cell.endswith(f"{kind}-stereotyped") for cell in cells):
                sums[kind] = hundredths(numpy.array(cells[-10:], float)).reshape(5, 2).sum(axis=1)
    return sums


def takeaways():
    baseline, smaller, equal = baseline_accuracy(), [], []
    for number in (14, 15, 16, 17):
        rows = table(number)
        assert sorted(rows) == MARKERS, number
        # twice the loss of accuracy, pro minus anti
        differences = numpy.array([baseline["pro"] - baseline["anti"] - 2 * (row[:, 0] - row[:, 1])
                                   for row in map(hundredths, rows.values())])  # fmt: skip
        smaller.append(int((differences > 0).sum()))
        equal.append(int((differences == 0).sum()))
    yield Claim("Takeaway 2", "cells of 125 where accuracy loses less in anti than in pro, Aug1 to Aug4", [15, 93, 77, 69], smaller, "fails")
    yield Claim("Takeaway 2", "cells where it loses as much", [1, 1, 3, 6], equal, "fails")
    rows = {name: hundredths(row) for name, row in table(18).items()}
    losses = {name: rows["baseline"] - rows[name] for name in MARKERS}
    larger = sum((loss[:, 0] > loss[:, 1]).sum() for loss in losses.values())
    yield Claim("Takeaway 2", "cells of 125 where probability loses more in pro, Table 18", 124, int(larger), "fails")
    less, same = (sum(how(losses[right], losses[left]).sum() for left, right in PAIRS) for how in (numpy.less, numpy.equal))
    yield Claim("Takeaway 3", "cells of 140 where the disadvantaged loses less, as much, Table 18", [69, 12], [int(less), int(same)], "fails")
    falls = sum((loss > 0).sum() for loss in losses.values())
    yield Claim("Takeaway 1", "cells of 250 where a marker lowers the referent's probability, Table 18", 250, int(falls), "holds")
    mistral = sum((loss[2] > 0).all() for loss in losses.values())
    yield Claim("Figure 1", "markers of 25 with which mistral-7B falls in pro and anti", 25, int(mistral), "holds")


def identities(text):
    """{identity: mark} of a list of Table 5 or Figure 13."""
    text = re.sub(r"\s+", " ", text.replace("[†]", "†").replace("White men cisgender", "White men, cisgender"))
    text = text.replace("† gay men", "†, gay men").replace(" and ", " ").rstrip(". ")
    return {re.sub(r"[*+†\s]+$", "", name.strip()): "".join(re.findall(r"[*+†]", name)) for name in text.split(",")}


def clusters():
    rows = {}
    for line in paper():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and cells[0] in ("low-low", "high-high", "high-low") and len(cells) == 6:
            rows[cells[0]] = (set(identities(cells[1])), numpy.array([cell.split() for cell in cells[2:]], float))
    groups = {kind: members for kind, (members, _) in rows.items()}
    yield Claim("Table 5", "identities by cluster, and of 50", ([16, 21, 11], 48),
                ([len(members) for members in groups.values()], len(set().union(*groups.values()))))  # fmt: skip
    caption = next(line for line in paper() if line.startswith("Figure 13:"))
    drawn = [identities(part) for part in re.findall(r"includes (.*?)\.(?= |$)", caption)]
    extra = sorted(set().union(*drawn) - set().union(*groups.values()))
    yield Claim("Figure 13", "identities of its caption that Table 5 lacks", ["Jewish men", "Jewish women"], extra, "fails")
    moved = [name for members, part in zip((groups["high-low"], groups["high-high"], groups["low-low"]), drawn)
             for name in set(part) - members - set(extra)]  # fmt: skip
    yield Claim("Figure 13", "identities that are in another cluster of Table 5", [], moved, "holds")
    kinds = {"contemptuous prejudice": "low-low", "admiration": "high-high", "envious prejudice": "high-low"}
    wrong, seen = [], 0
    for line in claims.above_caption(paper(), "Table 6"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        for name in cells[0].split(",") if len(cells) == 4 and cells[3] in ("Yes", "No") else []:
            for people, cell in (("men", cells[1]), ("women", cells[2])):
                seen += 1
                wrong += [name] if f"{name.strip()} {people}" not in groups[kinds[cell.split(" (")[0]]] else []
    yield Claim("Table 6", "identities, and those in another cluster of Table 5", (48, []), (seen, wrong), "holds")
    centres = {kind: centre for kind, (_, centre) in rows.items()}
    yield from centres_of(centres, [len(members) for members in groups.values()])


def centres_of(centres, sizes):
    means = numpy.average(list(centres.values()), axis=0, weights=sizes)
    sides = [(kind, (numpy.where(centre > means, "high", "low"))) for kind, centre in centres.items()]
    right = sum((f"{side[0]}-{side[1]}" == kind) for kind, part in sides for side in part)
    yield Claim("Table 5", "centres of 12 whose sides of the identities' mean are the type that is named", 11, int(right))
    change = {kind: 100 * (centre[1:] / centre[0] - 1) for kind, centre in centres.items()}
    names = ("llama3-70b", "mixtral-8x7B", "mistral-7B")
    beyond = [f"{name} {dimension} {value:.1f} %" for name, row in zip(names, change["high-high"])
              for dimension, value in zip(("competence", "warmth"), row) if abs(value) > 15]  # fmt: skip
    yield Claim("§3.1.3", "high-high centres that are not within 15 % of people's", ["mixtral-8x7B warmth -16.2 %"], beyond, "fails")
    yield Claim("§3.1.3", "llama3-70b low-low against people (text: nearly 50 % lower)", "-50.5 -45.2",
                " ".join(f"{value:.1f}" for value in change["low-low"][0]), "holds")  # fmt: skip
    yield Claim("§3.1.3", "high-low, llama3-70b and mixtral-8x7B (text: close to 20 % lower)", "-18.8 -27.0 -27.9 -19.2",
                " ".join(f"{value:.1f}" for value in change["high-low"][:2].ravel()), "fails")  # fmt: skip


def sentences():
    folder = claims.shared("data/winobias")
    files = sorted(path for path in folder.iterdir() if "_stereotyped_type" in path.name)
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    yield Claim("§2.1", "WinoBias: files, sentences (text: 3,160)", (8, 3168), (len(files), len(lines)), "fails")
    yield Claim("§3.1", "prompts of ratings: identities x traits x templates x runs", 40_000, 2 * len(MARKERS) * 20 * 20 * 2, "holds")


def all_claims():
    for part in (copies, takeaways, clusters, sentences):
        yield from part()
