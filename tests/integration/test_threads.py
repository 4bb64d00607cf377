"""Several threads a rank: the same bits every time, and nearly those of one thread."""

import h5py
import numpy
import pytest
import runs

JOBS = {
    "10_planted": (["axes.groups={file: abc_groups, only: [women, men, teenagers]}"], "logprob"),
    "51_group_ratings": ([], "option_logprob"),
}


@pytest.mark.parametrize("name", JOBS)
def test_threads_change_the_last_bits_at_most(name, tmp_path):
    arguments, cube = JOBS[name]
    for run, threads in (("one", 1), ("two", 2), ("again", 2)):
        code, _, err = runs.run(runs.ROOT / f"jobs/{name}.yaml", tmp_path / run, *arguments, f"execution.threads_per_rank={threads}")
        assert code == 0, err
    assert runs.digest(tmp_path / "two") == runs.digest(tmp_path / "again")
    one, two = (h5py.File(next((tmp_path / run).glob("*.h5")))[cube][()] for run in ("one", "two"))
    assert (numpy.isnan(one) == numpy.isnan(two)).all() and numpy.isfinite(one).any()
    assert numpy.nanmax(numpy.abs(one - two)) < 1e-4
