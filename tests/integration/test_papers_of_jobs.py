"""Paper commands, notebooks and LaTeX on every job of the repository, as it is asked and with other requests: they end with
their output, or with a sentence that names the key which asks for what lacks."""

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import nbformat
import pandas
import pytest
import runs
import xarray
import yaml

from stereosweep_analysis import views
from stereosweep_analysis.cli import main
from stereosweep_analysis.tables import LATEX_HEAD, cut_table, to_latex

sys.path.insert(0, str(runs.ROOT / "analysis/tests"))
from test_notebooks import NOTEBOOKS, run_cell

PAPERS = {"association": ["cao2022"], "contexts": ["guo2021", "cao2022"], "coreference": ["winoidentity"],
          "rating": ["winoidentity", "stereomap"], "interview": ["stereomap"]}  # fmt: skip
PLANTED = "model.path=tests/models/planted"
FEW = "axes.groups={file: abc_groups, only: [women, men, teenagers, Black people]}"
TEMPLATES = "axes.templates={file: abc_templates, only: [one_of_them, often, quite, the_word]}"
SOME = "axes.groups={file: stereomap_groups, only: [Nurses, Doctors, Rich people, Criminals, Homeless people, Women]}"
# What makes a job small, and one that needs a GPU, a checkpoint or a text runnable here. All others run as they are.
SETTINGS = {
    "01_example": (PLANTED,), "02_example_contexts": ("samples=20",), "10_planted": (FEW, TEMPLATES, "measures=[ilps, ilps_star]"),
    "20_real": (PLANTED, FEW, TEMPLATES, "axes.intersections=none", "measures=[ilps_star, set]"),
    "21_cao2022": ("axes.groups.only=[teenagers, elderly people, men, women, Black people, Democrats]", "measures=[ilps, ilps_star, set]"),
    "30_roberta_large_gpu": (PLANTED, FEW, TEMPLATES, "execution.device=cpu", "axes.rephrasings=none", "measures=[ilps_star]",
                             "axes.intersections={pairs: [[Black people, women], [Black people, men]], both_orders: true}"),
    "40_winoidentity": ("axes.augmentations=[baseline, aug1]",), "41_crossed_markers": ("axes.augmentations=[baseline, aug1]",),
    "50_ratings": ("axes.identities={file: scm_identities, only: [young women, old men, rich women, poor men, gay women]}",
                   "axes.rating_questions={file: scm_questions, only: [regarded]}", "sampling=none"),
    "60_ceat": ("model.path=tests/models/letters", "execution.engine=fake", "corpus.files=[FOLDER/words.txt]", "samples=20"),
    "61_generated_contexts": ("samples=20",), "70_stereomap": (SOME, "sampling.rounds=2"),
}  # fmt: skip
OWN = {"21_cao2022": ("statistics.people.selection.pilot_subjects=[Black people, women]",)}  # what its small run is asked
KEY = re.compile(r"\b(statistics|axes)\.\w+")
MOST_TOO_WIDE = 5  # points


class Run:
    def __init__(self, job, folder):
        parsed = yaml.safe_load((runs.ROOT / f"jobs/{job}.yaml").read_text())
        self.probe, self.job, self.path = parsed["probe"], job, folder / job
        path = runs.ROOT / f"jobs/{job}.yaml"
        if parsed.pop("sweep", None):  # over models that are not here
            path = folder / f"{job}.yaml"
            path.write_text(yaml.safe_dump(parsed))
        words = sorted(set(re.findall("[A-Za-z]+", (runs.ROOT / "configs/tests/caliskan.yaml").read_text())))
        (folder / "words.txt").write_text("".join(f"a {word} is here\nthere is a {word} too\n" for word in words))
        settings = [setting.replace("FOLDER", str(folder)) for setting in SETTINGS.get(job, ())]
        code, _, err = runs.run(path, self.path, *settings)
        assert code == 0, err
        self.quick = ["statistics.draws=200"] if self.probe == "contexts" else ["statistics.inference={replicates: 100, draws: 200}"]
        assert self.asked(*OWN.get(job, ()))

    def asked(self, *settings):
        """Whether the program computes statistics that are asked so; it refuses what the result does not have."""
        command = [runs.PROGRAM, "stats", str(self.path), *settings, *self.quick]
        done = subprocess.run(command, capture_output=True, text=True, cwd=runs.ROOT, timeout=300)
        assert done.returncode in (0, 2), done.stderr
        return done.returncode == 0

    def statistics(self):
        with xarray.open_dataset(next(self.path.glob("*.stats.h5")), engine="h5netcdf") as file:
            return file.load()


@pytest.fixture(scope="module", params=sorted(path.stem for path in (runs.ROOT / "jobs").glob("*.yaml")))
def run(request, tmp_path_factory):
    return Run(request.param, tmp_path_factory.mktemp("papers"))


def requests(statistics, folder):
    """Every statistic that all probes share, of labels of this result; some of all measures, too."""
    subjects, items = (list(statistics[axis].values.astype(str)) for axis in ("subject", "item"))
    people = folder / "people.tsv"
    rows = [f"{who}\t{group}\t{item}\t{(7 * len(group) + 31 * len(item) + 13 * place) % 101}\t{'old' if place % 2 else 'young'}\n"
            for place, who in enumerate(["ada", "ben", "cleo", "dan"]) for group in subjects[:8] for item in items]  # fmt: skip
    people.write_text("annotator\tgroup\tpair\trating\tkind\n" + "".join(rows))
    single = {
        "contrasts": [{"name": "two", "left": {"subject": subjects[0]}, "right": {"subject": subjects[-1]}}],
        "means": {}, "variance_shares": {}, "intersections": {}, "people": {"ratings": str(people), "subgroups": "kind"},
        "correlations": [{"name": "items", "rows": {"item": items[:2]}}], "extremes": {"most": 2, "of": {"item": items[:1]}},
        "clusters": {"number": 2, "max_clusters": 3}, "variation": {"over": ["wording", "template"]},
    }  # fmt: skip
    for key, request in single.items():
        yield (f"statistics.{key}={json.dumps(request) if request else 'all'}",)
    yield tuple(f"statistics.{key}={json.dumps(single[key] | {'measures': 'all'})}" for key in ("people", "clusters"))
    yield ('statistics.clusters={number: 2, dimensions: [warmth, competence], max_clusters: 3}', f"statistics.extremes={json.dumps(single['extremes'])}")


def command(*arguments):
    """(exit code, output, errors) of a command of the package."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), " ".join(err.getvalue().split())


def check_papers(run):
    """LaTeX of the tables that the papers' commands make."""
    made = []
    for paper in PAPERS[run.probe]:
        code, out, err = command("paper", paper, run.path, "--format", "latex")
        assert code in (0, 1)
        if code:
            assert "fills no table" in err and KEY.search(err)
        else:
            assert "card: " in out
            for line in re.findall(r"tables? [A0-9F].*?(?= tables? [A0-9F]| measures that|$)", err):
                assert KEY.search(line), line
            made.append(out)
    return made


def test_papers_notebooks_and_latex_however_statistics_are_asked(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    parts, done = [], 0
    asked = list(requests(run.statistics(), tmp_path))
    for request in [OWN.get(run.job, ()), *asked]:
        if run.asked(*request):
            done += 1
            parts += check_papers(run)
            parts += [to_latex(cut_table(table, 40)) for found in views.findings(run.statistics()) for table in found.tables]
    assert done >= 7 and parts  # the last statistics hold little that a notebook asks for
    check_notebook(run)
    check_latex(parts, tmp_path)


def check_notebook(run):
    names, shown = {}, []
    for cell in nbformat.read(NOTEBOOKS[run.probe], as_version=4).cells:
        if cell.cell_type == "code" and "stereosweep.report(" not in cell.source:
            with contextlib.redirect_stdout(io.StringIO()):
                shown.append(run_cell(cell.source, names))
            if "parameters" in cell.metadata.get("tags", ()):
                names["RUN"] = str(run.path)
    plt.close("all")
    assert any(isinstance(value, pandas.DataFrame | pandas.Series) for value in shown)


def check_latex(parts, folder):
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex here (texlive-latex-base, texlive-latex-recommended): all but LaTeX was checked")
    text = "\n".join(["\\documentclass{article}", LATEX_HEAD, "\\begin{document}", *parts, "\\end{document}", ""])
    (folder / "views.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "views.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
    log = (folder / "views.log").read_text(encoding="latin-1")
    assert done.returncode == 0 and "\n! " not in log, log[-3000:]
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]
    assert max(wide, default=0) <= MOST_TOO_WIDE, re.search(r"Overfull.*?\n\n", log, re.DOTALL)[0]
