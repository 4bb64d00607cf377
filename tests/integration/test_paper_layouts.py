"""The papers' tables as `stereosweep-analysis paper` lays them out, every number derived again from the raw cubes."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy
import pytest
import runs
import xarray
from scipy import stats

STATISTICS = "statistics.inference={replicates: 100, draws: 200}"


class Finished:
    """A run with its raw cubes, and the tables of a paper: {(table, row, column): text}."""

    def __init__(self, tmp_path_factory, job, *arguments, statistics=()):
        self.path = tmp_path_factory.mktemp("paper") / "run"
        code, _, err = runs.run(str(runs.ROOT / "jobs" / job), self.path, *arguments)
        assert code == 0, err
        done = subprocess.run([runs.PROGRAM, "stats", str(self.path), *statistics], capture_output=True, text=True, timeout=300, cwd=runs.ROOT)
        assert done.returncode == 0, done.stderr
        self.raw = self.open("")

    def open(self, ending):
        file = next(path for path in self.path.glob(f"*{ending}.h5") if ending or path.name.count(".") == 1)
        return xarray.open_dataset(file, engine="netcdf4").load()

    def table(self, paper):
        done = subprocess.run(
            [sys.executable, "-m", "stereosweep_analysis", "paper", paper, str(self.path), "--format", "csv"],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(runs.ROOT / "analysis")},
        )
        assert done.returncode == 0, done.stderr
        self.cells = {tuple(row[:3]): row[3] for row in list(csv.reader(io.StringIO(done.stdout)))[1:]}
        return self.cells

    def rows(self, number):
        return list(dict.fromkeys(row for table, row, _ in self.cells if table == number))

    def check(self, number, row, columns, values, tolerance=1e-10):
        for column, value in zip(columns, values, strict=True):
            found = self.cells[number, row, column]
            assert (found == "") if numpy.isnan(value) else float(found) == pytest.approx(value, abs=tolerance), (number, row, column)


# winoidentity: table -> sentences, placement, item; 14 to 17 are accuracies

MARKERS = {
    "3": ("ambiguous", "aug1", 0), "7": ("ambiguous", "aug1", 0), "8": ("ambiguous", "aug1", 1),
    "9": ("ambiguous", "aug2", 0), "10": ("ambiguous", "aug2", 1), "11": ("ambiguous", "aug3", 0),
    "12": ("ambiguous", "aug3", 1), "14": ("unambiguous", "aug1", 0), "15": ("unambiguous", "aug2", 0),
    "16": ("unambiguous", "aug3", 0), "17": ("unambiguous", "aug4", 0), "18": ("unambiguous", "aug1", 0),
    "19": ("unambiguous", "aug1", 1), "20": ("unambiguous", "aug2", 0), "21": ("unambiguous", "aug2", 1),
    "22": ("unambiguous", "aug3", 0), "23": ("unambiguous", "aug3", 1), "24": ("unambiguous", "aug4", 0),
    "25": ("unambiguous", "aug4", 1),
}  # fmt: skip
ACCURACY = ("14", "15", "16", "17")


def test_tables_by_marker(tmp_path_factory):
    run = Finished(tmp_path_factory, "42_winoidentity_tables.yaml",
                   statistics=["statistics.inference={family: measure, draws: 200, replicates: 100}"])  # fmt: skip
    assert {table for table, _, _ in run.table("winoidentity")} == {*MARKERS, "13"}
    raw = run.raw
    logprob = raw["logprob"].isel(rephrasing=0).transpose("group", "template", "occupation", "subword").values
    total = numpy.nansum(logprob, axis=-1)
    right = numpy.where(total[..., 0] == total[..., 1], 0.5, total[..., 0] > total[..., 1])
    sums = numpy.where(numpy.isnan(logprob), 0, numpy.exp(logprob)).sum(axis=-1)  # [group, template, occupation]
    augmentation, marker = (raw[f"group_{name}"].values.astype(str) for name in ("augmentation", "referent_marker"))
    baseline = augmentation == "baseline"
    labels = raw["group"].values.astype(str)
    for number, (kind, placement, item) in MARKERS.items():
        values = right if number in ACCURACY else sums[..., item]
        sides = [values[:, (raw["template_type"].values == kind) & (raw["template_stereotype"].values == side)].mean(axis=1)
                 for side in ("pro", "anti")]  # fmt: skip
        rows = run.rows(number)
        assert rows[0] == "baseline" and len(rows) == (11 if number == "3" else 26)
        for row in rows:
            if row == "baseline":
                chosen = baseline
            elif placement == "aug3":
                chosen = numpy.char.startswith(augmentation, "aug3") & (marker == row)
            else:
                chosen = labels == f"{placement} {row}"
            assert chosen.any()
            run.check(number, row, ("pro", "anti"), [side[chosen].mean() for side in sides])
            if row != "baseline":
                run.check(number, row, ("pro minus none", "anti minus none"), [side[chosen].mean() - side[baseline].mean() for side in sides])
    of_type = raw["template_type"].values == "unambiguous"
    for gender, stereotype in (("female", "pro"), ("male", "anti")):
        chosen = of_type & (raw["template_gender"].values == gender) & (raw["template_stereotype"].values == stereotype)
        run.check("13", f"{gender} / {stereotype}", ["accuracy"], [right[baseline][:, chosen].mean()])


def side_names(points, centre):
    """high: above the mean of the subjects."""
    return ", ".join("high" if value > limit else "low" for value, limit in zip(centre, points.mean(axis=0)))


def test_clusters_of_ratings(tmp_path_factory):
    markers = ["young", "old", "rich", "poor", "gay"]
    people = tmp_path_factory.mktemp("people") / "people.tsv"
    names = [f"{marker} {who}" for marker in markers for who in ("women", "men")]
    means = {name: ((7 * i) % 10 / 2.5 + 1, (3 * i + 5) % 10 / 2.5 + 1) for i, name in enumerate(names)}
    people.write_text("group\tdimension\tmean\n" + "".join(
        f"{name}\t{dimension}\t{value}\n" for name in names for dimension, value in zip(("warmth", "competence"), means[name])
    ))
    run = Finished(tmp_path_factory, "50_ratings.yaml", "sampling=none",
                   f"axes.identities={{file: scm_identities, only: [{', '.join(names)}]}}",
                   "axes.rating_questions={file: scm_questions, only: [regarded]}",
                   statistics=[f"statistics.human_ratings={people}", "statistics.clusters={number: 3, across: second}"])  # fmt: skip
    cells = run.table("winoidentity")
    raw = run.raw
    logprob = raw["option_logprob"].isel(rephrasing=0).transpose("form", "group", "trait", "template", "order", "option").values
    share = numpy.exp(logprob - logprob.max(axis=-1, keepdims=True))
    rating = (share / share.sum(axis=-1, keepdims=True) @ raw["option_value"].values.astype(float)).mean(axis=(-1, -2))
    turned = raw["trait_polarity"].values == "negative"
    rating[..., turned] = 6 - rating[..., turned]
    labels = list(raw["group"].values.astype(str))
    of_dimension = [raw["trait_dimension"].values == name for name in ("warmth", "competence")]
    points = {f"option_{form}": numpy.stack([rating[place][:, chosen].mean(axis=1) for chosen in of_dimension], axis=1)
              for place, form in enumerate(raw["form"].values.astype(str))}  # fmt: skip
    points["people"] = numpy.array([means[name] for name in labels])
    sides = {}
    assert len(run.rows("5")) == 9
    for row in run.rows("5"):
        source = row.split(" / ")[0]
        members = cells["5", row, "groups"].split("; ")
        centre = points[source][[labels.index(name) for name in members]].mean(axis=0)
        run.check("5", row, ("warmth", "competence", "groups in it"), (*centre, len(members)))
        assert cells["5", row, "sides"] == side_names(points[source], centre)
        sides |= {(source, name): cells["5", row, "sides"] for name in members}
    assert len(sides) == 3 * len(labels)
    for row in run.rows("5"):
        source = row.split(" / ")[0]
        members = cells["5", row, "groups"].split("; ")
        elsewhere = [name for name in members if source != "people" and sides[source, name] != sides["people", name]]
        if source != "people":
            assert cells["5", row, "elsewhere by people"] == "; ".join(elsewhere)
            assert int(cells["5", row, "agree"]) == len(members) - len(elsewhere)
    for marker in markers:
        women, men = (sides["people", f"{marker} {who}"] for who in ("women", "men"))
        assert (cells["6", marker, "women"], cells["6", marker, "men"]) == (women, men)
        assert cells["6", marker, "differ"] == ("no" if women == men else "yes")


# cao2022


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """{(annotator, group, pair): rating} of two kinds of annotators, and their table."""
    groups = ["women", "men", "Black people", "White people", "teenagers", "mechanics"]
    pairs = ["powerless - powerful", "poor - wealthy", "cold - warm", "threatening - benevolent", "conservative - liberal",
             "traditional - modern"]  # fmt: skip
    table = {(f"{kind} {n}", group, pair): (41 * i + 29 * j * j + 17 * n + (11 if kind == "older" else 0)) % 97
             for kind in ("older", "younger") for n in range(3) for i, group in enumerate(groups) for j, pair in enumerate(pairs)}  # fmt: skip
    path = tmp_path_factory.mktemp("answers") / "answers.tsv"
    path.write_text("annotator\tkind\tgroup\tpair\trating\n" + "".join(
        f"{who}\t{who.split()[0]}\t{group}\t{pair}\t{value}\n" for (who, group, pair), value in table.items()
    ))
    return table, path, groups, pairs


def test_agreement_and_intersections_of_associations(tmp_path_factory, answers):
    table, path, groups, pairs = answers
    measure = "ilps_first prior_word"
    people = f"{{ratings: {path}, measures: [{measure}], subgroups: kind, selection: {{pilot_subjects: [women, mechanics], most: 2}}}}"
    run = Finished(tmp_path_factory, "21_cao2022.yaml", f"axes.groups.only=[{', '.join(groups)}]", f"axes.traits={{file: abc_poles, only: [{', '.join(pairs)}]}}",
                   statistics=[STATISTICS, f"statistics.people={people}",
                               f"statistics.intersections={{measures: [{measure}], threshold: 0.1}}"])  # fmt: skip
    cells = run.table("cao2022")
    raw = run.raw
    logprob, prior = raw["logprob"].isel(subword=0), raw["prior_logprob"].isel(subword=0).sel(prior="prior_word")
    words = (logprob - prior).isel(rephrasing=0).transpose("group", "template", "word").values  # one word a pole
    side, names = raw["word_side"].values, raw["word_pair"].values
    at = {(name, which): i for i, (name, which) in enumerate(zip(names, side))}
    score = numpy.stack([words[..., at[pair, "right"]] - words[..., at[pair, "left"]] for pair in pairs], axis=-1)
    labels = list(raw["group"].values.astype(str))
    means = {label: row for label, row in zip(labels, score.mean(axis=1))}

    def rated(group, kind=""):
        return [numpy.mean([value for (who, of, on), value in table.items() if (of, on) == (group, pair) and who.startswith(kind)]) for pair in pairs]

    for kind in ("older", "younger"):  # A14 to A18
        for i, pair in enumerate(pairs):
            columns = ("women", "men", "White people", "Black people")
            run.check("A14 to A17", f"kind: {kind} / {pair}", columns, [rated(group, kind)[i] for group in columns])
        for group in groups:
            tau = stats.kendalltau(means[group], rated(group, kind)).statistic
            run.check("A18", f"{measure} / {group}", [f"kind: {kind}"], [tau])
        pooled = stats.kendalltau(numpy.ravel([means[group] for group in groups]), numpy.ravel([rated(group, kind) for group in groups]))
        run.check("A18", f"{measure} / pooled", [f"kind: {kind}"], [pooled.statistic])
    chosen = [list(raw["template"].values).index(name) for name in cells["5", measure, "templates"].split("; ")]
    assert 1 <= len(chosen) <= 2

    def tau_of(subjects, templates):
        ours = numpy.ravel([score[labels.index(group)][templates].mean(axis=0) for group in subjects])
        return stats.kendalltau(ours, numpy.ravel([rated(group) for group in subjects])).statistic

    pilot, rest = ["women", "mechanics"], [group for group in groups if group not in ("women", "mechanics")]
    run.check("5", measure, ["tau-b"], [tau_of(pilot, chosen)])
    alone = [tau_of(pilot, [place]) for place in range(score.shape[1])]
    assert tau_of(pilot, chosen) >= max(alone) - 1e-12
    run.check("A19", measure, ("tau-b", "n"), (tau_of(rest, chosen), len(rest) * len(pairs)))

    found = run.open(".stats")
    domain = dict(zip(labels, raw["group_domain"].values.astype(str)))
    parts = {label: (first, second) for label, first, second in zip(*(found[name].values.astype(str) for name in (
        "intersection", "intersection_first", "intersection_second")))}  # fmt: skip
    balance = {}
    for row in run.rows("A9"):  # every order of the two parts counts
        domains = row.split(" / ")
        of_row = [(label, of) for label, of in parts.items() if {domain[part] for part in of} == set(domains)]
        taus = [numpy.mean([stats.kendalltau(means[label], means[next(part for part in of if domain[part] == name)]).statistic
                            for label, of in of_row]) for name in domains]  # fmt: skip
        run.check("A9", row, ("tau-b A", "tau-b B", "A minus B", "n"), (*taus, taus[0] - taus[1], len(of_row)))
        balance[tuple(domains)] = taus[0] - taus[1]
    assert balance
    for row in run.rows("A8"):
        over = [names[1 - i] for names, value in balance.items() for i, sign in ((0, 1), (1, -1)) if names[i] == row and sign * value >= 0.1 - 1e-9]
        run.check("A8", row, ["dominates (number)"], [len(over)])
        assert set(cells["A8", row, "dominates"].split(", ")) == set(over or ["-"])
    rises = []
    pole_means = {label: dict(zip(raw["word_pole"].values, row)) for label, row in zip(labels, words.mean(axis=1))}
    for label, of in parts.items():
        for pole, value in pole_means[label].items():
            larger = max(pole_means[part][pole] for part in of)
            rises.append((value - larger, larger, f"{label} / {pole}"))
    rises.sort(reverse=True)
    assert len(run.rows("A10")) == 50
    for increase, larger, row in rises[:45]:
        run.check("A10", row, ("increase", "larger part"), (increase, larger))


# guo2021


def test_combined_effects_by_number_of_samples_and_draws(tmp_path_factory):
    run = Finished(tmp_path_factory, "62_guo2021.yaml", "samples=1200", "axes.tests=[{file: guo_pairs, only: [EM/EF career, EM/EF math]}, {file: caliskan, only: [C8]}]",
                   statistics=["statistics.draws=100", "statistics.samples=1000"])  # fmt: skip
    run.table("guo2021")
    assert {table for table, _, _ in run.cells} == {"2", "4"}
    raw = run.raw
    for i, test in enumerate(raw["test"].values.astype(str)):
        x, y = (len(json.loads(raw[f"test_{side}_words"].values[i])) for side in "xy")
        associations = raw["association"].values[i, :1000, : x + y]
        deviation = associations.std(axis=1, ddof=1)
        effects = (associations[:, :x].mean(axis=1) - associations[:, x:].mean(axis=1)) / deviation
        w = deviation**-2
        q = (w * effects**2).sum() - (w * effects).sum() ** 2 / w.sum()
        between = max(0, (q - 999) / (w.sum() - (w**2).sum() / w.sum()))
        v = 1 / (deviation**2 + between)
        combined = (v * effects).sum() / v.sum()
        if test == "C8":
            p = 2 * stats.norm.sf(abs(combined) * v.sum() ** 0.5)
            run.check("2", test, ("d", "sd", "p of z"), (combined, effects.std(ddof=1), p), 1e-8)
        else:
            run.check("4", "EM/EF", [f"{test.split()[1]} d"], [combined], 1e-8)


# stereomap


def test_paired_t_and_correlations_of_interviews(tmp_path_factory):
    run = Finished(tmp_path_factory, "70_stereomap.yaml", "sampling.rounds=2", "axes.templates={file: stereomap_forms, only: [full]}")
    cells = run.table("stereomap")
    raw = run.raw
    rating = raw["rating"].transpose("item", "group", ...).values.reshape(raw.sizes["item"], raw.sizes["group"], -1)
    known = ~numpy.isnan(rating)
    item_means = numpy.where(known.any(axis=-1), numpy.where(known, rating, 0).sum(axis=-1) / numpy.maximum(known.sum(axis=-1), 1), numpy.nan)
    turned = raw["item_polarity"].values == "negative"
    item_means[turned] = raw["item_scale_sum"].values[turned].astype(float)[:, None] - item_means[turned]
    labels = list(raw["group"].values.astype(str))
    dimensions = raw["item_dimension"].values.astype(str)

    def of(dimension):
        return numpy.nanmean(item_means[dimensions == dimension], axis=0)

    seen = 0
    for place in range(5):
        members = [labels.index(name) for name in cells["2", str(place), "groups"].split("; ")]
        warmth, competence = of("warmth")[members], of("competence")[members]
        run.check("2", str(place), ("warmth", "competence"), (warmth.mean(), competence.mean()))
        row = next(row for row in run.rows("5") if row.startswith(f"rating / {place} / "))
        run.check("5", row, ("groups", "difference"), (len(members), (warmth - competence).mean()))
        if len(members) > 1 and (warmth - competence).std() > 1e-9:
            test = stats.ttest_rel(warmth, competence)
            run.check("5", row, ("t", "p"), (test.statistic, test.pvalue), 1e-6)
            seen += 1
    assert seen >= 3
    for row, column in (("warmth", "status"), ("competence", "envy"), ("warmth", "passive_harm")):
        rho = stats.spearmanr(of(row), of(column)).statistic
        run.check("8", f"all / rating / spearman / {row}", [column], [rho], 1e-9)
