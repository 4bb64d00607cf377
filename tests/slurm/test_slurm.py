"""Every end that a job can have on Slurm: what its status says, with which exit status it ends, whether it is queued again,
and that the result is bit for bit the same in the end. Long cases run where STEREOSWEEP_LAB=all."""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest
import slurm_lab

SMOKE = "jobs/00_smoke.yaml"
SMALL = "execution.contexts_per_block=1"
FOUR = ["--nodes=4", "--ntasks-per-node=1", "--cpus-per-task=1"]
TWO = ["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1"]
DIGEST = "ff489767ebaf5a7566a83dea666e3d715b7306576676d08719a51e68d515cd97"  # of the smoke job, on one rank, undisturbed
SLOW = {"STEREOSWEEP_INJECT": "block_start:*:delay=400", "STEREOSWEEP_PROGRESS_S": "1"}  # 78 blocks: 8 s on four ranks

long = pytest.mark.skipif(os.environ.get("STEREOSWEEP_LAB") != "all", reason="a long case: STEREOSWEEP_LAB=all runs it")
pytestmark = pytest.mark.skipif(bool(slurm_lab.why_not()), reason="no Slurm lab: " + slurm_lab.why_not())


@pytest.fixture(scope="module")
def one_lab(tmp_path_factory):
    lab = slurm_lab.Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.end()


@pytest.fixture()
def lab(one_lab):
    yield one_lab
    for number in one_lab.run("squeue", "-h", "-o", "%A")[1].split():
        one_lab.run("scancel", "--signal=KILL", "--full", number, check=False)
        one_lab.run("scancel", number, check=False)
    for number in range(1, 5):
        if f"n{number}" not in one_lab.run("sinfo", "-h", "-N", "-p", "low", "-t", "idle,completing", "-o", "%n")[1].split():
            one_lab.run("scontrol", "update", f"nodename=n{number}", "state=resume", check=False)
    one_lab.wait_for(lambda: one_lab.run("sinfo", "-h", "-p", "low", "-t", "idle", "-o", "%D")[1].strip() == "4", 60)


@pytest.fixture()
def output(lab, request):
    return lab.folder / request.node.name.replace("[", "-").replace("]", "")


def status(output):
    return json.loads((output / "status.json").read_text())


def digest(output):
    return subprocess.run([slurm_lab.PROGRAM, "show", output, "--digest"], capture_output=True, text=True).stdout.split()[0]


def scoring(output, blocks=4):
    """Some blocks are in the journal: `lab.wait_for` asks for it."""

    def reached():
        with contextlib.suppress(OSError, ValueError):
            now = status(output)
            return now["state"] == "running" and now["blocks"]["done"] >= blocks
        return False

    return reached


def completed(job, output, restarts):
    assert job.end() == (0, restarts), job.log()
    assert digest(output) == DIGEST
    return job.log()


def start(lab, output, *more, options=FOUR, environment=SLOW):
    return lab.submit("slurm/cpu.sbatch", SMOKE, SMALL, *more, "--output", output, options=options, environment=environment)


def test_smoke_without_an_argument(lab):
    job = lab.submit("slurm/smoke.sbatch")
    assert job.end() == (0, 0), job.log()
    assert "== done" in job.log() and (lab.tree / "results/smoke/association.h5").exists()


def test_another_folder_is_told_what_to_do(lab):
    job = lab.submit(slurm_lab.ROOT / "slurm/smoke.sbatch", directory=lab.folder)
    assert job.end() == (2, 0)
    assert "submit it from the folder of the clone: cd " in job.log(), job.log()


def test_output_of_a_job_array(lab, output):
    job = start(lab, f"{output}_%a_%A_%j", options=[*TWO, "--array=7"], environment={})
    other = start(lab, f"{output}_%a", options=TWO, environment={})
    lab.wait_for(lambda: list(lab.folder.glob(f"{output.name}_7_{job.number}_*/association.h5")), 60)
    assert other.end() == (2, 0) and "this is no job array" in other.log()


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_lost_rank_is_named_and_the_job_goes_on(lab, output, rank):
    job = start(lab, output)
    lab.wait_for(scoring(output), 90)
    job.signal_rank(rank)
    log = completed(job, output, restarts=1)
    named = f"rank {rank} on n{rank + 1}"
    assert "== lost: " in log and "queued again" in log
    assert f"{named} is lost" in log or rank == 0  # rank 0 itself cannot say it


@long
def test_lost_ranks_are_queued_again_three_times(lab, output):
    job = start(lab, output, environment={**SLOW, "STEREOSWEEP_INJECT": "block_start:*:delay=400,block_done:1:kill:2"})
    assert job.end(400) == (1, 3), job.log()
    assert "have been lost 4 times" in job.log() and "not queued again" in job.log()


@long
def test_hung_rank_is_lost(lab, output):
    job = start(lab, output, environment={**SLOW, "STEREOSWEEP_RANK_TIMEOUT_S": "4"})
    lab.wait_for(scoring(output), 90)
    job.signal_rank(2, signal.SIGSTOP)
    log = completed(job, output, restarts=1)
    assert "rank 2 on n3 has not answered for 4 s" in log and "== lost: " in log


def test_other_errors_are_not_queued_again(lab, output):
    job = start(lab, output, environment={**SLOW, "STEREOSWEEP_INJECT": "block_done:6:throw:2"})
    assert job.end() == (1, 0), job.log()
    assert "== failed: rank 2 on n3: injected fault" in job.log() and "not queued again" in job.log()


@long
def test_time_limit(lab, output):
    slow = {**SLOW, "STEREOSWEEP_INJECT": "block_start:*:delay=8000", "STEREOSWEEP_SIGNAL_LEAD_S": "30"}
    job = start(lab, output, options=[*FOUR, "--time=2", "--signal=USR1@30"], environment=slow)
    job.wait_for_text("queued again", 180)
    assert "USR1 on rank" in job.log() and "== stopped: " in job.log()
    lab.run("scontrol", "update", f"jobid={job.number}", "timelimit=20")
    job.wait("PENDING", "RUNNING")
    lab.run("scancel", job.number)


def test_time_limit_that_leaves_no_time_is_refused(lab, output):
    job = start(lab, output, options=[*TWO, "--time=5"])
    assert job.end() == (2, 0) and "the time limit (00:05:00)" in job.log(), job.log()


@long
def test_starts_that_finish_nothing_end(lab, output):
    slow = {**SLOW, "STEREOSWEEP_INJECT": "block_start:*:delay=600000"}
    job = start(lab, output, options=TWO, environment=slow)
    for begun in (1, 2):
        job.wait_for_text(f"start {begun},", 90)
        lab.wait_for(scoring(output, 0), 90)
        job.signal_rank(1, signal.SIGUSR1)
        job.wait_for_text("== stopped: ", 60)
    assert job.end() == (75, 1), job.log()
    assert "2 starts in a row have finished no block" in job.log()


def test_stopped_where_requeueing_fails(lab, output):
    job = start(lab, output, options=[*FOUR, "--no-requeue"])
    lab.wait_for(scoring(output), 90)
    job.signal_rank(2, signal.SIGUSR1)
    assert job.end() == (75, 0), job.log()
    assert "could not be queued again" in job.log() and "submit it again" in job.log()
    again = start(lab, output)
    completed(again, output, restarts=0)


def test_stop_with_a_dead_rank_takes_three_seconds_and_stays_a_stop(lab, output):
    job = start(lab, output)
    lab.wait_for(scoring(output), 90)
    job.signal_rank(3, signal.SIGSTOP)
    job.signal_rank(2, signal.SIGUSR1)
    job.wait_for_text("== stopped: ", 20)
    log = job.log()
    assert "signal USR1 on rank 2" in log and "not queued again" not in log
    # srun may wake rank 3 (SIGCONT) before it has been given up
    times = [line.split()[0] for line in log.splitlines() if "warning: stopping: " in line or "warning: stopped: " in line]
    assert len(times) == 2 and seconds_between(*times) <= 3, log
    completed(job, output, restarts=1)


def seconds_between(first, second):
    clock = [sum(60**power * float(part) for power, part in enumerate(reversed(text[11:19].split(":")))) for text in (first, second)]
    return clock[1] - clock[0]


def test_cancelled_job_stays_cancelled(lab, output):
    job = start(lab, output)
    lab.wait_for(scoring(output), 90)
    lab.run("scancel", job.number)
    job.wait("CANCELLED")
    job.wait_for_text("Slurm is ending the job itself", 20)
    assert "signal TERM" in job.log() and job.state() == "CANCELLED" and status(output)["state"] == "stopped"


@long
def test_element_of_an_array_is_queued_again_alone(lab, output):
    job = start(lab, f"{output}_%a", options=["--ntasks=2", "--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1", "--array=1-2"])
    for element in (1, 2):
        lab.wait_for(scoring(lab.folder / f"{output.name}_{element}"), 90)
    last = slurm_lab.Job(lab, job.number)  # the last element has the array's own number
    last.signal_rank(0, signal.SIGUSR1)
    for element in (1, 2):
        place = lab.folder / f"{output.name}_{element}"
        lab.wait_for(lambda place=place: status(place)["state"] == "done", 90)
        assert digest(place) == DIGEST
    restarts = lab.run("squeue", "-h", "-t", "all", "-r", "-j", job.number, "-o", "%K %r %T")[1]
    logs = "".join(path.read_text() for path in lab.folder.glob("job-*.out") if output.name in path.read_text())
    assert logs.count("== queued again: ") == 1, restarts + logs


@long
def test_crash_of_a_node(lab, output):
    job = start(lab, output, options=["--nodes=3", "--ntasks-per-node=1", "--cpus-per-task=1"])
    lab.wait_for(scoring(output), 90)
    lab.node("crash", 2)
    job.wait_for_text("start 2,", 120)
    completed(job, output, restarts=1)
    lab.node("up", 2)


@long
def test_cut_off_node_that_still_holds_the_lock(lab, output):
    slow = {**SLOW, "STEREOSWEEP_INJECT": "block_start:*:delay=1500"}
    job = start(lab, output, options=[*TWO, "--exclude=n4"], environment=slow)
    lab.wait_for(scoring(output), 90)
    first = int(status(output)["host"][1:])
    lab.node("cut", first)
    job.wait_for_text("is in use", 120)
    old = status(output)
    time.sleep(13)  # longer than a start by hand would wait
    lab.node("join", first)  # slurmd there is told that the job is over and ends it
    assert job.end()[0] == 0 and digest(output) == DIGEST, job.log()  # the old srun, back again, may end the new step once
    log = job.log()
    assert old["state"] == "running" and "another run works in" not in log


@long
def test_preemption(lab, output):
    job = start(lab, output)
    lab.wait_for(scoring(output), 90)
    other = lab.submit("slurm/smoke.sbatch", SMOKE, "--output", f"{output}-other",
                       options=["--partition=high", "--nodes=4", "--ntasks-per-node=4"])
    assert other.end() == (0, 0)
    log = completed(job, output, restarts=1)
    assert "signal TERM" in log and "== lost" not in log


def test_status_on_another_machine(lab, output):
    job = start(lab, output, environment={**SLOW, "STEREOSWEEP_INJECT": "block_start:*:delay=3000"})
    lab.wait_for(scoring(output), 90)
    assert "state    running\n" in lab.run(lab.program, "status", output)[1]
    job.signal_rank(0)
    lab.run("scancel", job.number)
    job.end()
    text = lab.run(lab.program, "status", output)[1]
    assert f"Slurm job {job.number} has ended" in text and "run the same command again" in text


def test_term_while_mpi_starts(lab, output):
    late = lab.folder / "late"  # rank 1 does not come in the first start
    late.write_text(f"""#!/bin/bash
        if [ "$1" = run ] && [ "$PMIX_RANK" = 1 ] && [ "${{SLURM_RESTART_COUNT:-0}}" = 0 ]; then
          trap 'exit 75' TERM; sleep 60 & wait
        fi
        exec {lab.program} "$@"
        """)
    late.chmod(0o755)
    job = start(lab, output, options=TWO, environment={"STEREOSWEEP": str(late)})
    lab.wait_for(lambda: 0 in job.ranks() and slurm_lab.waits_for_term(job.ranks()[0]), 90)
    lab.run("scancel", "--signal=TERM", f"{job.number}.0")
    job.wait_for_text("signal TERM before MPI had started", 5)
    completed(job, output, restarts=1)


def test_srun_without_pmix_is_refused(lab, output):
    code, text = lab.run("srun", "--account=lab", "-N2", "-n2", "--mpi=none", lab.program, "run", SMOKE, "--output",
                         output, check=False)
    assert code == 2 and "srun --mpi=pmix" in text, text
    assert not output.exists()


def test_granted_gpus_that_nothing_uses_are_an_error(lab, output):
    model = ["execution.engine=torch", "model.path=tests/models/planted"]
    job = start(lab, output, *model, options=[*TWO, "--gpus-per-node=1"])
    assert job.end() == (2, 0), job.log()
    assert "Slurm has granted GPUs (SLURM_" in job.log() and "execution.device=cpu" in job.log()
