"""Whose files a run touches: what was there before, complete runs, damaged files, limits of the process."""

import contextlib
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import pytest
import runs


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    output = tmp_path_factory.mktemp("reference") / "run"
    assert runs.run(runs.SMOKE, output)[0] == 0
    return output


def contents(folder):
    """Every file below, links not followed: path, bytes or target."""
    return {path.relative_to(folder): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()}


FOREIGN = {
    "a thesis": ["thesis.partial.tex"], "a status": ["status.json"], "a log": ["log"], "a result": ["association.h5"],
    "a journal": ["journal/web.log", "journal/search.index"], "one hidden file": [".notes"],
}  # fmt: skip


@pytest.mark.parametrize("names", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_a_directory_of_something_else_is_refused(tmp_path, names, options):
    for name in names:
        (tmp_path / "d" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "d" / name).write_text("mine\n")
    before = contents(tmp_path)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "d", *options)
    assert code == 2 and f"'{tmp_path / 'd'}' holds files, but no run of this program" in err, err
    assert names[0].split("/")[0] in err and contents(tmp_path) == before


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_a_link_in_the_journals_place_is_no_run(tmp_path, options):
    (tmp_path / "v").mkdir()
    for name in ("web.log", "search.index", "lock"):
        (tmp_path / "v" / name).write_text("mine\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/journal").symlink_to(tmp_path / "v")
    before = contents(tmp_path)
    assert runs.run(runs.SMOKE, tmp_path / "d", *options)[0] == 2
    assert contents(tmp_path) == before


def test_overwrite_removes_the_programs_own_names_alone(reference, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(reference, run)
    (tmp_path / "elsewhere").mkdir()
    for path in (run / "thesis.partial.tex", run / "status.json.partial.old", run / "journal/web.log", run / "notes.h5",
                 run / "journal/20261125T231424Z-short.log", tmp_path / "elsewhere/20261125T231424Z-0123456789abcdef.log"):
        path.write_text("mine\n")
    (run / "journal/more").symlink_to(tmp_path / "elsewhere")
    (run / "journal/20261125T231424Z-0123456789abcdef.index").symlink_to(tmp_path / "elsewhere/web.log")
    mine = {path: content for path, content in contents(tmp_path).items() if content == b"mine\n" or isinstance(content, str)}
    attempts = [path for path in (run / "journal").glob("*.log") if path.read_bytes() != b"mine\n"]
    assert len(attempts) == 1 and len(mine) == 8
    (run / "association.h5.partial.0123456789abcdef.0").write_text("left by a killed export")
    code, _, err = runs.run(runs.SMOKE, run, "seed=7", "--overwrite")
    assert code == 0, err
    now = contents(tmp_path)
    assert {path: now.get(path) for path in mine} == mine
    assert not attempts[0].exists() and not list(run.glob("association.h5.partial.*"))


def test_a_run_that_was_killed_at_its_very_beginning_goes_on(reference, tmp_path):
    (tmp_path / "run/journal").mkdir(parents=True)
    assert runs.run(runs.SMOKE, tmp_path / "run")[0] == 0
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_nothing_is_removed_behind_a_link(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    (tmp_path / "run/journal").rename(tmp_path / "elsewhere")
    (tmp_path / "run/journal").symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "seed=7", "--overwrite")
    assert code == 2 and "journal' is a link" in err and contents(tmp_path) == before, err


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_complete_run_stays_complete_on_a_full_disk(reference, tmp_path, ranks):
    with runs.small_disk(tmp_path / "small", "size=4m"):
        run = tmp_path / "small/run"
        shutil.copytree(reference, run)
        with contextlib.suppress(OSError), (tmp_path / "small/filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        code, _, err = runs.run(runs.SMOKE, run, ranks=ranks)
        assert code == 0 and "nothing to do" in err, err
        assert runs.status(run)["state"] == "done" and runs.digest(run) == runs.digest(reference)


def test_a_complete_run_rewrites_nothing(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    kept = ("job.resolved.yaml", "association.h5", "status.json")
    before = {name: (tmp_path / "run" / name).read_bytes() for name in kept}
    times = (tmp_path / "run/job.resolved.yaml").stat().st_mtime_ns, (tmp_path / "run/association.h5").stat().st_mtime_ns
    assert runs.run(runs.SMOKE, tmp_path / "run")[0] == 0
    assert {name: (tmp_path / "run" / name).read_bytes() for name in kept} == before
    assert times == ((tmp_path / "run/job.resolved.yaml").stat().st_mtime_ns, (tmp_path / "run/association.h5").stat().st_mtime_ns)


def test_a_failure_before_the_first_block_leaves_a_complete_run_complete(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", inject="step:hash_files:1:error")
    assert code != 0 and runs.status(tmp_path / "run")["state"] == "done", err


def test_a_thousand_attempts_need_few_descriptors(reference, tmp_path):
    """300 journals, 128 descriptors: every one is read, whichever of them holds the blocks."""
    shutil.copytree(reference, tmp_path / "run")
    journal = next((tmp_path / "run/journal").glob("*.log"))
    for number in range(300):
        shutil.copy(journal, journal.with_name(f"20991125T231424Z-{number:016x}.log"))
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))  # noqa: E731
    done = subprocess.run([runs.PROGRAM, "run", runs.SMOKE, "--output", tmp_path / "run"], capture_output=True, text=True,
                          cwd=runs.ROOT, preexec_fn=few)
    assert done.returncode == 0 and "nothing to do" in done.stderr, done.stderr
    assert runs.digest(tmp_path / "run") == runs.digest(reference)


def test_a_limit_of_file_sizes_is_told(tmp_path):
    small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))  # noqa: E731
    done = subprocess.run([runs.PROGRAM, "run", runs.SMOKE, "--output", tmp_path / "run"], capture_output=True, text=True,
                          cwd=runs.ROOT, preexec_fn=small)
    assert done.returncode == 1 and "File too large" in done.stderr and "ulimit -f" in done.stderr, done.stderr
    assert runs.run(runs.SMOKE, tmp_path / "run")[0] == 0


@pytest.mark.parametrize("kib", [500_000, 700_000, 800_000, 900_000, 1_000_000, 1_200_000, 1_400_000])
def test_a_thread_or_memory_that_is_refused_is_told(tmp_path, kib):
    """Stacks of 100 MB in a small address space: some thread cannot be started, or all can; never a word too few."""
    line = f'ulimit -s 100000; ulimit -v {kib}; exec "{runs.PROGRAM}" run "{runs.SMOKE}" --output "{tmp_path / "run"}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=runs.ROOT)
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    if done.returncode == 1:
        assert "a thread could not be started" in done.stderr or "not enough memory" in done.stderr, done.stderr
        assert runs.run(runs.SMOKE, tmp_path / "run")[0] == 0


@pytest.mark.parametrize("setting", ["TRUE", "1", "BEST_EFFORT"])
def test_file_locks_of_hdf5_are_switched_off(reference, tmp_path, setting):
    """A lock that another process holds, as HDF5 would take it, keeps nobody from reading."""
    shutil.copytree(reference, tmp_path / "run")
    environment = {"HDF5_USE_FILE_LOCKING": setting}
    holder = subprocess.Popen(["flock", "--exclusive", tmp_path / "run/association.h5", "sleep", "600"])
    try:
        runs.wait_for(lambda: subprocess.run(["flock", "--nonblock", tmp_path / "run/association.h5", "true"]).returncode != 0)
        code, _, err = runs.finish(runs.start_program("stats", tmp_path / "run", environment=environment))
        assert code == 0, err
    finally:
        runs.kill_tree(holder)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", environment=environment)
    assert code == 0 and f"HDF5_USE_FILE_LOCKING={setting} is ignored" in err, err


def test_status_prints_no_escapes_of_the_terminal(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    path = tmp_path / "run/status.json"
    text = path.read_text().replace('"cause": ""', '"cause": "\\u001b[31mred \\u009b \\u202e"')
    path.write_text(text.replace('"name": "', '"name": "\\u001b]0;x\\u0007'))
    done = runs.program("status", tmp_path / "run")
    assert done.returncode == 0 and r"\x1b[31mred \x9b \u202e" in done.stdout, done.stdout
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(done.stdout)


def test_status_believes_the_lock_and_not_the_number(tmp_path):
    """The writer may live in another container, where its number means another process or none."""
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    path = tmp_path / "run/status.json"
    process.send_signal(19)  # it stops, so that it does not write
    path.write_text(path.read_text().replace(f'"pid": {process.pid}', '"pid": 4194303'))
    said = runs.program("status", tmp_path / "run").stdout
    runs.kill_tree(process)
    process.wait()
    assert "gone" not in said, said
    assert "gone (killed)" in runs.program("status", tmp_path / "run").stdout


def test_verify_reads_the_seals(planted_run, tmp_path):
    shutil.copytree(planted_run, tmp_path / "run")
    done = runs.program("verify", tmp_path / "run")
    assert done.returncode == 0 and "association.h5: every byte is as it was written" in done.stdout, done.stdout
    path = tmp_path / "run/association.h5"
    path.write_bytes(path.read_bytes()[:-300])
    done = runs.program("verify", tmp_path / "run")
    assert done.returncode == 1 and "association.h5: NOT intact" in done.stdout, done.stdout
    assert "level A: every number of the journal" in done.stdout
    path.unlink()
    assert "association.h5: it is not there; 'stereosweep export" in runs.program("verify", tmp_path / "run").stdout


@pytest.fixture(scope="module")
def planted_run(tmp_path_factory):
    output = tmp_path_factory.mktemp("planted") / "run"
    code, _, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", output, "axes.groups={file: abc_groups, only: [women, men]}")
    assert code == 0, err
    return output


def test_a_report_computes_damaged_statistics_anew(planted_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(planted_run, run)
    assert runs.program("stats", run).returncode == 0
    whole = (run / "association.stats.h5").read_bytes()
    for damaged in (b"", whole[:2000] + bytes(16) + whole[2016:]):
        (run / "association.stats.h5").write_bytes(damaged)
        done = runs.program("report", run, env={**os.environ, "STEREOSWEEP_PYTHON": sys.executable})
        assert done.returncode == 0 and (run / "report.html").exists(), done.stderr
        assert len((run / "association.stats.h5").read_bytes()) > 2000
        pathlib.Path(run / "report.html").unlink()
