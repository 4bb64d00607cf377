"""One lab for all tests of this folder."""

import pytest
import slurm_lab


def pytest_configure(config):
    config.addinivalue_line("markers", "long_case: runs where STEREOSWEEP_LAB=all")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("long_case") and not slurm_lab.all_cases():
            item.add_marker(pytest.mark.skip(reason="a long case: STEREOSWEEP_LAB=all runs it"))


@pytest.fixture(scope="session")
def one_lab(tmp_path_factory):
    why_not = slurm_lab.why_not()
    if why_not:
        pytest.skip("no Slurm lab: " + why_not)
    lab = slurm_lab.Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.end()


@pytest.fixture()
def lab(one_lab):
    """For a test that needs all nodes: nothing else runs on them, before and after."""
    yield one_lab
    one_lab.clear()
