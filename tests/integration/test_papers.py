"""Three analyses of the papers derived again from the raw file alone, by numpy and scipy, and held against `stats`."""

import csv
import itertools
import json
import subprocess

import numpy
import pytest
import runs
import xarray
from scipy import special, stats

GROUPS = ["teenagers", "elderly people", "men", "women", "Black people", "Christians", "mechanics", "Democrats"]
MEASURES = {"ilps_first": "ilps_first prior_word", "set": "set_code_augmented prior_word"}
PLANTED = runs.ROOT / "tests/models/planted/planted.tsv"


ALL = ("--all", "--all-measures")  # else only what fits a screen is printed


def finished(tmp_path_factory, job, probe, *arguments, statistics=()):
    """(raw file, statistics file, what `stats` prints) of a job of this repository."""
    output = tmp_path_factory.mktemp(probe) / "run"
    code, _, err = runs.run(str(runs.ROOT / "jobs" / job), output, *arguments)
    assert code == 0, err
    done = subprocess.run([runs.PROGRAM, "stats", str(output), *ALL, *statistics], capture_output=True, text=True, cwd=runs.ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    files = [xarray.open_dataset(output / f"{probe}{end}.h5", engine="netcdf4").load() for end in ("", ".stats")]
    return *files, done.stdout


# cao2022, sections 5.1 and 5.2


@pytest.fixture(scope="module")
def associations(tmp_path_factory):
    return finished(tmp_path_factory, "21_cao2022.yaml", "association", f"axes.groups.only=[{', '.join(GROUPS)}]",
                    statistics=["statistics.inference={replicates: 100, draws: 200}",
                                "statistics.people.selection.pilot_subjects=[Black people, women]"])  # fmt: skip


def pole_scores(raw, which):
    """[group, template, pole]: the pole's one word for the group minus for the generic noun, from raw cubes."""
    def of_words(prefix):
        if which == "ilps_first":
            return raw[prefix + "logprob"].isel(subword=0)
        return numpy.log1p(-raw[prefix + "set_distance_bias"].max("subword"))  # the hardest subword; NaN are no subwords

    prior = of_words("prior_").sel(prior="prior_word")
    return (of_words("") - prior).isel(rephrasing=0).transpose("group", "template", "word").values


def pairs_of(raw, poles):
    """([pair name], [group, template, pair]): the right pole minus the left one."""
    side, names = raw["word_side"].values, raw["word_pair"].values
    order = list(dict.fromkeys(names))
    place = {(name, which): i for i, (name, which) in enumerate(zip(names, side))}
    return order, numpy.stack([poles[..., place[name, "right"]] - poles[..., place[name, "left"]] for name in order], axis=-1)


def planted_means(groups, pairs):
    with open(PLANTED, newline="", encoding="utf-8") as file:
        means = {(row["group"], row["pair"]): float(row["mean"]) for row in csv.DictReader(file, delimiter="\t")}
    return numpy.array([[means[group, pair] for pair in pairs] for group in groups])


@pytest.mark.parametrize("which", MEASURES)
def test_agreement_of_cao2022(associations, which):
    raw, found, text = associations
    names, scores = pairs_of(raw, pole_scores(raw, which))
    groups = [i for i, kind in enumerate(raw["group_kind"].values) if kind == "group"]
    labels = raw["group"].values[groups]
    assert sorted(labels) == sorted(GROUPS)
    with numpy.errstate(invalid="ignore"):
        means = numpy.nanmean(scores[groups], axis=1)
    people = planted_means(labels, names)
    tau = [stats.kendalltau(x, y).statistic for x, y in zip(means, people)]
    top = [numpy.mean(y[numpy.argsort(-x, kind="stable")[:3]] > 50) for x, y in zip(means, people)]
    bottom = [numpy.mean(y[numpy.argsort(x, kind="stable")[:3]] < 50) for x, y in zip(means, people)]
    found = found.sel(people_measure=MEASURES[which], people_group="all")
    subjects = found.sel(people_row=[f"subject: {label}" for label in labels])
    for name, values in (("tau", tau), ("precision_top_3", top), ("precision_bottom_3", bottom)):
        numpy.testing.assert_allclose(subjects[f"people_{name}"].values, values, rtol=0, atol=1e-12)  # A11, A12, A13
    pooled = stats.kendalltau(means.ravel(), people.ravel()).statistic
    row = found.sel(people_row="pooled")
    numpy.testing.assert_allclose(row["people_tau"].item(), pooled, rtol=0, atol=1e-12)  # table 6
    numpy.testing.assert_allclose(row["people_tau_mean"].item(), numpy.mean(tau), rtol=0, atol=1e-12)
    numpy.testing.assert_allclose(row["people_precision_at_3"].item(), (numpy.mean(top) + numpy.mean(bottom)) / 2, rtol=1e-12)
    assert row["people_tau_low"] <= row["people_tau_high"]
    assert 0.5 < pooled < 1 and f"{pooled:.3f}" in text


def test_intersections_of_cao2022(associations):
    raw, found, _ = associations
    poles = pole_scores(raw, "set")
    names, scores = pairs_of(raw, poles)
    place = {label: i for i, label in enumerate(raw["group"].values)}
    table = found.sel(intersection_measure=MEASURES["set"])
    increases = []
    for label, first, second, reverse in zip(*(found[name].values for name in (
            "intersection", "intersection_first", "intersection_second", "intersection_reversed"))):  # fmt: skip
        of_three = poles[[place[label], place[first], place[second]]]
        common = ~numpy.isnan(of_three).any(axis=0)  # [template, pole]
        assert common.any(axis=0).all()
        whole, one, two = numpy.where(common, of_three, 0).sum(axis=1) / common.sum(axis=0)
        row = table.sel(intersection=label)
        numpy.testing.assert_allclose(row["pole_emerge_max"], whole - numpy.maximum(one, two), rtol=0, atol=1e-12)  # A10
        numpy.testing.assert_allclose(row["pole_emerge_min"], whole - numpy.minimum(one, two), rtol=0, atol=1e-12)
        increases += list(whole - numpy.maximum(one, two))
        means = numpy.nanmean(scores, axis=1)
        for comparison, other in (("first part", first), ("second part", second), ("other order", reverse)):  # question 1, A9
            value = row["order_tau"].sel(order_comparison=comparison).item()
            if not other:
                assert numpy.isnan(value)
                continue
            numpy.testing.assert_allclose(value, stats.kendalltau(means[place[label]], means[place[other]]).statistic, atol=1e-12)
    assert len(increases) > 500 and max(increases) > 0


# winoidentity, tables 13 to 25 and Figure 1


@pytest.fixture(scope="module")
def coreferences(tmp_path_factory):
    return finished(tmp_path_factory, "42_winoidentity_tables.yaml", "coreference",
                    statistics=["statistics.inference={family: measure, draws: 200, replicates: 100}"])  # fmt: skip


def raw_measures(raw):
    """{measure: [condition, sentence]} of the referent, from the raw log-probabilities of subwords."""
    logprob = raw["logprob"].isel(rephrasing=0).transpose("group", "template", "occupation", "subword").values
    exists = ~numpy.isnan(logprob)
    assert (exists.sum(axis=-1) == raw["num_subwords"].isel(rephrasing=0).transpose("group", "template", "occupation").values).all()
    total = numpy.where(exists, logprob, 0).sum(axis=-1)
    share = special.expit(total[..., 0] - total[..., 1])
    return {"probability": numpy.exp(total[..., 0]), "share": share,
            "token_probability_sum": numpy.where(exists, numpy.exp(logprob), 0).sum(axis=-1)[..., 0],
            "accuracy": numpy.where(total[..., 0] == total[..., 1], 0.5, total[..., 0] > total[..., 1]),
            "entropy": special.entr(share) + special.entr(1 - share)}  # fmt: skip


def contrast_rows(found):
    keys = zip(*(found[f"contrast_{name}"].values for name in ("name", "measure", "item")))
    place = {key: i for i, key in enumerate(keys)}
    values = {name: found["contrast_" + name].values for name in ("left", "difference")}
    return lambda key, name: values[name][place[key]]


def test_tables_of_winoidentity(coreferences):
    raw, found, _ = coreferences
    value = contrast_rows(found)
    kinds, stereotypes, genders = (raw["template_" + name].values for name in ("type", "stereotype", "gender"))
    augmentations, markers = raw["group_augmentation"].values, raw["group_referent_marker"].values
    baseline = int(numpy.flatnonzero(augmentations == "baseline")[0])
    checked = 0
    for measure, table in raw_measures(raw).items():
        for kind, short in (("unambiguous", "T2"), ("ambiguous", "T1")):
            if short == "T1" and measure == "accuracy":
                continue
            for which in ("pro", "anti"):
                sentences = (kinds == kind) & (stereotypes == which)
                means = table[:, sentences].mean(axis=1)
                for i, label in enumerate(raw["group"].values):
                    if i == baseline:
                        continue
                    key = (f"{short} {which} marker: {label}", measure, "referent")  # tables 7 to 25 and the loss
                    numpy.testing.assert_allclose(value(key, "left"), means[i], rtol=1e-11)
                    numpy.testing.assert_allclose(value(key, "difference"), means[i] - means[baseline], rtol=0, atol=1e-11)
                    checked += 1
                for marker in set(markers[numpy.char.startswith(augmentations.astype(str), "aug3")]):  # tables 11, 16, 22
                    several = numpy.char.startswith(augmentations.astype(str), "aug3") & (markers == marker)
                    key = (f"{short} {which} aug3 marker: {marker}", measure, "referent")
                    numpy.testing.assert_allclose(value(key, "left"), means[several].mean(), rtol=1e-11)
                    checked += 1
            of_kind = [(kinds == kind) & (stereotypes == which) for which in ("pro", "anti")]
            for augmentation in dict.fromkeys(augmentations):
                subjects = augmentations == augmentation
                pro, anti = (table[subjects][:, chosen].mean() for chosen in of_kind)  # all sentences have a partner
                key = (f"{short} pro - anti: {augmentation}", measure, "referent")
                numpy.testing.assert_allclose(value(key, "difference"), pro - anti, rtol=0, atol=1e-11)
    for which, gender in itertools.product(("pro", "anti"), ("female", "male")):  # table 13
        chosen = (kinds == "unambiguous") & (stereotypes == which) & (genders == gender)
        mean = raw_measures(raw)["accuracy"][baseline, chosen].mean()
        key = (f"T2 {which} without a marker: {gender}", "accuracy", "referent")
        numpy.testing.assert_allclose(value(key, "left"), mean, rtol=1e-11)
    assert checked > 1000


# guo2021, tables 1 to 4


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory):
    return finished(tmp_path_factory, "62_guo2021.yaml", "contexts", "axes.tests=[caliskan, guo_intersectional]",
                    statistics=["statistics.draws=200"])  # fmt: skip


def combined(effects, variances):
    """CES, its standard error, tau squared and Q of appendix 8.3."""
    w = 1 / variances
    q = (w * effects**2).sum() - (w * effects).sum() ** 2 / w.sum()
    c = w.sum() - (w**2).sum() / w.sum()
    tau_squared = max(0, (q - (len(effects) - 1)) / c)
    v = 1 / (variances + tau_squared)
    return (v * effects).sum() / v.sum(), v.sum() ** -0.5, tau_squared, q


def test_combined_effects_of_guo2021(embeddings):
    raw, found, text = embeddings
    seen = 0
    for i, test in enumerate(raw["test"].values):
        x, y = (len(json.loads(raw[f"test_{side}_words"].values[i])) for side in "xy")
        associations = raw["association"].values[i, :, : x + y]
        good = raw["status"].values[i] == 0
        assert good.sum() > 50 and not numpy.isnan(associations[good]).any()
        deviation = associations[good].std(axis=1, ddof=1)
        effects = (associations[good, :x].mean(axis=1) - associations[good, x:].mean(axis=1)) / deviation
        effect, error, tau_squared, q = combined(effects, deviation**2)
        row = found.sel(weat_test=test)
        numpy.testing.assert_allclose(row["weat"].item(), effect, rtol=1e-9, atol=1e-12)
        numpy.testing.assert_allclose(row["weat_sampling_error"].item(), error, rtol=1e-9)
        numpy.testing.assert_allclose(row["weat_sampling_tau_squared"].item(), tau_squared, rtol=1e-8)
        numpy.testing.assert_allclose(row["weat_sampling_q"].item(), q, rtol=1e-9)
        z = effect / error
        numpy.testing.assert_allclose(row["weat_sampling_log10_p"].item(), (numpy.log(2) + special.log_ndtr(-abs(z))) / numpy.log(10), rtol=1e-8)
        numpy.testing.assert_allclose(row["weat_mean"].item(), effects.mean(), rtol=1e-9, atol=1e-12)
        assert (f"{effect:.3f}" if abs(effect) >= 0.1 else f"{effect:.3g}") in text
        seen += 1
    assert seen == 14


@pytest.fixture(scope="module")
def detections(tmp_path_factory):
    return finished(tmp_path_factory, "63_guo2021_ibd.yaml", "contexts", statistics=["statistics.draws=100"])


def test_detection_of_guo2021(detections):
    raw, found, text = detections
    assert "Detected words against validated ones" in text
    yaml = pytest.importorskip("yaml")  # of transformers
    with open(runs.ROOT / "configs/detections/guo_groups.yaml", encoding="utf-8") as file:
        pieces = {piece["label"]: piece for piece in yaml.safe_load(file)["detections"]}
    effects = {}
    for i, test in enumerate(raw["test"].values):
        words = json.loads(raw["test_x_words"].values[i])
        ratio = raw["association"].values[i, 0] / raw["association_deviation"].values[i, 0]
        effects[test] = dict(zip(words, ratio))
    assert len(words) == 98 and len(effects) == 38
    for label in found["detection"].values:
        piece = pieces[label]
        for limit in (-1.0, 0.0, 0.35, 0.8):
            named = {word for word in words if any(effects[test][word] > limit for test in piece["against"])}
            # 8.2: the union of (W_IB - W_i), words that are high in every single-axis pair drop out
            emergent = {word for word in named if not all(effects[test][word] > limit for test in piece["single_axis"])}
            for kind, method, said in (("intersectional", "IBD", named), ("emergent", "EIBD", emergent)):
                row = found.sel(detection=label, detection_kind=method)
                right = sum((word in said) == (word in piece[kind]) for word in words)
                assert row["detection_curve_accuracy"].sel(threshold=f"{limit:.2f}").item() == pytest.approx(right / 98, abs=1e-12)
                assert row["detection_chance"].item() == pytest.approx(len(piece[kind]) / 98, abs=1e-12)
