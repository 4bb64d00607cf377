"""A stats that was killed: the next one takes over what was computed, and writes the same bits."""

import os
import re
import signal

import pytest
import runs
import statistic_requests

INFERENCE = "statistics.inference={family: all, replicates: 50000, draws: 1000000}"  # pieces of a tenth of a second and more


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    output = tmp_path_factory.mktemp("kept") / "run"
    code, _, err = runs.run(runs.SMOKE, output, "axes.traits={file: abc_poles, only: [powerless - powerful, traditional - modern]}")
    assert code == 0, err
    return output


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return (INFERENCE, *statistic_requests.asked(tmp_path_factory.mktemp("tables")))


def stats(run, *settings, **options):
    code, out, err = runs.finish(runs.start_program("stats", run, *settings, **options))
    return code, out, err, (run / "association.stats.h5").read_bytes() if code == 0 else b""


def taken_over(err):
    found = re.search(r"taken over: (\d+) statistics?", err)
    return int(found.group(1)) if found else 0


@pytest.fixture(scope="module")
def undisturbed(run, asked):
    code, out, err, written = stats(run, *asked)
    assert code == 0 and taken_over(err) == 0, err
    assert not (run / "association.stats.h5.kept").exists()
    return out, written


@pytest.mark.parametrize("ranks", [1, 2])
def test_what_was_computed_is_taken_over(run, asked, undisturbed, ranks):
    kept = run / "association.stats.h5.kept"
    for _ in range(2):  # killed twice, each time a piece later
        code, _, err, _ = stats(run, *asked, ranks=ranks, inject="kept_work:1:kill")
        assert code not in (0, 2) and kept.exists(), err
    code, out, err, written = stats(run, *asked, ranks=ranks)
    assert code == 0 and taken_over(err) == 2, err
    assert (out, written) == undisturbed and not kept.exists()


def test_a_rank_that_is_killed_costs_what_is_not_finished(run, asked, undisturbed):
    kept = run / "association.stats.h5.kept"
    process = runs.start_program("stats", run, *asked, ranks=2)
    runs.wait_for(lambda: kept.exists() or process.poll() is not None)
    os.kill(runs.rank_processes(process)[1], signal.SIGKILL)
    assert runs.finish(process)[0] == 137 and kept.exists()
    code, out, err, written = stats(run, *asked, ranks=2)
    assert code == 0 and taken_over(err) >= 1, err
    assert (out, written) == undisturbed


def test_nothing_is_taken_over_for_other_settings_or_tables(run, asked, undisturbed, tmp_path):
    def killed():
        assert stats(run, *asked, inject="kept_work:1:kill")[0] == -signal.SIGKILL

    killed()
    assert taken_over(stats(run, *asked[:-1])[2]) == 0
    killed()
    table = next(text for text in asked if "answers.tsv" in text).split("ratings: ")[1].rstrip("}")
    before = open(table).read()
    with open(table, "a") as file:
        file.write("dan\twomen\tpowerless - powerful\t99\n")
    code, out, err, written = stats(run, *asked)
    assert code == 0 and taken_over(err) == 0 and written != undisturbed[1], err
    with open(table, "w") as file:
        file.write(before)
    killed()
    kept = run / "association.stats.h5.kept"
    kept.write_bytes(kept.read_bytes()[:-1])
    code, out, err, written = stats(run, *asked)
    assert code == 0 and taken_over(err) == 0 and (out, written) == undisturbed, err
