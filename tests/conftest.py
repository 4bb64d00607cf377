"""What may run side by side where pytest has several processes (`-n 3 --dist loadscope`, env/test.sh).

A file stays in one process, so that its fixtures are made once; small folders stay together. Files whose tests start several
ranks, send signals or wait for time limits come first: they are the longest, and most of their time is waiting. Long files of
other kinds follow, so that none of them begins when the others have ended.
"""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAITING = ["test_slurm", "test_contexts", "test_run_faults", "test_run_ranks"]
LONG = ["test_notebooks", "test_report_numbers", "test_paper_layouts", "test_report", "test_figures", "test_report_browser"]
LONG_FOLDERS = [("tests", "integration"), ("analysis", "tests")]


def group_of(path):
    folder = path.relative_to(ROOT).parent
    return path.stem if folder.parts[:2] in LONG_FOLDERS else str(folder)


def place_of(path):
    order = WAITING + LONG
    return order.index(path.stem) if path.stem in order else len(order)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """xdist's own groups do nothing with pytest 9.2: they are a suffix of a test's identifier, which it may not change."""
    from xdist.scheduler import LoadScopeScheduling  # a machine that runs the tests in one process need not have it

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(ROOT / nodeid.split("::")[0])

    return GroupScheduling(config, log)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: place_of(item.path))
