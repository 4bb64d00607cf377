"""`replay`: rounds of a sweep that may stop, over finished results; numpy and scipy on the table `score` beside."""

import csv
import io
import pathlib

import h5py
import numpy
import pytest
import runs

CONTRASTS = "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]"
SIGN = "statistics.decide={want: [sign]}"
SETTINGS = (
    "axes.groups={file: abc_groups, only: [women, men]}", "axes.templates=abc_templates",
    "axes.rephrasings=voices", "measures=[ilps_star]",
)  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay") / "run"
    code, _, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", folder, *SETTINGS)
    assert code == 0, err
    return folder


def replay(folder, *arguments, code=0, **options):
    status, out, err = runs.finish(runs.start_program("replay", folder, *arguments, **options))
    assert status == code, err
    return out if code == 0 else err


def test_each_round_is_the_mean_of_even_parts(planted, tmp_path):
    replay(planted, CONTRASTS, SIGN, "--output", tmp_path / "all.h5")
    with h5py.File(tmp_path / "all.h5") as file:
        score = file["score"][:]  # measure, subject, template, rephrasing, replicate, item
        labels = {name: list(file[name].asstr()[:]) for name in ("subject", "measure")}
        women, men = (score[:, labels["subject"].index(label), :, :, 0, :] for label in ("women", "men"))
        asked = list(dict.fromkeys(file["decide_row_measure"].asstr()[:]))  # the recommended one
        assert asked == ["ilps_star prior_word"]
        difference = (women - men)[[labels["measure"].index(measure) for measure in asked]]
        templates, rephrasings = difference.shape[1:3]
        cells = file["decide_by_round_num_cells"][:]
        means = file["decide_by_round_difference"][:]
        low, high = file["decide_by_round_low"][:], file["decide_by_round_high"][:]
        stops = file["decide_round"][:]
        complete = file["decide_complete"][:]
        status = file["decide_status"]
        names = str(status.attrs["flag_meanings"]).split()
        statuses = [names[place] for place in status[:]]
        numpy.testing.assert_allclose(complete, difference.mean((1, 2)).reshape(-1), atol=1e-12)
        variance_parts = sum(file[f"decide_by_round_variance_{part}"][:] for part in ("templates", "rephrasings", "cells"))
        numpy.testing.assert_allclose(variance_parts, file["decide_by_round_variance"][:], rtol=1e-12)
    for row, stop in enumerate(stops):
        assert numpy.isfinite(means[row, :stop]).all() and numpy.isnan(means[row, stop:]).all()
        assert (numpy.diff(cells[row, :stop]) > 0).all() and cells[row, -1] in (0, templates * rephrasings)
        ends = (low[row, stop - 1], high[row, stop - 1])
        assert ends[0] <= means[row, stop - 1] <= ends[1] or numpy.isnan(ends).all()
        if statuses[row] in ("positive", "negative"):
            assert numpy.sign(means[row, stop - 1]) == (1 if statuses[row] == "positive" else -1)


def test_what_is_told_names_rounds_passes_and_the_verdict_of_the_table(planted):
    text = replay(planted, CONTRASTS, SIGN)
    assert "Rounds would have decided" in text and "verdicts are those of the complete table" in " ".join(text.split())
    assert "gender" in text and "Decisions in" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert sorted(path.name for path in pathlib.Path(planted).glob("*replay*")) == []


def test_tables_hold_rows_and_rounds(planted):
    rows = list(csv.DictReader(io.StringIO(replay(planted, CONTRASTS, SIGN, "--format", "csv"))))
    assert {"decide_difference", "decide_e", "decide_by_round_difference"} <= {row["statistic"] for row in rows}
    assert all(row["statistic"].startswith("decide") for row in rows)
    cells = {row["n"] for row in rows if row["statistic"] == "decide_difference"}
    assert cells and cells <= {"10", "12", "28", "56", "112", "224", "280"}
    assert {row["n"] for row in rows if row["statistic"] == "decide_complete"} == {""}  # not those of the row's stop


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_decide_the_same(planted, tmp_path, ranks):
    for number in (1, ranks):
        replay(planted, CONTRASTS, SIGN, "--output", tmp_path / f"{number}.h5", ranks=number)
    with h5py.File(tmp_path / "1.h5") as one, h5py.File(tmp_path / f"{ranks}.h5") as several:
        names = [name for name in one if name.startswith("decide")]
        assert len(names) > 30
        for name in names:
            numpy.testing.assert_array_equal(one[name][:], several[name][:], err_msg=name)


def test_what_cannot_be_replayed_is_refused(planted):
    assert "statistics.decide is not given" in replay(planted, CONTRASTS, code=2)
    assert "statistics.contrasts names no contrast" in replay(planted, SIGN, code=2)
    assert "cannot be set here" in replay(planted, "seed=3", code=2)


@pytest.mark.parametrize(("value", "complaint"), [
    ("{want: []}", "nothing is wanted"),
    ("{want: [sign, sign]}", "one thing is wanted twice"),
    ("{want: [{equivalence: 0}]}", "nothing is wanted"),
    ("{want: [{equivalence: 1, width: 1}]}", "several things in one"),
    ("{want: [signs]}", "signs"),
    ("sign", "a mapping or the word all is expected (here stands the word 'sign'). Write {want: [sign, "),
    ("{want: [width]}", "Write sign, {equivalence: MARGIN} or {width: WIDTH}."),
    ("{want: [sign], measures: ilps}", "a list or the word all is expected (here stands the word 'ilps'). Write [ilps]."),
    ("{plan: {templates: 0, cells: 0}}", "no variance of templates or cells"),
    ("{level: 0}", "level"),
    ("{target: wording}", "target"),
    ("{looks: never}", "looks"),
    ("{peek: 1}", "peek"),
])  # fmt: skip
def test_validate_names_file_line_and_key(tmp_path, value, complaint):
    text = (runs.ROOT / "jobs/10_planted.yaml").read_text().replace("../", f"{runs.ROOT}/")
    job = tmp_path / "job.yaml"
    job.write_text(f"{text.rstrip()}\n  decide: {value}\n")  # `statistics` stands last
    done = runs.program("validate", job)
    assert done.returncode == 2
    place = f"job.yaml:{len(job.read_text().splitlines())}:statistics.decide"
    assert place in done.stderr and complaint in done.stderr, done.stderr


def test_validate_tells_what_a_design_cannot_decide(planted):
    job = runs.ROOT / "jobs/10_planted.yaml"
    few = [CONTRASTS, SIGN, *SETTINGS[:1], *SETTINGS[3:], "axes.templates={file: abc_templates, only: [often, the_word]}"]
    text = " ".join(runs.program("validate", job, *few, "axes.rephrasings=none").stdout.split())
    assert "one rephrasing says nothing of others" in text and "fewer than 12 templates" in text
    plan = " ".join(runs.program("plan", job, CONTRASTS, SIGN, *SETTINGS).stdout.split())
    assert "rounds after 10, 12, 28, 56, 112, 224, 280 (template, rephrasing)" in plan
    assert "Expected of 16 rows decided together" in plan and "with a chance of 80 %" in plan and "minutes" not in plan
    assert "without deciding 100.0 % 560 (100.0 %)" in plan and "WARNING" not in plan
    measured = " ".join(runs.program("plan", job, CONTRASTS, SIGN, *SETTINGS, "--measure").stdout.split())
    assert "job's passes minutes" in measured
    rest = "statistics.contrasts=[{name: one, left: {subject: women}, right: rest}]"
    for command in ("plan", "validate"):
        done = runs.program(command, job, rest, SIGN, *SETTINGS[1:]).stdout
        assert "Name a fixed reference" in " ".join(done.split())
        assert command == "validate" or all(len(line) <= 100 for line in done.splitlines()[-12:])
    product = "statistics.decide={target: product}"
    assert "one rephrasing says" not in runs.program("validate", job, *few[:1], product, *few[2:], "axes.rephrasings=none").stdout


@pytest.mark.parametrize(("job", "settings", "complaint"), [
    ("10_planted", (*SETTINGS, CONTRASTS, "statistics.templates=[often]"), "stands beside statistics.templates"),
    ("10_planted", SETTINGS, "statistics.contrasts names no contrast"),
    ("61_generated_contexts", (), "the probe 'contexts' cannot stop asking"),
])  # fmt: skip
def test_run_refuses_what_cannot_be_decided_and_leaves_nothing(tmp_path, job, settings, complaint):
    for command in (("run", "--output", tmp_path / "run"), ("validate",)):
        done = runs.program(command[0], runs.ROOT / f"jobs/{job}.yaml", *command[1:], *settings, SIGN)
        assert done.returncode == 2 and complaint in done.stderr, done.stderr
    assert not (tmp_path / "run").exists()
