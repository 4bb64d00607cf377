"""A Slurm of four nodes in namespaces of this machine, started by a test and gone with it."""

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
PROGRAM = pathlib.Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep")).resolve()
TOOLS = ["slurmctld", "slurmd", "sbatch", "munged", "mungekey", "ip", "unshare", "nsenter"]


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
        configuration = pathlib.Path(__file__).parent / "lab"
        shared = {self.folder, ROOT, PROGRAM.parent, pathlib.Path(sys.prefix).resolve()}
        self._outer = subprocess.Popen(
            ["unshare", "-m", "-p", "-n", "-u", "-i", "-f", "--kill-child", "bash", configuration / "enter.sh",
             configuration, self.folder, *(shared - {self.folder})],
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

    def submit(self, script, *arguments, options=(), directory=None, environment=None):
        """sbatch of one of the project's scripts on one CPU per rank; its job."""
        out = self.folder / "job-%j.out"
        environment = {"STEREOSWEEP": str(PROGRAM), **(environment or {})}
        line = ["sbatch", "--parsable", "--account=lab", "--partition=low", f"--output={out}", *options, script, *arguments]
        number = self.run(*line, directory=directory, environment=environment)[1].split()[-1]
        return Job(self, int(number))

    @staticmethod
    def wait_for(condition, seconds):
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

    def wait(self, *states, seconds=180):
        """Until the job is in one of these states; its facts."""
        with contextlib.suppress(AssertionError):
            self.lab.wait_for(lambda: self.state() in states, seconds)
        facts = self.facts()
        assert facts["JobState"] in states, f"{facts['JobState']} {facts['Reason']}\n{self.log()}"
        return facts

    def wait_for_text(self, text, seconds=60):
        with contextlib.suppress(AssertionError):
            self.lab.wait_for(lambda: text in self.log(), seconds)
        assert text in self.log(), f"no '{text}' in\n{self.log()}"

    def end(self, seconds=180):
        """(exit status, restarts) of a job that must end by itself."""
        facts = self.wait("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", seconds=seconds)
        return int(facts["ExitCode"].split(":")[0]), int(facts["Restarts"])

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
        self.lab.wait_for(lambda: rank in self.ranks(), 90)
        os.kill(self.ranks()[rank], number)
