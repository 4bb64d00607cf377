"""What ranks share: every statistic of `stats` is the same, bit for bit, on 1, 2, 3 and 4 ranks, and an error is told once."""

import pytest
import runs
import statistic_requests

TEMPLATES = "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word, next_door, in_town, nearly_all]}"
TRAITS = "axes.traits={file: abc_poles, only: [powerless - powerful, traditional - modern]}"
INFERENCE = "statistics.inference={family: all, replicates: 600, draws: 1500}"  # more than one rank's share of draws at a time
CONTRASTS = (
    "[{name: gender, left: {subject: women}, right: {subject: men}}, {name: one, each: subject, right: rest},"
    " {name: kinds, left: {subject.kind: intersection}, right: {subject.kind: group}, measures: [set_code_plain prior_word]},"
    " {name: bus, left: {rephrasing: bus}, right: {rephrasing: none}}]"
)


@pytest.fixture(scope="module")
def associations(tmp_path_factory):
    output = tmp_path_factory.mktemp("shared") / "run"
    code, _, err = runs.run(runs.SMOKE, output, TEMPLATES, TRAITS)
    assert code == 0, err
    return output


def statistics(output, *settings, ranks):
    code, out, err = runs.finish(runs.start_program("stats", output, "--all", *settings, ranks=ranks), 120)
    assert code == 0, err
    return (output / "association.stats.h5").read_bytes(), out


def test_every_number_is_the_same_for_any_number_of_ranks(associations, tmp_path):
    asked = (INFERENCE, *statistic_requests.asked(tmp_path, contrasts=CONTRASTS))
    alone, text = statistics(associations, *asked, ranks=1)
    for heading in ("Contrasts in", "Means of", "Variance in", "Coefficients of variation", "Agreement with people"):
        assert heading in text
    for name in (b"emerge_p_holm", b"cluster_inertia", b"contrast_p_flip_max_t", b"people_tau"):
        assert name in alone, name
    for ranks in (2, 3, 4):
        shared, shared_text = statistics(associations, *asked, ranks=ranks)
        assert shared == alone, f"another file from {ranks} ranks"
        assert shared_text == text


def test_an_error_of_all_ranks_is_told_once_and_leaves_the_file(associations):
    before, _ = statistics(associations, ranks=2)
    for setting, problem in (("statistics.means={measures: [nothing]}", "no measure 'nothing'"),
                             ("statistics.contrasts=[{name: a, left: {subject: woman}, right: {subject: men}}]", "no 'woman' on subject"),
                             ("statistics.people={ratings: nowhere.tsv}", "the table cannot be read")):  # fmt: skip
        code, out, err = runs.finish(runs.start_program("stats", associations, setting, ranks=2), 60)
        assert code == 2 and out == ""
        assert err.count(problem) == 1, err
        assert (associations / "association.stats.h5").read_bytes() == before
