"""Nodes that fail, are cut off or are taken by another job: the job goes on elsewhere, with the right numbers."""

import signal
import time

import pytest
import runs
from slurm_lab import DIGEST, SMOKE, digest

pytestmark = pytest.mark.long_case
THREE = ["--nodes=3", "--ntasks-per-node=1", "--cpus-per-task=1"]


@pytest.fixture()
def output(lab, request):
    return lab.folder / request.node.name.replace("[", "-").replace("]", "")


@pytest.mark.parametrize("node", [1, 2])
def test_crash_of_a_node(lab, output, node):
    """Node 1 has the batch script and rank 0."""
    job = lab.start_held(output, options=THREE)
    lab.wait_until_held(job, output, ranks=3)
    lab.node("crash", node)
    job.wait_for_text("start 2,")
    runs.release(output)
    job.completed(output, restarts=1)
    lab.node("up", node)


def test_cut_off_node_of_another_rank(lab, output):
    job = lab.start_held(output, options=THREE)
    lab.wait_until_held(job, output, ranks=3)
    lab.node("cut", 2)
    job.wait_for_text("start 2,")
    runs.release(output)
    job.completed(output, restarts=1)
    lab.node("join", 2)


def test_cut_off_node_that_still_holds_the_lock(lab, output):
    job = lab.start_held(output, options=["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1", "--exclude=n4"])
    lab.wait_until_held(job, output, ranks=2)
    first = int(runs.status(output)["host"][1:])
    lab.node("cut", first)
    job.wait_for_text("is in use")
    old = runs.status(output)
    time.sleep(13)  # longer than a start by hand would wait
    lab.node("join", first)  # slurmd there is told that the job is over and ends it
    lab.wait_for(lambda: job.log().count(" to score (") == 2)
    runs.release(output)
    assert job.end()[0] == 0 and digest(output) == DIGEST, job.log()  # the old srun, back again, may end the new step once
    assert old["state"] == "running" and "another run works in" not in job.log()


def test_preemption(lab, output):
    job = lab.start_held(output)
    lab.wait_until_held(job, output)
    other = lab.submit("slurm/smoke.sbatch", SMOKE, "--output", f"{output}-other",
                       options=["--partition=high", "--nodes=4", "--ntasks-per-node=4", "--exclusive"])
    assert other.end() == (0, 0)
    runs.release(output)
    log = job.completed(output, restarts=1)
    assert "signal TERM" in log and "== lost" not in log


def test_killed_script_counts_as_lost(lab, output):
    """The batch script itself is killed, as by the system where memory is short."""
    job = lab.start_held(output)
    lab.wait_until_held(job, output)
    lab.run("scancel", "--signal=KILL", "--batch", job.number)
    facts = job.wait("FAILED", "COMPLETED", "CANCELLED")
    assert facts["JobState"] == "FAILED" and facts["ExitCode"] == f"0:{int(signal.SIGKILL)}", job.log()
    runs.release(output)
    again = lab.start(output)
    again.completed(output, restarts=0)
