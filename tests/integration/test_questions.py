"""The page from a question to a job: every command runs as it is typed, and gives a result with scores."""

import os
import re
import subprocess

import pytest
import runs
import xarray as xr

PAGE = runs.ROOT / "jobs/questions.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with what the commands name, after they have run there."""
    folder = tmp_path_factory.mktemp("clone")
    for entry in ("analysis", "configs", "jobs", "src", "tests"):
        (folder / entry).symlink_to(runs.ROOT / entry)
    (folder / "build").mkdir()
    (folder / "build/python").symlink_to(runs.ROOT / "build/python")
    (folder / "bin").mkdir()
    (folder / "bin/stereosweep").symlink_to(runs.PROGRAM)
    settings = {**os.environ, **runs.ENVIRONMENT, "PATH": f"{folder}/bin:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["bash", "-c", "set -euo pipefail\n" + "".join(BLOCKS)], cwd=folder, env=settings,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


def test_every_question_gets_scores(folder):
    names = re.findall(r"--output (\S+)", TEXT)
    assert len(names) == len(BLOCKS) == TEXT.count("\n## ") - 1 == 6
    probes = set()
    for name in names:
        (statistics,) = (folder / name).glob("*.stats.h5")
        probes.add(statistics.name.split(".")[0])
        score = xr.open_dataset(statistics)["score"]
        assert int(score.notnull().sum()) > 0, name
    assert probes == {"association", "contexts", "coreference", "interview"}


def test_what_was_asked_is_answered(folder):
    gender = xr.open_dataset(folder / "results/warmth/association.stats.h5")
    assert int(gender["contrast_difference"].notnull().sum()) > 0
    decided = xr.open_dataset(folder / "results/decided/association.h5")
    assert decided.attrs["num_blocks_scored"] < decided.attrs["num_blocks"]
    crossed = xr.open_dataset(folder / "results/crossed/association.stats.h5")
    assert "women x Black people" in set(crossed["intersection"].values)
    assert int(crossed["order_tau"].notnull().sum()) > 0
    ages = xr.open_dataset(folder / "results/ages/contexts.stats.h5")
    assert list(ages["item"].values) == ["age"]


def test_links_exist_and_every_probe_has_its_row():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links and not [link for link in links if not (PAGE.parent / link).exists()]
    probes = {path.name for path in (runs.ROOT / "src/probes").iterdir() if path.is_dir()}
    assert set(re.findall(r"^\| [^|]+ \| `(\w+)` \|", TEXT, re.MULTILINE)) == probes
    assert max(map(len, TEXT.splitlines())) <= 130
