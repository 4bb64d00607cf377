"""The bar that `run` draws: one over all ranks where standard error ends on a terminal, none in files and logs."""

import os
import re
import subprocess

import pytest
import runs
from terminals import shown_on_terminal

COLUMNS = 90
DRAWN = "\r\x1b[K"
# A block that takes long: rank zero would draw meanwhile.
SLOW = "block_start:3:delay=1500"


def command_of(folder, ranks):
    command = [runs.PROGRAM, "run", runs.SMOKE, "--output", str(folder)]
    return command if ranks == 1 else ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *command]


def on_terminal(folder, ranks, **options):
    """What a terminal shows of a run, and of its bar while a block is held."""
    def release(text):
        if text.count(DRAWN) > 2:
            runs.release(folder)

    inject = SLOW if "errors" in options else runs.hold(folder)
    return shown_on_terminal(command_of(folder, ranks), COLUMNS, {**runs.ENVIRONMENT, "STEREOSWEEP_INJECT": inject}, seen=release,
                             **options)


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
        env={**os.environ, **runs.ENVIRONMENT, "STEREOSWEEP_INJECT": SLOW}, timeout=runs.HANGS,
    )  # fmt: skip
    assert done.returncode == 0 and "\x1b" not in done.stdout and "26 of 26 blocks to score" in done.stdout
