"""What the batch script decides, with srun, scontrol and the program played by small scripts: needs no Slurm."""

import json
import os
import subprocess
import time

import pytest
import slurm_lab

SRUN = """#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
echo "ran ${*:2}"
echo launch >>launches
if [ "$(wc -l <launches)" -le "${UNLAUNCHED:-0}" ]; then exit 143; fi
[ -z "$DIRECTORY" ] || echo "in $DIRECTORY" >>"$STEREOSWEEP_STARTS"
echo "fences $SLURM_PMIX_FENCE"
exit "$SRUN"
"""
SCONTROL = """#!/usr/bin/env bash
if [ "$1" = requeue ]; then echo "requeue $2"; exit "${REFUSED:-0}"; fi
echo "JobId=5 JobState=${STATE:-RUNNING} Restarts=${RESTARTS:-${SLURM_RESTART_COUNT:-0}} TimeLimit=${LIMIT:-1-00:00:00} EndTime=${END:-Unknown} X=1"
"""


@pytest.fixture()
def step(tmp_path):
    """Runs step.sh; `state`, `cause`, `done`: what a run leaves that began with two blocks. (Exit status, output)."""
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL), ("stereosweep", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "job.yaml").touch()

    def run(srun, state="", cause="", done=5, *, script="step.sh", arguments=(), **environment):
        (tmp_path / "run").mkdir(exist_ok=True)
        blocks = {"done": done, "total": 9, "resumed": 2, "reused": 0}
        (tmp_path / "run/status.json").write_text(json.dumps({"blocks": blocks, "cause": cause, "state": state}, indent=2) + "\n")
        settings = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "STEREOSWEEP": str(tmp_path / "stereosweep"),
                    "SLURM_JOB_ID": "5", "STEREOSWEEP_LAUNCH_PAUSE_S": "0", "SRUN": str(srun), "DIRECTORY": str(tmp_path / "run") if state else ""}
        process = subprocess.run(["bash", slurm_lab.ROOT / "slurm" / script, "job.yaml", *arguments], text=True, cwd=tmp_path,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**settings, **environment})
        return process.returncode, process.stdout

    return run


@pytest.mark.parametrize(
    "srun, state, cause, code, says, again",
    [
        (0, "done", "", 0, "== done", False),
        (0, "", "", 1, "== lost: srun reported success, but launched no rank", True),
        (0, "running", "", 1, "== lost: srun reported success, but the run's state is 'running'", True),
        (75, "stopped", "signal USR1", 75, "== stopped: signal USR1", True),
        (137, "stopped", 'a "b"', 75, "== stopped: a", True),
        (137, "stopping", "signal TERM on rank 0", 75, "== stopped: signal TERM", True),
        (75, "", "", 75, "== stopped: srun ended with 75", True),
        (1, "lost", "rank 3 on n4 is lost (a, b)", 1, "== lost: rank 3 on n4 is lost (a, b)", True),
        (137, "running", "", 1, "== lost: rank 0 or its node ended without a word", True),
        (137, "", "", 1, "== lost: rank 0 or its node ended without a word", True),
        (1, "done", "rank 1 has not answered", 1, "== lost: rank 1", True),
        (137, "done", "", 1, "== lost: srun ended with 137", True),
        (137, "failed", "No space left", 1, "== failed: No space left", False),
        (2, "", "", 2, "== failed: srun ended with 2", False),
        (1, "done", "", 1, "== failed: srun ended with 1", False),
    ],
)
def test_ends(step, tmp_path, srun, state, cause, code, says, again):
    status, out = step(srun, state, cause)
    assert status == code and says in out, out
    assert ("requeue 5\n== queued again: " in out) == again and ("== not queued again: " in out) == (not again and code != 0)
    assert (tmp_path / "stereosweep-5.starts").exists() == again


@pytest.mark.parametrize("unlaunched, code, says", [(2, 0, "== done"), (3, 1, "== lost: rank 0 or its node ended without a word")])
def test_ranks_are_launched_three_times(step, tmp_path, unlaunched, code, says):
    status, out = step(0, "done", UNLAUNCHED=str(unlaunched))
    assert status == code and says in out and out.count("== Slurm launched no rank") == unlaunched, out
    assert len((tmp_path / "launches").read_text().split()) == 3


def test_ranks_of_a_job_that_is_being_ended_are_not_launched_again(step, tmp_path):
    status, out = step(0, "done", UNLAUNCHED="1", STATE="COMPLETING")
    assert status == 1 and "Slurm is ending the job itself (COMPLETING)" in out, out
    assert (tmp_path / "launches").read_text().split() == ["launch"]


def test_fences_are_of_one_kind_unless_the_site_says_otherwise(step):
    assert "\nfences ring\n" in step(0, "done")[1]
    assert "\nfences tree\n" in step(0, "done", SLURM_PMIX_FENCE="tree")[1]


def test_second_start_without_a_block_is_the_last(step):
    assert "== queued again" in step(75, "stopped", "signal USR1", done=2)[1]
    assert "== queued again" in step(75, "stopped", "signal USR1", done=3, SLURM_RESTART_COUNT="1")[1]
    assert "== queued again" in step(75, "stopped", "signal USR1", done=2, SLURM_RESTART_COUNT="2")[1]
    status, out = step(75, "stopped", "signal USR1", done=2, SLURM_RESTART_COUNT="3")
    assert status == 75 and "not queued again: 2 starts in a row have finished no block" in out


def test_fourth_loss_is_the_last(step, tmp_path):
    for restarts in range(3):
        assert "== queued again" in step(137, "running", SLURM_RESTART_COUNT=str(restarts))[1]
    status, out = step(137, "running", SLURM_RESTART_COUNT="3")
    assert status == 1 and "not queued again: ranks or nodes have been lost 4 times" in out


def test_nodes_that_took_the_script_with_them_count_as_lost(step, tmp_path):
    (tmp_path / "stereosweep-5.starts").write_text("start 1\nlost\nstart 2\nlost\nstart 3\nlost\nstart 4\n")
    status, out = step(0, "done", SLURM_RESTART_COUNT="4")
    assert status == 1 and "the start before was lost" in out and "lost 4 times" in out and "\nran " not in out


@pytest.mark.parametrize(
    "environment, code, says",
    [
        ({"REFUSED": "1"}, 75, "could not be queued again (above)"),
        ({"STATE": "CANCELLED"}, 75, "Slurm is ending the job itself (CANCELLED)"),
        ({"RESTARTS": "1"}, 75, "this node was cut off): start 1 is over"),
        ({"STEREOSWEEP_MAX_RESTARTS": "0"}, 75, "not queued again: 0 restarts"),
        ({"LIMIT": "00:05:00"}, 2, "the time limit (00:05:00) is not longer than the 300 s"),
    ],
)
def test_stopped_and_not_queued_again(step, environment, code, says):
    status, out = step(75, "stopped", "signal USR1", **environment)
    assert status == code and says in out and "== queued again" not in out, out


def test_element_of_an_array_runs_its_job_of_the_sweep(step):
    element = {"SLURM_ARRAY_JOB_ID": "4", "SLURM_ARRAY_TASK_ID": "7", "SLURM_SUBMIT_DIR": str(slurm_lab.ROOT)}
    status, out = step(0, "done", script="array.sbatch", arguments=["seed=3", "--output", "x"], **element)
    assert status == 0 and "ran run job.yaml seed=3 --output x --only 7" in out, out
    del element["SLURM_ARRAY_TASK_ID"]
    status, out = step(0, "done", script="array.sbatch", **element)
    assert status == 2 and "this is no job array" in out


def test_output_is_filled_in(step):
    element = {"SLURM_ARRAY_JOB_ID": "4", "SLURM_ARRAY_TASK_ID": "7"}
    out = step(75, "stopped", "signal USR1", arguments=["a=%a", "--output", "x_%a-%A_%j", "--reuse", "%a"], **element)[1]
    assert "ran run job.yaml a=%a --output x_7-4_5 --reuse %a" in out
    assert "requeue 4_7" in out  # 5 alone may be the whole array
    assert "run job.yaml --output=x_5" in step(0, "done", arguments=["--output=x_%j"])[1]
    status, out = step(0, "done", arguments=["--output", "x_%a"])
    assert status == 2 and "this is no job array" in out


def test_run_is_told_how_long_it_may_begin_blocks(step):
    def ran(seconds, arguments=(), **environment):
        end = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + seconds))
        out = step(0, "done", arguments=arguments, END=end, **environment)[1]
        return next(line for line in out.splitlines() if line.startswith("ran "))

    minutes, seconds = map(int, ran(8 * 3600).rsplit(" --time-limit ", 1)[1].split(":"))
    assert 8 * 3600 - 360 - 60 < 60 * minutes + seconds <= 8 * 3600 - 360
    minutes, seconds = map(int, ran(600, STEREOSWEEP_SIGNAL_LEAD_S="30").rsplit(" --time-limit ", 1)[1].split(":"))
    assert 510 - 60 < 60 * minutes + seconds <= 510
    assert "--time-limit" not in ran(350)
    assert ran(3600, ["--time-limit", "20"]).count("--time-limit") == 1
    assert "--time-limit" not in step(0, "done")[1]


def test_a_site_names_container_program_and_options(step, tmp_path):
    (tmp_path / "site.sh").write_text(f"container=(env PLACE=inside)\nsrun_options=(--cpu-bind=cores)\nSTEREOSWEEP={tmp_path}/stereosweep\n"
                                      "export HF_HOME=/models\n")
    (tmp_path / "srun").write_text(SRUN.replace("ran ${*:2}", "ran $* with $HF_HOME after $options").replace("shift;", "options+=$1; shift;"))
    status, out = step(0, "done", STEREOSWEEP_SITE=str(tmp_path / "site.sh"))
    assert status == 0 and f"ran env PLACE=inside {tmp_path}/stereosweep run job.yaml with /models" in out, out
    assert "--cpu-bind=cores" in out
    status, out = step(0, "done", STEREOSWEEP_SITE="nowhere")
    assert status == 2 and "env/machines/nowhere.sh' cannot be read" in out
    assert step(0, "done", SLURM_CLUSTER_NAME="unknown")[0] == 0
    assert step(0, "done", STEREOSWEEP_SITE="example")[0] == 0
