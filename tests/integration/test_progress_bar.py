"""The bar that `run` draws: one over all ranks where standard error ends on a terminal, none in files and logs."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
import runs

COLUMNS = 90
DRAWN = "\r\x1b[K"
# A block that takes long keeps rank zero drawing.
SLOW = "block_start:3:delay=1500"


def command_of(folder, ranks):
    command = [runs.PROGRAM, "run", runs.SMOKE, "--output", str(folder)]
    return command if ranks == 1 else ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *command]


def on_terminal(folder, ranks, errors=None):
    """What a terminal shows of a run; `errors`: a file that standard error goes to."""
    child, terminal = pty.fork()
    if child == 0:
        runs.default_signals()
        os.environ.update({**runs.ENVIRONMENT, "STEREOSWEEP_INJECT": SLOW})
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        if errors:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        command = command_of(folder, ranks)
        os.execvp(command[0], command)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text
    os.close(terminal)
    return text.decode()


def bars_in(text):
    return [part.split("\r")[0].split("\n")[0] for part in text.split(DRAWN)[1:] if part.startswith("[")]


@pytest.mark.parametrize("ranks", [1, 2])
def test_one_bar_over_all_ranks_on_a_terminal(tmp_path, ranks):
    text = on_terminal(tmp_path / "run", ranks)
    bars = bars_in(text)
    assert len(bars) >= 2
    done = [int(re.match(r"\[[#.]{20}\] (\d+)/26 blocks", bar)[1]) for bar in bars]  # 26: those of all ranks together
    assert done == sorted(done) and done[-1] == 26
    assert text.count("26/26 blocks") == 1
    # whole parts, narrower than the terminal
    assert all(len(bar) < COLUMNS and re.search(r"( blocks| left| cells|/s|\))$", bar) for bar in bars)
    # each line of the log begins at the left, over what the bar had drawn
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = line.split(DRAWN)[-1].split("\r")[-1]
        assert shown.count(" info: ") <= 1 and not re.search(r"\] \d+/26.* info: ", shown)
    assert DRAWN not in (tmp_path / "run/log").read_text()


@pytest.mark.parametrize("ranks", [1, 2])
def test_no_bar_in_files(tmp_path, ranks):
    process = runs.start(runs.SMOKE, tmp_path / "run", ranks=ranks, inject=SLOW, environment={"STEREOSWEEP_PROGRESS_S": "0.2"})
    code, out, err = runs.finish(process)
    assert code == 0, err
    assert "\x1b" not in out + err and "[#" not in out + err
    assert re.search(r" info: \d+/26 blocks", err)
    # nor where standard output is a terminal and standard error is not
    shown = on_terminal(tmp_path / "second", ranks, errors=tmp_path / "errors")
    assert "\x1b" not in shown + (tmp_path / "errors").read_text()


def test_a_launcher_that_writes_into_a_pipe_draws_none(tmp_path):
    done = subprocess.run(
        [*command_of(tmp_path / "run", 2)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=runs.ROOT,
        env={**os.environ, **runs.ENVIRONMENT, "STEREOSWEEP_INJECT": SLOW}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0 and "\x1b" not in done.stdout and "26 of 26 blocks to score" in done.stdout
