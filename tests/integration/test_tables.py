"""What `stats` and `show` print of every probe: lines of at most 100 columns, long tables with a way to see the rest."""


import pytest
import runs

GROUPS = ["women", "men", "Black people", "White people", "teenagers", "elderly people", "people with disabilities"]
JOBS = {
    "association": (
        runs.SMOKE, f"axes.groups={{file: abc_groups, only: [{', '.join(GROUPS)}]}}", "axes.traits=abc_traits",
        "axes.templates={file: abc_templates, only: [one_of_them, over_there, often, quite]}", "axes.rephrasings=none",
    ),
    "coreference": (runs.ROOT / "jobs/40_winoidentity.yaml", "execution.engine=fake"),
    "rating": (runs.ROOT / "jobs/50_ratings.yaml", "execution.engine=fake", "sampling.runs=1",
               "axes.rating_questions={file: scm_questions, only: [regarded]}"),
}  # fmt: skip
REST = {"association": "rows", "coreference": "rows", "rating": "rows"}


def program(*arguments, code=0):
    done = runs.program(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module", params=JOBS)
def finished(request, tmp_path_factory):
    """A run of one probe and what its `stats` needs besides."""
    folder = tmp_path_factory.mktemp(request.param)
    job, *overrides = JOBS[request.param]
    code, _, err = runs.run(job, folder / "run", *overrides)
    assert code == 0, err
    settings = []
    if request.param == "association":
        pairs = ["powerless - powerful", "cold - warm", "poor - wealthy"]
        rows = [f"{group}\t{pair}\t{(17 * i + 29 * j) % 101}"
                for i, group in enumerate([*GROUPS, "nurses"]) for j, pair in enumerate(pairs)]  # fmt: skip
        (folder / "people.tsv").write_text("\n".join(["group\tpair\tmean", *rows]) + "\n")
        settings = [f"statistics.human_ratings={folder / 'people.tsv'}"]
    return request.param, folder / "run", settings


def widest(text):
    """Longest line but those that end with a path."""
    return max((line for line in text.splitlines() if not line.startswith(("written: ", "/"))), key=len)


@pytest.mark.parametrize("top", [3, 1000])
def test_lines_fit_a_terminal(finished, top):
    _, run, settings = finished
    for text in (program("stats", run, "--top", top, *settings), program("show", run, "--top", top)):
        assert len(widest(text)) <= 100, widest(text)


def test_long_tables_say_how_to_see_the_rest(finished):
    probe, run, settings = finished
    text = program("stats", run, "--top", "3", *settings)
    assert f" {REST[probe]}; --top " in text
    assert len(text.splitlines()) < 120, text
    assert "shows all" not in program("stats", run, "--top", "100000", *settings)


FIRST = {"association": "This design can hardly show any agreement: no p of shuffled labels or signs is below 0.333.",
         "coreference": "No difference beyond chance. The nearest to it of 310 rows: share of referent is ",
         "rating": "Ratings that were read from sampled answers: "}  # fmt: skip


def test_the_answer_comes_first(finished):
    probe, run, settings = finished
    assert " ".join(program("stats", run, *settings).split()).startswith(FIRST[probe])


@pytest.mark.parametrize("value", ["-3", "0"])
@pytest.mark.parametrize("command", ["stats", "show"])
def test_no_table_has_less_than_one_row(finished, command, value):
    assert f"--top must be at least 1 (it is {value})" in program(command, finished[1], "--top", value, code=2)


def test_agreement_names_what_its_p_assume(finished):
    probe, run, settings = finished
    if probe != "association":
        return
    text = program("stats", run, "--all", *settings)
    head = next(line for line in text.splitlines() if line.startswith("cells ") and "tau-b" in line)
    assert [word for word in head.split() if word != "p"][:6] == "cells tau-b low high cite Holm".split()
    assert "p cite: two-sided, the larger of two" in " ".join(text.split()) and "10,000 draws" in " ".join(text.split())
