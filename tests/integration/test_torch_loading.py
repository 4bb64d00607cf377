"""libtorch_cpu.so is loaded by commands that compute, and by them alone."""

import os

import pytest
import runs

PLANTED = runs.ROOT / "tests/models/planted"


def loads_torch(*arguments, **options):
    """Whether a command that must end well loads libtorch_cpu.so; the dynamic linker tells."""
    done = runs.program(*arguments, env={**os.environ, "LD_DEBUG": "files"}, **options)
    assert done.returncode == 0, done.stderr
    assert "calling init: " in done.stderr
    return any("calling init: " in line and "libtorch_cpu.so" in line for line in done.stderr.splitlines())


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("smoke") / "run"


def test_what_computes_nothing_needs_no_torch(output):
    assert not loads_torch("--version")
    assert not loads_torch("run", runs.SMOKE, "--output", output)
    for command in ["status", "show", "stats", "export"]:
        assert not loads_torch(command, output), command
    assert not loads_torch("tokenize", "--model", PLANTED, input="a text\n")
    assert not loads_torch("parse", input='{"kind":"rating","text":"4","low":1,"high":5}\n')


def test_a_query_loads_it():
    assert loads_torch("query", "--model", PLANTED, input="")


def test_a_torch_that_cannot_be_loaded_is_told(tmp_path):
    (tmp_path / "libtorch_cpu.so").write_text("no library")
    done = runs.program("query", "--model", PLANTED, input="", env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 1
    assert "cannot load torch" in done.stderr and str(tmp_path / "libtorch_cpu.so") in done.stderr
