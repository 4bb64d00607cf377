"""What `stats` and the analysis package make of jobs/70_stereomap.yaml as shipped, against the planted table and scipy."""

import collections
import csv

import numpy as np
import pytest
import recover_chat  # beside this file
import xarray as xr
from scipy import stats
from scipy.cluster.vq import kmeans2
from stereosweep_analysis.cli import main

DICTIONARY = recover_chat.HERE.parents[2] / "configs/dictionaries/stereotype_content.tsv"


@pytest.fixture(scope="module")
def derived(planted_run, planted_report):
    assert planted_report
    with xr.open_dataset(planted_run / "interview.stats.h5", engine="netcdf4") as data:
        return data.load()


def group_means(derived, dimension, measure="rating"):
    """[subject]: mean over the items' cells with a rating, the rounds of a cell averaged first."""
    own = derived.item_dimension.values.astype(str) == dimension
    cells = derived.score.sel(measure=measure)[..., own].mean("replicate", skipna=True)
    return cells.stack(cell=("template", "rephrasing", "item")).mean("cell", skipna=True).values


def analysis(capsys, *arguments):
    """Rows by table, of what the command prints and writes."""
    assert main([str(part) for part in arguments]) == 0
    printed = capsys.readouterr().out
    folder = arguments[arguments.index("--output") + 1]
    tables = {}
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return printed, tables


@pytest.mark.filterwarnings("ignore:One of the clusters is empty")
def test_clusters_are_of_warmth_and_competence(derived, planted_report):
    """Five clusters with the least inertia that many runs of scipy find; how often the best was hit is said."""
    points = np.stack([group_means(derived, name) for name in ("warmth", "competence")], axis=1)
    source = derived.sel(cluster_source="rating")
    assert [str(name) for name in derived.dimension.values] == ["warmth", "competence"] and int(source.cluster_number) == 5
    np.testing.assert_allclose(source.cluster_point, points, rtol=1e-12)
    least = np.inf
    for seed in range(300):
        centres, labels = kmeans2(points, 5, minit="++", seed=seed, iter=30)
        least = min(least, ((points - centres[labels]) ** 2).sum())
    inertia = float(derived.cluster_inertia.sel(num_clusters="5", cluster_measure="rating"))
    assert inertia == pytest.approx(least, abs=1e-9)
    hits = int(derived.cluster_restarts_at_best.sel(num_clusters="5", cluster_measure="rating"))
    assert 0 < hits <= 1000 and f"best inertia of 5 clusters in {hits} of 1,000" in " ".join(planted_report.split())
    cluster = source.cluster_of_subject.values
    for place in range(5):
        own = points[cluster == place]
        expected = stats.ttest_rel(own[:, 0], own[:, 1])
        np.testing.assert_allclose(source.cluster_t[place, 0], expected.statistic, rtol=1e-9, atol=1e-9)
    assert "WARNING: the clusters were fitted on the same scores" in " ".join(planted_report.split())


def test_correlations_among_all_groups_and_within_clusters(derived):
    names = {str(name) for name in derived.correlation_name.values}
    assert names == {"structure", "emotions", "behaviours"}
    cluster = derived.sel(cluster_source="rating").cluster_of_subject.values
    among = collections.Counter()
    for place in range(derived.sizes["correlation"]):
        row = derived.isel(correlation=place)
        where = str(row.correlation_among.values)
        kept = np.ones(len(cluster), bool) if where == "all" else cluster == int(where.split()[1].rstrip(":"))
        left, right = (np.round(group_means(derived, str(row[f"correlation_{side}"].values))[kept], 12) for side in ("row", "column"))
        among[where.split(":")[0]] += 1
        if int(row.correlation_status) == 0:
            assert float(row.correlation_coefficient) == pytest.approx(stats.spearmanr(left, right).statistic, abs=1e-12)
            assert int(row.correlation_n) == kept.sum()
        else:
            assert np.ptp(left) == 0 or np.ptp(right) == 0 or kept.sum() < 3
    assert among == {name: 2 * (2 + 4 + 4) for name in ("all", *(f"cluster {place}" for place in range(5)))}


def test_keywords_by_cluster(planted_run, derived, tmp_path, capsys):
    """Words of the clusters' members, counted from the raw file; directions from the dictionary."""
    printed, tables = analysis(capsys, "keywords", planted_run, "--dictionary", DICTIONARY, "--by", "cluster", "--output", tmp_path)
    cluster = dict(zip(derived.subject.values.astype(str), derived.sel(cluster_source="rating").cluster_of_subject.values, strict=True))
    found = recover_chat.Found(planted_run / "interview.h5")
    said = collections.defaultdict(collections.Counter)
    for group in found.groups:
        for words in found.keywords({"group": group, "conversation": "traits"}):
            said[str(cluster[group])].update(word.lower() for word in words)
    single = {unit: {word: count for word, count in words.items() if " " not in word} for unit, words in said.items()}
    written = collections.defaultdict(collections.Counter)
    for row in tables["keywords"]:
        written[row["unit"]][row["raw"]] += int(row["said"])
    assert written == single and len(written) == 5
    with DICTIONARY.open(newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    entries = list(csv.DictReader(lines, delimiter="\t"))
    sums = collections.defaultdict(lambda: [0, 0])
    for unit, words in single.items():
        for entry in entries:
            if entry["word"] in words and entry["direction"] != "NA":
                sums[unit, entry["dimension"]][0] += float(entry["direction"])
            if entry["word"] in words:
                sums[unit, entry["dimension"]][1] += 1
    checked = 0
    for row in tables["dimensions"]:
        total, words = sums[row["unit"], row["dimension"]]
        if int(row["words"]) == words:  # without words that only their lemma brings in
            assert float(row["direction"]) == pytest.approx(total / words)
            checked += 1
    assert checked > 10 and "clusters of rating" in printed
    warm = {unit for unit in single if {"friendly", "sincere"} & set(single[unit])}
    assert warm and warm != set(single)


def test_extremes_are_those_of_the_planted_table(planted_run, derived, tmp_path, capsys):
    printed, tables = analysis(capsys, "extremes", planted_run, "--measure", "rating", "--item", "competent", "--number", "5",
                               "--output", tmp_path)
    planted = {row["group"]: float(row["value"]) for row in recover_chat.truth()
               if row["item"] == "competent" and row["status"] == "answered" and not row["other"]}  # fmt: skip
    score = derived.score.sel(measure="rating", item="competent")
    own = dict(zip(derived.subject.values.astype(str), score.values.reshape(score.sizes["subject"], -1), strict=True))
    for name, sign in (("highest mean", -1), ("lowest mean", 1)):
        rows = [row for row in tables["extremes"] if row["list"] == name]
        assert [int(row["rank"]) for row in rows] == [1, 2, 3, 4, 5]
        means = sorted((sign * np.nanmean(values) for values in own.values()))
        for row, mean in zip(rows, means, strict=False):
            scores = own[row["subject"]][np.isfinite(own[row["subject"]])]
            assert float(row["mean"]) == pytest.approx(sign * mean) == pytest.approx(scores.mean())
            assert float(row["variance"]) == pytest.approx(np.var(scores, ddof=1)) and int(row["scores"]) == len(scores)
        end = max(planted.values()) if sign < 0 else min(planted.values())
        assert planted[rows[0]["subject"]] == end
    assert printed.startswith("rating:") and "highest mean" in printed


def test_consistency_is_what_stats_wrote(planted_run, derived, tmp_path, capsys):
    _, tables = analysis(capsys, "consistency", planted_run, "--output", tmp_path)
    values = np.abs(derived.rating_variation_over_rounds.sel(template="full", rated_dimension="warmth").values)
    row = next(row for row in tables["variation"] if row["form"] == "full" and row["dimension"] == "warmth")
    assert (float(row["over_rounds"]), float(row["over_rounds_largest"])) == pytest.approx((values.mean(), values.max()))
    assert row["to_first_form"] == ""  # it is the first
    row = next(row for row in tables["diversity"] if row["turn"] == "reasons" and row["ngram"] == "3")
    own = derived.sel(conversation="traits", template="full", ngram="3").isel(turn=1)
    assert float(row["self_bleu"]) == float(own.self_bleu_over_groups) and int(row["texts"]) == int(own.texts_over_groups)
    assert float(row["self_bleu_of_group"]) == pytest.approx(float(own.self_bleu_over_rounds.mean()))
    assert float(row["entropy_bits"]) == float(own.entropy_over_groups)
    refused = {row["label"]: float(row["refused"]) for row in tables["refusals_by_group"]}
    planted = {row["group"] for row in recover_chat.truth() if row["status"] == "refused"}
    assert planted == {group for group, share in refused.items() if share > 0.05}
    assert len(tables["refusals_by_form"]) == 2
