"""What `stats` prints of every probe: one measure with its definition, all with --all-measures, no line too wide."""

import re
import subprocess

import pytest
import runs
import statistic_requests
from terminals import shown_on_terminal

from stereosweep_analysis.glossary import term

# job, settings of the run, of `stats` (or what makes them in a folder), the labels of the recommended measure, some that only --all-measures prints
PROBES = {
    "association": (
        "10_planted.yaml", ("axes.groups={file: abc_groups, only: [women, men, teenagers, Black people]}", "axes.rephrasings=none",
         "axes.intersections={pairs: [[Black people, women], [Black people, men]]}",
         "axes.templates={file: abc_templates, only: [one_of_them, over_there, the_word]}"),
        statistic_requests.asked,
        ["ilps_star", "prior_word"], ["ilps_first", "set_paper_plain", "prior_mask"],
    ),
    "coreference": ("41_crossed_markers.yaml", (), (), ["share"], ["entropy", "accuracy"]),
    "rating": ("51_group_ratings.yaml", (), ("statistics.means=all",), ["option_text"], ["option_letter"]),
    "contexts": ("61_generated_contexts.yaml", ("samples=20",), (), ["effect_size"], ["association", "deviation"]),
    "interview": (
        "70_stereomap.yaml", ("axes.groups={file: stereomap_groups, only: [Nurses, Doctors, Men, Women, CEOs]}",),
        ("statistics.means=all",), ["rating"], ["refused", "usable"],
    ),
}  # fmt: skip


def stats(*arguments, code=0):
    done = subprocess.run([runs.PROGRAM, "stats", *map(str, arguments)], capture_output=True, text=True, cwd=runs.ROOT)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=PROBES)
def printed(request, tmp_path_factory):
    """Folder, settings, labels, others, and what `stats` prints by default and with --all-measures."""
    job, settings, asked, labels, others = PROBES[request.param]
    folder = tmp_path_factory.mktemp("text") / "run"
    asked = asked(folder.parent) if callable(asked) else asked
    code, _, err = runs.run(runs.ROOT / "jobs" / job, folder, *settings)
    assert code == 0, err
    return folder, asked, labels, others, stats(folder, *asked), stats(folder, *asked, "--all-measures")


def lines_of(text):
    """Without the last, which names a path that cannot be broken."""
    lines = text.splitlines()
    assert lines[-1].startswith("written: ")
    return lines[:-1]


def flat(text):
    return " ".join(text.split())


def test_no_line_is_wider_than_100_columns_and_none_is_cut(printed):
    for text in printed[4:]:
        assert max(map(len, lines_of(text))) <= 100
        assert "…" not in text


def test_the_recommended_measure_stands_with_its_definition(printed):
    _, _, labels, others, text, _ = printed
    for label in labels:
        assert f"{label}: {term('measure', label).definition}" in flat(text)
    for label in others:
        assert f"{label}: {term('measure', label).definition}" not in flat(text)
    left_out = flat(text).split("Other measures, printed with --all-measures: ", 1)[1].split(". ", 1)[0]
    assert set(others) <= set(re.split(r"[, ]+", left_out))
    # what was found stands above the tables, the definition below them
    table, definition = text.index("\n---"), text.rindex(f"\n{labels[0]}: ")
    assert table < definition < text.index("Other measures")
    assert "\n---" not in text[definition : text.index("Other measures")]


def test_all_measures_hold_what_one_does_and_more(printed):
    _, _, labels, others, text, everything = printed
    for label in labels + others:
        assert f"{label}: {term('measure', label).definition}" in flat(everything)
    assert "Other measures" not in everything
    # every row of numbers by the one measure is there too, whatever the columns beside it
    numbers = re.compile(r"-?\d+\.\d+(?:e-\d+)?")
    assert set(numbers.findall(text)) <= set(numbers.findall(everything))
    assert len(lines_of(everything)) > len(lines_of(text))


def test_tables_for_other_programs_hold_all_measures(printed):
    folder, asked, labels, others, _, _ = printed
    rows = stats(folder, *asked, "--format", "csv")
    if any("means" in text for text in asked):
        assert all(re.search(rf"\b{label}\b", rows) for label in labels + others)
    assert rows == stats(folder, *asked, "--format", "csv", "--all-measures")


def test_measures_that_the_job_names_are_printed(tmp_path):
    job, settings, *_ = PROBES["association"]
    assert runs.run(runs.ROOT / "jobs" / job, tmp_path / "run", *settings, "measures=[ilps, set]")[0] == 0
    text = stats(tmp_path / "run", "--all", "statistics.means={measures: [ilps_first prior_mask]}")
    assert "\nMeans of ilps_first prior_mask\n" in text and "Means of set" not in text
    # without ILPS* the next of the README's order is recommended
    assert "set_hardest_augmented: " in text and "ilps_first: " not in text


@pytest.mark.parametrize(("columns", "variables", "width"), [(72, {}, 72), (0, {"COLUMNS": "80"}, 80), (250, {}, 100)])
def test_text_fits_the_terminal(printed, columns, variables, width):
    folder, asked, labels, _, text, _ = printed
    narrow = shown_on_terminal([runs.PROGRAM, "stats", folder, *asked], columns, variables).replace("\r\n", "\n")
    assert max(map(len, lines_of(narrow))) <= width
    assert f"{labels[0]}: {term('measure', labels[0]).definition}" in flat(narrow)
    if width == 100:
        assert narrow == text
