"""Clusters of subjects: `stats` on ratings and on associations, and numpy and scipy on the table `score`."""

import itertools

import numpy
import pytest
import runs
import xarray
from scipy import stats

RATINGS = runs.ROOT / "jobs/50_ratings.yaml"
SMALL = (
    "execution.engine=fake", "sampling={runs: 2, max_new_tokens: 1}", f"model={{path: {runs.ROOT / 'tests/models/letters'}, chat: none}}",
    "scale=[[often, 5], [some, 4], [many, 3], [no, 2], [never, 1]]",  # the fake engine says one of these, or warm, able, yes
    "axes.identities={file: scm_identities, only: [young women, young men, rich women, rich men, poor women, poor men,"
    " gay women, gay men]}",
    "axes.rating_questions={file: scm_questions, only: [survey, folks, street]}",
)
SIDES = ["none", "low", "middle", "high", "within_error"]


def program(*arguments):
    done = runs.program(*arguments)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("written:")]  # as long as its path
    assert max(map(len, lines), default=0) <= 100, done.stdout
    return done.returncode, done.stdout, done.stderr


def mean(values):
    values = values[numpy.isfinite(values)]
    return values.mean() if values.size else numpy.nan


def points_of(data, measure):
    """[subject, dimension], from `score`."""
    table = data.score.sel(measure=measure)
    replicate = "mean" if "mean" in data.replicate.values else "none"
    cells = table.sel(replicate=replicate).transpose("subject", "item", "template", "rephrasing").values
    dimensions = data.item_dimension.values.astype(str)
    return numpy.array([[mean(subject[dimensions == name]) for name in dict.fromkeys(dimensions)] for subject in cells])


def inertia(points, labels):
    return sum(((points[labels == label] - points[labels == label].mean(0)) ** 2).sum() for label in set(labels) - {-1})


def rand(left, right):
    """Adjusted Rand index, pair of points by pair of points (Hubert and Arabie 1985)."""
    here = (left >= 0) & (right >= 0)
    left, right = left[here], right[here]
    pairs = list(itertools.combinations(range(len(left)), 2))
    together = [numpy.array([labels[a] == labels[b] for a, b in pairs]) for labels in (left, right)]
    both = (together[0] & together[1]).sum()
    expected = together[0].sum() * together[1].sum() / len(pairs)
    most = (together[0].sum() + together[1].sum()) / 2
    return (both - expected) / (most - expected)


def holm(p):
    order = numpy.argsort(p)
    adjusted = numpy.empty(len(p))
    adjusted[order] = numpy.minimum(1, numpy.maximum.accumulate((len(p) - numpy.arange(len(p))) * p[order]))
    return adjusted


def check_source(data, source, points):
    """All variables of one source against its points [subject, dimension]."""
    here = data.sel(cluster_source=source)
    numpy.testing.assert_allclose(here.cluster_point.transpose("subject", "cluster_dimension"), points, rtol=1e-11)
    known = numpy.isfinite(points).all(axis=1)
    number = int(here.cluster_number)
    labels = here.cluster_of_subject.values
    assert number > 1 and set(labels[known]) == set(range(number)) and (labels[~known] == -1).all()
    limits = points[known].mean(axis=0)
    is_within = here.cluster_spread_p.values > 0.05
    numpy.testing.assert_allclose(here.cluster_limit, limits, rtol=1e-11)
    p, holms = [], []
    for cluster in range(data.sizes["cluster_place"]):
        members = points[labels == cluster]
        row = here.isel(cluster_place=cluster)
        assert (row.cluster_size == len(members)).all()
        test = row.isel(dimension_pair=0)
        if cluster >= number:
            assert numpy.isnan(row.cluster_centre).all() and int(test.cluster_t_status) == 1
            continue
        centre = members.mean(axis=0)
        numpy.testing.assert_allclose(row.cluster_centre, centre, rtol=1e-11)
        assert [SIDES[side] for side in row.cluster_side.values] == [
            "within_error" if within else "high" if there > limit else "low" if there < limit else "middle"
            for there, limit, within in zip(centre, limits, is_within)]
        if len(members) < 2:
            assert int(test.cluster_t_status) == 2 and numpy.isnan(test.cluster_t_p)
            continue
        expected = stats.ttest_rel(members[:, 0], members[:, 1])
        numpy.testing.assert_allclose([test.cluster_t, test.cluster_t_p], expected, rtol=1e-9)
        assert int(test.cluster_t_n) == len(members)
        assert numpy.isnan(test.cluster_t_p_holm) == is_within.any()
        if not is_within.any():
            p.append(expected.pvalue)
            holms.append(float(test.cluster_t_p_holm))
    numpy.testing.assert_allclose(holms, holm(numpy.array(p)) if p else [], rtol=1e-9)
    return labels


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    output = tmp_path_factory.mktemp("clusters") / "run"
    code, _, err = runs.run(RATINGS, output, *SMALL)
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    random = numpy.random.default_rng(8)
    names = ["Young Women", "young-men", "rich women", "rich men", "poor women", "poor men", "gay women", "martians"]
    path = tmp_path_factory.mktemp("people") / "people.tsv"
    rows = [(name, dimension, random.uniform(1, 5)) for name in names for dimension in ("warmth", "competence")]
    path.write_text("identity\tdimension\tmean\n" + "".join(f"{a}\t{b}\t{mean!r}\n" for a, b, mean in rows))
    return path, {(a.lower().replace("-", " "), b): mean for a, b, mean in rows}


def test_ratings_with_a_table_of_people(ratings, people):
    before = runs.digest(ratings)
    path, means = people
    code, out, err = program("stats", ratings, f"statistics.clusters={{human_ratings: {path}, number: 3, across: second}}")
    assert code == 0, err
    assert "not in this run: martians" in out and "WARNING: the clusters were fitted" in out and "by people" in out
    with xarray.open_dataset(ratings / "rating.stats.h5", engine="netcdf4") as data:
        data.load()
    sources = list(data.cluster_source.values)
    assert sources == ["option_text", "option_letter", "sampled", "people"]
    points = {name: points_of(data, name) for name in sources[:3]}
    points["people"] = numpy.array([[means.get((group, dimension), numpy.nan) for dimension in data.cluster_dimension.values]
                                    for group in data.subject.values])
    labels = {name: check_source(data, name, points[name]) for name in sources}
    for name in sources:
        assert (data.cluster_number.sel(cluster_source=name) == 3).all()
        for other in sources:
            found = data.cluster_rand.sel(cluster_source=name, cluster_other=other)
            numpy.testing.assert_allclose(found, rand(labels[name], labels[other]), rtol=1e-11, atol=1e-12)
    types = {}
    for name in sources:
        here = data.sel(cluster_source=name)  # sides of the centres, also where the spread is within its error
        sides = 2 + numpy.sign(here.cluster_centre - here.cluster_limit).transpose("cluster_place", "cluster_dimension").values
        sides = numpy.nan_to_num(sides).astype(int)
        types[name] = numpy.array([" ".join(SIDES[side] for side in sides[label]) if label >= 0 else "" for label in labels[name]])
    for name in sources:
        expected = numpy.where((types[name] == "") | (types["people"] == ""), 0, 1 + (types[name] == types["people"]))
        assert (data.cluster_agreement.sel(cluster_source=name).values == expected).all()
        assert (data.cluster.sel(cluster_source=name, num_clusters="3").values == labels[name]).all()
    known = points["people"][labels["people"] >= 0]
    best = min(inertia(known, numpy.array(parts)) for parts in itertools.product(range(3), repeat=len(known))
               if len(set(parts)) == 3)
    numpy.testing.assert_allclose(data.cluster_inertia.sel(cluster_source="people", num_clusters="3").item(), best, rtol=1e-11)
    for row in data.cluster_row.values:
        pair = [list(data.subject.values).index(f"{row} {word}") for word in ("women", "men")]
        for name in sources:
            two = [types[name][place] for place in pair]
            agreement = 0 if "" in two else 1 + (two[0] == two[1])
            assert int(data.cluster_row_agreement.sel(cluster_source=name, cluster_row=row)) == agreement
    assert runs.digest(ratings) == before


def test_ratings_are_clustered_unasked(ratings):
    code, out, err = program("stats", ratings, "--all-measures")
    assert code == 0, err
    for part in ("Numbers of clusters by sampled", "second difference", "restarts: that reached it, of 1000"):
        assert part in out
    with xarray.open_dataset(ratings / "rating.stats.h5", engine="netcdf4") as data:
        data.load()
    assert data.cluster.dims == ("cluster_source", "num_clusters", "subject") and data.sizes["num_clusters"] == 10
    assert "by k-means (k-means++, seed" in data.cluster_inertia.attrs["notes"]
    elbows = data.elbow_second_difference.values
    assert (data.cluster_number.values == elbows).all() and "people" not in data.cluster_source.values
    for name in ("option_text", "option_letter", "sampled"):
        check_source(data, name, points_of(data, name))


def test_associations_are_clustered_where_they_are_asked(tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0, err
    code, out, err = program("stats", tmp_path / "run")
    assert code == 0 and "clusters" not in out, err
    with xarray.open_dataset(tmp_path / "run/association.stats.h5", engine="netcdf4") as data:
        measures = [str(name) for name in data.measure.values[:2]]
    code, out, err = program("stats", tmp_path / "run", f"statistics.clusters={{measures: {measures}, max_clusters: 4}}".replace("'", '"'))
    assert code == 0, err
    with xarray.open_dataset(tmp_path / "run/association.stats.h5", engine="netcdf4") as data:
        data.load()
    assert data.cluster.dims == ("cluster_source", "num_clusters", "subject")
    for measure in measures:
        check_source(data, measure, points_of(data, measure))


def test_variation_of_ratings(ratings):
    code, out, err = program("stats", ratings, "statistics.variation={over: [wording, template, rephrasing, replicate]}")
    assert code == 0 and "Coefficients of variation" in out, err
    with xarray.open_dataset(ratings / "rating.stats.h5", engine="netcdf4") as data:
        data.load()
    table = data.score.transpose("measure", "subject", "item", "template", "rephrasing", "replicate")
    whole, runs_of = table.isel(replicate=0).values, table.isel(replicate=slice(1, None)).values
    assert list(data.replicate.values) == ["mean", "run 1", "run 2"]
    parts = {"wording": whole.reshape(*whole.shape[:3], -1, 1), "template": whole, "rephrasing": whole.swapaxes(3, 4),
             "replicate": runs_of.reshape(*runs_of.shape[:3], -1, runs_of.shape[-1]).swapaxes(3, 4)}
    for over, values in parts.items():
        found = {name: data[f"variation_over_{over}{name}"].transpose("measure", "subject", "item").values
                 for name in ("", "_n", "_status", *(f"_quantile_{level}" for level in (5, 25, 50, 75, 95)))}
        for place in numpy.ndindex(values.shape[:3]):
            means = numpy.array([mean(part) for part in values[place]])
            means = means[numpy.isfinite(means)]
            assert found["_n"][place] == len(means)
            for level in (5, 25, 50, 75, 95):
                expected = numpy.quantile(means, level / 100) if len(means) else numpy.nan
                numpy.testing.assert_allclose(found[f"_quantile_{level}"][place], expected, rtol=1e-12, atol=1e-12)
            status = found["_status"][place]
            assert status == (1 if len(means) == 0 else 2 if len(means) == 1 else status)
            if status == 0:
                numpy.testing.assert_allclose(found[""][place], stats.variation(means, ddof=1), rtol=1e-9)
            else:
                assert numpy.isnan(found[""][place])
    assert (data.variation_over_wording_status.sel(measure="option_text") == 0).all()


def test_faults_are_named(ratings, tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("identity\tdimension\tmean\nrich men\twarmth\tmany\n")
    for settings, parts in (
        ("{number: some, high_above: sky}", ("statistics.clusters.number", "statistics.clusters.high_above")),
        ("{restarts: 3}", ("statistics.clusters.restarts",)),
        ("{measures: [option_word]}", ("no measure 'option_word'", "option_")),
        (f"{{human_ratings: {path}}}", ("bad.tsv:2", "'many' is no mean rating")),
        ("{human_ratings: nobody.tsv}", ("nobody.tsv",)),
    ):
        code, _, err = program("stats", ratings, f"statistics.clusters={settings}")
        assert code == 2, err
        for part in parts:
            assert part in err
