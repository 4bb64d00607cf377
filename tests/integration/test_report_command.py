"""`stereosweep report`: which Python it starts, what it hands over, and the page of a real run."""

import os
import pathlib
import subprocess

import pytest
import runs

SETTINGS = {key: value for key, value in os.environ.items() if not key.startswith("STEREOSWEEP_PYTHON")}


def report(*arguments, program=runs.PROGRAM, **settings):
    done = subprocess.run(
        [program, "report", *map(str, arguments)], env={**SETTINGS, **runs.ENVIRONMENT, **settings}, capture_output=True,
        text=True, cwd=runs.ROOT,
    )
    return done.returncode, done.stdout, done.stderr


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def lonely(tmp_path):
    """A copy of the program above which no build/python lies."""
    program = tmp_path / "build" / "release" / "bin" / "stereosweep"
    program.parent.mkdir(parents=True)
    program.write_bytes(pathlib.Path(runs.PROGRAM).resolve().read_bytes())
    program.chmod(0o755)
    return program


@pytest.fixture
def places(tmp_path):
    """Two folders that look like runs."""
    found = [tmp_path / "a", tmp_path / "b c"]
    for place in found:
        place.mkdir()
        (place / "status.json").touch()
        (place / "association.h5").touch()
    return list(map(str, found))


def test_arguments_and_the_program_are_handed_over(tmp_path, lonely, places):
    python = script(tmp_path / "my python", 'printf "%s\\n" "$@" "$STEREOSWEEP_PROGRAM"; exit 7')
    code, out, _ = report(*places, "--out", "page.html", program=lonely, STEREOSWEEP_PYTHON=str(python))
    assert code == 7
    assert out.splitlines() == ["-m", "stereosweep_analysis", "report", "--out=page.html", "--", *places, str(lonely)]


def test_what_is_no_result_is_told_before_python_starts(tmp_path, lonely):
    code, _, err = report(tmp_path / "my_job.yaml", program=lonely)
    assert code == 2 and "is a job" in err and "Give its run directory: results/NAME" in err
    for place in (tmp_path / "nothing", tmp_path):
        code, _, err = report(place, program=lonely)
        assert code == 2 and "Give the folder that 'stereosweep run' wrote: results/NAME." in err


def test_a_sweep_is_named_by_its_name(tmp_path, lonely, places):
    sweep = [pathlib.Path(place).rename(tmp_path / f"sw.{value}") for value, place in enumerate(places)]
    python = script(tmp_path / "python", 'printf "%s\\n" "$@"')
    code, out, _ = report(tmp_path / "sw", program=lonely, STEREOSWEEP_PYTHON=str(python))
    assert code == 0
    assert len(sweep) == 2
    assert out.splitlines()[2:] == ["report", f"--out={tmp_path}/sw.report.html", "--", f"{tmp_path}/sw"]


def test_the_python_of_the_build_comes_before_the_path(tmp_path, lonely, places):
    a = places[0]
    on_path = script(tmp_path / "bin" / "stereosweep-analysis", 'echo path "$@"')
    settings = {"PATH": f"{on_path.parent}:{os.environ['PATH']}"}
    assert report(a, program=lonely, **settings)[1] == f"path report -- {a}\n"
    script(tmp_path / "build" / "python", 'echo build "$@"')
    assert report(a, program=lonely, **settings)[1] == f"build -m stereosweep_analysis report -- {a}\n"
    named = script(tmp_path / "named", 'echo named "$@"')
    assert report(a, program=lonely, STEREOSWEEP_PYTHON=str(named), **settings)[1].startswith("named ")


def test_without_a_python_it_says_how(tmp_path, lonely, places):
    code, out, err = report(places[0], program=lonely, PATH=str(tmp_path))
    assert code == 2 and out == "" and "pip install ./analysis" in err
    code, _, err = report(places[0], program=lonely, STEREOSWEEP_PYTHON=str(tmp_path / "nothing"))
    assert code == 1 and "cannot be started: No such file" in err
    assert report(program=lonely)[0] == 2


@pytest.mark.skipif(not (runs.ROOT / "build" / "python").exists(), reason="no build/python (env/setup.sh)")
def test_a_run_without_statistics_gets_a_page(tmp_path):
    groups = "{file: abc_groups, only: [women, men, teenagers]}"
    code, _, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", tmp_path / "run", f"axes.groups={groups}")
    assert code == 0, err
    code, out, err = report(tmp_path / "run", STEREOSWEEP_PYTHON=str(runs.ROOT / "build" / "python"))
    assert code == 0, err
    page = pathlib.Path(out.strip()).read_text(encoding="utf-8")
    assert (tmp_path / "run" / "association.stats.h5").exists()
    assert page.count("<svg") >= 3 and "teenagers" in page and "tests/models/planted" in page
    assert report(tmp_path / "nothing", STEREOSWEEP_PYTHON=str(runs.ROOT / "build" / "python"))[0] == 2
