"""Runs that stop asking when they know (`statistics.decide`): what they decide is what `replay` says of a complete run,
whatever the ranks, kills and restarts."""

import json
import os
import random
import shutil
import subprocess
import sys
import time

import h5py
import numpy
import pytest
import runs
import yaml

CONTRASTS = (
    "statistics.contrasts=["
    "{name: gender, left: {subject: women}, right: {subject: men}},"
    "{name: age, left: {subject: elderly people}, right: {subject: teenagers}},"
    "{name: work, left: {subject: doctors}, right: {subject: mechanics}}]"
)
DECIDE = "statistics.decide={want: [sign]}"
SETTINGS = (
    "axes.groups={file: abc_groups, only: [women, men, elderly people, teenagers, doctors, mechanics]}",
    "axes.templates=abc_templates", "axes.rephrasings=voices", "measures=[ilps_star]",
    "axes.traits={file: abc_traits, only: [traditional - modern, cold - warm, repellent - likable]}",
    "execution.contexts_per_block=8", CONTRASTS,
)  # fmt: skip
JOB = runs.ROOT / "jobs/10_planted.yaml"


def run(folder, *more, code=0, **options):
    status, out, err = runs.run(JOB, folder, *SETTINGS, *more, **options)
    assert status == code, out + err
    return out + err


def record(folder):
    return json.loads((folder / "rounds.json").read_text())


def command(*arguments, **options):
    return runs.finish(runs.start_program(*arguments, **options))


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete") / "run"
    run(folder)
    code, _, err = command("replay", folder, DECIDE, "--output", folder.parent / "replay.h5")
    assert code == 0, err
    return folder


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped") / "run"
    run(folder, DECIDE)
    code, out, err = command("stats", folder)
    assert code == 0, err
    (folder.parent / "stats.txt").write_text(out)
    return folder


def variables(path, wanted="decide"):
    with h5py.File(path) as file:
        return {name: file[name][:] for name in file if name.startswith(wanted) and name != "decide_look"}


def test_decisions_are_those_that_a_replay_of_the_whole_table_comes_to(complete, stopped):
    replayed = variables(complete.parent / "replay.h5")
    decided = variables(stopped / "association.stats.h5")
    assert decided.keys() == replayed.keys()
    of_the_whole = {"decide_complete", "decide_complete_p", "decide_complete_p_holm", "decide_complete_status"}
    for name, values in decided.items():
        if name in of_the_whole:
            continue
        if values.dtype.kind == "f":
            # blocks of rounds are others than those of the whole, and some processors round products of other heights otherwise
            other = replayed[name][:, : values.shape[-1]] if values.ndim == 2 else replayed[name]
            numpy.testing.assert_allclose(values, other, rtol=1e-5, atol=1e-6)
        else:
            assert (values == (replayed[name][:, : values.shape[-1]] if values.ndim == 2 else replayed[name])).all(), name
    assert numpy.isnan(decided["decide_complete_p"]).all() and not numpy.isnan(replayed["decide_complete_p"]).all()


def test_only_what_open_rows_need_is_scored_with_the_same_numbers(complete, stopped):
    with h5py.File(complete / "association.h5") as whole, h5py.File(stopped / "association.h5") as part:
        assert part.attrs["complete"] == 1 and part.attrs["num_blocks_scored"] < part.attrs["num_blocks"]
        assert part.attrs["num_rounds"] == len(record(stopped)["rounds"])
        for name in ("logprob", "prior_logprob"):
            there = numpy.isfinite(part[name][:])
            assert 0 < there.sum() < numpy.isfinite(whole[name][:]).sum()
            numpy.testing.assert_allclose(part[name][:][there], whole[name][:][there], atol=2e-5)
        # the prior of the decided measure is scored wherever a group is, the other one nowhere
        asked = numpy.isfinite(part["logprob"][:]).any(axis=tuple(range(3, part["logprob"].ndim))).any(0)
        priors = numpy.isfinite(part["prior_logprob"][:]).any(axis=tuple(range(3, part["prior_logprob"].ndim)))
        assert list(part["prior"].asstr()) == ["prior_word", "prior_mask"]
        assert (asked == priors[0]).all() and not priors[1].any()


def test_stats_tells_decisions_and_names_what_it_leaves_out(stopped):
    text = (stopped.parent / "stats.txt").read_text()
    flat = " ".join(text.split())
    assert "Rounds decided" in flat and "NOT complete" not in flat
    assert "Not computed, since this run asked no more of a row once it was known" in flat and "contrasts" in flat
    assert all(len(line) <= 100 for line in text.splitlines() if "/" not in line)
    arguments = [sys.executable, "-m", "stereosweep_analysis", "table", stopped]
    table = subprocess.run(arguments, capture_output=True, text=True)
    assert table.stdout.startswith("contrast,item,status,round,passes,"), table.stderr
    names = variables(stopped / "association.stats.h5", "")
    assert not any(name.startswith(("contrast_", "mean_score")) for name in names)


def test_a_disk_too_small_for_a_round_is_told_before_its_first_block(tmp_path):
    settings = [text for text in SETTINGS if not text.startswith(("measures", "axes.traits"))]
    settings += ["measures=[ilps, ilps_star, set]", "axes.traits=abc_traits", "execution.engine=fake", DECIDE]
    output = tmp_path / "small"
    with runs.small_disk(output, "size=8m"):
        code, _, err = runs.run(JOB, output / "run", *settings)
        assert code == 1 and "the results do not fit the disk" in err and "MB in files that are removed" in err, err
        # two rounds: three blocks of six groups and of the one prior that is read
        assert runs.journal_blocks(output / "run") == 21 and len(record(output / "run")["rounds"]) == 2
        subprocess.run(["mount", "-o", "remount,size=96m", output], check=True)
        code, _, err = runs.run(JOB, output / "run", *settings)
        assert code == 0 and "round 3: " in err and err.count("the disk may become full") <= 1, err


def test_what_was_declared_stays(stopped, complete):
    refused = [
        ("stats", stopped, "statistics.decide.level=0.2"),
        ("stats", stopped, "statistics.contrasts=[{name: one, left: {subject: women}, right: {subject: men}}]"),
        ("stats", stopped, "--means"),
        ("replay", stopped, DECIDE),
        ("stats", stopped, complete),
        ("plan", JOB, *SETTINGS, "--power", "effect=0.5", f"pilot={stopped}"),
    ]
    for arguments in refused:
        code, _, err = command(*arguments)
        assert code == 2, arguments
        assert "decid" in err or "stops asking" in err or "stopped asking" in err, err
    before = runs.digest(stopped)
    assert "statistics.decide" in run(stopped, code=2)
    assert "statistics.decide" in run(stopped, DECIDE, "statistics.decide.level=0.01", code=2)
    assert "statistics.decide" in run(complete, DECIDE, code=2)
    assert "nothing to do" in run(stopped, DECIDE)
    assert "complete, it stopped asking once all was decided" in command("show", stopped)[1]
    assert f"progress round {len(record(stopped)['rounds'])}: " in command("status", stopped)[1]
    assert runs.digest(stopped) == before


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_decide_alike(stopped, tmp_path, ranks):
    run(tmp_path / "run", DECIDE, ranks=ranks)
    assert runs.digest(tmp_path / "run") == runs.digest(stopped)
    assert record(tmp_path / "run") == record(stopped)


@pytest.mark.parametrize("seed", range(int(os.environ.get("STEREOSWEEP_DECIDED_KILLS", "8")) // 4))
def test_killed_at_random_and_resumed_on_other_ranks(stopped, tmp_path, seed):
    chance = random.Random(seed)
    folder = tmp_path / "run"
    for _ in range(4):
        process = runs.start(JOB, folder, *SETTINGS, DECIDE, ranks=chance.randint(1, 3))
        time.sleep(chance.uniform(0.5, 4))
        runs.kill_tree(process)
        process.wait()
    run(folder, DECIDE, ranks=chance.randint(1, 4))
    assert runs.digest(folder) == runs.digest(stopped)
    assert record(folder) == record(stopped)


def test_a_round_that_comes_out_otherwise_is_refused(stopped, tmp_path):
    folder = tmp_path / "run"
    process = runs.start_held(JOB, folder, *SETTINGS, DECIDE, block=60)
    runs.kill_tree(process)
    process.wait()
    kept = record(folder)
    assert kept["rounds"] and not kept["is_finished"]
    kept["rounds"][0] = "0" * 64
    (folder / "rounds.json").write_text(json.dumps(kept))
    assert "other decisions" in run(folder, DECIDE, code=1)
    (folder / "rounds.json").unlink()  # what the journal holds is decided again
    run(folder, DECIDE, ranks=2)
    assert runs.digest(folder) == runs.digest(stopped)
    assert record(folder) == record(stopped)


def test_export_and_verify_of_a_run_in_rounds(stopped):
    before = (stopped / "association.h5").read_bytes()
    assert command("export", stopped)[0] == 0
    assert (stopped / "association.h5").read_bytes() == before
    code, out, err = command("verify", stopped)
    assert code == 0 and "level A" in out and "differs from the run" not in out, out + err


def test_a_finished_run_whose_journal_lost_blocks_scores_them_again(stopped, tmp_path):
    run(tmp_path / "run", DECIDE)
    digest = runs.digest(tmp_path / "run")
    for journal in (tmp_path / "run/journal").glob("*.log"):
        journal.write_bytes(journal.read_bytes()[: len(journal.read_bytes()) // 2])
    (tmp_path / "run/association.h5").unlink()
    run(tmp_path / "run", DECIDE, ranks=2)
    assert runs.digest(tmp_path / "run") == digest


def test_blocks_of_all_rounds_are_taken_over_and_counted(stopped, tmp_path):
    text = run(tmp_path / "run", DECIDE, "--reuse", stopped)
    assert runs.digest(tmp_path / "run") == runs.digest(stopped) and "reused 0 of" not in text
    blocks = runs.status(tmp_path / "run")["blocks"]
    assert blocks["reused"] == blocks["done"] == runs.status(stopped)["blocks"]["done"]


def test_any_look_is_declared_and_told(complete, tmp_path):
    any_look = "statistics.decide={want: [sign], looks: any}"
    run(tmp_path / "run", any_look, ranks=2)
    assert "statistics.decide" in run(tmp_path / "run", DECIDE, code=2)  # a declared one is another sequence
    code, out, err = command("stats", tmp_path / "run")
    assert code == 0 and "that holds at any look" in " ".join(out.split()), out + err
    assert command("replay", complete, any_look, "--output", tmp_path / "replay.h5")[0] == 0
    decided, replayed = variables(tmp_path / "run/association.stats.h5"), variables(tmp_path / "replay.h5")
    for name in ("decide_round", "decide_status", "decide_p", "decide_low", "decide_high"):
        numpy.testing.assert_allclose(decided[name], replayed[name], rtol=1e-5, atol=1e-6, err_msg=name)
    usual = variables(complete.parent / "replay.h5")
    assert (replayed["decide_round"] >= usual["decide_round"]).mean() > 0.5
    assert numpy.isnan(replayed["decide_by_round_spent"]).all() and numpy.isfinite(replayed["decide_by_round_critical"][:, 0]).any()


def variances_of(folder):
    """Of each contrast and item of the job, by the two-way analysis of variance: shares of templates, rephrasings, cells."""
    with h5py.File(folder / "association.stats.h5") as file:
        labels = {name: list(file[name].asstr()[:]) for name in ("subject", "measure")}
        score = file["score"][labels["measure"].index("ilps_star prior_word"), :, :, :, 0, :]
    rows = []
    for left, right in (("women", "men"), ("elderly people", "teenagers"), ("doctors", "mechanics")):
        for cells in numpy.moveaxis(score[labels["subject"].index(left)] - score[labels["subject"].index(right)], -1, 0):
            (templates, rephrasings), mean = cells.shape, cells.mean()
            by_row, by_column = cells.mean(1, keepdims=True), cells.mean(0, keepdims=True)
            of_rows = rephrasings * ((by_row - mean) ** 2).sum() / (templates - 1)
            of_columns = templates * ((by_column - mean) ** 2).sum() / (rephrasings - 1)
            rest = ((cells - by_row - by_column + mean) ** 2).sum() / (templates - 1) / (rephrasings - 1)
            parts = numpy.array([max(of_rows - rest, 0) / rephrasings, max(of_columns - rest, 0) / templates, rest])
            rows.append(parts / parts.sum())
    return numpy.median(rows, axis=0)


def test_a_pilot_gives_its_variances_to_the_resolved_job(complete, tmp_path):
    assert command("stats", complete)[0] == 0
    pilot = tmp_path / "pilot"
    shutil.copytree(complete, pilot)
    job = tmp_path / "job.yaml"  # the pilot counts from the job file, as other paths do
    job.write_text(JOB.read_text().replace("../", f"{runs.ROOT}/"))
    asked = "statistics.decide={want: [sign], plan: {pilot: pilot}}"
    assert runs.run(job, tmp_path / "run", *SETTINGS, asked)[0] == 0
    resolved = tmp_path / "run/job.resolved.yaml"
    plan = yaml.safe_load(resolved.read_text())["statistics"]["decide"]["plan"]
    shares = variances_of(pilot)
    assert plan["pilot"].endswith("pilot") and plan["templates"] == 1
    numpy.testing.assert_allclose([plan["rephrasings"], plan["cells"]], shares[1:] / shares[0], rtol=0.006)
    shutil.rmtree(pilot)  # nothing needs it any more, and numbers that are declared are the same declaration
    code, out, err = runs.run(job, tmp_path / "run", *SETTINGS, asked)  # also a start from the job file that names it
    assert code == 0 and "nothing to do" in out + err, out + err
    for other in ((tmp_path / "elsewhere", asked), (tmp_path / "run", asked.replace("pilot}", "other}")),
                  (tmp_path / "run", asked, "model.dtype=bfloat16"), (tmp_path / "run", asked, "--overwrite")):  # fmt: skip
        code, _, err = runs.run(job, other[0], *SETTINGS, *other[1:])
        assert code == 2 and "holds no result of the probe" in err, err
    for again in ((tmp_path / "run",), (JOB, "--output", tmp_path / "run", *SETTINGS,
                  f"statistics.decide={{want: [sign], plan: {{templates: 1, rephrasings: {plan['rephrasings']}, cells: {plan['cells']}}}}}")):
        code, out, err = command("run", *again)
        assert code == 0 and "nothing to do" in out + err, out + err
    assert command("stats", tmp_path / "run")[0] == 0
    assert runs.run(job, tmp_path / "numbers", *SETTINGS, f"statistics.decide={{want: [sign], plan: {json.dumps(plan)}}}")[0] == 0
    assert record(tmp_path / "numbers") == record(tmp_path / "run")


@pytest.mark.parametrize(("plan", "more", "complaint"), [
    ("{pilot: /none}", (), "holds no result of the probe 'association'"),
    ("{pilot: COMPLETE, cells: 1}", (), "a pilot beside some of the variances"),
    ("{pilot: COMPLETE}", ("statistics.contrasts=[{name: other, left: {subject: women}, right: {subject: Germans}}]",
                           "axes.groups=abc_groups"), "no 'Germans' on subject"),
    ("{pilot: STOPPED}", (), "stopped asking"),
    ("{pilot: ONE}", ("axes.rephrasings=none",), "only one rephrasing"),
])  # fmt: skip
def test_a_pilot_that_tells_nothing_is_named_with_line_and_key(complete, stopped, tmp_path, plan, more, complaint):
    assert command("stats", complete)[0] == 0
    if "ONE" in plan:
        run(tmp_path / "one", *more)
        assert command("stats", tmp_path / "one")[0] == 0
    for name, folder in (("COMPLETE", complete), ("STOPPED", stopped), ("ONE", tmp_path / "one")):
        plan = plan.replace(name, str(folder))
    job = tmp_path / "job.yaml"
    text = JOB.read_text().replace("../", f"{runs.ROOT}/").rstrip()
    job.write_text(f"{text}\n  decide:\n    plan: {plan}\n")
    done = runs.program("validate", job, *SETTINGS, *more)
    assert done.returncode == 2
    line = len(job.read_text().splitlines())
    assert f"job.yaml:{line}:statistics.decide.plan.pilot: " in done.stderr and complaint in done.stderr, done.stderr


HALVES = [["next_door", "one_of_them", "kind_of_people", "in_town", "nearly_all", "are_they", "quite", "often", "friends_say",
           "in_my_view", "have_to_be", "typical"],
          ["over_there", "new_colleague", "quite_a_few", "how_come", "would_you", "on_the_whole", "neighbours", "suspect",
           "often_claimed", "thought_of", "the_word", "than_most", "society", "told_to_be", "most_of_all", "rest_of_us"]]  # fmt: skip


def half(which):
    return f"axes.templates={{file: abc_templates, only: {json.dumps(HALVES[which])}}}"


def labels(path, name):
    with h5py.File(path) as file:
        return list(file[name].asstr()[:])


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A run of few templates that keeps some of its level, and a job that asks again what it left."""
    folder = tmp_path_factory.mktemp("first") / "run"
    run(folder, half(0), "statistics.decide={want: [sign], level: 0.001, reserve: 0.4}")
    code, out, err = command("stats", folder)
    assert code == 0 and "Of the level of 0.1 % this run spends 0.06 %; the rest is kept" in " ".join(out.split()), out + err
    return folder


def test_a_second_job_asks_what_the_first_left_at_the_level_that_it_kept(first, tmp_path):
    status = variables(first / "association.stats.h5")["decide_status"]
    rows = list(zip(*(labels(first / "association.stats.h5", f"decide_row_{axis}") for axis in ("name", "measure", "item")), strict=True))
    left = sorted(row for row, value in zip(rows, status, strict=True) if value > 2)
    assert 0 < len(left) < len(rows)
    second = tmp_path / "second"
    asked = (half(1), f"statistics.decide={{after: {first}}}")
    run(second, *asked, ranks=2)
    resolved = yaml.safe_load((second / "job.resolved.yaml").read_text())["statistics"]["decide"]
    assert [(row["contrast"], row["measure"], row["item"]) for row in resolved["after"]["rows"]] == left
    assert (resolved["level"], resolved["reserve"], resolved["want"]) == (0.001, 0.4, [{"claim": "sign"}])
    code, out, err = command("stats", second)
    assert code == 0 and f"{len(left)} rows that" in " ".join(out.split()) and "at the level of 0.04 %" in " ".join(out.split()), out + err
    # as the same templates decide alone, whatever they ask besides
    complete = tmp_path / "complete"
    run(complete, half(1))
    code, _, err = command("replay", complete, *asked[1:], "--output", tmp_path / "replay.h5")
    assert code == 0, err
    decided, replayed = variables(second / "association.stats.h5"), variables(tmp_path / "replay.h5")
    for name in ("decide_status", "decide_round", "decide_p_holm", "decide_low", "decide_high", "decide_passes"):
        assert len(decided[name]) == len(left)
        numpy.testing.assert_allclose(decided[name], replayed[name], rtol=1e-5, atol=1e-6, err_msg=name)
    # subjects of no undecided row are not asked
    with h5py.File(second / "association.h5") as file:
        groups = list(file["group"].asstr()[:])
        asked_groups = {group for group, own in zip(groups, file["logprob"][:], strict=True) if numpy.isfinite(own).any()}
    sides = {"gender": {"women", "men"}, "age": {"elderly people", "teenagers"}, "work": {"doctors", "mechanics"}}
    assert asked_groups == set().union(*(sides[contrast] for contrast, _, _ in left))
    # its end does not need the first run any more, and any ranks come to it
    moved = tmp_path / "moved"
    first.rename(moved)
    try:
        digest = runs.digest(second)
        assert command("run", second)[0] == 0 and command("stats", second)[0] == 0
        shutil.rmtree(second / "journal")
        (second / "association.h5").unlink()
        run(second, *asked)  # from the job file, which names it
        assert runs.digest(second) == digest
        assert runs.run(second / "job.resolved.yaml", tmp_path / "again")[0] == 0
        assert runs.digest(tmp_path / "again") == digest and record(tmp_path / "again") == record(second)
    finally:
        moved.rename(first)
    assert "is a second job itself" in run(tmp_path / "third", half(1), f"statistics.decide={{after: {second}}}", code=2)


@pytest.mark.parametrize(("decide", "more", "complaint"), [
    ("{after: FIRST, level: 0.01}", (), "'level' beside 'after'"),
    ("{after: FIRST, want: [sign], reserve: 0.1}", (), "'reserve' beside 'after'"),
    ("{after: FIRST}", (half(0),), "has asked a template of this job"),
    ("{after: STOPPED}", (), "keeps no level for another job"),
    ("{after: COMPLETE}", (), "decided nothing"),
    ("{after: /none}", (), "holds no result of the probe 'association'"),
    ("{after: FIRST}", ("statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]",),
     "decides other contrasts"),
    ("{after: FIRST}", ("axes.traits={file: abc_traits, only: [cold - warm, repellent - likable]}",),
     "axes.traits[traditional - modern]: only before"),
    ("{after: FIRST}", ("model.dtype=bfloat16",), "asked of something else"),
    ("{want: [sign], reserve: 1}", (), "statistics.decide.reserve"),
])  # fmt: skip
def test_a_second_job_that_cannot_be_one_is_refused_with_line_and_key(first, complete, stopped, tmp_path, decide, more, complaint):
    for name, folder in (("FIRST", first), ("STOPPED", stopped), ("COMPLETE", complete)):
        decide = decide.replace(name, str(folder))
    job = tmp_path / "job.yaml"
    text = JOB.read_text().replace("../", f"{runs.ROOT}/").rstrip()
    job.write_text(f"{text}\n  decide: {decide}\n")
    done = runs.program("validate", job, *SETTINGS, half(1), *more)
    assert done.returncode == 2 and complaint in done.stderr, done.stderr
    assert f"job.yaml:{len(job.read_text().splitlines())}:statistics.decide" in done.stderr, done.stderr


def test_items_that_some_forms_leave_out_are_decided_as_by_the_whole_table(tmp_path):
    """Known before they are asked: else rounds that were decided would be counted otherwise by later ones."""
    forms = ", ".join(
        f"{{label: f{form}, text: 'Form {form}. {{question}}', steps: {'left_out' if form % 4 == 1 else 'asked'}}}" for form in range(14)
    )
    wordings = ", ".join(f"'Wording {wording}. {{prompt}}'" for wording in range(3))
    asked = "ask: 'How do people see {group}, from {scale}? {items}', options: true, items"
    settings = (
        "execution.engine=fake", "execution.contexts_per_block=3", f"axes.templates=[{forms}]", f"axes.rephrasings=[{wordings}]",
        "axes.conversations=[{label: talk, scale: {from: 1, to: 5}, turns: ["
        f"{{label: step, kind: ratings, when: with_steps, {asked}: [{{label: able, dimension: competence}}]}},"
        f"{{label: main, kind: ratings, {asked}: [{{label: kind, dimension: warmth}}]}}]}}]",
        "statistics.contrasts=[{name: work, left: {subject: Nurses}, right: {subject: Doctors}, measures: [option_rating, usable]}]",
    )  # fmt: skip
    decide = "statistics.decide={want: [{width: 0.01}]}"  # never: all rounds are asked
    job = runs.ROOT / "jobs/04_example_interview.yaml"
    for folder, more in (("whole", ()), ("part", (decide,))):
        code, out, err = runs.run(job, tmp_path / folder, *settings, *more)
        assert code == 0, out + err
        code, out, err = command("stats", tmp_path / folder)
        assert code == 0, err
    assert "Rounds decided 0 of 2 rows of option_rating" in out  # the contrast names it, the probe does not recommend it
    _, out, err = command("plan", job, *settings, decide)
    assert "rounds after 12, 14, 28, 42; or 10, 20, 30 (template, rephrasing)" in " ".join(out.split()), out + err
    assert command("replay", tmp_path / "whole", decide, "--output", tmp_path / "replay.h5")[0] == 0
    decided, replayed = variables(tmp_path / "part/interview.stats.h5"), variables(tmp_path / "replay.h5")
    for name in ("decide_round", "decide_passes", "decide_all_passes", "decide_difference", "decide_low"):
        numpy.testing.assert_array_equal(decided[name], replayed[name], err_msg=name)
    assert list(decided["decide_num_cells"]) == [10 * 3, 14 * 3] * 2
    with h5py.File(tmp_path / "part/interview.stats.h5") as file:
        measures = list(file["measure"].asstr()[:])
        names = str(file["score_status"].attrs["flag_meanings"]).split()
        statuses = file["score_status"][measures.index("option_rating"), :, 1::4, :, :, 0]
        assert (statuses == names.index("not_applicable")).all()  # missing: as if the model had failed


def test_excluded_sentences_are_no_missing_scores(tmp_path):
    """More than a tenth of the pairs: every row would have the status `missing`."""
    asked = [f"[{one}] {verb} {{{other}}} because [he] was late." for verb in ("saw", "met", "called", "found", "left", "hired")
             for one, other in (("The teacher", "the clerk"), ("The baker", "the guard"))]  # fmt: skip
    asked += [text.replace("late.", "late and he ran.") for text in asked[:4]]
    sentences = ", ".join(
        f"{{type: ambiguous, stereotype: {side}, text: '{text.replace('[he]', pronoun)}'}}"
        for text in asked for side, pronoun in (("pro", "[he]"), ("anti", "[she]"))
    )  # fmt: skip
    job = tmp_path / "job.yaml"
    job.write_text(f"""
schema: stereosweep/1
name: excluded
model: {{path: {runs.ROOT}/tests/models/planted_causal}}
probe: coreference
axes: {{templates: [{sentences}], exclude: [unmarked_pronoun]}}
execution: {{engine: fake}}
statistics:
  contrasts:
    - name: pro
      left: {{template.stereotype: pro}}
      right: {{template.stereotype: anti}}
      paired: template.pair
      measures: [share, accuracy]
""")
    decide = "statistics.decide={want: [{width: 0.001}]}"
    _, out, err = command("plan", job, decide)
    assert "rounds after 6, 9, 12 (template, rephrasing)" in " ".join(out.split()), out + err
    side = "{template.notes: unmarked_pronoun, template.stereotype: SIDE}"
    sides = f"left: {side.replace('SIDE', 'pro')}, right: {side.replace('SIDE', 'anti')}"
    nothing = f"statistics.contrasts=[{{name: none, {sides}, paired: template.pair}}]"
    assert "no contrast has sentences on all of its sides" in command("validate", job, decide, nothing)[2]
    code, _, err = runs.run(job, tmp_path / "nothing", decide, nothing)
    assert code == 2 and "there is nothing to decide" in err, err
    one = "type: ambiguous, stereotype: pro, text: '[The teacher] saw {the clerk} because [he] was late and he ran.'"
    code, _, err = runs.run(job, tmp_path / "nothing", f"axes.templates=[{{{one}}}]")
    assert code == 2 and "axes.sentences: no sentence that axes.exclude does not leave out" in err, err
    for folder, more in (("part", (decide,)), ("whole", ())):
        assert runs.run(job, tmp_path / folder, *more)[0] == 0
        assert command("stats", tmp_path / folder)[0] == 0
    assert command("replay", tmp_path / "whole", decide, "--output", tmp_path / "replay.h5")[0] == 0
    decided, replayed = variables(tmp_path / "part/coreference.stats.h5"), variables(tmp_path / "replay.h5")
    for name in ("decide_status", "decide_round", "decide_all_passes", "decide_difference", "decide_low"):
        numpy.testing.assert_array_equal(decided[name], replayed[name], err_msg=name)
    assert list(decided["decide_all_passes"]) == [24, 24, 24, 0]  # the other occupation has no accuracy
    assert list(decided["decide_num_cells"][:3]) == [12, 12, 12]


def test_a_contrast_that_names_no_measure_is_decided_in_the_recommended_one(tmp_path):
    contrasts = CONTRASTS.replace("{subject: men}}", "{subject: men}, measures: [ilps_chain prior_word]}", 1)
    settings = ["execution.engine=fake" if text == CONTRASTS else text for text in SETTINGS if not text.startswith("measures")]
    settings += ["measures=[ilps, ilps_star, set]", contrasts, DECIDE]
    out = command("plan", JOB, *settings)[1]
    run(tmp_path / "run", *settings)
    code, told, err = command("stats", tmp_path / "run")
    assert code == 0, err
    with h5py.File(tmp_path / "run/association.stats.h5") as file:
        rows = list(zip(file["decide_row_name"].asstr()[:], file["decide_row_measure"].asstr()[:], strict=True))
    expected = {("gender", "ilps_chain prior_word"), ("age", "ilps_star prior_word"), ("work", "ilps_star prior_word")}
    assert set(rows) == expected and len(rows) == 3 * len(expected)
    assert "Expected of 6 rows decided together" in " ".join(out.split()), out  # of the largest family
    for measure, count in (("ilps_chain prior_word", 3), ("ilps_star prior_word", 6)):
        assert f"of {count} rows of {measure}" in " ".join(told.split()), told


@pytest.mark.parametrize(("settings", "reason"), [
    (("axes.conversations=[{label: talk, turns: [{label: words, kind: keywords, ask: 'Which words for {group}?', most: 2}]}]",
      "statistics.contrasts=[{name: a, left: {subject: Nurses}, right: {subject: Doctors}}]"), "the job asks for no number"),
    (("statistics.contrasts=[{name: a, left: {subject: Nurses, template: full}, right: {subject: Doctors, template: short}, "
      "paired: template.text}]",), "no contrast has sentences on all of its sides"),
])  # fmt: skip
def test_a_job_without_anything_to_decide_is_refused(tmp_path, settings, reason):
    """It would end as complete with nothing asked."""
    job = runs.ROOT / "jobs/04_example_interview.yaml"
    asked = (job, "execution.engine=fake", "statistics.variation={over: [replicate], measures: [refused]}", *settings, DECIDE)
    for arguments in (("validate", *asked), ("run", *asked, "--output", tmp_path / "run")):
        code, _, err = command(*arguments)
        assert code == 2 and f"there is nothing to decide ({reason})" in err, err
    assert not (tmp_path / "run").exists()
