"""The example requests are those of the program, and what they find is shown, belongs together and is described: every column of
every finding in the files that they make."""

import csv
import io
import json
import re

import h5py
import pytest
import runs
import statistic_requests

SETTINGS = (
    "axes.groups={file: abc_groups, only: [women, men, teenagers, Black people]}",
    "axes.intersections={pairs: [[Black people, women], [Black people, men]], both_orders: true}",
    "axes.templates={file: abc_templates, only: [one_of_them, often, the_word]}", "measures=[ilps_star]",
    "axes.rephrasings={file: voices, only: [none, bus]}",
)  # fmt: skip
# What tables leave out on purpose, since they would be too wide: columns by the name of their finding.
IN_THE_FILE_ALONE = {
    "contrast": "p_benjamini_hochberg p_yekutieli p_flip p_flip_low p_flip_high p_flip_max_t p_flip_smallest num_rephrasings"
                " num_cells num_possible num_subjects num_left_out num_missing degrees left right p_subjects subjects_low"
                " subjects_high",
    "decide": "rounds all_passes num_cells sign_round equivalence_round width_round e complete complete_p complete_p_holm",
    "decide_by_round": "difference low high num_cells num_missing passes degrees variance variance_templates"
                       " variance_rephrasings variance_cells critical spent e",
    "mean_score": "p deviation_low deviation_high",
    "variance": "n num_left_out",
    "reliability": "relative absolute",
    "order": "tau tau_n",
    "dominance": "num_first num_second",
    "emerge": "beyond p p_holm num_templates num_cells degrees score first second max min",
    "interaction": "num_cells degrees",
    "pole_emerge": "num_cells degrees max min",
    "pole_interaction": "low high p p_holm num_templates num_cells degrees",
    "people": "tau_p_items tau_p_subjects tau_p_dimensions tau_p_domains tau_p_smallest tau_p_cells tau_bias tau_mean pearson"
              " pearson_p_cells spearman spearman_p_cells precision_top_3 precision_bottom_3 mean num_annotators num_answers",
    "correlation": "p_low p_high p_yekutieli p_formula score",
    "extreme": "p rounds deviation_low deviation_high",
    "cluster": "number point of_subject agreement",
}  # fmt: skip
WITHOUT_TABLE = {"cluster", "pole_interaction"}  # values that are named as their findings
OF_NO_NUMBER = {"variance_n", "variance_num_left_out"}  # of the table, not of one of its shares
# Tables without notes of their own: those of another table, which stands below them under the same heading, hold for them.
NOTES_BELOW = {"order_mean": "dominance_difference", "pole_emerge_beyond": "interaction", "variation_over_wording": "variation_over_template"}
# How the variables and axes of a statistic begin.
BEGINNINGS = {"contrasts": "contrast", "decide": "decide", "means": "mean_score", "variance_shares": "variance", "intersections": "order", "people": "people",
              "correlations": "correlation", "extremes": "extreme", "clusters": "cluster", "variation": "variation_over"}  # fmt: skip
BELONGING = {"low", "high", "n", "p", "adjusted", "status"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of a run and what requests read."""
    folder = tmp_path_factory.mktemp("requests")
    code, _, err = runs.run(runs.ROOT / "jobs/10_planted.yaml", folder / "run", *SETTINGS)
    assert code == 0, err
    return folder


def statistics(folder, output, *asked):
    """The statistics file under another name."""
    done = runs.program("stats", folder / "run", *asked)
    assert done.returncode == 0, done.stderr
    return h5py.File((folder / "run/association.stats.h5").rename(folder / output))


@pytest.fixture(scope="module")
def file(folder):
    """The statistics file of all requests."""
    with statistics(folder, "all.h5", *statistic_requests.asked(folder)) as opened:
        yield opened


def roles(file):
    return {name: str(data.attrs["role"]) for name, data in file.items() if "role" in data.attrs}


def shown(file):
    """Arrays that a view shows, or by which it is ordered or narrowed."""
    views = [view for data in file.values() for view in json.loads(data.attrs.get("views", "[]"))]
    columns = {name for view in views for name, _ in view["columns"]}
    return columns | {view["by"].removeprefix("-") for view in views} | {view.get("only") for view in views}


def described(text):
    """(names, beginnings of names) in the back-ticks of a README: "`a_low`, `_high`" names `a_high`, too, in one line."""
    names, families = set(), set()
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines():
        words = {word for code in re.findall(r"`([^`]+)`", line) for word in re.findall(r"[\w.]+", code)}
        whole = {word for word in words if re.fullmatch(r"[a-z](\w*[a-z0-9])?", word)}
        ends = {word.lstrip(".") for word in words if re.fullmatch(r"(\.\.\.)?_\w+", word)}
        begins = {word[:place] for word in whole for place in range(1, len(word) + 1) if word[place:place + 1] in ("_", "")}
        names |= whole | {begin + end for begin in begins for end in ends}
        families |= {word.rstrip("._") for word in words if re.fullmatch(r"[a-z]\w*_(\.\.\.)?", word)}
    return names, families


def is_described(name, names, families):
    return name in names or any(
        name.startswith(family + "_") and is_described(name[len(family) + 1 :], names, families) for family in families
    )


def test_every_statistic_of_the_program_has_a_request():
    assert set(statistic_requests.REQUESTS) == statistic_requests.shared_keys() - {"inference"}


def test_every_number_is_shown_or_deliberately_in_the_file_alone(file):
    hidden = {f"{finding}_{column}" for finding, columns in IN_THE_FILE_ALONE.items() for column in columns.split()}
    numbers = {name for name, role in roles(file).items() if role != "status"}
    assert len(numbers) > 150
    assert numbers - shown(file) == hidden | WITHOUT_TABLE, sorted((numbers - shown(file)) ^ (hidden | WITHOUT_TABLE))


def test_what_belongs_to_a_number_names_it(file):
    known = roles(file)
    assert set(known.values()) == BELONGING | {"value"}
    for name, role in known.items():
        owners = str(file[name].attrs.get("of", "")).split()
        assert all(known.get(owner) in ("value", "p") or (role, known.get(owner)) == ("status", "low") for owner in owners), name
        assert owners or role in ("value", "p", "status") or name in OF_NO_NUMBER, name


def test_every_variable_stands_in_a_readme(file):
    names, families = described("\n".join(path.read_text() for path in sorted((runs.ROOT / "src").rglob("*.md"))))
    undescribed = set()
    for name, role in roles(file).items():
        own = [name]
        if role in BELONGING:  # what it is says its role
            own += [owner for owner in str(file[name].attrs.get("of", "")).split() if name.startswith(owner + "_")]
        if not any(is_described(one, names, families) for one in own):
            undescribed.add(name)
    assert not undescribed, sorted(undescribed)


def undescribed_keys(statistic, text):
    """Keys of the statistic that no first cell of a table in the text names; all of them where it never names the statistic."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    known = {word for cell in rows for code in re.findall(r"`([^`]+)`", cell) for word in re.findall(r"\w+", code)}
    keys = statistic_requests.shared_statistics()[statistic]
    return keys - known if re.search(rf"`[^`]*\b{statistic}:|^ *{statistic}:", text, re.MULTILINE) else keys


def test_every_key_stands_in_a_table_of_a_readme_that_shows_the_statistic():
    texts = [path.read_text() for path in sorted((runs.ROOT / "src/findings").rglob("*.md"))]
    for statistic in statistic_requests.REQUESTS:
        assert any(not undescribed_keys(statistic, text) for text in texts), (
            statistic, min((undescribed_keys(statistic, text) for text in texts), key=len))  # fmt: skip


def test_every_finding_with_a_table_has_a_heading(file):
    """Of its section in the report."""
    assert not [name for name, data in file.items() if "views" in data.attrs and not data.attrs.get("heading")]


def test_every_finding_with_a_table_has_notes(file):
    """Its own, or those of the table below it."""
    tables = {name: str(data.attrs.get("notes", "")) for name, data in file.items() if "views" in data.attrs}
    assert {name for name, notes in tables.items() if not notes} == set(NOTES_BELOW)
    assert all(tables[below] and file[name].attrs["heading"] == file[below].attrs["heading"] for name, below in NOTES_BELOW.items())


def test_every_variable_and_axis_is_described(file):
    """The file's layout writes the name where there is no description."""
    assert not [name for name, data in file.items() if str(data.attrs.get("long_name", "")) in ("", name)]


def test_counts_have_the_unit_1(file):
    counts = [name for name, role in roles(file).items() if role == "n"]
    assert len(counts) > 20
    assert not [name for name in counts if str(file[name].attrs["units"]) != "1"]


SQUARED = {"variance_component", "subject_variance", "extreme_variance", "cluster_inertia", "decide_by_round_variance"}


def units_of(run, *asked):
    """{statistic: its units} of those whose numbers are squared, and of shares, centres and means."""
    done = runs.program("stats", run, *asked, "--format", "csv", "--only", "variance,subject_var,extreme_var,extreme_mean,cluster")
    assert done.returncode == 0, done.stderr
    units = {}
    for row in csv.DictReader(io.StringIO(done.stdout, newline="")):
        units.setdefault(row["statistic"], set()).add(row["unit"])
    return units


def test_a_squared_number_has_the_square_of_the_unit(folder, file, tmp_path):
    units = units_of(folder / "run", *statistic_requests.asked(folder))
    squared = SQUARED & set(units)
    assert len(squared) == 4 and all(units[name] == {"nat^2"} for name in squared), units
    assert units["cluster_centre"] == units["extreme_mean"] == {"nat"} and units["variance_share"] == {"1"}
    for name in SQUARED:
        assert file[name].attrs["unit_power"] == 2 and "units" not in file[name].attrs
        assert "squared" in str(file[name].attrs["description"])
    assert str(file["cluster_source_units"].asstr()[0]) == "nat"
    code, _, err = runs.run(runs.ROOT / "jobs/02_example_contexts.yaml", tmp_path / "run", "samples=20")
    assert code == 0, err
    assert units_of(tmp_path / "run", "statistics.variance_shares=all")["variance_component"] == {"1"}


def labels_of(file, name):
    """{axis or axis_measure: labels} of a variable."""
    scales = [str(scale) for axis in file[name].dims for scale in axis.keys()]
    return {label: set(file[label].asstr()[:]) for scale in scales for label in (scale, f"{scale}_measure") if label in file}


def test_every_statistic_can_be_asked_of_some_measures(folder, file):
    """Each of others: an axis of measures that two share would have the wrong labels for one of them."""
    measures = list(file["measure"].asstr()[:])
    chosen, asked = statistic_requests.of_measures(folder, measures)
    with statistics(folder, "some.h5", *asked) as some:
        for statistic, own in chosen.items():
            names = [name for name in roles(some) if name.startswith(BEGINNINGS[statistic])]
            found = {(name, axis): labels & set(measures) for name in names for axis, labels in labels_of(some, name).items()}
            assert {key: labels for key, labels in found.items() if labels not in (set(), set(own))} == {}, own
            assert any(found.values()), statistic


def test_the_checks_see_what_is_missing():
    names, families = described("`a_low`, `_high`, `zork_...`\n```\n`b`\n```\n`pole_` `..._n`")
    assert is_described("a_high", names, families) and is_described("pole_a_low", names, families)
    assert not any(is_described(name, names, families) for name in ("b", "a_n", "zork_x"))
    assert undescribed_keys("variation", "| `over` | of `statistics: {variation: {measures: all}}` |") == {"measures"}
    assert undescribed_keys("variation", "| `over`, `measures` | of clusters |") == {"over", "measures"}
