"""Correlations over subjects and the subjects at their ends: `stats`, and scipy and numpy on the table `score`."""

import itertools
import math
import sys

import numpy
import pytest
import runs
import xarray
from scipy import stats

sys.path.insert(0, str(runs.ROOT / "tests/bench"))
from statistics_correlations import estimates  # noqa: E402

RATINGS = runs.ROOT / "jobs/50_ratings.yaml"
SMALL = (
    "execution.engine=fake", "sampling={runs: 3, max_new_tokens: 1}", f"model={{path: {runs.ROOT / 'tests/models/letters'}, chat: none}}",
    "scale=[[often, 5], [some, 4], [many, 3], [no, 2], [never, 1]]",
    "axes.rating_questions={file: scm_questions, only: [survey, folks]}",
)
FEW = ("axes.identities={file: scm_identities, only: [young women, young men, rich women, rich men, poor women, poor men,"
       " gay women]}",)
METHODS = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}
REASONS = ["ok", "no_values", "too_few", "constant", "not_finite"]
BOTH = "{item.dimension: [warmth, competence]}"
ALL_METHODS = "method: [spearman, pearson, kendall]"


def program(*arguments, code=0):
    done = runs.program(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("written:")]  # as long as its path
    assert max(map(len, lines), default=0) <= 100, done.stdout
    return done.stdout if code == 0 else done.stderr


def opened(run):
    with xarray.open_dataset(run / "rating.stats.h5", engine="netcdf4") as data:
        return data.load()


def rated(tmp_path_factory, name, *settings):
    output = tmp_path_factory.mktemp(name) / "run"
    code, _, err = runs.run(RATINGS, output, *SMALL, *settings)
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return rated(tmp_path_factory, "few", *FEW)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return rated(tmp_path_factory, "many")


def mean(values):
    values = values[numpy.isfinite(values)]
    return values.mean() if values.size else numpy.nan


def equalised(values):
    """Numbers that differ by rounding alone become equal."""
    values = values.copy()
    for before, after in itertools.pairwise(numpy.argsort(values, kind="stable")):
        if values[after] - values[before] <= 1e-12 * numpy.abs(values).max():
            values[after] = values[before]
    return values


def items_of(data, side):
    by_dimension = data.item_dimension.values.astype(str) == side
    return by_dimension if by_dimension.any() else data.item.values.astype(str) == side


def scores_of(data, measure, side, replicates=("mean",)):
    """[subject]"""
    table = data.score.sel(measure=measure, replicate=list(replicates)).transpose("subject", "item", ...).values
    return numpy.array([mean(subject[items_of(data, side)]) for subject in table])


def rows_of(data):
    names = ("measure", "method", "among", "row", "column")
    for place in range(data.sizes["correlation"]):
        row = data.isel(correlation=place)
        yield row, *(str(row[f"correlation_{name}"].values) for name in names)


def check(data, draws, exact, confidence=0.95):
    """Every row against scipy; the numbers of each status."""
    seen = dict.fromkeys(REASONS, 0)
    for row, measure, method, among, left, right in rows_of(data):
        x, y = (scores_of(data, measure, side) for side in (left, right))
        here = numpy.isfinite(x) & numpy.isfinite(y)
        if among != "all":
            labels = data.cluster_of_subject.sel(cluster_source=measure).values
            here &= labels == int(among.split()[1].rstrip(":"))
        x, y = equalised(x[here]), equalised(y[here])
        constant = len(x) > 0 and (numpy.ptp(x) == 0 or numpy.ptp(y) == 0)
        status = "no_values" if not len(x) else "too_few" if len(x) < 3 else "constant" if constant else "ok"
        assert REASONS[int(row.correlation_status)] == status and int(row.correlation_n) == len(x)
        seen[status] += 1
        numbers = [float(row[f"correlation_{name}"]) for name in ("coefficient", "p", "p_holm", "p_yekutieli", "p_formula")]
        if status != "ok":
            assert numpy.isnan(numbers).all()
            continue
        expected = METHODS[method](x, y)
        numpy.testing.assert_allclose(numbers[0], expected.statistic, rtol=1e-10, atol=1e-12)
        numpy.testing.assert_allclose(numbers[4], expected.pvalue, rtol=1e-6, atol=1e-9)
        assert numbers[1] <= min(numbers[2:4])
        assert float(row.correlation_p_low) <= numbers[1] <= float(row.correlation_p_high) + 2 / draws
        if len(x) <= exact:
            numpy.testing.assert_allclose(numbers[1], permutation_p(x, y, method, numpy.inf), rtol=1e-12)
        else:
            drawn = permutation_p(x, y, method, 4000)
            assert abs(numbers[1] - drawn) < 0.002 + 4.5 * math.sqrt(drawn * (1 / draws + 1 / 4000)), (method, among)
        low, high = (float(row[f"correlation_{end}"]) for end in ("low", "high"))
        assert numpy.isnan(low) or (numbers[1] > 1 - confidence + 1e-12) == (low <= 0 <= high), (method, among, numbers, low, high)
    return seen


def permutation_p(x, y, method, draws):
    """scipy's permutation test of the studentised correlation, over all pairings if `draws` is infinite."""
    def statistic(moved, axis):
        rows = moved.reshape(-1, len(x))
        values, zeros, *_ = estimates(x, rows, method)
        with numpy.errstate(invalid="ignore", divide="ignore"):
            return numpy.where(zeros > 0, values**2 / zeros, 0).round(9).reshape(moved.shape[:-1])
    return stats.permutation_test((y,), statistic, permutation_type="pairings", vectorized=True, n_resamples=draws, batch=1000,
                                  random_state=1, alternative="greater").pvalue


def test_few_subjects_are_counted(few):
    text = program("stats", few, f"statistics.correlations=[{{name: dims, rows: {BOTH}, {ALL_METHODS}}}]",
                   "statistics.inference={replicates: 200, draws: 1000}")
    assert "Correlations over subjects: dims, option_text" in text and "subjects are a sample" in text
    assert "restricted range" not in text and "are over fewer than 10 subjects" in " ".join(text.split())
    data = opened(few)
    assert check(data, 1000, exact=8)["ok"] >= 9
    assert {row for _, _, _, _, row, _ in rows_of(data)} == {"warmth"}
    for measure, found in zip(data.measure.values, data.correlation_score.sel(correlation_side="warmth").transpose("measure", ...)):
        numpy.testing.assert_allclose(found, scores_of(data, measure, "warmth"), rtol=1e-12)


def test_clusters_and_columns(many):
    items = [str(item) for item in opened_items(many)[:2]]
    settings = (f"statistics.correlations=[{{name: items, rows: {BOTH}, columns: {{item: {items}}}, {ALL_METHODS},"
                " within: clusters, measures: [option_text, sampled]}]").replace("'", '"')
    text = program("stats", many, settings, "statistics.clusters={number: 2}", "statistics.inference={replicates: 150, draws: 1000}",
                   "--top", "5")
    assert "(restricted range)" in text and "items in common" in text and "(5 of 36 rows; --top 36 shows all)" in text
    data = opened(many)
    assert data.sizes["correlation"] == 2 * 3 * 2 * 2 * 3  # measures, among, rows, columns, methods
    seen = check(data, 1000, exact=8)
    assert seen["ok"] > 50
    for measure, method in itertools.product(("option_text", "sampled"), METHODS):  # the families
        here = (data.correlation_measure == measure) & (data.correlation_method == method)
        p, holms = (data[name].values[here & (data.correlation_status == 0)] for name in ("correlation_p", "correlation_p_holm"))
        order = numpy.argsort(p)
        expected = numpy.empty(len(p))
        expected[order] = numpy.minimum(1, numpy.maximum.accumulate((len(p) - numpy.arange(len(p))) * p[order]))
        numpy.testing.assert_allclose(holms, expected, rtol=1e-9)


def opened_items(run):
    program("stats", run)
    return opened(run).item.values


def test_intervals_hold_the_coefficient_and_ranks_share(many):
    settings = (f"statistics.correlations=[{{name: dims, rows: {BOTH}, {ALL_METHODS}, within: clusters, measures: [option_text, sampled]}}]",
                "statistics.extremes=all", "statistics.clusters={number: 2}", "statistics.inference={replicates: 300, draws: 300}")
    text = program("stats", many, *settings)
    alone = (many / "rating.stats.h5").read_bytes()
    data = opened(many)
    every = data.correlation_status.values == 0
    low, high = (data[f"correlation_{name}"].values for name in ("low", "high"))
    assert (data.correlation_interval_status.values[every] == 0).sum() > 5
    known = data.correlation_interval_status.values == 0
    values = data.correlation_coefficient.values
    assert ((low <= values + 1e-12) & (values <= high + 1e-12))[known].all()
    for ranks in (2, 3, 4):
        code, out, err = runs.finish(runs.start_program("stats", many, *settings, ranks=ranks), 120)
        assert code == 0, err
        assert (many / "rating.stats.h5").read_bytes() == alone and out == text


def test_ends_of_the_ranking(many):
    text = program("stats", many, "statistics.extremes={most: 4}", "--all-measures")
    assert "Highest and lowest means: warmth, sampled" in text
    data = opened(many)
    for measure, side in itertools.product(data.measure.values, ("warmth", "competence")):
        means = scores_of(data, measure, side)
        row = data.isel(measure=list(data.measure.values).index(measure)).sel(extreme_of=side)
        numpy.testing.assert_allclose(row.extreme_mean, means, rtol=1e-12)
        ours = row.extreme_mean.values.round(13)
        assert (row.extreme_place.values == [0 if math.isnan(one) else 1 + (ours > one).sum() for one in ours]).all()
        rounds = [scores_of(data, measure, side, [name]) for name in data.replicate.values if name != "mean"]
        counts = numpy.isfinite(rounds).sum(axis=0)
        assert (row.extreme_rounds.values == counts).all()
        for place, count in enumerate(counts):
            own = numpy.array(rounds)[:, place]
            expected = numpy.var(own[numpy.isfinite(own)], ddof=1) if count > 1 else math.nan
            numpy.testing.assert_allclose(row.extreme_variance.values[place], expected, rtol=1e-9, atol=1e-15)
    check_evidence(data)
    sampled = data.isel(measure=list(data.measure.values).index("sampled")).sel(extreme_of="warmth")
    ends = sampled.extreme_end.values
    places = sampled.extreme_place.values
    lowest = stats.rankdata(sampled.extreme_mean.values.round(13), method="min")
    expected = numpy.where(places <= lowest, places, -lowest)
    assert (numpy.where(numpy.abs(expected) <= 4, expected, 0) == numpy.nan_to_num(ends)).all()
    block = text.split("Highest and lowest means: warmth, sampled")[1].splitlines()
    order = sorted(numpy.flatnonzero(numpy.isfinite(ends)), key=lambda place: sampled.extreme_rank.values[place])
    assert block[3].startswith(str(data.subject.values[order[0]])[:8])
    assert f"of {len(places)} subjects" in " ".join(text.split())


def check_evidence(data):
    """Interval and p of one item are those of the means; adjusted p and order are among the subjects."""
    for measure in range(data.sizes["measure"]):
        for side in data.extreme_of.values:
            row = data.isel(measure=measure).sel(extreme_of=side)
            p = row.extreme_p.values
            assert (row.extreme_p_holm.values[numpy.isfinite(p)] >= p[numpy.isfinite(p)]).all()
            assert sorted(row.extreme_rank.values) == list(range(1, len(p) + 1))
            here = numpy.isfinite(row.extreme_low.values)
            assert (row.extreme_low.values <= row.extreme_mean.values)[here].all()
            assert (row.extreme_mean.values <= row.extreme_high.values)[here].all()
            outside = (row.extreme_deviation_low > 0) | (row.extreme_deviation_high < 0)
            assert (outside == (p < 0.05)).all()
            if here.all():  # complete: the deviation is plainly that from the mean of all
                means = row.extreme_mean.values
                numpy.testing.assert_allclose(row.extreme_deviation.values, means - means.mean(), atol=1e-9)


def test_faults_are_named(few):
    for settings, part in ((["statistics.correlations=[{name: a, rows: {item.dimension: [warmth, competnce]}}]"], "Did you mean 'competence'"),
                           (["statistics.correlations=[{name: a, rows: {dimension: [warmth]}}]"], "no axis or coordinate 'dimension'"),
                           (["statistics.correlations=[{name: a, rows: {item.dimension: warmth}}]"], "no two different sets of items"),
                           ([f"statistics.correlations=[{{name: a, rows: {BOTH}, within: clusters}}]"], "has no clusters to look within"),
                           (["statistics.extremes={of: {item: [nothing]}}"], "no 'nothing' on item")):  # fmt: skip
        assert part in program("stats", few, *settings, code=2)
