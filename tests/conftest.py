"""What may run side by side where pytest has several processes (`-n 3 --dist loadgroup`, env/test.sh).

A file stays in one process, so that its fixtures are made once. Files whose tests start several ranks, send signals or wait
for time limits come first: they are the longest, and most of their time is waiting.
"""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = ["test_contexts", "test_run_faults", "test_run_ranks", "test_slurm"]


def group_of(path):
    parts = path.relative_to(ROOT)
    return path.stem if parts.parts[:2] == ("tests", "integration") else str(parts.parent)  # small folders share fixtures


@pytest.hookimpl(tryfirst=True)  # the groups must be known before pytest-xdist looks for them
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item.path)))
    items.sort(key=lambda item: item.path.stem not in LONGEST)


def pytest_configure(config):
    config.addinivalue_line("markers", "xdist_group(name): tests of one group share a process (pytest-xdist)")
