"""The scores of the C++ program and those of aggregate.py are two derivations from the same raw numbers."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from stereosweep_analysis import ResultError, aggregate, open_result, open_statistics


@pytest.fixture(scope="module")
def raw(run):
    return open_result(run).load()


@pytest.fixture(scope="module")
def statistics(run):
    return open_statistics(run).load()


def measures_and_priors(statistics):
    return [(m, p) for m in statistics["variant"].values for p in statistics["prior"].values]


def test_word_scores_equal_those_of_the_program(raw, statistics):
    num_undefined = 0
    for measure, prior in measures_and_priors(statistics):
        theirs = statistics["word_score"].sel(variant=measure, prior=prior)
        ours = aggregate.word_scores(raw, measure, prior).transpose(*theirs.dims)
        np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12, err_msg=f"{measure} {prior}")
        num_undefined += int(np.isnan(theirs.values).sum())
    assert num_undefined > 100  # distances of 0 and above 1 are among the numbers


def test_mean_pair_scores_equal_those_of_the_program(raw, statistics):
    for measure, prior in measures_and_priors(statistics):
        theirs = statistics["mean_pair_score"].sel(variant=measure, prior=prior)
        ours = aggregate.mean_pair_scores(raw, measure, prior).transpose(*theirs.dims)
        assert list(ours["pair"].values) == list(theirs["pair"].values)
        np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12, err_msg=f"{measure} {prior}")


def test_axes_are_in_the_order_that_is_promised(raw):
    scores = aggregate.pair_scores(raw, "ilps_star", "prior_word")
    assert scores.dims == ("group", "template", "rephrasing", "pair")
    assert aggregate.mean_pair_scores(raw, "ilps_star", "prior_word").dims == ("group", "pair")
    assert aggregate.word_scores(raw, "ilps_star", "prior_word").dims == ("group", "template", "rephrasing", "word")


def test_shuffled_p_follows_its_definition(statistics):
    """Trait pairs (columns) and groups (rows) of the scores change places; the same p within the draws' error."""
    human, random = statistics["human_mean"].values, np.random.default_rng(1)
    for measure, prior in measures_and_priors(statistics)[:2]:
        chosen = statistics.sel(variant=measure, prior=prior)
        scores, observed = chosen["mean_pair_score"].values, float(chosen["tau_pooled"])
        for axis, name in ((1, "items"), (0, "groups")):
            orders = [random.permutation(scores.shape[axis]) for _ in range(500)]
            draws = [stats.kendalltau(np.take(scores, order, axis).ravel(), human.ravel())[0] for order in orders]
            fewer = min(np.sum(np.array(draws) >= observed - 1e-12), np.sum(np.array(draws) <= observed + 1e-12))
            assert float(chosen[f"tau_pooled_p_{name}"]) == pytest.approx(min(1, 2 * fewer / 500), abs=0.1)
    for name in ("tau_pooled_p_items", "tau_pooled_p_groups"):
        assert "10,000 seeded draws" in statistics[name].attrs["description"]
    assert "assumes independent cells" in statistics["tau_pooled_p"].attrs["long_name"]


def test_agreement_equals_scipys(statistics):
    human = statistics["human_mean"].values
    assert np.isfinite(human).all()
    for measure, prior in measures_and_priors(statistics):
        chosen = statistics.sel(variant=measure, prior=prior)
        scores = chosen["mean_pair_score"].values
        pooled = stats.kendalltau(scores.ravel(), human.ravel())
        assert float(chosen["tau_pooled"]) == pytest.approx(pooled.statistic, abs=1e-12)
        assert float(chosen["tau_pooled_p"]) == pytest.approx(pooled.pvalue, rel=1e-9)
        for group in range(scores.shape[0]):
            tau = stats.kendalltau(scores[group], human[group])
            assert float(chosen["tau"][group]) == pytest.approx(tau.statistic, abs=1e-12)
            assert float(chosen["tau_p"][group]) == pytest.approx(tau.pvalue, rel=1e-9)


def test_order_by_domain_keeps_domains_together(statistics):
    order = aggregate.order_by_domain(statistics)
    domains = list(statistics["group_domain"].values[order])
    assert sorted(order) == list(range(statistics.sizes["group"]))
    assert sum(a != b for a, b in pairwise(domains)) == len(set(domains)) - 1


def test_a_damaged_file_is_refused_before_it_is_opened(run, tmp_path):
    content = bytearray((run / "association.h5").read_bytes())
    content[len(content) // 3] ^= 1
    path = tmp_path / "association.h5"
    path.write_bytes(content)
    with pytest.raises(ResultError, match="is damaged"):
        open_result(path)
    path.write_bytes((run / "association.h5").read_bytes()[:-128])  # as after a change by another program
    open_result(path).close()


def test_other_measures_priors_and_results_are_refused(raw):
    for arguments, message in [(("ilps_stars", "prior_word"), "unknown measure 'ilps_stars': known are ilps_first"),
                               (("ilps_star", "prior"), "unknown prior 'prior': the file has prior_word")]:  # fmt: skip
        with pytest.raises(ResultError, match=message):
            aggregate.word_scores(raw, *arguments)
    with pytest.raises(ResultError, match="lacks log_mass_initial"):
        aggregate.mean_pair_scores(raw.drop_vars("log_mass_initial"), "ilps_star", "prior_word")
    assert aggregate.word_scores(raw.drop_vars("log_mass_initial"), "ilps_first", "prior_word").notnull().any()
