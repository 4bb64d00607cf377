"""Every measure, status and axis in the files of all probes, with the statistics that jobs can ask for, is in the
glossary of the analysis package; so is every status that the program's commands count."""

import subprocess

import h5py
import pytest
import runs

from stereosweep_analysis.glossary import measure_term, term

JOBS = {
    "10_planted.yaml": (
        "axes.groups={file: abc_groups, only: [women, men, teenagers]}", "axes.intersections=abc_pairs",
        "axes.rephrasings={file: voices, only: [none, bus]}", "measures=[ilps_star]", "priors.mask=false",
        "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word]}",
        "statistics.intersections=all", "statistics.means=all", "statistics.clusters={}",
        "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]",
        "statistics.variance_shares={measures: [ilps_star prior_word]}", "statistics.variation={}",
        "statistics.correlations=[{name: all, rows: {item.dimension: [agency, beliefs]}}]",
        "statistics.extremes={most: 2, of: {item.dimension: [agency]}}",
    ),
    "41_crossed_markers.yaml": (),
    "51_group_ratings.yaml": ("sampling={runs: 1, max_new_tokens: 4}",),
    "61_generated_contexts.yaml": ("samples=20",),
    "63_guo2021_ibd.yaml": (),
    "70_stereomap.yaml": ("axes.groups={file: stereomap_groups, only: [Nurses, Doctors, Men, Women, CEOs, Children]}",
                           "statistics.means={measures: [rating]}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Results and statistics of a small run of each job."""
    found = []
    for job, settings in JOBS.items():
        folder = tmp_path_factory.mktemp("run")
        raw = [text for text in settings if not text.startswith("statistics.")]
        code, _, err = runs.run(runs.ROOT / "jobs" / job, folder, *raw)
        assert code == 0, err
        command = [runs.PROGRAM, "stats", str(folder), *(text for text in settings if text not in raw)]
        subprocess.run(command, check=True, capture_output=True, cwd=runs.ROOT)
        found += sorted(folder.glob("*.h5"))
    return found


def names_in(path):
    """(kind, name) of every axis, status and measure."""
    with h5py.File(path) as file:
        for name, dataset in file.items():
            if isinstance(dataset, h5py.Dataset):
                if dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
                    yield "axis", name
                yield from (("status", flag) for flag in str(dataset.attrs.get("flag_meanings", "")).split())
                if name in ("measure", "variant", "source"):
                    yield from (("measure", label) for label in dataset.asstr()[:])


def test_the_glossary_lacks_nothing_that_files_hold(files):
    assert len(files) >= 2 * len(JOBS)
    lacking, seen = set(), {"axis": 0, "status": 0, "measure": 0}
    for path in files:
        for kind, name in names_in(path):
            seen[kind] += 1
            if (measure_term(name) if kind == "measure" else term(kind, name)) is None:
                lacking.add((kind, name, path.name))
    assert min(seen.values()) > 20
    assert not lacking


def test_the_check_sees_what_is_missing():
    assert term("status", "no such status") is None and measure_term("ilps_star no_such_prior") is None
