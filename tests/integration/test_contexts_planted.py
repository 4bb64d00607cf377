"""Truth test of embedding tests: associations planted in contexts alone come back, at their size, and nothing else does."""

import json
import subprocess

import numpy as np
import planted_contexts as planted
import pytest
import runs
import xarray as xr
from scipy import stats

SETS = {"strong": 0.6, "weak": 0.25, "neutral": 0.0, "other": 0.0, "opposite": -0.6}
GRADED = dict(zip(planted.names("gra"), [-0.9, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 0.9], strict=True))
PAIRS = {"far": ("strong", "opposite"), "turned": ("opposite", "strong"), "half": ("weak", "neutral"), "none": ("neutral", "other")}

JOB = """
schema: stereosweep/1
name: planted_contexts
seed: 11
model: {path: MODEL}
probe: contexts
corpus: {files: [CORPUS], max_contexts: 40}
axes:
  sets: SETS
  tests:
    - {label: far, x: strong, y: opposite, a: light, b: dark}
    - {label: turned, x: opposite, y: strong, a: light, b: dark}
    - {label: half, x: weak, y: neutral, a: light, b: dark}
    - {label: none, x: neutral, y: other, a: light, b: dark}
    - {label: words, x: graded, a: light, b: dark}
samples: 1000
"""


def words_of(name):
    return planted.names(name[:3])


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    leanings = {word: leaning for name, leaning in SETS.items() for word in words_of(name)} | GRADED
    planted.write_corpus(folder / "corpus.txt", leanings, seed=3)
    planted.write_model(folder / "model", list(leanings), seed=4)
    sets = {name: words_of(name) for name in SETS} | {"graded": list(GRADED)} | planted.ATTRIBUTES
    text = JOB.replace("MODEL", str(folder / "model")).replace("CORPUS", str(folder / "corpus.txt"))
    (folder / "job.yaml").write_text(text.replace("SETS", json.dumps(sets)))
    return folder / "job.yaml"


@pytest.fixture(scope="module")
def directory(job, tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "run"
    code, _, err = runs.run(job, output, ranks=2)
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def effects(directory):
    with xr.open_dataset(directory / "contexts.h5", engine="netcdf4") as data:
        return data.load()


def test_every_sample_has_an_effect(effects):
    assert effects.sizes["sample"] == 1000
    assert (effects["status"].sel(test=list(PAIRS)) == 0).all()
    assert np.isfinite(effects["effect_size"].sel(test=list(PAIRS))).all()


@pytest.mark.parametrize("test", PAIRS)
def test_planted_effects_come_back(effects, test):
    x, y = ([SETS[name]] * planted.SET_SIZE for name in PAIRS[test])
    expected = planted.planted_effect(x, y, seed=1)
    measured = effects["effect_size"].sel(test=test).values.mean()
    # Words are not quite at +1 and -1: their places in the sentence and other words move them, by less than this.
    assert measured == pytest.approx(expected, abs=0.08)


def test_single_words_lean_as_planted(effects):
    chosen = effects.sel(test="words")
    words = json.loads(str(chosen["test_x_words"].values))
    assert words == list(GRADED)
    means = chosen["association"].values[:, : len(words)].mean(axis=0)
    leanings = np.array(list(GRADED.values()))
    # The order is exact; the line is not quite straight, for every word has a small leaning of its own.
    assert stats.spearmanr(means, leanings).statistic == pytest.approx(1)
    assert stats.pearsonr(means, leanings).statistic > 0.97
    assert (np.sign(means) == np.sign(leanings))[np.abs(leanings) > 0.2].all()


def test_static_vectors_of_the_same_words_know_nothing(job, tmp_path):
    """The planted associations stand in the sentences: the model's input embeddings of all target words are alike."""
    text = job.read_text()
    lines = [line for line in text.splitlines() if not line.startswith(("corpus:", "samples:"))]
    static = tmp_path / "static.yaml"
    static.write_text("\n".join([*lines, "vectors: {format: model}"]) + "\n")
    code, _, err = runs.run(static, tmp_path / "run")
    assert code == 0, err
    with xr.open_dataset(tmp_path / "run" / "contexts.h5", engine="netcdf4") as data:
        association = data["association"].sel(test="far").values
    assert np.nanmax(np.abs(association)) < 1e-6


def test_statistics_tell_what_is_planted_from_what_is_not(directory):
    done = subprocess.run([runs.PROGRAM, "stats", str(directory)], capture_output=True, text=True, cwd=runs.ROOT)
    assert done.returncode == 0, done.stderr
    with xr.open_dataset(directory / "contexts.stats.h5", engine="netcdf4") as data:
        found = data.load()
    for test, sets in PAIRS.items():
        expected = planted.planted_effect(*([SETS[name]] * planted.SET_SIZE for name in sets), seed=1)
        assert float(found["weat"].sel(weat_test=test)) == pytest.approx(expected, abs=0.1)
    p = {test: float(found["weat_p_targets_one_sided"].sel(weat_test=test)) for test in PAIRS}
    assert p["far"] < 0.001 and p["half"] < 0.05 and 0.05 < p["none"] < 0.95 and p["turned"] > 0.999
