"""A run and its recovery, ended before each of their calls that change files; with "power" all that no fsync has made
durable is lost, too (tests/support/StorageCrash.cpp).

STEREOSWEEP_CRASHES=all: every call of a run and of its recovery, else a few of them.
"""

import json
import os
import pathlib
import shutil

import context_jobs
import pytest
import runs

LIBRARY = os.environ.get("STEREOSWEEP_STORAGE_CRASH", str(pathlib.Path(runs.PROGRAM).parents[1] / "tests/libstorage_crash.so"))
KINDS = ("kill", "power", "power-names")
FEW = 4
BLOCKS = "execution.contexts_per_block=12"  # seven blocks
DELAY = "block_done:*:delay=60"  # longer than blocks wait for each other's sync
AT_THE_END = 10**6  # a call beyond the last


def watched(output, crash, forget=""):
    """The library's environment."""
    return {"LD_PRELOAD": LIBRARY, "STEREOSWEEP_STORAGE_FOLDER": str(output), "STEREOSWEEP_STORAGE_COUNT": f"{output}.count",
            "STEREOSWEEP_STORAGE_CRASH": crash, "STEREOSWEEP_STORAGE_FORGET": forget}


def run(output, crash="", forget="", job=runs.SMOKE, arguments=(BLOCKS,)):
    """(exit status, standard error, number of calls) of a run under the library."""
    counted = output.with_name(output.name + ".count")
    counted.unlink(missing_ok=True)
    code, _, err = runs.run(job, output, *arguments, inject=DELAY, environment=watched(output, crash, forget))
    return code, err, int(counted.read_text()) if counted.exists() else None


def lost(output, reference):
    """What a user had been told that is not true after a crash; "" if nothing is."""
    seen = output.with_name(output.name + ".seen")
    told = json.loads(seen.read_text()) if seen.exists() and seen.stat().st_size else {"state": "none", "blocks": {"done": 0}}
    if runs.journal_blocks(output) < told["blocks"]["done"]:
        return f"{told['blocks']['done']} blocks were done, the journal holds {runs.journal_blocks(output)}"
    shown = runs.program("show", output, "--digest").stdout.split()
    if told["state"] == "done" and shown[:1] != [reference]:
        return f"the result was there, but show says {shown}"
    return ""


def chosen(calls):
    if os.environ.get("STEREOSWEEP_CRASHES") == "all":
        return range(1, calls + 2)
    return [1 + round(step * calls / (FEW - 1)) for step in range(FEW)]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The digest of an undisturbed run."""
    output = tmp_path_factory.mktemp("reference") / "run"
    assert runs.run(runs.SMOKE, output)[0] == 0
    return runs.digest(output)


def must_recover(output, reference, crash):
    assert lost(output, reference) == "", crash
    code, err, _ = run(output)
    assert code == 0, (crash, err)
    assert runs.digest(output) == reference, crash
    shutil.rmtree(output)


@pytest.mark.parametrize("kind", KINDS)
def test_crash_at_a_call_of_a_run(reference, tmp_path, kind):
    code, err, calls = run(tmp_path / "whole")
    assert code == 0 and calls > 50, err
    for call in chosen(calls):
        output = tmp_path / str(call)
        code, err, _ = run(output, f"{kind}:{call}")
        assert code == -9, err
        must_recover(output, reference, f"{kind}:{call}")


@pytest.mark.parametrize("kind", KINDS)
def test_crash_at_a_call_of_a_recovery(reference, tmp_path, kind):
    begun = tmp_path / "begun"
    process = runs.start_held(runs.SMOKE, begun, BLOCKS, block=4)
    runs.kill_tree(process)
    runs.finish(process)
    shutil.copytree(begun, tmp_path / "whole")
    code, err, calls = run(tmp_path / "whole")
    assert code == 0 and calls > 50, err
    for call in chosen(calls):
        output = tmp_path / str(call)
        shutil.copytree(begun, output)
        code, err, _ = run(output, f"{kind}:{call}")
        assert code == -9, err
        must_recover(output, reference, f"{kind}:{call}")


@pytest.mark.parametrize("forgotten, kind", [
    (".log$", "power-names"), ("/journal$", "power"), ("/run$", "power"), ("association.h5.partial", "power-names")])
def test_without_an_fsync_something_is_lost(reference, tmp_path, forgotten, kind):
    """What the tests above would see if a call of fsync were missing in the program."""
    output = tmp_path / "run"
    code, err, _ = run(output, f"{kind}:{AT_THE_END}", forgotten)
    assert code == -9, err
    assert lost(output, reference) != ""


@pytest.mark.parametrize("is_begun", [False, True])
@pytest.mark.parametrize("has_stages", [False, True])
def test_journals_outlast_the_end(tmp_path, has_stages, is_begun):
    """Of a new run, and of one whose journals were deleted: then no other file is made durable in the run's folder before."""
    job, arguments = runs.SMOKE, (BLOCKS,)
    if has_stages:
        corpus = context_jobs.write_corpus(tmp_path / "corpus.txt", lines=60)
        job, arguments = context_jobs.write_job(tmp_path / "job.yaml", runs.ROOT / "tests/models/letters", corpus), ()
    output = tmp_path / "run"
    code, err, _ = run(output, job=job, arguments=arguments)
    assert code == 0, err
    whole, reference = runs.journal_blocks(output), runs.digest(output)
    if is_begun:
        shutil.rmtree(output / "journal")
    else:
        shutil.rmtree(output)
    code, err, _ = run(output, f"power:{AT_THE_END}", job=job, arguments=arguments)
    assert code == -9, err
    assert runs.journal_blocks(output) == whole
    code, err, _ = run(output, job=job, arguments=arguments)
    assert code == 0, err
    assert runs.digest(output) == reference


@pytest.mark.parametrize("kind", KINDS)
def test_an_exported_result_outlasts_the_end(reference, tmp_path, kind):
    output = tmp_path / "run"
    code, err, _ = run(output)
    assert code == 0, err
    (output / "association.h5").unlink()
    process = runs.start_program("export", output, environment=watched(output, f"{kind}:{AT_THE_END}"))
    code, _, err = runs.finish(process)
    assert code == -9, err
    assert runs.digest(output) == reference
