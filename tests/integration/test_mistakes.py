"""Forty mistakes that users make, half of them in a job and half on the command line: the message names the place, says
what is wrong and what to write."""

import pytest
import runs

JOB = f"""schema: stereosweep/1
name: mine
probe: association
model: {{path: {runs.ROOT}/tests/models/planted}}
axes:
  groups: [women, men]
  traits: abc_poles
  templates: ["{{group}} are {{trait}}.", "all {{group}} are {{trait}}."]
"""
AXES = "axes:\n"
TEMPLATE = '"all {group} are {trait}."'
# What stands in the job, what a user writes in its place; the place, the reason and the remedy that the message names.
IN_A_JOB = {
    "tab": ("  groups: [", "\tgroups: [", "job.yaml:6", "a tab in the indentation", "blanks in its place"),
    "open bracket": ("[women, men]", "[women, men", "job.yaml:7", "'[' is not closed by ']'", "(or a ',' is missing"),
    "bare braces": ('"{group} are {trait}."', "{group} are {trait}.", "job.yaml:8", "is not closed", "in quotes"),
    "indentation": ("  traits:", " traits:", "job.yaml:7", "does not fit the mapping above", "begin in the same column"),
    "misspelt key": ("name: mine", "nmae: mine", "job.yaml:2:nmae", "unknown key 'nmae'", "Did you mean 'name'?"),
    "key twice": ("name: mine", "name: mine\nname: b", "job.yaml:3:name", "stands twice", "Remove one."),
    "no schema": ("schema: stereosweep/1\n", "", "job.yaml:1:schema", "'schema' is missing", "Write 'schema: ...' here."),
    "other schema": ("sweep/1", "sweep/2", "job.yaml:1:schema", "'stereosweep/2'", "Did you mean 'stereosweep/1'?"),
    "misspelt probe": ("association", "asociation", "job.yaml:3:probe", "'asociation'", "Did you mean 'association'?"),
    "no groups": ("  groups: [women, men]\n", "", "axes.groups", "'groups' is missing", "Write 'groups: ...' here."),
    "group twice": ("[women, men]", "[women, women]", "job.yaml:6:axes.groups[1]", "'women' stands twice", "another 'label'"),
    "bare group": ("[women, men]", "women", "job.yaml:6:axes.groups", "no piece 'women'", "in brackets: [women]"),
    "misspelt list": ("abc_poles", "abc_pole", "job.yaml:7:axes.traits", "no piece 'abc_pole'", "Did you mean 'abc_poles'?"),
    "no trait": (TEMPLATE, '"all {group} are nice."', "axes.templates[1]", "0 times {trait}", "exactly one is expected"),
    "placeholder": (TEMPLATE, '"all {grup} are {trait}."', "job.yaml:8", "an unknown placeholder", "known: {group}"),
    "measure": (AXES, "measures: [ilsp]\n" + AXES, "job.yaml:5:measures[0]", "'ilsp'", "Did you mean 'ilps'?"),
    "number": (AXES, "seed: abc\n" + AXES, "job.yaml:5:seed", "here stands 'abc'", "a whole number from 0"),
    "type": ("{path:", "{dtype: float8, path:", "job.yaml:4:model.dtype", "'float8'", "one of 'float32'"),
    "kind of model": ("/planted}", "/planted_causal}", "model.path", "is a causal model", "Name another model."),
    "statistic": (AXES, "statistics: {contrast: []}\n" + AXES, "job.yaml:5:statistics.contrast", "unknown key",
                  "Did you mean 'contrasts'?"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_A_JOB)
def test_a_mistake_in_a_job(tmp_path, monkeypatch, name):
    right, wrong, *told = IN_A_JOB[name]
    assert JOB.count(right) >= 1
    monkeypatch.setenv("STEREOSWEEP_CONFIGS", str(runs.ROOT / "configs"))
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    assert runs.program("validate", job).returncode == 0
    job.write_text(JOB.replace(right, wrong, 1))
    done = runs.program("validate", job)
    assert done.returncode == 2
    for words in told:
        assert words in done.stderr, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A job, its finished run, an empty folder and one with a thesis in it."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "job.yaml").write_text(JOB.replace("abc_poles", "[[cold, warm]]"))
    assert runs.run(runs.SMOKE, folder / "done")[0] == 0
    (folder / "empty").mkdir()
    (folder / "thesis").mkdir()
    (folder / "thesis/chapter.tex").write_text("")
    return folder


CONTRAST = "statistics.contrasts=[{name: a, left: {subject: womn}, right: {subject: men}}]"
# What is typed; what the message names of it, the reason and the remedy.
ON_THE_COMMAND_LINE = (
    ("runn job.yaml", "'runn'", "unknown command", "Did you mean 'run'?"),
    ("run", "run --help", "no job is named", "see stereosweep run"),
    ("run nothere.yaml", "nothere.yaml", "cannot open", "No such file"),
    ("run job.yaml --outptu x", "'--outptu'", "there is no option", "Did you mean 'output'?"),
    ("run job.yaml --output thesis", "chapter.tex", "holds files, but no run", "another --output"),
    ("run job.yaml model.pth=x", "model.pth", "unknown key 'pth'", "Did you mean 'path'?"),
    ("run job.yaml model.path", "model.path", "no '='", "model.path=VALUE"),
    ("run job.yaml --only 3", "--only 3", "names no job of the sweep", "a number from 1 to 1 or a name"),
    ("run job.yaml --time-limit soon", "'soon'", "no length of time", "HH:MM:SS"),
    ("run job.yaml --reuse empty", "empty", "nothing to reuse", "holds no journal"),
    ("stats", "stats --help", "no run directory is named", "see stereosweep stats"),
    ("stats job.yaml", "job.yaml", "is a job", "results/NAME"),
    ("stats empty", "'empty'", "holds no result file", "stereosweep run"),
    ("stats done --top many", "'--top'", "'many'", "number"),
    ("stats done seed=3", "seed=3", "cannot be set here", "statistics.KEY=VALUE only"),
    ("stats done --format excel", "'excel'", "unknown format", "text, csv, csv-as-is, markdown or latex"),
    (["stats", "done", CONTRAST], "womn", "no", "Did you mean 'women'?"),
    ("report job.yaml", "job.yaml", "is a job", "results/NAME"),
    ("export empty", "empty", "no run", "Give the folder"),
    ("plan job.yaml --power effect", "'effect'", "NAME=VALUE is expected", "Give effect=0.5"),
)


@pytest.mark.parametrize("typed", ON_THE_COMMAND_LINE, ids=lambda typed: str(typed[0]))
def test_a_mistake_on_the_command_line(folder, typed):
    command, *told = typed
    done = runs.program(*(command.split() if isinstance(command, str) else command), folder=folder)
    assert done.returncode == 2, done.stderr
    for words in told:
        assert words in done.stderr, done.stderr
    assert "HDF5" not in done.stderr and "Unable to" not in done.stderr


def test_there_are_forty():
    assert len(IN_A_JOB) == len(ON_THE_COMMAND_LINE) == 20
