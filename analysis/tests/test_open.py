"""What is opened, and what is refused before it is read."""

import pytest
import xarray as xr

from stereosweep_analysis import ResultError, open_result, open_statistics, open_vectors


def test_open_checks_schema_version_and_completeness(run, tmp_path):
    with pytest.raises(ResultError, match=r"schema.*open it with open_statistics"):
        open_result(run / "association.stats.h5")
    with pytest.raises(ResultError, match=r"schema.*open it with open_result"):
        open_statistics(run / "association.h5")
    raw = open_result(run).load()
    for attribute, value, message in [("complete", 0, "not complete"), ("schema_version", "2.0", "reads 1.x")]:
        changed = raw[["status"]].assign_attrs({attribute: value})
        changed.to_netcdf(tmp_path / f"{attribute}.h5", engine="h5netcdf")
        with pytest.raises(ResultError, match=message):
            open_result(tmp_path / f"{attribute}.h5")
    assert open_result(tmp_path / "complete.h5", allow_incomplete=True).attrs["complete"] == 0
    (tmp_path / "text.h5").write_text("nothing")
    with pytest.raises(ResultError, match="cannot be opened"):
        open_result(tmp_path / "text.h5")


def test_vectors_beside_a_result_are_opened_by_name(tmp_path):
    for name, schema in [("contexts.h5", "contexts"), ("contexts.vectors.h5", "contexts.vectors")]:
        attributes = {"schema": f"stereosweep/{schema}", "schema_version": "1.0", "complete": 1}
        xr.Dataset({"vector": ("test", [0.5])}, attrs=attributes).to_netcdf(tmp_path / name, engine="h5netcdf")
    with open_result(tmp_path) as result, open_vectors(tmp_path) as vectors:
        assert result.attrs["schema"] == "stereosweep/contexts"
        assert vectors.attrs["schema"] == "stereosweep/contexts.vectors"


def test_vectors_are_asked_for_by_name(tmp_path):
    attributes = {"schema": "stereosweep/contexts", "schema_version": "1.0", "complete": 1}
    xr.Dataset({"status": ("test", [0])}, attrs=attributes).to_netcdf(tmp_path / "contexts.h5", engine="h5netcdf")
    with pytest.raises(ResultError, match="holds no vectors"):
        open_vectors(tmp_path / "contexts.h5")
    with pytest.raises(ResultError, match=r"unless vectors\.keep is none"):
        open_vectors(tmp_path)
    attributes |= {"complete": 0}
    path = tmp_path / "contexts.vectors.h5"
    xr.Dataset({"vector": ("test", [0.5])}, attrs=attributes).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(ResultError, match="allow_incomplete=True"):
        open_vectors(tmp_path)
    assert open_vectors(tmp_path, allow_incomplete=True).attrs["complete"] == 0
