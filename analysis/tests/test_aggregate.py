"""The scores of the C++ program and those of aggregate.py are two derivations from the same raw numbers."""

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


def labels_of(statistics):
    """(label, variant, prior) of every measure."""
    return [(str(label), *str(label).split(" ")) for label in statistics["measure"].values]


def test_pair_scores_equal_those_of_the_program(raw, statistics):
    for label, variant, prior in labels_of(statistics):
        theirs = statistics["score"].sel(measure=label).isel(replicate=0)
        theirs = theirs.transpose("subject", "template", "rephrasing", "item").values
        ours = aggregate.pair_scores(raw, variant, prior)
        assert list(ours["pair"].values) == list(statistics["item"].values)
        np.testing.assert_allclose(ours.values, theirs, rtol=0, atol=1e-12, err_msg=label)
    assert int((statistics["score_status"] == 1).sum()) > 100  # partial: distances of 0 and above 1 are left out


def test_axes_are_in_the_order_that_is_promised(raw):
    scores = aggregate.pair_scores(raw, "ilps_star", "prior_word")
    assert scores.dims == ("group", "template", "rephrasing", "pair")
    assert aggregate.word_scores(raw, "ilps_star", "prior_word").dims == ("group", "template", "rephrasing", "word")


def pooled_of(statistics, label):
    return statistics.sel(measure=label, people_group="all", people_row="pooled")


def test_shuffled_p_follows_its_definition(statistics):
    """Items (columns) and subjects (rows) of the scores change places; the same p within the draws' error."""
    human, random = statistics["people_mean"].sel(people_group="all").values, np.random.default_rng(1)
    for label, *_ in labels_of(statistics)[:2]:
        chosen = pooled_of(statistics, label)
        scores, observed = chosen["mean_score"].values, float(chosen["people_tau"])
        for axis, name in ((1, "items"), (0, "subjects")):
            orders = [random.permutation(scores.shape[axis]) for _ in range(500)]
            draws = [stats.kendalltau(np.take(scores, order, axis).ravel(), human.ravel())[0] for order in orders]
            fewer = min(np.sum(np.array(draws) >= observed - 1e-12), np.sum(np.array(draws) <= observed + 1e-12))
            assert float(chosen[f"people_tau_p_{name}"]) == pytest.approx(min(1, 2 * fewer / 500), abs=0.1)
    for name in ("people_tau_p_items", "people_tau_p_subjects"):
        assert "10,000 seeded draws" in statistics[name].attrs["description"]
    assert "assumes independent cells" in statistics["people_tau_p_cells"].attrs["long_name"]


def test_agreement_equals_scipys(statistics):
    human = statistics["people_mean"].sel(people_group="all").values
    assert np.isfinite(human).all()
    for label, *_ in labels_of(statistics):
        chosen = pooled_of(statistics, label)
        scores = chosen["mean_score"].values
        pooled = stats.kendalltau(scores.ravel(), human.ravel())
        assert float(chosen["people_tau"]) == pytest.approx(pooled.statistic, abs=1e-12)
        assert float(chosen["people_tau_p_cells"]) == pytest.approx(pooled.pvalue, rel=1e-9)
        for place, subject in enumerate(statistics["subject"].values):
            tau = stats.kendalltau(scores[place], human[place])
            row = statistics.sel(measure=label, people_group="all", people_row=f"subject: {subject}")
            assert float(row["people_tau"]) == pytest.approx(tau.statistic, abs=1e-12)
            assert float(row["people_tau_p_cells"]) == pytest.approx(tau.pvalue, rel=1e-9)


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
        aggregate.pair_scores(raw.drop_vars("log_mass_initial"), "ilps_star", "prior_word")
    assert aggregate.word_scores(raw.drop_vars("log_mass_initial"), "ilps_first", "prior_word").notnull().any()
