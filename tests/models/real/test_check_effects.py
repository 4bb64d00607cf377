"""The quickstart's check fails where an interval reaches zero."""

import subprocess
import sys

import check_effects
import numpy
import pytest
import xarray


@pytest.mark.parametrize(("low", "status"), [([1.1, 0.2, -1.0], 0), ([1.1, -0.01, 0.5], 1), ([numpy.nan, 0.2, 0.5], 1)])
def test_intervals_must_lie_above_zero(tmp_path, low, status):
    axes = ("test", "variance", "estimator")
    cube = numpy.array(low)[:, None, None]
    data = xarray.Dataset(
        {"combined_effect": (axes, cube + 0.1), "low": (axes, cube), "high": (axes, cube + 0.2)},
        coords={"test": ["C1", "C2", "C9"], "variance": ["paper"], "estimator": ["reml"]},
        attrs={"variance": "paper", "estimator": "reml"},
    )
    data.to_netcdf(tmp_path / "contexts.stats.h5", engine="h5netcdf")
    command = [sys.executable, check_effects.__file__, tmp_path / "contexts.stats.h5"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert "C1:" in done.stdout and "C9" not in done.stdout
