"""The README: its length, its links, and every command of its bash blocks, run as it is typed in a folder laid out as the
quickstart leaves it."""

import os
import re
import subprocess

import pytest
import runs

ROOT = runs.ROOT
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
# Minutes as they stand: the same commands on less.
FASTER = {"jobs/60_ceat.yaml": "samples=20 corpus.max_contexts=3 'axes.tests={file: caliskan, only: [C1]}'"}
NOT_RUN = {
    r"bash env/(quickstart|test)\.sh": "takes many minutes and installs packages",
    r"sbatch (?P<script>\S+) (?P<job>\S+)": "needs Slurm",
    r"stereosweep status results/roberta-large": "its run needs a GPU and weights that are not bundled",
}


def reason_not_to_run(line):
    return next((reason for pattern, reason in NOT_RUN.items() if re.fullmatch(pattern, line.split("  #")[0].strip())), None)


def runnable(block):
    """The block without the lines that cannot run here, in a fast form."""
    text = "\n".join(line for line in block.splitlines() if not reason_not_to_run(line))
    for job, settings in FASTER.items():
        text = text.replace(f"run {job}", f"run {job} {settings}")
    return text


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A folder with the tracked files of this one and what the quickstart puts into `build`."""
    folder = tmp_path_factory.mktemp("clone")
    for entry in ("analysis", "configs", "env", "jobs", "slurm", "src", "tests", "LICENSE", "README.md"):
        (folder / entry).symlink_to(ROOT / entry)
    (folder / "build/release/bin").mkdir(parents=True)
    (folder / "build/release/bin/stereosweep").symlink_to(runs.PROGRAM)
    (folder / "build/python").symlink_to(ROOT / "build/python")
    for script in ("merge.py", "contexts_inputs.py"):
        output = folder / ("build/models/minilm-wordnet" if script == "merge.py" else "build")
        subprocess.run([ROOT / "build/python", ROOT / "tests/models/real" / script, "--output", output], check=True, cwd=folder)
    return folder


def test_it_is_short():
    lines = TEXT.splitlines()
    assert len(lines) <= 160
    assert not [line for line in lines if len(line) > 120]


def test_its_links_exist():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def test_the_commands_that_are_not_run_exist():
    not_run = [line.split("  #")[0].strip() for block in BLOCKS for line in block.splitlines() if reason_not_to_run(line)]
    assert len(not_run) == 5
    for line in not_run:
        for path in re.findall(r"\b(?:env|slurm|jobs)/\S+", line):
            assert (ROOT / path).is_file(), line
    subprocess.run([ROOT / "build/python", "-m", "huggingface_hub.cli.hf", "download", "--help"], check=True, capture_output=True)


def test_every_other_command_runs_as_typed(clone):
    script = "set -euo pipefail\n" + "\n".join(map(runnable, BLOCKS))
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "STEREOSWEEP_CONFIGS")}
    settings |= runs.ENVIRONMENT | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["bash", "-c", script], cwd=clone, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for name in ("my_job/association.stats.h5", "winoidentity/coreference.stats.h5", "ceat/contexts.stats.h5"):
        assert (clone / "results" / name).exists()
    assert list((clone / "results/my_job").glob("*.png"))
    assert re.search(r"^teenagers +-?\d", done.stdout, re.MULTILINE)
    too_wide = [line for line in done.stdout.splitlines() if len(line) > 100 and line.startswith(("measure", "group", "ilps"))]
    assert not too_wide


def test_activate_says_that_nothing_was_built(tmp_path):
    (tmp_path / "env").mkdir()
    (tmp_path / "env/activate").write_text((ROOT / "env/activate").read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(["bash", "-c", "source env/activate"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and f"no program in {tmp_path}/build/release/bin" in done.stderr


def test_the_version_stands_in_one_place():
    (version,) = re.findall(r'^__version__ = "([\d.]+)"', (ROOT / "analysis/stereosweep_analysis/__init__.py").read_text(), re.M)
    assert runs.program("--version").stdout == f"stereosweep {version}\n"
    assert f"\n## {version} " in (ROOT / "env/CHANGES.md").read_text(encoding="utf-8")
    named = subprocess.run(["git", "-C", ROOT, "grep", "-lF", f'"{version}"', "--", "*.toml", "*.txt", "*.py", "*.hpp", "*.cpp"],
                           capture_output=True, text=True).stdout.split()  # fmt: skip
    assert named == ["analysis/stereosweep_analysis/__init__.py"]
