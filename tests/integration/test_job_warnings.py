"""What is warned of: texts and tables that are legal and most likely not meant, and numbers that are no model's."""

import json
import pathlib
import subprocess
import sys

import pytest
import runs

GROUPS = ("axes.groups={file: abc_groups, only: [women, men, Black people]}", "axes.templates={file: abc_templates, only: [often]}")


def people(tmp_path, rows, **keys):
    table = tmp_path / "people.tsv"
    table.write_text("annotator\tgroup\titem\trating\n" + "".join(f"{row}\n" for row in rows))
    return f"statistics.people={json.dumps({'ratings': str(table)} | keys)}"


@pytest.mark.parametrize("job, settings, warns", [
    ("10_planted.yaml", "axes.templates=[{label: a, text: 'A {group} is {trait}.'}]", True),
    ("10_planted.yaml", "axes.templates=[{label: a, text: '\"An {group} is {trait}.\"'}]", True),
    ("10_planted.yaml", "axes.templates=[{label: a, text: 'A {group} is {trait}.', form: singular}]", False),
    ("10_planted.yaml", "axes.templates=[{label: a, text: '{a group} is {trait}.'}]", False),
    ("10_planted.yaml", "axes.templates=[{label: a, text: 'Via {group} is {trait}.'}]", False),
    ("10_planted.yaml", "axes.rephrasings=[{label: r, wrapper: '{prompt}', alternatives: {often: 'Often a {group} is {trait}.'}}]", True),
    ("10_planted.yaml", "axes={templates: [{label: s, text: '{a group} is {trait}.'}], groups: abc_groups, traits: abc_poles,"
     " rephrasings: [{label: r, wrapper: '{prompt}', alternatives: {s: 'Often a {group} is {trait}.'}}]}", False),
    ("05_example_rating.yaml", "axes.templates=[{label: a, text: 'How {trait} is an {identity}?'}]", True),
    ("05_example_rating.yaml", "axes.templates=[{label: a, text: 'How {trait} are {identity}?'}]", False),
    ("04_example_interview.yaml", "axes.conversations=[{label: a, turns: [{label: t, kind: text, ask: 'What is a {group} like?'}]}]", True),
    ("61_generated_contexts.yaml", "corpus.templates=[{label: a, text: 'A {group} is {trait}.'}]", True),
    ("61_generated_contexts.yaml", "corpus.templates=[{label: a, text: '{group} are {trait}.'}]", False),
])  # fmt: skip
def test_an_article_before_a_plural_is_warned_of(job, settings, warns):
    done = runs.program("validate", runs.ROOT / "jobs" / job, *(GROUPS if job.startswith("10") else ()), settings)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert ("WARNING an article stands before the plural of a group" in said) == warns, said


FRAME = "frame: \"Frage: {question}\\n{options}\\nAntwort:\""
SCALE = "scale: [[sehr, 2], [kaum, 1]]"


@pytest.mark.parametrize("question, keys, told", [
    ("Für wie {trait} halten die meisten Leute {group}, und warum ist das so?", [], "frame and scale are the program's own"),
    ("Für wie {trait} halten die meisten Leute {group}, und warum ist das so?", [FRAME], "and scale are the program's own"),
    ("Für wie {trait} halten die meisten Leute {group}, und warum ist das so?", [SCALE], "and frame are the program's own"),
    ("Für wie {trait} halten die meisten Leute {group}, und warum ist das so?", [FRAME, SCALE], ""),
    ("How {trait} are {group} in the eyes of most people?", [], ""),
])  # fmt: skip
def test_english_texts_of_the_program_in_a_rating_that_is_not_are_warned_of(tmp_path, question, keys, told):
    job = tmp_path / "job.yaml"
    axes = (f"{{groups: [{{label: nurses, domain: job, plural: nurses}}], templates: [{{label: a, text: '{question}'}}],"
            " rated_traits: [{label: warm, dimension: warmth}]}")  # fmt: skip
    model = f"model: {{path: {runs.ROOT / 'tests/models/planted_causal'}, chat: none}}"
    job.write_text("\n".join(["schema: stereosweep/1", "name: small", "probe: rating", model, f"axes: {axes}", *keys]))
    done = runs.program("validate", job)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert (told in said) if told else ("WARNING" not in said), said


@pytest.mark.parametrize("scale, warns", [("{from: 1, to: 5}", True), ("{from: 1, to: 5, between: bis}", False), ("[[nie, 0], [oft, 1]]", False)])
def test_an_english_scale_in_an_interview_that_is_not_is_warned_of(scale, warns):
    german = ("axes.conversations=[{label: kurz, scale: " + scale + ", turns: [{label: eins, kind: rating, items: [{label: warm,"
              " dimension: warmth}], ask: 'Für wie {item} halten die meisten Leute {group}, von {scale}?'}]}]")  # fmt: skip
    done = runs.program("validate", runs.ROOT / "jobs/04_example_interview.yaml", german)
    assert done.returncode == 0, done.stderr
    assert ("a scale is written with the English 'to'" in " ".join(done.stdout.split())) == warns, done.stdout


@pytest.mark.parametrize("most, keys, warns", [(7, {}, True), (7, {"scale": [1, 7]}, False), (90, {}, False)])
def test_ratings_on_another_scale_are_warned_of(tmp_path, most, keys, warns):
    rows = [f"{name}\t{group}\tcold - warm\t{value}" for name in ("ann", "bob") for group, value in (("women", 1), ("men", most))]
    done = runs.program("validate", runs.ROOT / "jobs/10_planted.yaml", *GROUPS, people(tmp_path, rows, **keys))
    assert done.returncode == 0, done.stderr
    assert ("scale: [1, 7]}" in done.stdout and "no mean is above 50" in " ".join(done.stdout.split())) == warns, done.stdout
    means = pathlib.Path(tmp_path / "means.tsv")
    means.write_text(f"group\tpair\tmean\nwomen\tcold - warm\t1\nmen\tcold - warm\t{most}\n")
    done = runs.program("validate", runs.ROOT / "jobs/10_planted.yaml", *GROUPS, f"statistics.human_ratings={means}")
    assert ("scale: [1, 7]}" in done.stdout) == (most == 7), done.stdout


def test_numbers_made_of_a_hash_say_so_wherever_they_are_read(tmp_path):
    told = "execution.engine is 'fake': these numbers are made of a hash and say nothing of the model."
    smoke, said = runs.ROOT / "jobs/00_smoke.yaml", lambda text: told in " ".join(text.split())
    for key, warns in (("execution.engine=fake", True), ("execution.engine=torch", False)):
        assert said(runs.program("validate", runs.ROOT / "jobs/10_planted.yaml", *GROUPS, key).stdout) == warns
    run = runs.program("run", smoke, "--output", tmp_path / "run")
    stats = runs.program("stats", tmp_path / "run")
    assert run.returncode == stats.returncode == 0, run.stderr + stats.stderr
    assert said(run.stderr) and said(stats.stdout.split("\n\n")[0]), stats.stdout
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "stereosweep_analysis", "report", tmp_path / "run", "--out", page]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert said(page.read_text(encoding="utf-8").replace("&#x27;", "'").replace("&#39;", "'"))
