"""Kills, signals, damaged journals, failing and hanging ranks: the run ends with its cause and goes on afterwards."""

import contextlib
import datetime
import itertools
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import socket
import subprocess
import time

import kill_test
import pytest
import runs


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    output = tmp_path_factory.mktemp("reference") / "run"
    assert runs.run(runs.SMOKE, output)[0] == 0
    return runs.digest(output)


def resume(output, reference, ranks=1):
    code, _, err = runs.run(runs.SMOKE, output, ranks=ranks)
    assert code == 0, err
    assert runs.digest(output) == reference
    return err


def has_signal(process_id, field, number):
    """Whether a field of /proc/PID/status (blocked: SigBlk, pending: ShdPnd) holds a signal."""
    text = pathlib.Path(f"/proc/{process_id}/status").read_text()
    return int(text.split(field + ":")[1].split()[0], 16) >> (number - 1) & 1


@pytest.mark.parametrize("seed, ranks", enumerate(kill_test.RANKS))
def test_killed_at_random_moments(tmp_path, reference, seed, ranks):
    kill_test.one_round(tmp_path / "run", random.Random(seed), ranks)
    assert runs.digest(tmp_path / "run") == reference


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP])
def test_signal_stops_cleanly(tmp_path, reference, number):
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    process.send_signal(number)
    code, _, err = runs.finish(process)
    assert code == 75, err
    assert "run the same command again" in err.splitlines()[-1]
    state = runs.status(tmp_path / "run")
    assert state["state"] == "stopped" and number.name[3:] in state["cause"]
    assert 0 < state["blocks"]["done"] < state["blocks"]["total"]
    err = resume(tmp_path / "run", reference, ranks=2)
    assert f"{state['blocks']['done']} resumed" in err


def test_signal_on_any_rank_stops_all(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3)
    os.kill(runs.rank_processes(process)[-1], signal.SIGUSR1)
    code, _, err = runs.finish(process)
    assert code == 75, err
    assert "USR1 on rank 2" in runs.status(tmp_path / "run")["cause"]
    resume(tmp_path / "run", reference)


def test_signal_ends_a_block_that_takes_too_long(tmp_path, reference):
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=2, inject="block_start:3:delay=6000000")
    runs.wait_for(lambda: runs.journal_blocks(tmp_path / "run") == 4)
    process.send_signal(signal.SIGUSR1)
    code, _, err = runs.finish(process)
    assert code == 75, err
    resume(tmp_path / "run", reference)


@pytest.mark.parametrize("place", [20, -1])
def test_a_block_that_is_found_damaged_is_scored_again(tmp_path, reference, place):
    """With an index payloads are looked at when the result is written."""
    assert runs.run(runs.SMOKE, tmp_path / "run", ranks=2, inject="export:rename:1:kill")[0] == 137
    (journal,) = (tmp_path / "run/journal").glob("*.log")
    runs.write_index(journal)
    data = bytearray(journal.read_bytes())
    third = list(runs.records(bytes(data)))[2]
    damaged = data.index(third) + (100 + place if place > 0 else len(third) + place)
    data[damaged] ^= 1
    journal.write_bytes(data)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3)
    assert code == 75 and "is damaged in the journal" in err, err
    assert runs.status(tmp_path / "run")["state"] == "stopped"
    assert "1 of 26 blocks to score" in resume(tmp_path / "run", reference)


def test_a_sweep_says_that_one_of_its_jobs_waits_for_the_same_command(tmp_path):
    sweep = ["sweep.seed=[1, 2]"]
    assert runs.run(runs.SMOKE, tmp_path / "out", *sweep, inject="export:rename:1:kill")[0] == -9
    (journal,) = (tmp_path / "out").glob("smoke.1/journal/*.log")
    runs.write_index(journal)
    data = bytearray(journal.read_bytes())
    third = list(runs.records(bytes(data)))[2]
    data[data.index(third) + len(third) - 1] ^= 1
    journal.write_bytes(data)
    code, _, err = runs.run(runs.SMOKE, tmp_path / "out", *sweep)
    assert code == 75 and "the sweep: 1 of 2 jobs done" in err and "is damaged in the journal" in err, err
    code, _, err = runs.run(runs.SMOKE, tmp_path / "out", *sweep)
    assert code == 0 and "the sweep: 2 of 2 jobs done" in err, err


def test_signal_after_a_failure_changes_nothing(tmp_path, reference):
    faults = "step:hash_files:1:throw:1," + runs.hold(tmp_path / "run", 1, "finalize")
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=2, inject=faults)
    runs.wait_for(lambda: runs.status(tmp_path / "run")["state"] == "failed")
    ranks = runs.rank_processes(process)
    assert len(ranks) == 2
    for rank in ranks:
        os.kill(rank, signal.SIGTERM)
    runs.wait_for(lambda: not any(has_signal(rank, "ShdPnd", signal.SIGTERM) for rank in ranks))
    runs.release(tmp_path / "run")
    code, _, err = runs.finish(process)
    assert code == 1 and "injected fault at step:hash_files" in err, err
    state = runs.status(tmp_path / "run")
    assert state["state"] == "failed" and "injected fault at step:hash_files" in state["cause"]
    resume(tmp_path / "run", reference)


def test_faults_are_read_at_the_start_and_named_in_the_log(tmp_path):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=2, inject="block_start:1")
    assert code == 2 and "STEREOSWEEP_INJECT holds 'block_start:1'" in err, err
    assert not (tmp_path / "run").exists()
    assert runs.run(runs.SMOKE, tmp_path / "run", inject="block_start:1:delay=1")[0] == 0
    assert "STEREOSWEEP_INJECT=block_start:1:delay=1" in (tmp_path / "run/log").read_text()


def test_storm_of_signals_while_stopping(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    for number in [signal.SIGCONT, signal.SIGUSR1, signal.SIGTERM, signal.SIGCONT] * 25:
        if process.poll() is None:
            process.send_signal(number)
        time.sleep(0.002)
    assert runs.finish(process)[0] == 75
    resume(tmp_path / "run", reference)


def test_continue_signal_is_noise(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    process.send_signal(signal.SIGCONT)
    runs.release(tmp_path / "run")
    assert runs.finish(process)[0] == 0
    assert runs.digest(tmp_path / "run") == reference


@pytest.mark.parametrize("rank", [0, 2])
def test_error_on_a_rank_ends_all_with_its_cause(tmp_path, reference, rank):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject=f"{runs.hold(tmp_path / 'run')},block_done:2:throw:{rank}")
    assert code == 1, err
    assert "injected fault at block_done" in err
    state = runs.status(tmp_path / "run")
    assert state["state"] == "failed" and "injected fault" in state["cause"]
    assert "injected fault" in (tmp_path / "run/log").read_text()
    resume(tmp_path / "run", reference, ranks=2)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("action", ["kill", "exit"])
def test_death_of_a_rank_ends_all(tmp_path, reference, rank, action):
    faults = f"{runs.hold(tmp_path / 'run')},block_done:2:{action}:{rank}"
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject=faults, environment=runs.PATIENT_LAUNCHER if rank else {})
    assert code not in (0, 75), err
    if rank > 0:
        state = runs.status(tmp_path / "run")
        assert state["state"] in ("stopping", "lost")
        assert re.search(f"rank 1 on {socket.gethostname()} has (died|ended)", state["cause"])
    resume(tmp_path / "run", reference, ranks=3)


HOW_IT_ENDED = {"kill": r"has died \(signal KILL|has died \(process \d+", "exit": r"has ended \(exit status 3|has died \(process \d+"}


@pytest.mark.parametrize("action", HOW_IT_ENDED)
@pytest.mark.parametrize("point", ["step:hash_files:1", "join:2", "finalize:1"])
def test_death_of_a_rank_outside_of_scoring_is_told(tmp_path, reference, point, action):
    linux = tuple(map(int, platform.release().split(".")[:2]))
    if "finalize" in point and linux < (6, 15):
        pytest.skip("this kernel does not tell a death from an end in good order")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject=f"{point}:{action}:2,export:rename:1:delay=20000",
                            environment=runs.PATIENT_LAUNCHER)
    assert code not in (0, 75), err
    state = runs.status(tmp_path / "run")
    told = rf"rank 2 on {socket.gethostname()} ({HOW_IT_ENDED[action]})"
    assert state["state"] == "lost" and re.match(told, state["cause"]), state
    assert re.search(told, (tmp_path / "run/log").read_text())
    resume(tmp_path / "run", reference)


@pytest.mark.parametrize("victim", [0, 1, None])
def test_signal_outside_of_scoring_is_told_of_whom_it_came_to(tmp_path, reference, victim):
    """The launcher sends TERM to the others of a rank that has left: none of them is blamed, and none has died."""
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=3, inject=runs.hold(tmp_path / "run", 1, "step:hash_files"),
                         environment=runs.PATIENT_LAUNCHER)
    runs.wait_for(lambda: runs.status(tmp_path / "run")["state"] == "starting")
    os.kill(process.pid if victim is None else runs.rank_processes(process)[victim], signal.SIGTERM)
    code, _, err = runs.finish(process)
    assert code != 0, err
    state = runs.status(tmp_path / "run")
    told = f"signal TERM on rank {victim or 0} on {socket.gethostname()}"
    assert state["state"] == "stopped" and state["cause"].startswith(told), state
    assert ("while all ranks lived" in state["cause"]) == (victim is None)
    resume(tmp_path / "run", reference)


def test_a_launcher_that_is_ended_while_scoring_ends_is_told(tmp_path, reference):
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=2, inject="scored:1:delay=60000:0")
    runs.wait_for(lambda: runs.status(tmp_path / "run")["blocks"]["done"] == 26)
    time.sleep(0.5)  # until the other rank has said goodbye
    process.send_signal(signal.SIGTERM)
    assert runs.finish(process)[0] != 0
    state = runs.status(tmp_path / "run")
    assert state["state"] == "stopping" and "signal TERM on rank 0" in state["cause"], state
    assert "signal TERM on rank 0" in runs.program("status", tmp_path / "run").stdout
    resume(tmp_path / "run", reference)


def test_hanging_rank_is_noticed(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3, environment={"STEREOSWEEP_RANK_TIMEOUT_S": "3"})
    victim = runs.rank_processes(process)[1]
    os.kill(victim, signal.SIGSTOP)
    code, _, err = runs.finish(process)
    assert code not in (0, 75), err
    assert "rank 1" in err and "has not answered" in err
    state = runs.status(tmp_path / "run")
    assert state["state"] == "lost" and "has not answered" in state["cause"]
    resume(tmp_path / "run", reference)


def test_hanging_rank_is_noticed_that_scores_in_step_with_another(tmp_path):
    slices = "execution.tensor_parallel=2"
    process = runs.start(runs.SMOKE, tmp_path / "run", slices, ranks=4, inject=runs.hold(tmp_path / "run", 3),
                         environment={"STEREOSWEEP_RANK_TIMEOUT_S": "3"})
    runs.wait_for(lambda: runs.journal_blocks(tmp_path / "run") >= 4)
    os.kill(runs.rank_processes(process)[1], signal.SIGSTOP)
    code, _, err = runs.finish(process)
    assert code not in (0, 75) and "rank 1" in err and "has not answered" in err, err
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", slices, ranks=2)
    assert code == 0, err


def start_with_a_late_rank(tmp_path, monkeypatch, **options):
    """Of two ranks the second does not come: it stops itself before it is the program."""
    late = tmp_path / "late"
    late.write_text(f"""#!/bin/bash
        if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then kill -STOP $$; fi
        exec '{runs.PROGRAM}' "$@"
        """)
    late.chmod(0o755)
    with monkeypatch.context() as changed:
        changed.setattr(runs, "PROGRAM", str(late))
        return runs.start(runs.SMOKE, tmp_path / "run", ranks=2, **options)


def test_a_rank_that_does_not_come_to_the_start_of_mpi_is_not_waited_for(tmp_path, reference, monkeypatch):
    process = start_with_a_late_rank(tmp_path, monkeypatch, environment={"STEREOSWEEP_START_TIMEOUT_S": "3"})
    code, _, err = runs.finish(process)
    assert code == 75 and "MPI has not started in time" in err, err
    resume(tmp_path / "run", reference)


def test_a_rank_that_does_not_join_the_others_is_not_waited_for(tmp_path, reference):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject="join:1:hang:1",
                            environment={"STEREOSWEEP_WAIT_TIMEOUT_S": "3"})
    assert code == 75 and "a rank has not joined the others in time" in err, err
    resume(tmp_path / "run", reference)


def test_a_rank_that_does_not_come_to_the_end_of_mpi_is_not_waited_for(tmp_path, reference):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=3, inject="finalize:1:hang:1",
                            environment={"STEREOSWEEP_START_TIMEOUT_S": "3"})
    assert code == 75 and "MPI has not ended in time" in err, err
    resume(tmp_path / "run", reference)


def test_a_rank_that_hangs_before_the_first_block_is_lost(tmp_path, reference):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", ranks=2, inject="step:hash_files:1:hang:1",
                            environment={"STEREOSWEEP_WAIT_TIMEOUT_S": "3"})
    assert code == 75, err
    assert runs.status(tmp_path / "run")["state"] == "lost"
    resume(tmp_path / "run", reference)


def test_rank_zero_that_was_stopped_does_not_blame_others(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3,
                              environment={"STEREOSWEEP_RANK_TIMEOUT_S": "1", **runs.PATIENT_LAUNCHER})
    os.kill(runs.rank_processes(process)[0], signal.SIGSTOP)
    code, _, err = runs.finish(process)
    assert code not in (0, 75) and "rank 0 has not been heard for 3 s" in err, err
    state = runs.status(tmp_path / "run")
    assert state["state"] in ("running", "lost") and "rank 1" not in state["cause"] and "rank 2" not in state["cause"]
    resume(tmp_path / "run", reference)


def test_an_mpirun_that_stays_is_ended(tmp_path, reference, monkeypatch):
    """Each is stopped, so that it stays for sure: after an abort, a rank's death, a signal while MPI starts. One whose
    rank is a shell with more to do than a command that fails is left alone. A rank zero that is stopped while it writes
    the result, when MPI has ended, is killed."""
    busy = f"{runs.PROGRAM} validate none.yaml; code=$?; sleep 34; exit $((code + 10))"
    other = subprocess.Popen(["mpirun", "-np", "1", "sh", "-c", busy], env={**os.environ, **runs.ENVIRONMENT},
                             stderr=subprocess.DEVNULL)
    aborted = runs.start_held(runs.SMOKE, tmp_path / "abort", ranks=3, environment={"STEREOSWEEP_RANK_TIMEOUT_S": "3"})
    killed = runs.start_held(runs.SMOKE, tmp_path / "killed", ranks=2)
    writes = tmp_path / "writes"
    writing = runs.start(runs.SMOKE, writes, ranks=2, inject=f"export:rename:1:hold={writes}.go")
    starting = start_with_a_late_rank(tmp_path, monkeypatch)
    ranks = {process: runs.rank_processes(process) for process in (aborted, killed)}
    os.kill(ranks[aborted][1], signal.SIGSTOP)
    runs.wait_for(lambda: "has not answered" in (tmp_path / "abort/log").read_text())
    runs.wait_for(lambda: any(has_signal(rank, "SigBlk", signal.SIGTERM) for rank in runs.rank_processes(starting)))
    ranks[starting] = runs.rank_processes(starting)
    for process in ranks:
        process.send_signal(signal.SIGSTOP)
    runs.wait_for(lambda: list(writes.glob("*partial*")) and len(runs.rank_processes(writing)) == 1)
    os.kill(runs.rank_processes(writing)[0], signal.SIGSTOP)
    os.kill(ranks[killed][1], signal.SIGKILL)
    os.kill(ranks[starting][0], signal.SIGTERM)
    begun = time.monotonic()
    for process in ranks:
        process.wait(timeout=300)
        assert process.returncode == -signal.SIGKILL and time.monotonic() - begun > 20
    assert other.wait(timeout=300) == 12
    code, _, err = runs.finish(writing)
    assert code != 0 and "signal 9" in err, err
    resume(writes, reference)
    for rank in itertools.chain(*ranks.values()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, signal.SIGKILL)
    resume(tmp_path / "abort", reference)
    resume(tmp_path / "killed", reference)


@pytest.mark.parametrize("number", range(int(os.environ.get("STEREOSWEEP_ABORTS", "3"))))
def test_an_abort_ends_mpirun_in_a_stated_time(tmp_path, number):
    """Open MPI's own end hangs now and then: then the guard ends it."""
    begun = time.monotonic()
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", "execution.block_limit_s=1", ranks=3, inject="block_done:1:hang:1")
    assert code != 0 and time.monotonic() - begun < 90, err


def test_signal_while_mpi_starts_ends_at_once(tmp_path, reference, monkeypatch):
    process = start_with_a_late_rank(tmp_path, monkeypatch)
    runs.wait_for(lambda: any(has_signal(rank, "SigBlk", signal.SIGTERM) for rank in runs.rank_processes(process)))
    first = runs.rank_processes(process)[0]  # behind it its guard, which at first has its name
    os.kill(first, signal.SIGTERM)
    code, _, err = runs.finish(process)
    assert code == 75 and "before MPI had started" in err and "run the same command again" in err, err
    resume(tmp_path / "run", reference)


def test_stopping_does_not_wait_for_a_rank_that_hangs(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3)
    ranks = runs.rank_processes(process)
    os.kill(ranks[2], signal.SIGSTOP)
    os.kill(ranks[1], signal.SIGUSR1)
    log = tmp_path / "run/log"
    runs.wait_for(lambda: ": stopped: " in log.read_text())  # written after the status
    lines = log.read_text().splitlines()
    begun, ended = (datetime.datetime.fromisoformat(line.split()[0].rstrip("Z")) for line in lines if ": stop" in line)
    assert (ended - begun).total_seconds() < 7, lines  # 0.8 s; with that rank 5 s for its block and 2 s for its goodbye
    runs.finish(process)  # mpirun waits for the rank that hangs
    state = runs.status(tmp_path / "run")
    assert state["state"] == "stopped" and "USR1 on rank 1" in state["cause"]
    resume(tmp_path / "run", reference)


@pytest.mark.parametrize("name", ["SLURM_STEP_NUM_TASKS", "PMI_SIZE", "PALS_SIZE", "MPI_LOCALNRANKS"])
def test_tasks_that_do_not_know_of_each_other_are_refused(tmp_path, name):
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", environment={name: "4"})
    assert code == 2 and "srun --mpi=pmix" in err and f"4 processes ({name})" in err and not (tmp_path / "run").exists()


def test_a_step_around_mpirun_does_not_matter(tmp_path, reference):
    environment = {"SLURM_STEP_NUM_TASKS": "4", "PMI_SIZE": "4"}
    assert runs.run(runs.SMOKE, tmp_path / "run", ranks=2, environment=environment)[0] == 0
    assert runs.digest(tmp_path / "run") == reference


def test_granted_gpus_that_nothing_uses_are_an_error(tmp_path):
    model = ["execution.engine=torch", f"model.path={runs.ROOT}/tests/models/planted"]
    environment = {"SLURM_JOB_GPUS": "0", "CUDA_VISIBLE_DEVICES": ""}
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", *model, environment=environment)
    assert code == 2 and "Slurm has granted GPUs (SLURM_JOB_GPUS=0)" in err and "execution.device=cpu" in err, err
    err = runs.run(runs.SMOKE, tmp_path / "run", *model, "execution.device=cpu", environment=environment)[2]
    assert "Slurm has granted" not in err


@pytest.mark.parametrize("rank", [0, 1])
def test_hanging_block_is_named(tmp_path, reference, rank):
    code, _, err = runs.run(
        runs.SMOKE, tmp_path / "run", "execution.block_limit_s=2", ranks=2, inject=f"block_prompts:1:hang:{rank}"
    )
    assert code == 1, err
    cause = runs.status(tmp_path / "run")["cause"]
    assert cause.startswith(f"rank {rank} on ") and "has been in work for" in cause and "Its first prompt: '" in cause
    resume(tmp_path / "run", reference)


def test_term_to_mpirun_itself_loses_nothing_acknowledged(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3)
    done = runs.journal_blocks(tmp_path / "run")
    process.send_signal(signal.SIGTERM)
    assert runs.finish(process)[0] != 0
    err = resume(tmp_path / "run", reference, ranks=2)
    assert int(err.split(" resumed")[0].rsplit("(", 1)[1]) >= done


def test_slow_disk_of_rank_zero_is_waited_for(tmp_path, reference):
    """Workers give rank zero up after three times the limit: only its pings keep them while the disk takes longer."""
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3, faults="journal_sync:2:delay=10000",
                              environment={"STEREOSWEEP_RANK_TIMEOUT_S": "3"})
    runs.release(tmp_path / "run")
    code, _, err = runs.finish(process)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == reference


def test_second_start_is_refused_while_the_first_goes_on(tmp_path, reference):
    first = runs.start_held(runs.SMOKE, tmp_path / "run")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run", environment={"STEREOSWEEP_LOCK_TIMEOUT_S": "0.2"})
    assert code == 1 and "another run works in" in err, err
    again = {"STEREOSWEEP_LOCK_TIMEOUT_S": "0.2", "SLURM_RESTART_COUNT": "1"}
    assert runs.run(runs.SMOKE, tmp_path / "run", environment=again)[0] == 75  # Slurm may not have ended the first yet
    assert f"process {first.pid} on {socket.gethostname()}, started 20" in err
    runs.release(tmp_path / "run")
    code, out, err = runs.finish(first)
    assert code == 0, err
    assert reference in out


def test_attempt_that_was_overtaken_stops(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    before = runs.journal_bytes(tmp_path / "run")
    (tmp_path / "run/journal/epoch.2").touch()  # as a newer attempt on another node does
    runs.release(tmp_path / "run")
    code, _, err = runs.finish(process)
    assert code == 1 and "newer attempt has taken over" in err
    assert runs.journal_bytes(tmp_path / "run") == before
    resume(tmp_path / "run", reference)


@pytest.mark.parametrize("fault", ["journal_write:3:enospc", "journal_sync:2:eio", "journal_write:1:enospc"])
def test_journal_that_cannot_be_written_ends_the_run(tmp_path, reference, fault):
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=2, inject=f"{runs.hold(tmp_path / 'run')},{fault}")
    runs.wait_for(lambda: runs.journal_blocks(tmp_path / "run") == 4 or process.poll() is not None)
    runs.release(tmp_path / "run")  # the rest comes with a second sync
    code, _, err = runs.finish(process)
    assert code == 1 and "the journal" in err, err
    if "enospc" in fault:
        assert "No space left" in err and "Make room" in err
    assert runs.status(tmp_path / "run")["state"] == "failed"
    resume(tmp_path / "run", reference)


@pytest.mark.parametrize("stream", ["0", "1", "2"])
def test_messages_of_a_closed_stream_reach_no_file_of_the_run(tmp_path, reference, stream):
    command = f"exec '{runs.PROGRAM}' run '{runs.SMOKE}' --output '{tmp_path}/run' {stream}>&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=runs.ROOT, timeout=300)
    assert done.returncode == (1 if stream == "1" else 0)  # the digest could not be printed
    assert (tmp_path / "run/journal/lock").read_bytes() == b""
    assert runs.digest(tmp_path / "run") == reference


@pytest.mark.parametrize(
    "limit, room, reason", [("size=1m", "size=16m", "Make room"), ("nr_inodes=8", "nr_inodes=99", "no inodes are left")]
)
def test_full_disk(tmp_path, reference, limit, room, reason):
    output = tmp_path / "small"
    with runs.small_disk(output, limit):
        process = runs.start(runs.SMOKE, output / "run", ranks=2, inject=runs.hold(tmp_path / "run", block=2))
        runs.wait_for(lambda: runs.journal_blocks(output / "run") == 2 or process.poll() is not None)
        if "size" in limit:  # another user fills it
            with contextlib.suppress(OSError), (output / "filler").open("wb", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
        runs.release(tmp_path / "run")
        code, _, err = runs.finish(process)
        assert code == 1 and "No space left" in err and reason in err, err
        state = runs.status(output / "run")  # written although the disk is full
        assert state["state"] == "failed" and "No space left" in state["cause"]
        assert runs.run(runs.SMOKE, output / "run")[0] == 1
        assert runs.status(output / "run")["blocks"]["done"] == state["blocks"]["done"]
        subprocess.run(["mount", "-o", "remount," + room, output], check=True)
        resume(output / "run", reference)


def test_disk_that_is_too_small_is_told_before_the_first_block(tmp_path, reference):
    output = tmp_path / "small"
    with runs.small_disk(output, "size=64k"):
        code, _, err = runs.run(runs.SMOKE, output / "run", ranks=2)
        assert code == 1 and "the results do not fit the disk" in err and "MB in the journal" in err, err
        state = runs.status(output / "run")
        assert state["state"] == "failed" and "do not fit the disk" in state["cause"] and state["blocks"]["done"] == 0
        assert runs.journal_blocks(output / "run") == 0
        subprocess.run(["mount", "-o", "remount,size=200k", output], check=True)
        _, _, err = runs.run(runs.SMOKE, output / "run")
        assert "warning: the disk may become full" in err and "in the HDF5 file" in err, err
        subprocess.run(["mount", "-o", "remount,size=16m", output], check=True)
        code, _, err = runs.run(runs.SMOKE, output / "run")
        assert code == 0 and "the disk may become full" not in err and runs.digest(output / "run") == reference, err


def test_disk_that_fills_up_during_the_export(tmp_path, reference):
    limited = f"trap '' XFSZ; ulimit -f 150; exec '{runs.PROGRAM}' run '{runs.SMOKE}' --output '{tmp_path}/run'"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, cwd=runs.ROOT, timeout=300)
    assert done.returncode == 1 and "File too large" in done.stderr and "association.h5" in done.stderr, done.stderr
    assert "buf = 0x" not in done.stderr
    state = runs.status(tmp_path / "run")
    assert state["state"] == "failed" and state["blocks"]["done"] == state["blocks"]["total"]
    assert not list((tmp_path / "run").glob("*.h5*"))
    code, _, err = runs.run(runs.SMOKE, tmp_path / "run")
    assert code == 0 and "blocks to score" not in err, err
    assert runs.digest(tmp_path / "run") == reference


def test_directory_that_cannot_be_written(tmp_path):
    output = tmp_path / "read-only"
    output.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", output], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a read-only tmpfs cannot be mounted here: " + mounted.stderr.decode())
    try:
        for directory, expected in ((output, 1), (output / "run", 2)):
            code, _, err = runs.run(runs.SMOKE, directory, ranks=2)
            assert code == expected and "Read-only file system" in err and str(directory) in err, err
    finally:
        subprocess.run(["umount", output], check=True)


def test_damaged_journal_is_reported_and_scored_again(tmp_path, reference):
    assert runs.run(runs.SMOKE, tmp_path / "run")[0] == 0
    (journal,) = (tmp_path / "run/journal").glob("*.log")
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 4
    journal.write_bytes(content[:-10])
    (tmp_path / "run/association.h5").unlink()
    err = resume(tmp_path / "run", reference, ranks=2)
    assert "are damaged" in err and "2 of 26 blocks to score (24 resumed" in err


def test_journal_that_is_cut_during_the_run_is_no_success(tmp_path, reference):
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    (journal,) = (tmp_path / "run/journal").glob("*.log")
    os.truncate(journal, 0)
    runs.release(tmp_path / "run")
    code, _, err = runs.finish(process)
    assert code == 1 and "blocks in the journal no more" in err, err
    assert runs.status(tmp_path / "run")["state"] == "failed"
    resume(tmp_path / "run", reference)


def test_two_different_numbers_for_one_block_are_an_error(tmp_path):
    for name, seed in (("a", 1), ("b", 2)):
        assert runs.run(runs.SMOKE, tmp_path / name, f"seed={seed}")[0] == 0
    for journal in (tmp_path / "b/journal").glob("*.log"):
        shutil.copy(journal, tmp_path / "a/journal")
    code, _, err = runs.run(runs.SMOKE, tmp_path / "a")
    assert code != 0 and ("different numbers" in err or "belongs to another job" in err)


def test_status_from_another_shell(tmp_path):
    process = runs.start_held(runs.SMOKE, tmp_path / "run")
    code, out, err = runs.finish(runs.start_program("status", tmp_path / "run"))
    assert code == 0 and "running" in out and "journal  1 attempt," in out, err
    runs.kill_tree(process)
    process.communicate()
    code, out, _ = runs.finish(runs.start_program("status", tmp_path / "run"))
    assert code == 0 and "is gone (killed)" in out
    file = tmp_path / "run/status.json"  # another process has got that number
    file.write_text(file.read_text().replace(f'"pid": {process.pid}', f'"pid": {os.getpid()}'))
    assert "is gone (killed)" in runs.finish(runs.start_program("status", tmp_path / "run"))[1]
    file.write_text(file.read_text().replace(f'"host": "{socket.gethostname()}"', '"host": "elsewhere"'))
    assert "state    running\n" in runs.finish(runs.start_program("status", tmp_path / "run"))[1]
    file.write_text(re.sub(r'"updated": "20..', '"updated": "2001', file.read_text()))
    assert "probably killed" in runs.finish(runs.start_program("status", tmp_path / "run"))[1]
    code, out, _ = runs.finish(runs.start_program("status", tmp_path))  # a folder of runs, such as a sweep's
    assert code == 0 and out.startswith("run      smoke\n") and "probably killed" in out
    (tmp_path / "empty").mkdir()
    code, _, err = runs.finish(runs.start_program("status", tmp_path / "empty"))
    assert code == 2 and "no run in" in err


def test_no_process_and_no_shared_memory_is_left(tmp_path):
    process = runs.start_held(runs.SMOKE, tmp_path / "run", ranks=3)
    ranks = runs.rank_processes(process)
    assert len(ranks) == 3
    runs.kill_tree(process)
    process.communicate()
    runs.wait_for(lambda: not any(pathlib.Path(f"/proc/{rank}/comm").exists() for rank in ranks))
    assert not [path for rank in ranks for path in pathlib.Path("/dev/shm").glob(f"stereosweep-{rank}-*")]
