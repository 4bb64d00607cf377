"""Runs to look at: numbers made up by a formula (distances of 0 and above 1 among them), statistics by the program."""

from functools import cache

import pytest
from programs import BUILD, ROOT, call


@pytest.fixture(scope="session")
def ratings(tmp_path_factory):
    """A table in the job's words: every group on every pair of the run."""
    path = tmp_path_factory.mktemp("ratings") / "people.tsv"
    groups = ["teenagers", "elderly people", "women", "men", "Black people", "White people"]
    pairs = ["powerless - powerful", "poor - wealthy", "cold - warm", "threatening - benevolent"]
    rows = ["group\tpair\tmean"]
    for i, group in enumerate(groups):
        rows += [f"{group}\t{pair}\t{(37 * i + 23 * j * j + 11) % 97}" for j, pair in enumerate(pairs)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory, ratings):
    directory = tmp_path_factory.mktemp("run")
    only_groups = "[teenagers, elderly people, women, men, Black people, White people]"
    only_pairs = "[powerless - powerful, poor - wealthy, cold - warm, threatening - benevolent]"
    call(
        BUILD / "tests" / "write_association", directory, ROOT / "jobs" / "00_smoke.yaml",
        f"axes.groups={{file: abc_groups, only: {only_groups}}}",
        f"axes.traits={{file: abc_traits, only: {only_pairs}}}",
        "axes.templates=abc_templates", "axes.intersections=none",
    )  # fmt: skip
    call(BUILD / "bin" / "stereosweep", "stats", directory, f"statistics.human_ratings={ratings}")
    return directory


# A small run of each probe on the bundled models, with what its statistics are asked for besides the job's own.
BUNDLED = {
    "association": ("10_planted", (
        "axes.groups={file: abc_groups, only: [women, men, teenagers, elderly people, Black people, immigrants]}",
        "axes.intersections={pairs: [[Black people, women], [elderly people, women]], both_orders: true}",
        "axes.templates={file: abc_templates, only: [one_of_them, kind_of_people, the_word, often, quite]}",
        "measures=[ilps, ilps_star]", "priors.mask=false",
    ), (
        "statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]",
        "statistics.means=all", "statistics.intersections=all", "statistics.inference={replicates: 200, draws: 2000}",
        "statistics.correlations=[{name: all, rows: {item.dimension: [agency]}, columns: {item.dimension: [beliefs]}}]",
    )),
    "set": ("10_planted", (
        "axes.groups={file: abc_groups, only: [women, men, teenagers]}", "measures=[set]",
        "axes.templates={file: abc_templates, only: [one_of_them, often, quite]}",
    ), ("statistics.contrasts=[{name: gender, left: {subject: women}, right: {subject: men}}]",)),
    "contexts": ("02_example_contexts", ("samples=50",), ()),
    "detection": ("63_guo2021_ibd", (
        "axes.tests={file: guo_detection, only: [EF/AF, EF/AM, EF/EM, EF/MF, EF/MM, E/A, E/M, females/males]}",
        "statistics.detections={file: guo_groups, only: [European American females]}",
    ), ()),
    "coreference": (
        "41_crossed_markers", ("axes.augmentations=[baseline, aug1]",), ("statistics.means={measures: [share]}",),
    ),
    "rating": ("51_group_ratings", ("orders=[as_listed, reversed]",), ("statistics.means=all",)),
    "interview": ("70_stereomap", (
        "axes.groups={file: stereomap_groups, only: [Nurses, Doctors, Rich people, Criminals, Homeless people, Women]}",
        "sampling.rounds=3",
    ), ("statistics.clusters={dimensions: [warmth, competence], number: 2, measures: [rating]}",)),
}  # fmt: skip


@pytest.fixture(scope="session")
def bundled(tmp_path_factory):
    """A function: the directory of a probe's small run with its statistics, made when it is first asked for."""
    folder, program = tmp_path_factory.mktemp("bundled"), BUILD / "bin" / "stereosweep"

    @cache
    def directory(probe):
        job, settings, asked = BUNDLED[probe]
        call(program, "run", ROOT / "jobs" / f"{job}.yaml", "--output", folder / probe, *settings)
        call(program, "stats", folder / probe, *asked, "--means")
        return folder / probe

    return directory
