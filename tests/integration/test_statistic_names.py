"""What `statistics` names is held against the job before a run, by the names that the score table will have: those of real
tables are compared with what `validate` takes and refuses."""

import json

import h5py
import pytest
import runs

SMALL = {
    "10_planted.yaml": (
        "axes.groups={file: abc_groups, only: [women, men, Black people]}", "measures=[ilps_star]",
        "axes.intersections={pairs: [[Black people, women]], both_orders: true}", "axes.rephrasings={file: voices, only: [none, bus]}",
        "axes.templates={file: abc_templates, only: [one_of_them, often]}",
    ),
    "41_crossed_markers.yaml": (),
    "51_group_ratings.yaml": ("sampling={runs: 1, max_new_tokens: 4}",),
    "61_generated_contexts.yaml": ("samples=8",),
    "63_guo2021_ibd.yaml": (),
    "04_example_interview.yaml": (),
}  # fmt: skip
NAMED = ("subject", "template", "rephrasing", "replicate", "item")


@pytest.fixture(scope="module", params=SMALL, ids=lambda name: name[:2])
def table(request, tmp_path_factory):
    """(job, its settings, {axis or axis.coordinate: values} of its score table) of a run with statistics."""
    job, settings = runs.ROOT / "jobs" / request.param, SMALL[request.param]
    folder = tmp_path_factory.mktemp("run")
    code, _, err = runs.run(job, folder, *settings)
    assert code == 0, err
    done = runs.program("stats", folder)
    assert done.returncode == 0, done.stderr
    with h5py.File(next(folder.glob("*.stats.h5"))) as file:
        names = {name: [value for value in file[name].asstr()[:] if value] for name in ("measure", *NAMED)}
        for axis in NAMED:
            for name, data in file.items():
                if name.startswith(f"{axis}_") and data.ndim == 1 and data.dtype.kind == "O" and "CLASS" not in data.attrs:
                    if data.dims[0].keys() == [axis]:
                        names[f"{axis}.{name.removeprefix(axis + '_')}"] = [value for value in data.asstr()[:] if value and "\n" not in value]
    return job, settings, {name: list(dict.fromkeys(values)) for name, values in names.items()}


def requests(names):
    """Settings in which every name of every axis stands."""
    sides = [{"name": name, "left": {name: values}} for name, values in names.items() if name.split(".")[0] in NAMED[:4] and values]
    items = {name: values for name, values in names.items() if name.split(".")[0] == "item" and values}
    return (f"statistics.contrasts={json.dumps([one | {'measures': names['measure']} for one in sides])}",
            f"statistics.extremes={json.dumps({'of': items, 'measures': names['measure']})}")  # fmt: skip


def test_every_name_of_the_table_is_taken(table):
    job, settings, names = table
    assert len(names) > 9
    done = runs.program("validate", job, *settings, *requests(names))
    assert done.returncode == 0, done.stderr


def test_every_other_name_is_refused_in_one_report(table):
    job, settings, names = table
    wrong = {name: ["no one"] for name in names} | {"subject.colour": ["red"], "item.colour": ["red"]}
    report = runs.program("validate", job, *settings, *requests(wrong))
    assert report.returncode == 2
    for name in wrong:
        if name.endswith(".colour"):
            assert f"no axis or coordinate '{name}'" in report.stderr, report.stderr
        elif name == "measure":
            assert report.stderr.count("no measure 'no one'") == len(wrong) - sum(one.startswith("item") for one in wrong)
        elif not (name == "replicate" and "contexts" in job.read_text()):  # how many samples there are is seen in the run
            assert f"no 'no one' on {name} (" in report.stderr, (name, report.stderr)


CONTRASTS = "[{name: a, left: {subject: woman}, right: {subject: men}}, {name: b, each: subjects, right: rest}]"
ASKED = (
    f"statistics.contrasts={CONTRASTS}", "statistics.means={measures: [ilps_star prior_wrd]}",
    "statistics.correlations=[{name: c, rows: {item.dimension: [agncy]}, columns: {item: [cold - warm]}, within: clusters}]",
    "statistics.clusters={dimensions: [beleifs]}", "statistics.extremes={of: {item: [warm - cold]}}",
    "statistics.variance_shares={measures: [mean]}",
)  # fmt: skip
FAULTS = (
    "statistics.contrasts 'a': no 'woman' on subject (the score table has none). Did you mean 'women'?",
    "statistics.contrasts 'b': no axis or coordinate 'subjects'", "Did you mean 'subject'?",
    "statistics.means: no measure 'ilps_star prior_wrd' (the score table has none). Did you mean 'ilps_star prior_word'?",
    "statistics.correlations 'c': no 'agncy' on item.dimension (the score table has none). Did you mean 'agency'?",
    "no item has the dimension 'beleifs'", "statistics.extremes: no 'warm - cold' on item",
    "statistics.variance_shares: no measure 'mean' (the score table has none). Known here: ilps_first prior_word, ",
    "command line:model.path: ",
)  # fmt: skip


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_all_is_in_one_report_with_the_model(command):
    model = "model.path=" + str(runs.ROOT / "tests/models/planted_causal")
    done = runs.program(command, runs.ROOT / "jobs/10_planted.yaml", *SMALL["10_planted.yaml"], *ASKED, model)
    assert done.returncode == 2
    for fault in FAULTS:
        assert fault in done.stderr, (fault, done.stderr)


def test_what_is_wrong_is_told_once():
    """A number that cannot be read is not nothing; what `decide` names is not what its contrasts name."""
    job = runs.ROOT / "jobs/22_decided.yaml"
    for value, faults in (("{want: [{equivalence: -1}]}", 1), ("{plan: {templates: -1}}", 1), ("{measures: [mean]}", 1)):
        report = runs.program("validate", job, f"statistics.decide={value}", "model.path=tests/models/planted").stderr
        assert len(report.strip().splitlines()) == 1 + faults, report
    contrasts = "statistics.contrasts=[{name: a, left: {subject: sailors}, right: {subject: men}}]"
    report = runs.program("validate", job, contrasts, "model.path=tests/models/planted").stderr
    assert report.count("no 'sailors' on subject (the score table has none). Known here: teenagers, ") == 1, report


def test_a_fault_has_the_line_of_its_statistic(tmp_path):
    text = (runs.ROOT / "jobs/10_planted.yaml").read_text().replace("../", f"{runs.ROOT}/").split("statistics:")[0]
    job = tmp_path / "job.yaml"
    job.write_text(text + "statistics:\n  means: all\n  contrasts: [{name: a, left: {subject: nobody}}]\n  zork: 1\n")
    done = runs.program("validate", job, f"model.path={runs.ROOT / 'tests/models/planted'}")
    line = text.count("\n") + 3
    assert f"job.yaml:{line}: statistics.contrasts 'a': no 'nobody' on subject" in done.stderr
    known = done.stderr.split(f"job.yaml:{line + 1}:statistics.zork: unknown key 'zork' (known here: ")[1].split(")")[0]
    assert {"contrasts", "inference", "people", "templates", "word_aggregate"} <= set(known.split(", "))


def test_a_run_goes_on_whatever_its_statistics_name(tmp_path):
    """`stats` may be given other names afterwards."""
    asked = f"statistics.contrasts={CONTRASTS}"
    code, _, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", tmp_path / "run", *SMALL["10_planted.yaml"], asked)
    assert code == 0, err
    assert runs.program("run", tmp_path / "run", asked).returncode == 0
    assert runs.program("stats", tmp_path / "run", asked).returncode == 2
    chosen = "statistics.templates=[often]", "statistics.contrasts=[{name: a, left: {template: [often]}}]"
    assert runs.program("stats", tmp_path / "run", *chosen).returncode == 0


def people(tmp_path, rows, **keys):
    table = tmp_path / "people.tsv"
    table.write_text("annotator\tgroup\titem\trating\n" + "".join(f"{row}\n" for row in rows))
    return f"statistics.people={json.dumps({'ratings': str(table)} | keys)}"


def test_what_people_rated_is_held_against_the_job(tmp_path):
    def validate(rows, **keys):
        done = runs.program("validate", runs.ROOT / "jobs/10_planted.yaml", *SMALL["10_planted.yaml"], people(tmp_path, rows, **keys))
        return done.returncode, done.stdout + done.stderr

    rows = [f"ann\t{group}\tcold - warm\t{place}" for place, group in enumerate(("women", "men", "Black people"), 1)]
    pilot = {"selection": {"pilot_subjects": ["wommen"]}}
    assert validate(rows)[0] == 0
    for wrong, message in (
        (validate(["ann\tnobody\tcold - warm\t3"]), "none of their subjects and items is in the score table"),
        (validate(rows, **pilot), "no subject 'wommen' ('selection.pilot_subjects')"),
        (validate(rows, measures=["ilps"]), "statistics.people: no measure 'ilps'"),
        (validate([*rows, "ann\tmen\tcold - warm\tmany"]), "people.tsv:5:rating: 'many' is no rating"),
        (validate(rows, only={"annotator": "bob"}), "no row has 'bob'"),
    ):  # fmt: skip
        assert wrong[0] == 2 and message in wrong[1], wrong


@pytest.mark.parametrize("axis, piece", [("groups", "abc_groups"), ("templates", "abc_templates"), ("traits", "abc_poles"),
                                         ("rephrasings", "voices")])  # fmt: skip
def test_only_names_what_the_piece_has(axis, piece):
    done = runs.program("validate", runs.ROOT / "jobs/10_planted.yaml", f"axes.{axis}={{file: {piece}, only: [no one]}}")
    assert done.returncode == 2 and f"axes.{axis}.only: unknown label 'no one'" in done.stderr
