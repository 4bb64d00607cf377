"""What may run side by side where pytest has several processes (`-n 3 --dist loadgroup`, env/test.sh).

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


@pytest.hookimpl(tryfirst=True)  # the groups must be known before pytest-xdist looks for them
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item.path)))
    items.sort(key=lambda item: place_of(item.path))


def pytest_configure(config):
    config.addinivalue_line("markers", "xdist_group(name): tests of one group share a process (pytest-xdist)")
