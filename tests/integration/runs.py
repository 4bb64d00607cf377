"""Starts, holds, stops and kills runs; what the tests of `run` share. Time limits are for what hangs, not for what is slow."""

import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STEREOSWEEP_PROGRAM", str(ROOT / "build/release/bin/stereosweep"))
SMOKE = str(ROOT / "jobs/00_smoke.yaml")
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
HANGS = 600  # seconds
PATIENT_LAUNCHER = {"OMPI_MCA_odls_base_sigkill_timeout": "5"}  # mpirun's time between TERM and KILL, else 1 s


def start(job, output, *arguments, **options):
    """A running `stereosweep run` into `output`; options as for `start_program`."""
    return start_program("run", job, "--output", output, *arguments, **options)


def default_signals():
    """As a shell at a terminal starts its programs: `nohup` and `&` leave signals ignored, and children inherit that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)


def start_program(*arguments, ranks=1, inject="", environment=None):
    """The program, under mpirun where it gets more than one rank."""
    # Unbound: a rank bound to a core that another job keeps busy waits there while the next core is idle.
    command = [PROGRAM, *map(str, arguments)]
    if ranks > 1:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *command]
    settings = {**os.environ, **ENVIRONMENT, "STEREOSWEEP_INJECT": inject, **(environment or {})}
    return subprocess.Popen(
        command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True,
        preexec_fn=default_signals,
    )


def hold(output, block=3, point="block_start"):
    """A fault that keeps each rank before its `block`-th block until `release`, or until the run is told to stop."""
    return f"{point}:{block}:hold={output}.go"


def release(output):
    pathlib.Path(f"{output}.go").touch()


def start_held(job, output, *arguments, block=3, ranks=1, faults="", **options):
    """A running run whose ranks are held as `hold` says; what they scored before is in the journal. It cannot end before
    what the test does next."""
    expected = journal_blocks(output) + ranks * (block - 1)
    inject = hold(output, block) + ("," + faults if faults else "")
    process = start(job, output, *arguments, ranks=ranks, inject=inject, **options)
    wait_for(lambda: journal_blocks(output) >= expected or process.poll() is not None)
    assert process.poll() is None, finish(process)
    return process


def finish(process, seconds=HANGS):
    """(exit status, standard output, standard error) of a run that must end by itself."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        left = ", ".join(map(state_of, descendants(process.pid)))
        kill_tree(process)
        out, err = process.communicate()
        raise AssertionError(f"did not end within {seconds} s ({left}):\n{out}\n{err}") from None
    return process.returncode, out, err


def program(*arguments, folder=ROOT, **options):
    """A command of the program that must end by itself, with its exit status and what it says."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=HANGS, **options)


def ask(model, query):
    """The answer of the command `query` to one query."""
    done = program("query", "--model", model, input=json.dumps(query) + "\n")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def run(job, output, *arguments, **options):
    return finish(start(job, output, *arguments, **options))


def digest(output):
    return subprocess.run(
        [PROGRAM, "show", str(output), "--digest"], check=True, capture_output=True, text=True
    ).stdout.split()[0]


def status(output):
    path = pathlib.Path(output) / "status.json"
    return json.loads(path.read_text()) if path.exists() else {"state": "none", "blocks": {"done": 0}}


def wait_for(condition, seconds=HANGS):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what the test waits for does not happen"
        time.sleep(0.01)


def journal_bytes(output):
    return sum(path.stat().st_size for path in pathlib.Path(output).glob("journal/**/*.log"))


def journal_blocks(output):
    """How many blocks are in the journals of all attempts and stages."""
    return sum(len(list(records(path.read_bytes()))) for path in pathlib.Path(output).glob("journal/**/*.log"))


def records(data):
    """The whole records of a journal's bytes: 100 of the head, the payload, 4 of the check sum."""
    at = 16 + int.from_bytes(data[8:12], "little")
    while at + 104 <= len(data):
        end = at + 104 + int.from_bytes(data[at + 8 : at + 16], "little")
        if end <= len(data):
            yield data[at:end]
        at = end


def write_index(journal):
    """The index that a journal gets where it is large: as results/Journal.hpp describes it."""
    data = journal.read_bytes()
    at = 16 + int.from_bytes(data[8:12], "little")
    found = b""
    blocks = list(records(data))
    for record in blocks:
        place = struct.pack("<Q", at + 100) + record[8:16]
        found += record[16:96] + place + record[96:100] + struct.pack("<I", 0)
        at += len(record)
    header = data[12 + int.from_bytes(data[8:12], "little") :][:4]
    made = b"SSWINDEX" + struct.pack("<I", 2) + header + struct.pack("<Q", at) + data[at - 4 : at]
    made += struct.pack("<Q", len(blocks)) + found
    journal.with_suffix(".index").write_bytes(made + struct.pack("<I", zlib.crc32(made)))


@contextlib.contextmanager
def small_disk(place, limit):
    """A file system of its own, with a mount option as its limit."""
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", limit, "tmpfs", place], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small tmpfs cannot be mounted here: " + mounted.stderr.decode())
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def descendants(process_id):
    """Process ids of a process and all below it."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [process_id]
    for parent in found:
        found.extend(children.get(parent, []))
    return found


def kill_tree(process, number=signal.SIGKILL):
    for victim in descendants(process.pid):
        try:
            os.kill(victim, number)
        except ProcessLookupError:
            pass


def rank_processes(process):
    """Process ids of the ranks below an mpirun, in the order of their start."""
    return sorted(p for p in descendants(process.pid)[1:] if name_of(p) == "stereosweep")


def state_of(process_id):
    """Name, number and state of a process, for messages."""
    try:
        text = pathlib.Path(f"/proc/{process_id}/stat").read_text()
        return f"{process_id} {name_of(process_id)} {text.rsplit(')', 1)[1].split()[0]}"
    except OSError:
        return f"{process_id} gone"


def name_of(process_id):
    try:
        return pathlib.Path(f"/proc/{process_id}/comm").read_text().strip()
    except OSError:
        return ""


def rewrite_journal(output, version=None, settings=None):
    """Makes the journals of a run those of another version of the program, or of a run with other settings, whose
    blocks then have other keys."""
    for path in pathlib.Path(output).glob("journal/**/*.log"):
        data = path.read_bytes()
        size = int.from_bytes(data[8:12], "little")
        content = data[12 : 12 + size]
        length = int.from_bytes(content[36:44], "little")
        text = content[44 : 44 + length]
        if settings:
            text = json.dumps({**json.loads(text), **settings}, separators=(",", ":")).encode()
        content = (version or int.from_bytes(content[:4], "little")).to_bytes(4, "little") + content[4:36] + \
            len(text).to_bytes(8, "little") + text + content[44 + length :]
        made = data[:8] + len(content).to_bytes(4, "little") + content
        made += zlib.crc32(made).to_bytes(4, "little")
        for record in records(data):
            head = record[:16] + (bytes(32) if settings else record[16:48]) + record[48:96]
            payload = record[100:-4]
            made += head + zlib.crc32(head).to_bytes(4, "little") + payload
            made += zlib.crc32(payload, zlib.crc32(head)).to_bytes(4, "little")
        path.write_bytes(made)
