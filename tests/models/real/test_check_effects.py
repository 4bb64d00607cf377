"""The quickstart's check fails where an effect is not there, or not distinguishable from relabelled words."""

import subprocess
import sys

import check_effects
import numpy
import pytest
import xarray


@pytest.mark.parametrize(
    ("effect", "p", "status"),
    [([1.1, 0.2, -1.0], [0.001, 0.04, 1.0], 0), ([1.1, -0.2, 0.5], [0.001, 0.9, 0.1], 1),
     ([1.1, 0.2, 0.5], [0.001, 0.06, 0.1], 1), ([numpy.nan, 0.2, 0.5], [numpy.nan, 0.01, 0.1], 1)],
)  # fmt: skip
def test_effects_must_be_found(tmp_path, effect, p, status):
    data = xarray.Dataset(
        {"weat": ("weat_test", effect), "weat_p": ("weat_test", p)},
        coords={"weat_test": ["C1", "C2", "C9"]},
    )
    data.to_netcdf(tmp_path / "contexts.stats.h5", engine="h5netcdf")
    command = [sys.executable, check_effects.__file__, tmp_path / "contexts.stats.h5"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert "C1:" in done.stdout and "C9" not in done.stdout
