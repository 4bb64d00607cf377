"""`stats` of contexts jobs: the numbers of numpy and scipy from the file's own associations, on any number of ranks."""

import itertools
import json
import sys

import context_jobs
import numpy as np
import pytest
import runs
import xarray as xr
from scipy import stats

sys.path.insert(0, str(runs.ROOT / "tests/bench"))
from statistics_draws import welch  # noqa: E402

LETTERS = runs.ROOT / "tests/models/letters"
X = [f"flower{i}" for i in range(8)]
Y = [f"insect{i}" for i in range(7)]
A, B = [f"good{i}" for i in range(5)], [f"bad{i}" for i in range(6)]
LARGE = [[f"{side}{i}" for i in range(26)] for side in "vw"]


def words_of(names):
    return "[" + ", ".join(names) + "]"


def write_static_job(folder):
    rng = np.random.default_rng(11)
    lines = []
    for name in X + Y + A + B + LARGE[0] + LARGE[1]:
        lean = {"f": 0.5, "g": 0.5}.get(name[0], 0) * np.arange(20) / 20
        vector = rng.normal(size=20) + lean
        lines.append(name + " " + " ".join(f"{value:.6f}" for value in vector))
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    sides = f"a: {{label: good, words: {words_of(A)}}}, b: {{label: bad, words: {words_of(B)}}}"
    (folder / "job.yaml").write_text(f"""schema: stereosweep/1
name: static_words
seed: 3
probe: contexts
vectors: {{file: {folder / 'vectors.txt'}, format: glove_text}}
axes:
  tests:
    - {{label: small, x: {{label: flowers, words: {words_of(X)}}}, y: {{label: insects, words: {words_of(Y)}}}, {sides}}}
    - {{label: large, x: {{label: v, words: {words_of(LARGE[0])}}}, y: {{label: w, words: {words_of(LARGE[1])}}}, {sides}}}
    - {{label: other, x: {words_of(X)}, y: {words_of(Y)}, a: {words_of(LARGE[0][:4])}, b: {words_of(LARGE[1][:5])}}}
    - {{label: tiny, x: {words_of(A[:3])}, y: {words_of(B[:3])}, a: {words_of(X[:4])}, b: {words_of(Y[:4])}}}
    - {{label: words, kind: wefat, x: {{label: all, words: {words_of(X + Y)}}}, {sides}}}
statistics:
  draws: 20000
  families: {{first: [small, other, tiny]}}
  detections:
    - {{label: flowers, against: [words], single_axis: [words], intersectional: {words_of(X)}, emergent: [{X[0]}]}}
""")
    return folder / "job.yaml"


@pytest.fixture(scope="module")
def static_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("static")
    job = write_static_job(folder)
    code, _, err = runs.run(job, folder / "run")
    assert code == 0, err
    return folder / "run"


def associations_of_file(output, words):
    """Mean cosine with A minus mean cosine with B, from the text file."""
    units = {}
    for line in (output.parent / "vectors.txt").read_text().splitlines():
        word, *values = line.split()
        vector = np.array(values, dtype=float)
        units[word] = vector / np.linalg.norm(vector)
    return [np.mean([units[w] @ units[a] for a in A]) - np.mean([units[w] @ units[b] for b in B]) for w in words]


def statistics(output, *settings, ranks=1):
    """The tables of `stats` and what it prints."""
    process = runs.start_program("stats", output, "--top", 5, *settings, ranks=ranks)
    code, out, err = runs.finish(process, 120)
    assert code == 0, err
    with xr.open_dataset(output / "contexts.stats.h5", engine="netcdf4") as tables:
        return tables.load(), out


def widest(text):
    """Columns of the widest line but that with the path."""
    return max(len(line) for line in text.splitlines() if not line.startswith("written:"))


@pytest.fixture(scope="module")
def alone(static_run):
    """What one rank finds."""
    return statistics(static_run)


def assert_attributes_relabelled(tables, raw, test, difference):
    """A and B by all 462 ways to divide their words; the largest p is cited."""
    scores = raw["attribute_association"].sel(test=test).values[0, : len(A + B)]
    a, b = scores[: len(A)], scores[len(A) :]
    assert a.mean() - b.mean() == pytest.approx(difference, rel=1e-9)
    exact = stats.permutation_test((a, b), lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
                                   vectorized=True, n_resamples=np.inf, alternative="greater")  # fmt: skip
    row = tables.sel(weat_test=test)
    assert float(row["weat_p_attributes_one_sided"]) == exact.pvalue
    assert float(row["weat_p"]) == max(float(row[f"weat_p_{way}"]) for way in ("targets", "attributes", "both"))
    assert float(row["weat_p_least"]) == 1 / 462


def test_static_vectors_as_scipy(static_run, alone):
    tables, out = alone
    raw = xr.open_dataset(static_run / "contexts.h5", engine="netcdf4").load()
    for test in ("small", "large"):
        place = list(raw["test"].values).index(test)
        sizes = [len(json.loads(str(raw[f"test_{side}_words"].values[place]))) for side in "xy"]
        association = raw["association"].values[place, 0, : sum(sizes)]
        x, y = association[: sizes[0]], association[sizes[0] :]
        assert np.allclose(association, associations_of_file(static_run, X + Y if test == "small" else sum(LARGE, [])))
        effect = (x.mean() - y.mean()) / association.std(ddof=1)
        row = tables.sel(weat_test=test)
        assert float(row["weat"]) == pytest.approx(effect, rel=1e-12)
        p = float(row["weat_p_targets_one_sided"])
        attributes = raw["attribute_association"].sel(test=test).values[0, : len(A + B)]
        both = welch(x.mean() - y.mean(), (x, y, attributes[: len(A)], attributes[len(A) :]))[0]
        assert float(row["weat_p_both"]) == pytest.approx(both, rel=1e-9)
        assert_attributes_relabelled(tables, raw, test, x.mean() - y.mean())
        if test == "small":
            exact = stats.permutation_test((x, y), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
                                           vectorized=True, n_resamples=np.inf, alternative="greater")  # fmt: skip
            assert p == exact.pvalue
            pool = np.concatenate([x, y]) - association.mean()
            sums = np.array([pool[list(chosen)].sum() for chosen in itertools.combinations(range(len(pool)), len(x))])
            far = np.abs(sums) >= abs((x - association.mean()).sum()) - 1e-12
            assert float(row["weat_p_targets"]) == far.mean()
            assert float(row["weat_p_targets_n"]) == 6435
        else:  # 5e14 partitions, counted; the normal distribution is close
            normal = stats.norm.sf(effect * np.sqrt(sizes[0] * sizes[1] / sum(sizes)))
            assert p == pytest.approx(normal, rel=0.05)
            assert float(row["weat_p_targets_n"]) == 495918532948104


def test_one_sample_has_no_z(static_run, alone):
    tables, out = alone
    assert not [name for name in tables if "_sampling_" in str(name)]
    assert np.isnan(tables["weat_sd"]).all() and np.isfinite(tables["weat"]).all()
    assert "There is one sample, and so no interval" in " ".join(out.split())
    everything = statistics(static_run, "--all")[1]
    assert "log10 p of z" not in everything
    assert widest(out + everything) <= 100


def test_words_of_wefat_by_relabelling_attributes(static_run, alone):
    """p of every word against all 462 ways to divide its cosines; `show` prints no other p."""
    tables, out = alone
    raw = xr.open_dataset(static_run / "contexts.h5", engine="netcdf4").load()
    chosen = np.array(list(itertools.combinations(range(11), 5)))
    one_sided, two_sided = [], []
    for word in range(len(X + Y)):
        cosine = raw["cosine"].sel(test="words").values[0, word, :11].astype(float)
        d = (cosine[:5].mean() - cosine[5:].mean()) / cosine.std(ddof=1)
        assert float(tables["wefat"][word]) == pytest.approx(d, rel=1e-5)
        sums = cosine[chosen].sum(axis=1) - 5 * cosine.mean()
        one_sided.append((sums >= sums[0] - 1e-12).mean())
        two_sided.append((np.abs(sums) >= abs(sums[0]) - 1e-12).mean())
    count = len(X + Y)
    assert tables.sizes["wefat_word"] == count
    assert list(tables["wefat_p_attributes_one_sided"].values) == one_sided
    assert list(tables["wefat_p"].values) == list(tables["wefat_p_attributes"].values) == two_sided
    np.testing.assert_allclose(tables["wefat_p_holm"], holm(np.array(two_sided)), rtol=1e-12)
    truth = stats.false_discovery_control(two_sided)
    np.testing.assert_allclose(tables["wefat_p_benjamini_hochberg"], truth, rtol=1e-12)
    order = np.lexsort((-np.abs(tables["wefat"]), two_sided))
    assert list(tables["wefat_rank"].values[order]) == list(range(1, count + 1))
    code, shown, err = runs.finish(runs.start_program("show", static_run), 60)
    assert code == 0, err
    assert "Holm" not in shown and "nearer to A" in shown and "one sample" in shown


def holm(p):
    """By its definition: the i-th smallest of n times n - i + 1, never below an earlier one."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def test_declared_families_are_adjusted_apart(static_run, alone):
    tables, out = alone
    first = ["small", "other", "tiny"]
    assert list(tables["weat_test"].values) == ["small", "large", "other", "tiny"]
    assert list(tables["weat_test_family"].values) == ["first", "", "first", "first"]
    assert list(tables["weat_family_size"].values) == [3, 0, 3, 3] and (tables["wefat_family_size"] == 15).all()
    assert "first (3 effects); in none, not adjusted: large." in " ".join(out.split())
    large = tables.sel(weat_test="large")
    assert np.isnan(large["weat_p_holm"]) and not np.isnan(large["weat_p"])
    p = tables["weat_p"].sel(weat_test=first).values
    for name, truth in [("holm", holm), ("benjamini_hochberg", stats.false_discovery_control),
                        ("benjamini_yekutieli", lambda p: stats.false_discovery_control(p, method="by"))]:  # fmt: skip
        np.testing.assert_allclose(tables[f"weat_p_{name}"].sel(weat_test=first), truth(p), rtol=1e-12)


def test_detection_from_word_effects(alone):
    tables, out = alone
    names = [str(word) for word in tables["wefat_word_word"].values]
    effects = dict(zip(names, tables["wefat"].values, strict=True))
    of_words = tables["detection_of_word"].sel(detection_kind="IBD")[0]
    meanings = of_words.attrs["flag_meanings"].split()
    states = zip(tables["detection_word"].values, of_words.values, strict=True)
    detected = [str(word) for word, state in states if meanings[state] == "detected"]
    threshold = float(tables["detection_best_threshold"].values[0, 0])
    assert sorted(detected) == sorted(name for name in names if effects[name] > threshold)
    right = sum((name in detected) == (name in X) for name in names)
    assert float(tables["detection_best_accuracy"].values[0, 0]) == pytest.approx(right / len(names))
    pairs = [(effects[a] > effects[b]) + 0.5 * (effects[a] == effects[b]) for a in X for b in Y]
    assert float(tables["detection_area"].values[0, 0]) == pytest.approx(np.mean(pairs))
    assert "IBD detects" in out


@pytest.mark.parametrize("ranks", [2, 3])
def test_same_numbers_on_any_number_of_ranks(static_run, alone, ranks):
    tables, text = statistics(static_run, ranks=ranks)
    assert text == alone[1]
    assert tables.identical(alone[0])


def test_ranks_end_together_on_bad_input(static_run):
    process = runs.start_program("stats", static_run, "samples=3", ranks=2)
    code, _, err = runs.finish(process, 60)
    assert code == 2 and "stats takes statistics.KEY=VALUE only" in err


def test_samples_of_contexts_as_numpy(tmp_path):
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt")
    job = context_jobs.write_job(tmp_path / "job.yaml", LETTERS, corpus, extra="statistics: {draws: 20000}")
    output = tmp_path / "run"
    code, _, err = runs.run(job, output)
    assert code == 0, err
    tables, out = statistics(output)
    raw = xr.open_dataset(output / "contexts.h5", engine="netcdf4").load()
    effects = raw["effect_size"].sel(test="T1").values
    n, m = (len(json.loads(str(raw[f"test_{side}_words"].sel(test="T1").values))) for side in "xy")
    assert float(tables["weat_mean"].sel(weat_test="T1")) == pytest.approx(effects.mean(), rel=1e-12)
    assert float(tables["weat_sd"].sel(weat_test="T1")) == pytest.approx(effects.std(ddof=1), rel=1e-12)
    variances = {
        "paper": raw["association_variance"].sel(test="T1").values,
        "cohen": (n + m) / (n * m) + effects**2 / (2 * (n + m)),
        "permutation": np.full(len(effects), (n + m) / (n * m)),
    }
    for name, variance in variances.items():
        weights = 1 / variance
        mean = (weights * effects).sum() / weights.sum()
        q = (weights * (effects - mean) ** 2).sum()
        spread = weights.sum() - (weights**2).sum() / weights.sum()
        tau_squared = max(0, (q - (len(effects) - 1)) / spread)
        weights = 1 / (variance + tau_squared)
        chosen = statistics(output, f"statistics.variance={name}")[0].sel(weat_test="T1")
        assert float(chosen["weat"]) == pytest.approx((weights * effects).sum() / weights.sum(), rel=1e-12)
        assert float(chosen["weat_sampling_error"]) == pytest.approx(weights.sum() ** -0.5, rel=1e-12)
        assert float(chosen["weat_sampling_tau_squared"]) == pytest.approx(tau_squared, rel=1e-10, abs=1e-15)
    deviations = raw["association_deviation"].sel(test="T2").values
    by_word = raw["association"].sel(test="T2").values / deviations
    count = int(np.isfinite(by_word[0]).sum())
    words = tables.isel(wefat_word=tables["wefat_word_test"].values == "T2")
    np.testing.assert_allclose(words["wefat_mean"], by_word[:, :count].mean(axis=0), rtol=1e-12)
    for word in range(count):  # one score per attribute word, from all samples
        weights = 1 / (deviations[:, word] ** 2 + tau_squared_of(by_word[:, word], deviations[:, word] ** 2))
        cosine = raw["cosine"].sel(test="T2").values[:, word].astype(float)
        scores = (weights / deviations[:, word] / weights.sum()) @ cosine
        sizes = [len(json.loads(str(raw[f"test_{side}_words"].sel(test="T2").values))) for side in "ab"]
        chosen = np.array(list(itertools.combinations(range(sum(sizes)), sizes[0])))
        sums = scores[: sum(sizes)][chosen].sum(axis=1) - sizes[0] * scores[: sum(sizes)].mean()
        assert float(words["wefat_p"][word]) == (np.abs(sums) >= abs(sums[0]) - 1e-12).mean()
    assert np.isnan(tables["weat_p"].sel(weat_test="T3"))  # no word of X has a vector
    assert "missing_words" in out and "x without flea" in out
    # the answer first, then p of relabelling, p of z only on request, and rare words by name
    assert out.startswith("No difference beyond chance. The nearest to it: T1: flowers are nearer to good, insects to bad: d")
    assert "\nTwo target sets" in out and "log10 p of z" not in out
    contexts = {str(word): int(number) for word, number in zip(raw["word"].values, raw["word_usable"].values)}
    rare = [word for word in contexts if 0 < contexts[word] < 20]
    note = "have fewer than 20 contexts" if len(rare) > 1 else "has fewer than 20 contexts"
    assert (note in out) == bool(rare)
    everything = statistics(output, "--all")[1]
    assert "How far the samples" in everything and "log10 p of z" in everything
    assert widest(out + everything) <= 100
    first_samples_alone(output, effects)


def first_samples_alone(output, effects):
    """What statistics.samples leaves: the first samples, in every table."""
    fewer, text = statistics(output, "statistics.samples=40")
    mean = fewer["weat_mean"].sel(weat_test="T1")
    assert float(mean) == pytest.approx(effects[:40].mean(), rel=1e-12) and "of 40 samples" in text
    np.testing.assert_allclose(fewer["score"].sel(measure="effect_size", item="T1").max("subject").squeeze(),
                               effects[:40], rtol=1e-12)  # fmt: skip
    code, _, err = runs.finish(runs.start_program("stats", output, "statistics.samples=601"), 60)
    assert code == 2 and "there are no 601 samples" in err and "each test has 600" in err


def tau_squared_of(effects, variances):
    """DerSimonian and Laird."""
    weights = 1 / variances
    q = (weights * (effects - (weights * effects).sum() / weights.sum()) ** 2).sum()
    return max(0, (q - len(effects) + 1) / (weights.sum() - (weights**2).sum() / weights.sum()))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Samples and tables of job 61, whose sentences are made of 7 templates of a plural in 3 rephrasings."""
    output = tmp_path_factory.mktemp("made") / "run"
    code, _, err = runs.run(runs.ROOT / "jobs/61_generated_contexts.yaml", output, "samples=60")
    assert code == 0, err
    sides = "left: {subject: women}, right: {subject: men}"
    tables, out = statistics(
        output, "--means", f"statistics.contrasts=[{{name: gender, {sides}}}]", "statistics.variance_shares={}"
    )
    raw = xr.open_dataset(output / "contexts.h5", engine="netcdf4").load()
    return raw, tables, out


def effects_by_cell(raw, test, word):
    """{(template, rephrasing): effects of the word in the samples of these}."""
    place = list(raw["test"].values).index(test)
    target = json.loads(str(raw["test_x_words"].values[place])).index(word)
    effects = raw["association"].values[place, :, target] / raw["association_deviation"].values[place, :, target]
    cells = {}
    for sample, effect in enumerate(effects):
        cell = str(raw["sample_template"].values[sample]), str(raw["sample_rephrasing"].values[sample])
        cells.setdefault(cell, []).append(effect)
    return cells


def test_made_sentences_keep_template_and_rephrasing(made):
    raw, tables, _ = made
    score = tables["score"].sel(measure="effect_size")
    assert dict(score.sizes) == {"subject": 17, "template": 7, "rephrasing": 3, "replicate": 3, "item": 2}
    for test in raw["test"].values:
        for word in ("women", "men with disabilities"):
            cells = effects_by_cell(raw, test, word)
            assert len(cells) == 21
            for (template, rephrasing), effects in cells.items():
                kept = score.sel(subject=word, template=template, rephrasing=rephrasing, item=test).values
                np.testing.assert_allclose(kept[: len(effects)], effects, rtol=1e-12)
                assert np.isnan(kept[len(effects) :]).all()


def test_means_and_contrasts_of_made_sentences_as_numpy(made):
    raw, tables, out = made
    for test in raw["test"].values:
        means = {}
        for word in ("women", "men"):
            cells = {cell: np.mean(effects) for cell, effects in effects_by_cell(raw, test, word).items()}
            means[word] = np.array([cells[cell] for cell in sorted(cells)]).reshape(7, 3)
            row = tables.sel(mean_measure="effect_size") if "mean_measure" in tables.dims else tables.sel(measure="effect_size")
            row = row.sel(subject=word, item=test)
            assert float(row["mean_score"]) == pytest.approx(means[word].mean(), rel=1e-10)
            assert int(row["mean_score_n"]) == 21 and row["mean_score_low"] < row["mean_score"] < row["mean_score_high"]
        chosen = (tables["contrast_measure"] == "effect_size") & (tables["contrast_item"] == test)
        contrast = tables.isel(contrast=np.flatnonzero(chosen.values)).squeeze("contrast")
        difference = means["women"] - means["men"]
        assert float(contrast["contrast_difference"]) == pytest.approx(difference.mean(), rel=1e-9)
        assert contrast["contrast_low"] < contrast["contrast_difference"] < contrast["contrast_high"]
        assert 0 < contrast["contrast_p"] <= 1
    assert "template" in out and "rephrasing" in out


def test_intervals_stay_where_effect_sizes_can_be(tmp_path):
    """Two templates leave an interval of many times the mean: it ends where no sample of so many words can pass."""
    few = ["corpus.templates.only=[in_town, typical]", "corpus.rephrasings.only=[none, bus]", "samples=40"]
    output = tmp_path / "run"
    code, _, err = runs.run(runs.ROOT / "jobs/61_generated_contexts.yaml", output, *few)
    assert code == 0, err
    sides = "left: {subject: women}, right: {subject: men}"
    tables, _ = statistics(output, "--means", f"statistics.contrasts=[{{name: gender, {sides}}}]")
    raw = xr.open_dataset(output / "contexts.h5", engine="netcdf4")
    counts = [[len(json.loads(str(words))) for words in raw[f"test_{side}_words"].values] for side in "ab"]
    largest = max(np.sqrt((a + b) * (a + b - 1) / (a * b)) for a, b in zip(*counts, strict=True))
    ends = [float(str(tables[f"measure_{end}"].sel(measure="effect_size").item())) for end in ("lowest", "highest")]
    assert ends == pytest.approx([-largest, largest], rel=1e-12)
    low, high = tables["mean_score_low"].values, tables["mean_score_high"].values
    assert np.isfinite(low).any() and np.nanmin(low) >= ends[0] and np.nanmax(high) <= ends[1]
    contrasts = tables["contrast_low"].values[(tables["contrast_measure"] == "effect_size").values]
    assert np.isfinite(contrasts).any() and np.nanmin(contrasts) >= 2 * ends[0] * (1 + 1e-12)
