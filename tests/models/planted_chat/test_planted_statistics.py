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
    assert [str(name) for name in derived.cluster_dimension.values] == ["warmth", "competence"] and int(source.cluster_number) == 5
    np.testing.assert_allclose(source.cluster_point, points, rtol=1e-12)
    least = np.inf
    for seed in range(300):
        centres, labels = kmeans2(points, 5, minit="++", seed=seed, iter=30)
        least = min(least, ((points - centres[labels]) ** 2).sum())
    inertia = float(derived.cluster_inertia.sel(num_clusters="5", cluster_source="rating"))
    assert inertia == pytest.approx(least, abs=1e-9)
    hits = int(derived.cluster_restarts_at_best.sel(num_clusters="5", cluster_source="rating"))
    assert 0 < hits <= 1000 and "restarts: that reached it, of 1000" in " ".join(planted_report.split())
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
    assert among == {name: 2 * (2 + 4) + 6 * 4 for name in ("all", *(f"cluster {place}" for place in range(5)))}


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


def test_refusals_are_the_planted_ones(planted_run, derived, capsys):
    assert main(["table", str(planted_run), "--what", "refusals"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    refused = {row["subject"]: float(row["declines"]) for row in rows}
    assert refused == dict(zip(derived.subject.values.astype(str), derived.subject_refused_share.values, strict=True))
    planted = {row["group"] for row in recover_chat.truth() if row["status"] == "refused"}
    assert planted == {group for group, share in refused.items() if share > 0.05}
