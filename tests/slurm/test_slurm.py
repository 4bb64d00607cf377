"""Ends of jobs on Slurm: what the status says, with which exit status a job ends, whether it is queued again, and that the
result is bit for bit the same in the end. Most of their time is Slurm's waiting, so these cases run side by side;
test_nodes.py has those that take nodes away."""

import concurrent.futures
import signal

import pytest
import runs
import slurm_lab
from slurm_lab import DIGEST, FOUR, SMOKE, TWO, digest

AT_ONCE = 4


def smoke_without_an_argument(lab, _):
    job = lab.submit("slurm/smoke.sbatch")
    assert job.end() == (0, 0), job.log()
    assert "== done" in job.log() and (lab.tree / "results/smoke/association.h5").exists()


def another_folder_is_told_what_to_do(lab, _):
    job = lab.submit(slurm_lab.ROOT / "slurm/smoke.sbatch", directory=lab.folder)
    assert job.end() == (2, 0)
    assert "submit it from the folder of the clone: cd " in job.log(), job.log()


def output_of_a_job_array(lab, output):
    job = lab.start(f"{output}_%a_%A_%j", options=[*TWO, "--array=7"])
    other = lab.start(f"{output}_%a", options=TWO)
    lab.wait_for(lambda: list(lab.folder.glob(f"{output.name}_7_{job.number}_*/association.h5")))
    assert other.end() == (2, 0) and "this is no job array" in other.log()


def lost_rank(rank):
    def killed_rank_is_named_and_the_job_goes_on(lab, output):
        job = lab.start_held(output)
        lab.wait_until_held(job, output)
        job.signal_rank(rank)
        job.wait_for_text("queued again")
        runs.release(output)
        log = job.completed(output, restarts=1)
        assert "== lost: " in log
        assert f"rank {rank} on n{rank + 1} is lost" in log or rank == 0  # rank 0 itself cannot say it

    return killed_rank_is_named_and_the_job_goes_on


def lost_ranks_are_queued_again_three_times(lab, output):
    job = lab.start_held(output, block=2, faults="block_done:1:kill:2")
    assert job.end() == (1, 3), job.log()
    assert "have been lost 4 times" in job.log() and "not queued again" in job.log()


def hung(rank):
    def rank_that_hangs_is_lost(lab, output):
        job = lab.start_held(output, environment={"STEREOSWEEP_RANK_TIMEOUT_S": "8"})
        lab.wait_until_held(job, output)
        job.signal_rank(rank, signal.SIGSTOP)
        job.wait_for_text("queued again")
        runs.release(output)
        log = job.completed(output, restarts=1)
        assert "== lost: " in log and (f"rank {rank} on n{rank + 1} has not answered for 8 s" in log or rank == 0), log

    return rank_that_hangs_is_lost


def other_errors_are_not_queued_again(lab, output):
    job = lab.start_held(output, block=2, faults="block_done:1:throw:2")
    assert job.end() == (1, 0), job.log()
    assert "== failed: rank 2 on n3: injected fault" in job.log() and "not queued again" in job.log()


def full_disk_ends_the_job_and_room_lets_it_go_on(lab, output):
    results = lab.folder / "small" / output.name  # seen inside the lab alone
    job = lab.start(results, environment={"STEREOSWEEP_INJECT": runs.hold(output), "STEREOSWEEP_PROGRESS_S": "1"})
    lab.wait_for(lambda: "8/78 blocks" in lab.run("cat", results / "log", check=False)[1])
    lab.run("sh", "-c", f"cat /dev/zero >{results.parent}/filler", check=False)
    runs.release(output)
    assert job.end() == (1, 0), job.log()
    assert "== failed: " in job.log() and "No space left" in job.log() and "not queued again" in job.log(), job.log()
    lab.run("rm", results.parent / "filler")
    again = lab.start(results)
    assert again.end() == (0, 0), again.log()
    assert DIGEST in lab.run(slurm_lab.PROGRAM, "show", results, "--digest")[1]


def time_limit(lab, output):
    job = lab.start_held(output, options=[*FOUR, "--time=2", "--signal=USR1@30"],
                         environment={"STEREOSWEEP_SIGNAL_LEAD_S": "30"})
    job.wait_for_text("queued again")
    assert "USR1 on rank" in job.log() and "== stopped: " in job.log()
    lab.run("scontrol", "update", f"jobid={job.number}", "timelimit=20")
    runs.release(output)
    job.completed(output, restarts=1)


def time_limit_that_leaves_no_time_is_refused(lab, output):
    job = lab.start(output, options=[*TWO, "--time=5"])
    assert job.end() == (2, 0) and "the time limit (00:05:00)" in job.log(), job.log()


def starts_that_finish_nothing_end(lab, output):
    endless = {"STEREOSWEEP_INJECT": "block_start:1:delay=6000000"}  # what is held would be finished at a signal
    job = lab.start(output, options=TWO, environment=endless)
    for begun in (1, 2):
        job.wait_for_text(f"start {begun},")
        lab.wait_until_held(job, output, block=1)
        job.signal_rank(1, signal.SIGUSR1)
        lab.wait_for(lambda begun=begun: job.log().count("== stopped: ") == begun)
    assert job.end() == (75, 1), job.log()
    assert "2 starts in a row have finished no block" in job.log()


def stopped_where_requeueing_fails(lab, output):
    job = lab.start_held(output, options=[*FOUR, "--no-requeue"])
    lab.wait_until_held(job, output)
    job.signal_rank(2, signal.SIGUSR1)
    assert job.end() == (75, 0), job.log()
    assert "could not be queued again" in job.log() and "submit it again" in job.log()
    lab.start(output).completed(output, restarts=0)


def stop_with_a_rank_that_hangs_stays_a_stop(lab, output):
    job = lab.start_held(output)
    lab.wait_until_held(job, output)
    job.signal_rank(3, signal.SIGSTOP)
    job.signal_rank(2, signal.SIGUSR1)
    job.wait_for_text("== stopped: ", 100)  # a hanging rank is waited for 120 s
    assert "signal USR1 on rank 2" in job.log() and "not queued again" not in job.log()
    runs.release(output)
    job.completed(output, restarts=1)


def cancelled_job_stays_cancelled(lab, output):
    job = lab.start_held(output)
    lab.wait_until_held(job, output)
    lab.run("scancel", job.number)
    job.wait("CANCELLED")
    job.wait_for_text("Slurm is ending the job itself")
    assert "signal TERM" in job.log() and job.state() == "CANCELLED" and runs.status(output)["state"] == "stopped"


def requeue_by_an_administrator(lab, output):
    job = lab.start_held(output)
    lab.wait_until_held(job, output)
    lab.run("scontrol", "requeue", job.number)
    job.wait_for_text("start 2,")
    runs.release(output)
    log = job.completed(output, restarts=1)
    assert "the start before was stopped: signal TERM" in log or "== stopped: signal TERM" in log, log
    assert "== queued again" not in log and "== lost" not in log, log


def element_of_an_array_is_queued_again_alone(lab, output):
    job = lab.start(f"{output}_%a", options=[*TWO, "--array=1-2"],
                    environment={"STEREOSWEEP_INJECT": runs.hold(output)})
    places = [lab.folder / f"{output.name}_{element}" for element in (1, 2)]
    for place in places:
        lab.wait_until_held(job, place, ranks=2)
    job.signal_rank(0, signal.SIGUSR1)  # of the last element, which has the array's own number
    job.wait_for_text("== queued again: ")
    runs.release(output)
    for place in places:
        lab.wait_for(lambda place=place: runs.status(place)["state"] == "done")
        assert digest(place) == DIGEST
    logs = "".join(path.read_text() for path in lab.folder.glob("job-*.out") if output.name in path.read_text())
    assert logs.count("== queued again: ") == 1, logs


def sweep_as_an_array_and_statistics_of_all(lab, output):
    sweep = lab.folder / "sweep.yaml"
    sweep.write_text((slurm_lab.ROOT / SMOKE).read_text().replace("../tests/models", f"{slurm_lab.ROOT}/tests/models")
                     + "sweep: {execution.batch_tokens: [1024, 2048, 4096]}\n")
    inject = {"STEREOSWEEP_INJECT": runs.hold(output)}
    array = lab.submit("slurm/array.sbatch", sweep, "execution.contexts_per_block=1", "--output", output,
                       options=["--array=1-3%2"], environment=inject)
    tables = lab.submit("slurm/stats.sbatch", output, options=[f"--dependency=afterany:{array.number}"])
    first = output / "smoke.1024"
    lab.wait_for(lambda: runs.journal_blocks(first) == 8)
    element = slurm_lab.Job(lab, lab.job_of_element(array.number, 1))
    element.signal_rank(1, signal.SIGUSR1)
    lab.wait_for(lambda: "== queued again: " in element.log())
    assert tables.state() == "PENDING"
    runs.release(output)
    assert tables.end() == (0, 0), tables.log()
    for tokens in (1024, 2048, 4096):
        assert digest(output / f"smoke.{tokens}") == DIGEST and f"smoke.{tokens}" in tables.log(), tables.log()
    again = lab.submit("slurm/array.sbatch", sweep, "execution.contexts_per_block=1", "--output", output, options=["--array=2"])
    assert again.end() == (0, 0) and "is complete: nothing to do" in again.log(), again.log()


def status_on_another_machine(lab, output):
    job = lab.start_held(output)
    lab.wait_until_held(job, output)
    assert "state    running\n" in lab.run(lab.program, "status", output)[1]
    job.signal_rank(0)
    lab.run("scancel", job.number)
    job.end()
    text = lab.run(lab.program, "status", output)[1]
    assert f"Slurm job {job.number} has ended" in text and "run the same command again" in text


def term_while_mpi_starts(lab, output):
    late = lab.folder / "late"  # rank 1 does not come in the first start
    late.write_text(f"""#!/bin/bash
        if [ "$1" = run ] && [ "$PMIX_RANK" = 1 ] && [ "${{SLURM_RESTART_COUNT:-0}}" = 0 ]; then
          trap 'exit 75' TERM; sleep 600 & wait
        fi
        exec {lab.program} "$@"
        """)
    late.chmod(0o755)
    job = lab.start(output, options=TWO, environment={"STEREOSWEEP": str(late)})
    lab.wait_for(lambda: 0 in job.ranks() and slurm_lab.waits_for_term(job.ranks()[0]))
    # refused until Slurm has heard of all tasks
    lab.wait_for(lambda: lab.run("scancel", "--signal=TERM", f"{job.number}.0", check=False)[0] == 0)
    job.wait_for_text("signal TERM before MPI had started")
    job.completed(output, restarts=1)


def srun_without_pmix_is_refused(lab, output):
    code, text = lab.run("srun", "--account=lab", "-N2", "-n2", "--mpi=none", lab.program, "run", SMOKE, "--output",
                         output, check=False)
    assert code == 2 and "srun --mpi=pmix" in text, text
    assert not output.exists()


def granted_gpus_that_nothing_uses_are_an_error(lab, output):
    model = ["execution.engine=torch", "model.path=tests/models/planted"]
    job = lab.start(output, *model, options=[*TWO, "--gpus-per-node=1"])
    assert job.end() == (2, 0), job.log()
    assert "Slurm has granted GPUs (SLURM_" in job.log() and "execution.device=cpu" in job.log()


def weights_travel_between_nodes(lab, output):
    """Two ranks on each of two nodes, which share no memory."""
    model = ["execution.engine=torch", "model.path=tests/models/planted"]
    job = lab.start(output, *model, options=["--nodes=2", "--ntasks-per-node=2", "--cpus-per-task=1"])
    assert job.end() == (0, 0), job.log()
    alone = output.with_name(output.name + "-alone")
    assert runs.run(SMOKE, alone, "execution.contexts_per_block=1", *model)[0] == 0
    assert digest(output) == digest(alone)


LONG = {
    "time_limit": time_limit,
    "lost_ranks_are_queued_again_three_times": lost_ranks_are_queued_again_three_times,
    "hung_rank_0": hung(0),
    "hung_rank_2": hung(2),
    "starts_that_finish_nothing_end": starts_that_finish_nothing_end,
    "element_of_an_array_is_queued_again_alone": element_of_an_array_is_queued_again_alone,
    "lost_rank_2": lost_rank(2),
}
SHORT = {
    "lost_rank_0": lost_rank(0),
    "lost_rank_1": lost_rank(1),
    "lost_rank_3": lost_rank(3),
    "stop_with_a_rank_that_hangs_stays_a_stop": stop_with_a_rank_that_hangs_stays_a_stop,
    "sweep_as_an_array_and_statistics_of_all": sweep_as_an_array_and_statistics_of_all,
    "requeue_by_an_administrator": requeue_by_an_administrator,
    "term_while_mpi_starts": term_while_mpi_starts,
    "full_disk_ends_the_job_and_room_lets_it_go_on": full_disk_ends_the_job_and_room_lets_it_go_on,
    "stopped_where_requeueing_fails": stopped_where_requeueing_fails,
    "status_on_another_machine": status_on_another_machine,
    "cancelled_job_stays_cancelled": cancelled_job_stays_cancelled,
    "smoke_without_an_argument": smoke_without_an_argument,
    "other_errors_are_not_queued_again": other_errors_are_not_queued_again,
    "granted_gpus_that_nothing_uses_are_an_error": granted_gpus_that_nothing_uses_are_an_error,
    "output_of_a_job_array": output_of_a_job_array,
    "weights_travel_between_nodes": weights_travel_between_nodes,
    "another_folder_is_told_what_to_do": another_folder_is_told_what_to_do,
    "srun_without_pmix_is_refused": srun_without_pmix_is_refused,
    "time_limit_that_leaves_no_time_is_refused": time_limit_that_leaves_no_time_is_refused,
}


@pytest.fixture(scope="module")
def ends(one_lab, request):
    """The cases that were asked for, run side by side: a future of each."""
    asked = [item.callspec.params["case"] for item in request.session.items if item.path == request.path]
    chosen = {case: run for case, run in {**LONG, **SHORT}.items() if case in asked and (case in SHORT or slurm_lab.all_cases())}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {case: pool.submit(run, one_lab, one_lab.folder / case) for case, run in chosen.items()}
    yield futures
    one_lab.clear()


@pytest.mark.parametrize("case", [*SHORT, *(pytest.param(case, marks=pytest.mark.long_case) for case in LONG)])
def test_end(ends, case):
    ends[case].result()
