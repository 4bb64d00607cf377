#!/usr/bin/env python3
"""Faults from outside at random moments of runs of all five probes, each resumed on another number of ranks: the digest
must be that of an undisturbed run, the run must end within a stated time, and what is told must be what happened.

random_faults.py [--count 500] [--seed 1] [--first 0]    a line for each fault that was not as it should be, and the sums

Kinds: SIGKILL or SIGTERM of a rank or of all, SIGINT of a rank, TERM or KILL of the launcher, a rank that is stopped for
good or for a while, a launcher that is stopped for a while, and a disk that becomes full. The fault number N of a seed is
the same in each call.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs  # noqa: E402

# Jobs of a second or two, and how long each block is held (ms).
JOBS = {
    "association": ("00_smoke.yaml", 20, ()),
    "contexts": ("02_example_contexts.yaml", 60, ("execution.contexts_per_block=8",)),
    "coreference": ("03_example_coreference.yaml", 60, ("execution.contexts_per_block=40",)),
    "interview": ("04_example_interview.yaml", 300, ("execution.contexts_per_block=1",)),
    "rating": ("05_example_rating.yaml", 200, ("execution.contexts_per_block=1",)),
}
RANKS = (1, 2, 3)
KINDS = ("kill", "kill_all", "term", "term_all", "term_launcher", "stop", "pause", "pause_launcher", "full_disk", "int", "kill_launcher")
LIMITS = {"STEREOSWEEP_RANK_TIMEOUT_S": "3", "STEREOSWEEP_WAIT_TIMEOUT_S": "8", "STEREOSWEEP_START_TIMEOUT_S": "20"}
ENDS_WITHIN = 120  # seconds: the limits above, three times where rank zero is given up, and the guard's 30
PAUSE = 0.7  # seconds: less than any limit
# What status.json tells of a kind where it is there and rank zero lived to write it; {rank}: the one.
IN_STATUS = {
    "kill": r"rank {rank} on \S+ has died",
    "term": r"TERM on rank {rank}\b",
    "int": r"INT on rank {rank}\b",
    "term_all": r"\bTERM\b",
    "term_launcher": r"TERM on rank 0\b",
}
# What is told of each kind (in status.json, else on standard error) where the run did not get through.
TOLD = {
    "kill": r"rank {rank} on \S+ has died|signal 9|PID \d+ on node",
    "term": r"TERM on rank {rank}\b|before MPI had started|signal 15",  # mpirun's word of one that came before main
    "int": r"INT on rank {rank}\b|before MPI had started|signal 2\b",
    "term_all": r"\bTERM\b|before MPI had started|signal 15",
    "term_launcher": r"\bTERM\b|before MPI had started|signal 15|forced|abort",
    "stop": r"rank {rank} on \S+ has not answered|rank {rank} has not been heard|MPI has not (started|ended) in time|not joined"
    r"|another rank hangs, was stopped|signal 9",  # the last of its guard, after MPI's end
    "pause": "",
    "pause_launcher": "",
    "full_disk": "No space left|do not fit the disk",
}


class Fault:
    def __init__(self, seed, number, durations):
        chosen = random.Random(f"{seed} {number}")
        self.probe = chosen.choice(sorted(JOBS))
        self.kind = KINDS[number % len(KINDS)]
        several = self.kind in ("stop", "term_launcher", "kill_launcher", "pause_launcher")
        self.ranks = chosen.choice(RANKS[1:] if several else RANKS)
        self.rank = chosen.randrange(self.ranks)
        self.moment = chosen.uniform(0.02, 0.9) * durations[self.probe, self.ranks]
        self.resumed_on = chosen.choice([other for other in RANKS if other != self.ranks])
        self.text = f"{number}: {self.probe}, {self.kind} of rank {self.rank} of {self.ranks} after {self.moment:.2f} s"

    def strike(self, process, disk):
        """False where the run has ended before."""
        time.sleep(self.moment)
        if self.ranks > 1:  # until the launcher has started them
            runs.wait_for(lambda: len(runs.rank_processes(process)) == self.ranks or process.poll() is not None)
        ranks = runs.rank_processes(process) if self.ranks > 1 else [process.pid]
        self.struck = ranks  # none of them is below a launcher that was killed
        if process.poll() is not None:
            return False
        victims = {"kill_all": ranks, "term_all": ranks, **dict.fromkeys(("term_launcher", "kill_launcher", "pause_launcher"), [process.pid])}
        if self.kind == "full_disk":
            with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
            return True
        chosen = victims.get(self.kind, ranks[self.rank : self.rank + 1])
        if not chosen:  # it has just ended
            return False
        numbers = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}
        number = numbers.get(self.kind.split("_")[0], signal.SIGSTOP)
        send(chosen, number)
        if self.kind == "kill_all" and self.ranks > 1:
            send([process.pid], signal.SIGKILL)
        if self.kind.startswith("pause"):
            time.sleep(PAUSE)
            send(chosen, signal.SIGCONT)
        return True

    def leaves_nobody(self):
        """No process that could tell what has happened."""
        return self.kind == "kill_all" or (self.kind == "kill" and self.rank == 0)

    def problem(self, code, err, state, output):
        """Why what was told is not what happened; "" where it is."""
        told = f"{state['state']}: {state.get('cause', '')}"
        if code == 0 or state["state"] == "done":  # a rank may be struck after the last block: the result is whole
            return "" if state["state"] == "done" else f"exit 0, but {told}"
        if self.kind.startswith("pause"):
            return f"a pause ended the run: exit {code}, {told}"
        before_main = code in (-signal.SIGTERM, -signal.SIGINT) and self.ranks == 1
        if before_main or self.kind.endswith("_launcher") and state["state"] == "none":
            return ""  # before main: whoever sent it is told by the exit status alone
        if self.leaves_nobody():
            said = runs.program("status", output).stdout
            return "" if state["state"] == "none" or "is gone (killed)" in said else f"status does not say killed: {said}"
        in_status = IN_STATUS.get(self.kind, "").format(rank=self.rank)
        if state["state"] != "none" and not re.search(in_status, state["cause"]):
            return f"the status lacks the cause: exit {code}, {told}"
        if self.kind == "kill_launcher":  # whatever Open MPI makes of it
            said = runs.program("status", output).stdout
            return "" if state["cause"] or "is gone (killed)" in said else f"status does not say killed: {said}"
        wanted = TOLD[self.kind].format(rank=self.rank)
        if not re.search(wanted, state.get("cause", "") + "\n" + err):
            return f"the cause is missing: exit {code}, {told}"
        others = set(map(int, re.findall(r"rank (\d+) (?:on \S+ )?has (?:died|not)", state.get("cause", "")))) - {self.rank}
        if others and self.kind in ("kill", "stop", "term", "int"):
            return f"the cause blames another rank: {told}"
        if self.kind in ("kill", "stop") and state["state"] == "stopped":
            return f"the state is wrong: {told}"
        return ""


def send(processes, number):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def start(probe, output, ranks):
    job, delay, settings = JOBS[probe]
    inject = f"block_start:*:delay={delay}"
    return runs.start(runs.ROOT / "jobs" / job, output, *settings, ranks=ranks, inject=inject, environment=LIMITS)


def one_fault(fault, folder, reference):
    """(problem or "", how the disturbed run ended)."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = fault.kind == "full_disk"
    if mounted:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=True)
    try:
        output = disk / "run"
        process = start(fault.probe, output, fault.ranks)
        tree = set()
        struck = fault.strike(process, disk)
        tree.update(runs.descendants(process.pid)[1:], fault.struck)
        try:
            code, _, err = runs.finish(process, ENDS_WITHIN)
        except AssertionError as error:
            return f"HANGS: {str(error)[:3000]}", "hangs"
        finally:
            left = lambda: [one for one in tree if " stereosweep " in runs.state_of(one) and not runs.state_of(one).endswith(" Z")]  # noqa: E731
            with contextlib.suppress(AssertionError):  # ranks that their launcher has left end by themselves
                runs.wait_for(lambda: fault.kind != "kill_launcher" or not left(), ENDS_WITHIN)
            send(left(), signal.SIGKILL)
            runs.wait_for(lambda: not left())
        state = runs.status(output)
        problem = fault.problem(code, err, state, output)
        if problem:
            problem += "\n  " + err.strip().replace("\n", "\n  ")[-1500:]
        if mounted:
            (disk / "filler").unlink(missing_ok=True)
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        resumed, _, said = runs.finish(start(fault.probe, output, fault.resumed_on))
        if resumed != 0:
            return f"NOT RESUMED: exit {resumed}: {said[-1500:]}", state["state"]
        if runs.digest(output) != reference:
            return "DIFFERENT DIGEST", state["state"]
        return problem, "not struck" if not struck else f"{fault.kind} {state['state']}"
    finally:
        if mounted:
            subprocess.run(["umount", disk], check=True)
        shutil.rmtree(disk)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    assert pathlib.Path(runs.PROGRAM).name == "stereosweep", "ranks are found by the program's name"
    references, durations, ends, bad = {}, {}, collections.Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for probe in JOBS:
            for ranks in RANKS:
                begun = time.monotonic()
                code, _, err = runs.finish(start(probe, folder / f"{probe}-{ranks}", ranks))
                assert code == 0, err
                durations[probe, ranks] = time.monotonic() - begun
                digest = runs.digest(folder / f"{probe}-{ranks}")
                assert references.setdefault(probe, digest) == digest
        print("undisturbed:", ", ".join(f"{probe} {ranks} {time:.1f} s" for (probe, ranks), time in durations.items()), flush=True)
        for number in range(options.first, options.first + options.count):
            fault = Fault(options.seed, number, durations)
            problem, end = one_fault(fault, folder, references[fault.probe])
            while end == "not struck" and not problem:  # the run was faster this time
                fault.moment *= 0.7
                problem, end = one_fault(fault, folder, references[fault.probe])
            ends[end] += 1
            bad += bool(problem)
            if problem or number % 10 == 9:
                done = number - options.first + 1
                print(fault.text + f": {problem}" if problem else f"{done} faults, {bad} not as they should be", flush=True)
    print(f"as they should be {options.count - bad} of {options.count}: " + ", ".join(f"{k} {n}" for k, n in sorted(ends.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
