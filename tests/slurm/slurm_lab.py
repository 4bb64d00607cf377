"""A Slurm of four nodes in namespaces of this machine, started by a test and gone with it, and the jobs of its tests."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
import runs  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep")).resolve()
SMOKE = "jobs/00_smoke.yaml"
FOUR = ["--nodes=4", "--ntasks-per-node=1", "--cpus-per-task=1"]
TWO = ["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1"]
DIGEST = "ff489767ebaf5a7566a83dea666e3d715b7306576676d08719a51e68d515cd97"  # of the smoke job, on one rank, undisturbed
HANGS = 300  # seconds, for what hangs: nothing here waits for a machine to be fast
TOOLS = ["slurmctld", "slurmd", "sbatch", "munged", "mungekey", "ip", "setpriv", "unshare", "nsenter"]


def all_cases():
    return os.environ.get("STEREOSWEEP_LAB") == "all"


def why_not():
    """Why the lab cannot be started here; empty if it can."""
    missing = [tool for tool in TOOLS if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    if missing:
        return "not installed: " + ", ".join(missing) + " (tests/slurm/README.md)"
    if os.geteuid() != 0:
        return "the lab needs root: it mounts and makes network namespaces"
    trial = subprocess.run(["unshare", "-m", "-p", "-n", "-u", "-i", "-f", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                           capture_output=True, text=True)
    return "" if trial.returncode == 0 else "namespaces cannot be made here: " + trial.stderr.strip()


def digest(output):
    return subprocess.run([PROGRAM, "show", output, "--digest"], capture_output=True, text=True).stdout.split()[0]


def waits_for_term(process):
    """The process has TERM blocked: a thread of its own takes it."""
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return bool(int(text.split("SigBlk:")[1].split()[0], 16) >> (signal.SIGTERM - 1) & 1)


class Lab:
    """`folder` holds what the jobs leave; it is the same inside and outside, as the source tree is."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.tree = self.folder / "tree"  # a clone whose results lie here
        self.tree.mkdir()
        for name in ("slurm", "jobs", "configs", "tests", "build"):
            (self.tree / name).symlink_to(ROOT / name)
        self.program = PROGRAM
        self._missing = {}  # number of a node that was taken away: what brings it back
        configuration = pathlib.Path(__file__).parent / "lab"
        shared = {self.folder, ROOT, PROGRAM.parent, pathlib.Path(sys.prefix).resolve()}
        self._outer = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "-m", "-p", "-n", "-u", "-i", "-f", "--kill-child",
             "bash", configuration / "enter.sh", configuration, self.folder, *(shared - {self.folder})],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(self.folder / "lab.log").open("w"),
            env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        try:
            self.wait_for(lambda: (self.folder / "ready").exists() or self._outer.poll() is not None, 40)
            assert self._outer.poll() is None
        except AssertionError:
            self.end()
            raise RuntimeError("the lab does not start: " + (self.folder / "lab.log").read_text()[-2000:]) from None
        children = pathlib.Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text().split()
        self._inside = ["nsenter", "-t", children[0], "-m", "-p", "-n", "-u", "-i", "--root", "--wd"]

    def end(self):
        """The logs of Slurm stay in `folder`."""
        if hasattr(self, "_inside"):
            self.run("sh", "-c", f"cp /var/lib/lab/*.log {self.folder}", check=False)
        self._outer.kill()
        self._outer.wait()

    def run(self, *command, directory=None, environment=None, check=True):
        """A command on the head: (exit status, standard output and error together)."""
        line = [*self._inside, "bash", "-c", 'cd "$0" && exec "$@"', str(directory or self.tree), *map(str, command)]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, cwd="/",
                              env={**os.environ, **(environment or {})})
        assert not check or done.returncode == 0, done.stdout
        return done.returncode, done.stdout

    def node(self, what, number):
        """up, crash, cut or join."""
        self.run("bash", pathlib.Path(__file__).parent / "lab/node.sh", what, number)
        back = {"crash": "up", "cut": "join"}.get(what)
        if back:
            self._missing[number] = back
        else:
            self._missing.pop(number, None)

    def submit(self, script, *arguments, options=(), directory=None, environment=None):
        """sbatch of one of the project's scripts on one CPU per rank; its job."""
        out = self.folder / "job-%j.out"
        environment = {"STEREOSWEEP": str(PROGRAM), **(environment or {})}
        line = ["sbatch", "--parsable", "--account=lab", "--partition=low", f"--output={out}", *options, script, *arguments]
        number = self.run(*line, directory=directory, environment=environment)[1].split()[-1]
        return Job(self, int(number))

    def start(self, output, *more, options=FOUR, environment=None):
        """The smoke job in 78 blocks, by `cpu.sbatch`."""
        return self.submit("slurm/cpu.sbatch", SMOKE, "execution.contexts_per_block=1", *more, "--output", output,
                           options=options, environment=environment)

    def start_held(self, output, *more, block=3, faults="", environment=None, **others):
        """The same: each rank waits before its `block`-th block until `runs.release(output)`, in all starts."""
        inject = runs.hold(output, block) + ("," + faults if faults else "")
        return self.start(output, *more, environment={"STEREOSWEEP_INJECT": inject, **(environment or {})}, **others)

    def wait_until_held(self, job, output, ranks=4, block=3):
        """All blocks before those that are held are in the journal, and whoever has scored them waits."""
        expected = runs.journal_blocks(output) if block == 1 else ranks * (block - 1)
        with contextlib.suppress(AssertionError):
            self.wait_for(lambda: runs.journal_blocks(output) >= expected and runs.status(output)["state"] == "running")
        assert runs.journal_blocks(output) >= expected, f"{runs.status(output)}\n{job.log()}"

    def job_of_element(self, array, element):
        """The number of a job of an array."""
        listed = self.run("squeue", "-h", "-t", "all", "-r", "-j", array, "-o", "%K %A")[1]
        return int(dict(line.split() for line in listed.splitlines())[str(element)])

    def clear(self):
        """Brings back nodes that a failed test has left away, ends what still runs, and waits for all nodes."""
        for number, back in dict(self._missing).items():
            self.node(back, number)
        for number in self.run("squeue", "-h", "-o", "%A")[1].split():
            self.run("scancel", "--signal=KILL", "--full", number, check=False)
            self.run("scancel", number, check=False)
        for number in range(1, 5):
            if f"n{number}" not in self.run("sinfo", "-h", "-N", "-p", "low", "-t", "idle,completing", "-o", "%n")[1].split():
                self.run("scontrol", "update", f"nodename=n{number}", "state=resume", check=False)
        self.wait_for(lambda: self.run("sinfo", "-h", "-p", "low", "-t", "idle", "-o", "%D")[1].strip() == "4")

    @staticmethod
    def wait_for(condition, seconds=HANGS):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "what the test waits for does not happen"
            time.sleep(0.1)


class Job:
    def __init__(self, lab, number):
        self.lab = lab
        self.number = number

    def facts(self):
        text = self.lab.run("scontrol", "show", "job", self.number)[1]
        return dict(re.findall(r"(\w+)=(\S*)", text))

    def state(self):
        return self.facts()["JobState"]

    def log(self):
        path = self.lab.folder / f"job-{self.number}.out"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait(self, *states, seconds=HANGS):
        """Until the job is in one of these states; its facts."""
        with contextlib.suppress(AssertionError):
            self.lab.wait_for(lambda: self.state() in states, seconds)
        facts = self.facts()
        assert facts["JobState"] in states, f"{facts['JobState']} {facts['Reason']}\n{self.log()}"
        return facts

    def wait_for_text(self, text, seconds=HANGS):
        with contextlib.suppress(AssertionError):
            self.lab.wait_for(lambda: text in self.log(), seconds)
        assert text in self.log(), f"no '{text}' in\n{self.log()}"

    def end(self, seconds=HANGS):
        """(exit status, restarts) of a job that must end by itself."""
        facts = self.wait("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", seconds=seconds)
        return int(facts["ExitCode"].split(":")[0]), int(facts["Restarts"])

    def completed(self, output, restarts):
        """Ends so, with the right numbers; its log."""
        assert self.end() == (0, restarts), self.log()
        assert digest(output) == DIGEST
        return self.log()

    def ranks(self):
        """Process ids of the ranks by number, on whatever node."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if (entry / "comm").read_text().strip() != "stereosweep":
                    continue
                values = dict(item.split("=", 1) for item in (entry / "environ").read_text().split("\0") if "=" in item)
                ours = values.get("STEREOSWEEP_STARTS") == str(self.lab.tree / f"stereosweep-{self.number}.starts")
                if ours and "PMIX_RANK" in values:
                    found[int(values["PMIX_RANK"])] = int(entry.name)
        return found

    def signal_rank(self, rank, number=signal.SIGKILL):
        self.lab.wait_for(lambda: rank in self.ranks())
        os.kill(self.ranks()[rank], number)
