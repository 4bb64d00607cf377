"""Paper commands, notebooks and LaTeX on every job of the repository, as it is asked and with other requests: they end with
their output, or with a sentence that names the key which asks for what lacks. A job of each design; all of them (ten
minutes of processor time) where STEREOSWEEP_PAPER_JOBS is `all`."""

import contextlib
import io
import json
import os
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
    "72_real_chat": ("model={path: tests/models/planted_chat, chat: chatml}",),
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
        self.ask(*OWN.get(job, ()))

    def ask(self, *settings):
        command = [runs.PROGRAM, "stats", str(self.path), *settings, *self.quick]
        done = subprocess.run(command, capture_output=True, text=True, cwd=runs.ROOT, timeout=300)
        assert done.returncode == 0, done.stderr

    def statistics(self):
        with xarray.open_dataset(next(self.path.glob("*.stats.h5")), engine="netcdf4") as file:
            return file.load()


ALL = sorted(path.stem for path in (runs.ROOT / "jobs").glob("*.yaml"))
DESIGNS = ["04_example_interview", "21_cao2022", "42_winoidentity_tables", "51_group_ratings",
           "63_guo2021_ibd", "70_stereomap"]  # fmt: skip


@pytest.fixture(scope="module", params=ALL if os.environ.get("STEREOSWEEP_PAPER_JOBS") == "all" else DESIGNS)
def run(request, tmp_path_factory):
    return Run(request.param, tmp_path_factory.mktemp("papers"))


def requests(statistics, folder):
    """Every statistic that all probes share, of labels of this result; people and clusters also of all measures."""
    subjects, items = (list(statistics[axis].values.astype(str)) for axis in ("subject", "item"))
    people = folder / "people.tsv"
    rows = [f"{who}\t{group}\t{item}\t{(7 * len(group) + 31 * len(item) + 13 * place) % 101}\t{'old' if place % 2 else 'young'}\n"
            for place, who in enumerate(["ada", "ben", "cleo", "dan"]) for group in subjects[:8] for item in items]  # fmt: skip
    people.write_text("annotator\tgroup\tpair\trating\tkind\n" + "".join(rows))
    asked_people, clusters = {"ratings": str(people), "subgroups": "kind"}, {"number": 2, "max_clusters": 3}
    is_crossed = "intersection" in statistics["subject_kind"].values
    has_dimensions = any(statistics["item_dimension"].values) if "item_dimension" in statistics.coords else False
    yield {
        "contrasts": [{"name": "two", "left": {"subject": subjects[0]}, "right": {"subject": subjects[-1]}}],
        "people": asked_people, **({"intersections": "all"} if is_crossed else {}),
        "correlations": [{"name": "items", "rows": {"item": items[:2]}}], "extremes": {"most": 2, "of": {"item": items[:1]}},
        "variation": {"over": ["wording", "template"]}, **({"clusters": clusters} if has_dimensions else {}),
    }  # fmt: skip
    yield {"means": "all", "variance_shares": "all", "people": asked_people | {"measures": "all"},
           **({"clusters": clusters | {"measures": "all"}} if has_dimensions else {})}  # fmt: skip


def settings_of(request):
    return [f"statistics.{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in request.items()]


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
    parts = []
    asked = list(requests(run.statistics(), tmp_path))
    for settings in [(), *map(settings_of, asked)]:
        run.ask(*OWN.get(run.job, ()), *settings)
        parts += check_papers(run)
        parts += [to_latex(cut_table(table, 40)) for found in views.findings(run.statistics()) for table in found.tables]
    assert parts
    check_notebook(run)  # with statistics that the job itself does not ask for
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
