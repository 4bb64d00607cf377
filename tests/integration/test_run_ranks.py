"""One digest for any number of ranks; resume, reuse, refusals."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import termios

import h5py
import numpy
import pytest
import runs
from rounding import most_error


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """An undisturbed run on one rank."""
    output = tmp_path_factory.mktemp("reference") / "run"
    code, out, err = runs.run(runs.SMOKE, output)
    assert code == 0, err
    assert runs.digest(output) in out
    return output


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_same_digest_on_any_number_of_ranks(reference, tmp_path, ranks):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=ranks)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)
    state = runs.status(tmp_path / "run")
    assert state["state"] == "done" and state["num_ranks"] == ranks
    assert state["blocks"]["done"] == state["blocks"]["total"]


@pytest.mark.parametrize("contexts", [1, 1000])
def test_same_digest_with_other_blocks(reference, tmp_path, contexts):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", f"execution.contexts_per_block={contexts}", ranks=2)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


@pytest.mark.parametrize("job, axis", [
    ("10_planted.yaml", "axes.groups={file: abc_groups, only: [women, men]}"),
    ("40_winoidentity.yaml", "axes.markers={file: winoidentity_markers, only: [able-bodied, disabled]}")])
def test_float16_has_one_digest_and_stays_near_float32(tmp_path, job, axis):
    settings = ["execution.device=cpu", axis]
    for name, dtype, ranks in (("one", "float16", 1), ("three", "float16", 3), ("wide", "float32", 1)):
        code, _, err = runs.run(runs.ROOT / "jobs" / job, tmp_path / name, f"model.dtype={dtype}", *settings, ranks=ranks)
        assert code == 0, err
    assert runs.digest(tmp_path / "one") == runs.digest(tmp_path / "three")
    half, wide = ([file["logprob"][()] for file in map(h5py.File, (tmp_path / name).glob("*.h5")) if "logprob" in file][0]
                  for name in ("one", "wide"))
    assert (numpy.isnan(half) == numpy.isnan(wide)).all()
    assert 1e-5 < numpy.nanmax(numpy.abs(half - wide)) < most_error("float16", 4, numpy.nanstd(wide))


def test_slow_rank_holds_up_nobody_and_changes_nothing(reference, tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject="block_start:*:delay=300:1")
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


@pytest.mark.parametrize("hanging", [0, 2])
def test_block_that_waits_at_a_hanging_rank_is_scored_by_another(reference, tmp_path, hanging):
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=3, inject=f"block_start:1:hang:{hanging}",
                         environment={"STEREOSWEEP_PROGRESS_S": "0.2"})
    all_but_one = runs.status(reference)["blocks"]["total"] - 1
    runs.wait_for(lambda: runs.status(tmp_path / "run")["blocks"]["done"] == all_but_one)
    runs.kill_tree(process)
    runs.finish(process)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=2)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_more_ranks_than_blocks(tmp_path):
    job = tmp_path / "job.yaml"
    text = pathlib.Path(runs.SMOKE).read_text().replace("../tests", str(runs.ROOT / "tests"))
    text = text.replace("only: [women, men, Black people, people with disabilities]", "only: [women]")
    text = text.replace("intersections: abc_pairs", "intersections: none")
    job.write_text(text)
    code, _, err = runs.run(job, tmp_path / "one", "execution.contexts_per_block=100")
    assert code == 0, err
    total = runs.status(tmp_path / "one")["blocks"]["total"]
    assert total < 5
    code, _, err = runs.run(job, tmp_path / "five", "execution.contexts_per_block=100", ranks=5)
    assert code == 0, err
    assert runs.digest(tmp_path / "one") == runs.digest(tmp_path / "five")
    idle = f"{5 - total} rank{'s' if total < 4 else ''} will have nothing to do"
    for told in (err, (tmp_path / "five" / "log").read_text()):
        lines = [line for line in told.splitlines() if "nothing to do" in line]
        assert len(lines) == 1 and "warning" in lines[0] and idle in lines[0], told
        assert "execution.contexts_per_block" in lines[0] and f"{total} block" in lines[0]
    assert "nothing to do" not in (tmp_path / "one" / "log").read_text()


def planned(job):
    """Queries and tokens as `plan` counts them."""
    code, out, err = runs.finish(runs.start_program("plan", job))
    assert code == 0, err
    rows = {row.split()[0]: row.split()[1] for row in out.splitlines() if row.strip()}
    return [int(rows[name].replace(",", "")) for name in ("queries", "tokens")]


def test_work_is_what_was_planned(tmp_path):
    job = runs.ROOT / "jobs/10_planted.yaml"
    code, _, err = runs.run(job, tmp_path / "run", ranks=2)
    assert code == 0, err
    work = runs.status(tmp_path / "run")["work"]
    assert [work["distinct_sequences"], work["distinct_tokens"]] == planned(job)


def test_work_is_the_same_whoever_did_it(reference, tmp_path):
    whole = runs.status(reference)["work"]
    assert whole["distinct_sequences"] == planned(runs.SMOKE)[0]
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=2)
    runs.kill_tree(process)
    process.communicate()
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3)
    assert code == 0 and f"{whole['distinct_tokens']:,} tokens" in err, err
    assert runs.status(tmp_path / "run")["work"] == whole
    code, _, err = runs.run(runs.SMOKE, tmp_path / "reused", "--reuse", tmp_path / "run")
    assert code == 0, err
    assert runs.status(tmp_path / "reused")["work"] == whole
    with h5py.File(tmp_path / "reused/association.h5") as raw:
        assert {name: raw.attrs["num_" + name] for name in whole} == whole


def test_reuse_takes_what_is_shared_and_says_why_nothing_is(reference, tmp_path):
    old_groups = "women, men, Black people, people with disabilities"
    groups = "axes.groups={file: abc_groups, only: [teenagers, %s]}" % old_groups
    code, _, err = runs.run(runs.SMOKE, tmp_path / "more", groups, "--reuse", reference)
    assert code == 0 and runs.status(tmp_path / "more")["blocks"]["reused"] == 26, err
    assert runs.run(runs.SMOKE, tmp_path / "anew", groups)[0] == 0
    assert runs.digest(tmp_path / "more") == runs.digest(tmp_path / "anew")
    for change, field in (("execution.batch_tokens=512", "execution.batch_tokens: 1024, now 512"),
                          ("measures=[ilps]", "measures"), ("execution.contexts_per_block=3", "execution.contexts_per_block: 4, now 3")):
        code, _, err = runs.run(runs.SMOKE, tmp_path / change, change, "--reuse", reference)
        assert code == 0 and "reused 0 of" in err and f"fits this job ({field}" in err, err


def test_complete_run_is_left_alone(reference):
    before = (reference / "association.h5").stat().st_mtime_ns
    attempts = len(list(reference.glob("journal/*.log")))
    code, _, err = runs.run(runs.SMOKE, reference)
    assert code == 0 and "nothing to do" in err
    assert (reference / "association.h5").stat().st_mtime_ns == before
    assert len(list(reference.glob("journal/*.log"))) == attempts


def test_lost_export_is_written_again_and_equal(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    first = (tmp_path / "run/association.h5").read_bytes()
    (tmp_path / "run/association.h5").unlink()
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0, err
    assert (tmp_path / "run/association.h5").read_bytes() == first


def test_partial_export_is_replaced(reference, tmp_path):
    """Killed between the last block and the export, after somebody had exported what was there."""
    shutil.copytree(reference, tmp_path / "run")
    whole = (tmp_path / "run/association.h5").read_bytes()
    (tmp_path / "run/association.h5").write_bytes(b"half a result")
    state = tmp_path / "run/status.json"
    state.write_text(state.read_text().replace('"done",', '"exporting",', 1))
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0 and "nothing to do" not in err, err
    assert (tmp_path / "run/association.h5").read_bytes() == whole


def test_incomplete_export_is_never_taken_for_the_result(reference, tmp_path):
    """`export` of a journal that has lost its end must not replace what is complete, nor may the run believe it."""
    shutil.copytree(reference, tmp_path / "run")
    whole = (tmp_path / "run/association.h5").read_bytes()
    (journal,) = (tmp_path / "run/journal").glob("*.log")
    os.truncate(journal, journal.stat().st_size * 2 // 3)
    code, _, err = runs.finish(runs.start_program("export", tmp_path / "run"))
    assert code == 1 and "is complete and stays as it is" in err, err
    assert (tmp_path / "run/association.h5").read_bytes() == whole
    (tmp_path / "run/association.h5").unlink()
    code, out, err = runs.finish(runs.start_program("export", tmp_path / "run"))
    assert code == 0 and "NOT complete" in out, err
    shutil.copytree(reference / "journal", tmp_path / "run/journal", dirs_exist_ok=True)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0 and "nothing to do" not in err, err
    assert (tmp_path / "run/association.h5").read_bytes() == whole


def test_overtaken_attempt_replaces_no_result(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    (tmp_path / "run/association.h5").unlink()
    process = runs.start(runs.SMOKE, tmp_path / "run", inject=runs.hold(tmp_path / "run", 1, "export:rename"))
    runs.wait_for(lambda: list((tmp_path / "run").glob("association.h5.partial.*")))
    (epoch,) = (tmp_path / "run/journal").glob("epoch.*")
    (tmp_path / f"run/journal/epoch.{int(epoch.suffix[1:]) + 1}").touch()  # as a newer attempt on another node does
    (tmp_path / "run/status.json").write_text("the newer one's")
    runs.release(tmp_path / "run")
    code, _, err = runs.finish(process)
    assert code == 1 and "newer attempt has taken over" in err, err
    assert not list((tmp_path / "run").glob("association.h5*"))
    assert (tmp_path / "run/status.json").read_text() == "the newer one's"


def test_results_take_their_names_one_after_another(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    (tmp_path / "run/association.h5").unlink()
    with open(tmp_path / "run/journal/export.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as another that is just replacing a result
        process = runs.start_program("export", tmp_path / "run")
        waits = re.compile(rf"-> FLOCK .* {process.pid} ")
        runs.wait_for(lambda: waits.search(pathlib.Path("/proc/locks").read_text()) or process.poll() is not None)
        assert process.poll() is None and not (tmp_path / "run/association.h5").exists()
    code, _, err = runs.finish(process)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_other_ranks_end_before_the_result_is_written(reference, tmp_path):
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=3, inject=runs.hold(tmp_path / "run", 1, "export:rename"),
                         environment={"STEREOSWEEP_PROGRESS_S": "0.000001"})
    runs.wait_for(lambda: list((tmp_path / "run").glob("association.h5.partial.*")))
    runs.wait_for(lambda: len(runs.rank_processes(process)) == 1)
    runs.wait_for(lambda: runs.status(tmp_path / "run")["blocks"]["exported"] == 26)
    status = runs.status(tmp_path / "run")
    assert (status["state"], status["blocks"]["total"]) == ("exporting", 26)
    assert runs.status(reference)["blocks"]["exported"] == 26
    runs.release(tmp_path / "run")
    code, _, err = runs.finish(process)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


@pytest.mark.parametrize("action, code, state", [("throw", 1, "failed"), ("kill", 137, "exporting")])
def test_a_result_that_fails_after_the_other_ranks_have_ended(reference, tmp_path, action, code, state):
    ended, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject=f"export:rename:1:{action}")
    assert ended == code, err
    assert runs.status(tmp_path / "run")["state"] == state
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=2)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_run_directory_is_a_job(reference):
    code, _, err = runs.finish(runs.start_program("run", reference))
    assert code == 0 and "nothing to do" in err


def test_other_job_is_refused_naming_the_field(reference):
    digest = runs.digest(reference)
    for ranks in (1, 2):
        code, _, err = runs.run(runs.SMOKE, reference, "seed=9", "priors.word=false", ranks=ranks)
        assert code == 2
        assert "belongs to another job" in err and "seed: 1, now 9" in err and "priors.word" in err
    assert runs.digest(reference) == digest


def test_a_refusal_names_three_fields_and_counts_the_rest(reference):
    code, _, err = runs.run(runs.SMOKE, reference, "seed=9", "priors.word=false", "measures=[ilps]",
                            "axes.groups={file: abc_groups, only: [men]}", "execution.batch_tokens=7")
    assert code == 2 and "; and " in err and " more)" in err, err
    assert err.count(", now ") + err.count("only ") <= 3 and "Give another --output" in err


def test_a_start_that_scored_nothing_gives_way_to_a_corrected_job(reference, tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "seed=9", inject="block_start:*:throw")
    assert code == 1 and not list((tmp_path / "run").glob("journal/*.log")), err
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0 and "an earlier start of another job (seed: 9, now 1) had scored nothing, and is replaced" in err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_blocks_of_another_build_are_neither_continued_nor_reused(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    runs.rewrite_journal(tmp_path / "run", settings={"build": "GNU 1.0, C++20, -O0", "libtorch": "1.0"})
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0 and "nothing to do" in err and "(build: GNU 1.0, C++20, -O0, now " in err, err
    code, _, err = runs.run(runs.SMOKE, tmp_path / "other", "--reuse", tmp_path / "run")
    assert code == 0 and "reused 0 of" in err and "fits this job (build: GNU 1.0, C++20, -O0, now " in err, err
    (journal,) = (tmp_path / "run/journal").glob("*.log")
    os.truncate(journal, journal.stat().st_size - 10)  # a block is missing: it would be of this build
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 2 and "was scored by another build or with other libraries (build: " in err, err
    assert "libtorch: 1.0, now (nothing)" in err  # the fake engine uses none


def test_a_run_of_an_older_version_is_named_as_such(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    runs.rewrite_journal(tmp_path / "run", version=2)
    for command in ("run", "export"):
        code, _, err = runs.finish(runs.start_program(command, tmp_path / "run"))
        assert code == 2 and "was written by an older version of this program" in err and "--overwrite" in err, err
    assert runs.run(runs.SMOKE, tmp_path / "run", "--overwrite")[0] == 0


def test_a_run_ends_with_the_next_command(reference, tmp_path):
    output = tmp_path / "it's mine"
    for _ in range(2):  # scored, and complete
        code, _, err = runs.run(runs.SMOKE, output)
        line = err.splitlines()[-1]
        assert code == 0 and "next: " in line, err
        command = line.split("next: ", 1)[1]
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=runs.ROOT)
        assert done.returncode == 0 and (output / "association.stats.h5").exists(), done.stderr


def test_progress_fits_the_terminal(tmp_path):
    for columns in (80, 132):
        driver, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        done = subprocess.Popen([runs.PROGRAM, "run", runs.SMOKE, "--output", tmp_path / str(columns)], cwd=runs.ROOT,
                                stderr=terminal, stdout=subprocess.DEVNULL,
                                env={**os.environ, **runs.ENVIRONMENT, "STEREOSWEEP_INJECT": runs.hold(tmp_path / str(columns))})
        os.close(terminal)
        text = b""
        try:
            while part := os.read(driver, 65536):
                text += part
                if text.count(b"\r\x1b[K") > 2:
                    runs.release(tmp_path / str(columns))
        except OSError:  # the other end was closed
            pass
        assert done.wait() == 0
        lines = [part.split(b"\r")[0] for part in text.split(b"\r\x1b[K")[1:]]
        assert len(lines) > 1 and all(line.startswith(b"[") and len(line) < columns for line in lines), lines


def test_statistics_and_device_belong_to_no_number(reference):
    code, _, err = runs.run(runs.SMOKE, reference, "statistics.word_aggregate=mean", "execution.device=cpu")
    assert code == 0 and "nothing to do" in err, err


def test_other_tokenizer_is_refused_naming_the_file(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(runs.ROOT / "tests/models/letters", model)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", f"model.path={model}")
    assert code == 0, err
    path = model / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["clean_up_tokenization_spaces"] = "changed"
    path.write_text(json.dumps(config))
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", f"model.path={model}")
    assert code == 2 and "tokenizer/tokenizer_config.json" in err
    code, _, err = runs.run(runs.SMOKE, tmp_path / "other", f"model.path={model}", "--reuse", tmp_path / "run")
    assert code == 0 and "reused 0 of" in err
    assert "fits this job (tokenizer/tokenizer_config.json: " in err


def test_overwrite_starts_anew_and_spares_foreign_files(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    (tmp_path / "run/notes.txt").write_text("mine")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "seed=7", "--overwrite")
    assert code == 0, err
    assert runs.digest(tmp_path / "run") != runs.digest(reference)
    assert len(list((tmp_path / "run/journal").glob("*.log"))) == 1
    assert (tmp_path / "run/notes.txt").read_text() == "mine"
    kept = runs.digest(tmp_path / "run"), runs.status(tmp_path / "run")
    for arguments, problem in [(["model.path=none"], "none"), (["--reuse", tmp_path / "none"], "nothing to reuse"),
                               (["--reuse", tmp_path / "run"], "would delete what --reuse")]:
        code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "--overwrite", *arguments)
        assert code == 2 and problem in err
        assert (runs.digest(tmp_path / "run"), runs.status(tmp_path / "run")) == kept


def test_overwrite_of_a_requeued_job_continues(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "--overwrite", environment={"SLURM_RESTART_COUNT": "1"})
    assert code == 0 and "--overwrite is ignored" in err and "nothing to do" in err


def test_reuse_scores_only_the_new_group(tmp_path):
    text = pathlib.Path(runs.SMOKE).read_text().replace("../tests", str(runs.ROOT / "tests"))
    text = text.replace("intersections: abc_pairs", "intersections: none")
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(text.replace("women, men,", "men,"))
    new.write_text(text)
    assert runs.run(old, tmp_path / "old")[0] == 0
    code, _, err = runs.run(new, tmp_path / "new", "--reuse", tmp_path / "old", ranks=2)
    assert code == 0, err
    blocks = runs.status(tmp_path / "new")["blocks"]
    per_group = runs.status(tmp_path / "old")["blocks"]["total"] / 5  # two priors and three groups
    assert blocks["reused"] == runs.status(tmp_path / "old")["blocks"]["total"]
    assert blocks["total"] - blocks["reused"] == per_group
    assert f"reused {blocks['reused']} of {blocks['total']} blocks" in err
    assert runs.run(new, tmp_path / "fresh")[0] == 0
    assert runs.digest(tmp_path / "new") == runs.digest(tmp_path / "fresh")


def test_reuse_of_nothing_is_refused(tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "--reuse", tmp_path / "none")
    assert code == 2 and "nothing to reuse" in err


def test_sweep_makes_one_directory_each(tmp_path):
    job = tmp_path / "job.yaml"
    text = pathlib.Path(runs.SMOKE).read_text().replace("../tests", str(runs.ROOT / "tests"))
    job.write_text(text + "sweep: {seed: [1, 2]}\n")
    code, out, err = runs.run(job, tmp_path / "out", ranks=2)
    assert code == 0, err
    directories = sorted(path for path in (tmp_path / "out").iterdir())
    assert len(directories) == 2 and out.count("digest ") == 2
    assert len({runs.digest(path) for path in directories}) == 2


def sweep_of(directory):
    return {path.name: runs.status(path)["state"] for path in sorted(directory.iterdir())}


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_sweep_names_its_directories_and_runs_what_can_be_run(tmp_path, ranks):
    letters = runs.ROOT / "tests/models/letters"
    shutil.copytree(letters, tmp_path / "broken")
    (tmp_path / "broken/tokenizer.json").write_text("{")
    models = [tmp_path / "missing", letters, tmp_path / "broken"]
    code, out, err = runs.run(runs.SMOKE, tmp_path / "out", f"sweep.model.path={json.dumps(list(map(str, models)))}",
                              "sweep.seed=[1, 2]", ranks=ranks)
    assert code == 1 and out.count("digest ") == 2, err
    good = {f"smoke.letters-{seed}": "done" for seed in (1, 2)}
    assert sweep_of(tmp_path / "out") == good, err
    begin, end = err.split("blocks to score", 1)
    for name in ("missing", "broken"):
        line = f"{tmp_path}/out/smoke.{name}-1"
        assert f"{line}  CANNOT RUN: " in begin and f"NOT DONE    {line}: " in end, err
    assert "the sweep: 2 of 6 jobs done" in end
    for name in good:
        assert f"  {tmp_path}/out/{name}\n" in begin and f"  done        {tmp_path}/out/{name}\n" in end, err


def test_a_sweep_of_which_no_job_can_run_is_bad_input(tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "out", "sweep.model.path=[/nowhere/a, /nowhere/b]")
    assert code == 2 and "no job of the sweep can run:" in err and "/nowhere/a" in err and "/nowhere/b" in err, err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_job_that_fails_does_not_end_the_sweep(tmp_path, ranks):
    planted = runs.ROOT / "tests/models/planted"
    shutil.copytree(planted, tmp_path / "damaged")
    weights = tmp_path / "damaged/model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-4096] + b"\xff" * 4096)  # NaN: seen when the numbers are read
    code, out, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", tmp_path / "out",
                              f"sweep.model.path={json.dumps([str(tmp_path / 'damaged'), str(planted)])}",
                              "axes.groups={file: abc_groups, only: [women, men]}", ranks=ranks)
    assert code == 1 and out.count("digest ") == 1, err
    assert sweep_of(tmp_path / "out") == {"planted.damaged": "failed", "planted.planted": "done"}
    assert "NOT DONE    " in err and "NaN" in err.split("the sweep: 1 of 2 jobs done")[1], err


def test_a_seed_that_changes_no_number_is_scored_once(tmp_path):
    code, out, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", tmp_path / "out", "sweep.seed=[1, 2]",
                              "axes.groups={file: abc_groups, only: [women, men]}")
    assert code == 0 and len({line.split()[1] for line in out.splitlines()}) == 1, err
    assert "the probe 'association' draws nothing here, so the seed changes no number" in err
    blocks = runs.status(tmp_path / "out/planted.2")["blocks"]
    assert blocks["reused"] == blocks["total"] > 0
    code, _, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", tmp_path / "out/planted.1", "seed=3",
                            "axes.groups={file: abc_groups, only: [women, men]}")
    assert code == 0 and "nothing to do" in err, err


def test_leaked_launcher_variables_do_not_matter(reference, tmp_path):
    leaked = {
        "SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_STEP_ID": "0",
        "SLURM_STEPID": "0", "SLURM_JOB_NUM_NODES": "2", "SLURM_TASKS_PER_NODE": "2(x2)", "SLURM_NODELIST": "n[1-2]",
        "PMI_RANK": "0", "PMI_SIZE": "1", "PMI_FD": "9", "PMIX_RANK": "0", "WORLD_SIZE": "4", "RANK": "0",
    }  # fmt: skip
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", environment=leaked)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_refused_start_leaves_the_run_as_it_was(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    shutil.copytree(runs.ROOT / "tests/models/letters", tmp_path / "model")
    file = tmp_path / "model/tokenizer.json"
    file.write_text(file.read_text() + " ")
    before = [(tmp_path / "run" / name).read_bytes() for name in ("status.json", "job.resolved.yaml")]
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", f"model.path={tmp_path / 'model'}")
    assert code == 2 and "belongs to another job (model.path: " in err and f", now {tmp_path / 'model'})" in err
    assert [(tmp_path / "run" / name).read_bytes() for name in ("status.json", "job.resolved.yaml")] == before


def test_stale_partial_files_go_and_the_users_files_stay(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
    (tmp_path / f"run/association.h5.partial.0123456789abcdef.{boot}").touch()
    (tmp_path / "run/mine.h5").touch()
    assert runs.finish(runs.start_program("export", tmp_path / "run"))[0] == 0
    assert not list((tmp_path / "run").glob("*.partial.*"))
    assert runs.run(runs.SMOKE, tmp_path / "run", "--overwrite")[0] == 0
    assert (tmp_path / "run/mine.h5").exists()


def test_pipe_among_the_journals_is_named(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    os.mkfifo(tmp_path / "run/journal/pipe.log")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 1 and "no regular file" in err


def test_damaged_result_is_bad_input(reference, tmp_path):
    content = bytearray((reference / "association.h5").read_bytes())
    content[1098:1114] = b"\xff" * 16
    (tmp_path / "x.h5").write_bytes(content)
    code, _, err = runs.finish(runs.start_program("show", tmp_path / "x.h5"))
    assert code == 2 and "is damaged" in err


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_tensor_parallel_group_counts_as_one_rank(reference, tmp_path, ranks):
    """The fake engine has nothing to cut: the same numbers, scored in step by groups of two ranks."""
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "execution.tensor_parallel=2", ranks=ranks)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)
    assert runs.status(tmp_path / "run")["num_ranks"] == ranks


def test_groups_must_fit_the_ranks_of_a_node(tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "execution.tensor_parallel=2", ranks=3)
    assert code == 2 and "tensor_parallel: 2 on a node with 3 ranks" in err


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_a_failure_in_any_slice_ends_the_run_with_its_cause(tmp_path, rank):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "execution.tensor_parallel=2", ranks=4,
                            inject=f"block_start:1:throw:{rank}")
    assert code == 1, err
    assert "injected" in err
    assert runs.status(tmp_path / "run")["state"] == "failed"
