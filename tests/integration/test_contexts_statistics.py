"""`stats` of contexts jobs: the numbers of numpy and scipy from the file's own associations, on any number of ranks."""

import itertools
import json

import context_jobs
import numpy as np
import pytest
import runs
import xarray as xr
from scipy import stats

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
    process = runs.start_program("stats", output, *settings, ranks=ranks)
    code, out, err = runs.finish(process, 120)
    assert code == 0, err
    with xr.open_dataset(output / "contexts.stats.h5", engine="h5netcdf") as tables:
        return tables.load(), out


def widest(text):
    """Columns of the widest line but that with the path."""
    return max(len(line) for line in text.splitlines() if not line.startswith("written:"))


@pytest.fixture(scope="module")
def alone(static_run):
    """What one rank finds."""
    return statistics(static_run)


def assert_attributes_relabelled(tables, raw, test, difference):
    """A and B by all 462 ways to divide their words; the larger p is cited."""
    scores = raw["attribute_association"].sel(test=test).values[0, : len(A + B)]
    a, b = scores[: len(A)], scores[len(A) :]
    assert a.mean() - b.mean() == pytest.approx(difference, rel=1e-9)
    exact = stats.permutation_test((a, b), lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
                                   vectorized=True, n_resamples=np.inf, alternative="greater")  # fmt: skip
    assert float(tables["attribute_permutation_p"].sel(test=test)) == exact.pvalue
    both = [float(tables[f"{way}permutation_p_two_sided"].sel(test=test)) for way in ("", "attribute_")]
    assert float(tables["p_cite"].sel(test=test)) == max(both)
    assert float(tables["p_least"].sel(test=test)) == 1 / 462


def test_static_vectors_as_scipy(static_run, alone):
    tables, out = alone
    raw = xr.open_dataset(static_run / "contexts.h5", engine="h5netcdf").load()
    for test in ("small", "large"):
        place = list(raw["test"].values).index(test)
        sizes = [len(json.loads(str(raw[f"test_{side}_words"].values[place]))) for side in "xy"]
        association = raw["association"].values[place, 0, : sum(sizes)]
        x, y = association[: sizes[0]], association[sizes[0] :]
        assert np.allclose(association, associations_of_file(static_run, X + Y if test == "small" else sum(LARGE, [])))
        effect = (x.mean() - y.mean()) / association.std(ddof=1)
        combined = tables["combined_effect"].sel(test=test, variance="paper", estimator="dersimonian_laird")
        assert float(combined) == pytest.approx(effect, rel=1e-12)
        p = float(tables["permutation_p"].sel(test=test))
        assert_attributes_relabelled(tables, raw, test, x.mean() - y.mean())
        if test == "small":
            exact = stats.permutation_test((x, y), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
                                           vectorized=True, n_resamples=np.inf, alternative="greater")  # fmt: skip
            assert p == exact.pvalue
            pool = np.concatenate([x, y]) - association.mean()
            sums = np.array([pool[list(chosen)].sum() for chosen in itertools.combinations(range(len(pool)), len(x))])
            far = np.abs(sums) >= abs((x - association.mean()).sum()) - 1e-12
            assert float(tables["permutation_p_two_sided"].sel(test=test)) == far.mean()
            assert str(tables["permutation_two_sided_reaching"].sel(test=test).values) == str(far.sum())
            assert str(tables["permutation_partitions"].sel(test=test).values) == "6435"
        else:  # 5e14 partitions, counted; the normal distribution is close
            normal = stats.norm.sf(effect * np.sqrt(sizes[0] * sizes[1] / sum(sizes)))
            assert p == pytest.approx(normal, rel=0.05)
            assert str(tables["permutation_partitions"].sel(test=test).values) == "495918532948104"
    everything = statistics(static_run, "--all")[1]
    assert "exact" in everything and "495918532948104" in everything


def test_one_sample_has_no_z(static_run, alone):
    tables, out = alone
    for name in ("standard_error", "low", "high", "z", "log10_p_two_sided", "log10_p_one_sided",
                 "adjusted_log10_p_two_sided", "word_standard_error", "word_log10_p_two_sided",
                 "adjusted_word_log10_p_two_sided"):  # fmt: skip
        assert np.isnan(tables[name]).all(), name
    names = tables["z_status"].attrs["flag_meanings"].split()
    assert [names[status] for status in tables["z_status"].values] == ["one_sample"] * 4 + ["no_effect"]
    words = tables["word_z_status"].sel(test="words").values
    assert {names[status] for status in words[: len(X + Y)]} == {"one_sample"}
    assert "There is one sample, and so no interval" in out and "p of z (with" not in out
    everything = statistics(static_run, "--all")[1]
    assert "one sample" in everything
    assert widest(out + everything) <= 100


def test_words_of_wefat_by_relabelling_attributes(static_run, alone):
    """p of every word against all 462 ways to divide its cosines; `show` prints no other p."""
    tables, out = alone
    raw = xr.open_dataset(static_run / "contexts.h5", engine="h5netcdf").load()
    chosen = np.array(list(itertools.combinations(range(11), 5)))
    one_sided, two_sided, z = [], [], []
    for word in range(len(X + Y)):
        cosine = raw["cosine"].sel(test="words").values[0, word, :11].astype(float)
        d = (cosine[:5].mean() - cosine[5:].mean()) / cosine.std(ddof=1)
        assert float(tables["word_effect"].sel(test="words")[word]) == pytest.approx(d, rel=1e-5)
        sums = cosine[chosen].sum(axis=1) - 5 * cosine.mean()
        one_sided.append((sums >= sums[0] - 1e-12).mean())
        two_sided.append((np.abs(sums) >= abs(sums[0]) - 1e-12).mean())
        z.append(np.abs(sums) / cosine.std(ddof=1))
    count = len(X + Y)
    assert list(tables["word_permutation_p"].sel(test="words").values[:count]) == one_sided
    assert list(tables["word_permutation_p_two_sided"].sel(test="words").values[:count]) == two_sided
    adjusted = tables["adjusted_word_p_cite"].sel(test="words")[:count]
    np.testing.assert_allclose(adjusted.sel(adjustment="holm"), holm(np.array(two_sided)), rtol=1e-12)
    truth = stats.false_discovery_control(two_sided)
    np.testing.assert_allclose(adjusted.sel(adjustment="benjamini_hochberg"), truth, rtol=1e-12)
    assert (adjusted >= np.array(two_sided)[:, None]).all()
    z = np.array(z)
    largest = z[:, 0].argmax()  # the first step of max-T: the largest of all words in every relabelling
    reached = (z.max(axis=0) >= z[largest, 0] - 1e-9).mean()
    adjusted = tables["adjusted_word_p_cite"].sel(test="words", adjustment="max_t")
    assert float(adjusted[largest]) == pytest.approx(max(reached, two_sided[largest]), abs=0.02)
    code, shown, err = runs.finish(runs.start_program("show", static_run), 60)
    assert code == 0, err
    assert "Holm" not in shown and "mean d" in shown and "one sample" in shown


def holm(p):
    """By its definition: the i-th smallest of n times n - i + 1, never below an earlier one."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def all_z(association, num_x):
    """z of every relabelling of one test's target words, the observed one first."""
    pool = association - association.mean()
    chosen = np.array(list(itertools.combinations(range(len(pool)), num_x)))
    share = num_x * (len(pool) - num_x) / len(pool)
    return pool[chosen].sum(axis=1) / np.sqrt(share) / pool.std(ddof=1)


def max_t(table, observed):
    """Step-down max-T, two-sided. `table`: z of every relabelling, axes that broadcast; `observed`: magnitudes."""
    order = sorted(observed, key=lambda test: -observed[test])
    shape = np.broadcast_shapes(*(values.shape for values in table.values()))
    adjusted, earlier = {}, 0
    for place, test in enumerate(order):
        largest = np.abs(np.broadcast_to(table[order[-1]], shape))
        for later in order[place:-1]:
            largest = np.maximum(largest, np.abs(table[later]))
        earlier = adjusted[test] = max(earlier, (largest >= observed[test] - 1e-12).mean())
    return adjusted


def test_declared_families_are_adjusted_apart(static_run, alone):
    tables, out = alone
    raw = xr.open_dataset(static_run / "contexts.h5", engine="h5netcdf").load()
    first = ["small", "other", "tiny"]
    assert list(tables["test_family"].values) == ["first", "", "first", "first", "all words"]
    assert list(tables["family_size"].values) == [3, 0, 3, 3, 15]
    assert "first (3 tests); in none, not adjusted: large." in out
    adjusted = tables["adjusted_p_cite"]
    assert np.isnan(adjusted.sel(test="large")).all() and not np.isnan(tables["p_cite"].sel(test="large"))
    p = tables["p_cite"].sel(test=first).values
    ways = [tables[f"{way}permutation_p_two_sided"].sel(test=first).values for way in ("", "attribute_")]
    assert list(p) == list(np.maximum(*ways))
    for name, truth in [("holm", holm), ("benjamini_hochberg", stats.false_discovery_control),
                        ("benjamini_yekutieli", lambda p: stats.false_discovery_control(p, method="by"))]:  # fmt: skip
        np.testing.assert_allclose(adjusted.sel(test=first, adjustment=name), truth(p), rtol=1e-12)
    relabelled = {}
    of_attributes = {}
    for test in first:
        sizes = [len(json.loads(str(raw[f"test_{side}_words"].sel(test=test).values))) for side in "xyab"]
        relabelled[test] = all_z(raw["association"].sel(test=test).values[0, : sum(sizes[:2])], sizes[0])
        attributes = raw["attribute_association"].sel(test=test).values[0, : sum(sizes[2:])]
        of_attributes[test] = all_z(attributes, sizes[2])
    # tests about the same words are relabelled together, `tiny` apart from them: 6,435 x 20 labels
    table = {"small": relabelled["small"][:, None], "other": relabelled["other"][:, None], "tiny": relabelled["tiny"]}
    by_targets = max_t(table, {test: abs(relabelled[test][0]) for test in first})
    apart = [of_attributes[test].reshape([-1 if place == own else 1 for own in range(3)])
             for place, test in enumerate(first)]  # fmt: skip
    by_attributes = max_t(dict(zip(first, apart)), {test: abs(of_attributes[test][0]) for test in first})
    for test, plain in zip(first, p, strict=True):
        truth = max(by_targets[test], by_attributes[test], plain)
        error = 5 * np.sqrt(truth * (1 - truth) / 20000) + 1e-4
        assert float(adjusted.sel(test=test, adjustment="max_t")) == pytest.approx(truth, abs=error), test


def test_detection_from_word_effects(alone):
    tables, out = alone
    names = [str(word) for word in tables["word"].sel(test="words").values if str(word)]
    effects = dict(zip(names, tables["word_effect"].sel(test="words").values, strict=False))
    detected = json.loads(str(tables["detected_words"].values[0, 0]))
    threshold = float(tables["best_threshold"].values[0, 0])
    assert sorted(detected) == sorted(name for name in names if effects[name] > threshold)
    right = sum((name in detected) == (name in X) for name in names)
    assert float(tables["best_accuracy"].values[0, 0]) == pytest.approx(right / len(names))
    pairs = [(effects[a] > effects[b]) + 0.5 * (effects[a] == effects[b]) for a in X for b in Y]
    assert float(tables["area"].values[0]) == pytest.approx(np.mean(pairs))
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
    raw = xr.open_dataset(output / "contexts.h5", engine="h5netcdf").load()
    effects = raw["effect_size"].sel(test="T1").values
    n, m = (len(json.loads(str(raw[f"test_{side}_words"].sel(test="T1").values))) for side in "xy")
    assert float(tables["mean_effect"].sel(test="T1")) == pytest.approx(effects.mean(), rel=1e-12)
    assert float(tables["effect_deviation"].sel(test="T1")) == pytest.approx(effects.std(ddof=1), rel=1e-12)
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
        chosen = tables.sel(test="T1", variance=name, estimator="dersimonian_laird")
        assert float(chosen["combined_effect"]) == pytest.approx((weights * effects).sum() / weights.sum(), rel=1e-12)
        assert float(chosen["standard_error"]) == pytest.approx(weights.sum() ** -0.5, rel=1e-12)
        assert float(chosen["tau_squared"]) == pytest.approx(tau_squared, rel=1e-10, abs=1e-15)
    deviations = raw["association_deviation"].sel(test="T2").values
    by_word = raw["association"].sel(test="T2").values / deviations
    count = int(np.isfinite(by_word[0]).sum())
    assert np.allclose(tables["word_effect"].sel(test="T2").values[:count], by_word[:, :count].mean(axis=0), rtol=1e-12)
    words = 10 ** tables["word_log10_p_two_sided"].sel(test="T2").values[:count]
    log_p = tables["adjusted_word_log10_p_two_sided"].sel(test="T2", correction="holm").values[:count]
    np.testing.assert_allclose(10**log_p, holm(words), rtol=1e-12)
    for word in range(count):  # one score per attribute word, from all samples
        weights = 1 / (deviations[:, word] ** 2 + tau_squared_of(by_word[:, word], deviations[:, word] ** 2))
        cosine = raw["cosine"].sel(test="T2").values[:, word].astype(float)
        scores = (weights / deviations[:, word] / weights.sum()) @ cosine
        sizes = [len(json.loads(str(raw[f"test_{side}_words"].sel(test="T2").values))) for side in "ab"]
        chosen = np.array(list(itertools.combinations(range(sum(sizes)), sizes[0])))
        sums = scores[: sum(sizes)][chosen].sum(axis=1) - sizes[0] * scores[: sum(sizes)].mean()
        p = float(tables["word_permutation_p_two_sided"].sel(test="T2")[word])
        assert p == (np.abs(sums) >= abs(sums[0]) - 1e-12).mean()
    assert np.isnan(float(tables["permutation_p"].sel(test="T3")))  # no word of X has a vector
    assert "missing_words" in out and "x without flea" in out
    # p of relabelling first, p of z only on request, and rare words by name
    first = out.split("\n\n")[1]
    assert first.startswith("test") and "sd  contexts  p to cite" in first.splitlines()[0]
    assert "shrinks with the number of samples" in " ".join(out.split()) and "Monte Carlo error" not in out
    contexts = {str(word): int(number) for word, number in zip(raw["word"].values, raw["word_usable"].values)}
    rare = [word for word in contexts if 0 < contexts[word] < 20]
    note = "have fewer than 20 contexts" if len(rare) > 1 else "has fewer than 20 contexts"
    assert (note in out) == bool(rare)
    everything = statistics(output, "--all")[1]
    assert "Monte Carlo error of the mean over samples" in everything and "p of z" in everything
    assert widest(out + everything) <= 100
    first_samples_alone(output, effects)


def first_samples_alone(output, effects):
    """What statistics.samples leaves: the first samples, in every table."""
    fewer, text = statistics(output, "statistics.samples=40")
    mean = fewer["mean_effect"].sel(test="T1")
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
