"""What `stats` answers of every example job: first in words, then in tables that fit a screen, with every warning."""

import re
import subprocess

import h5py
import pytest
import runs

from stereosweep_analysis.glossary import terms_in

# their models are not in the repository
ELSEWHERE = {"01_example", "20_real", "22_decided", "30_roberta_large_gpu", "60_ceat", "72_real_chat", "73_decided_chat"}
FEWER = {  # settings that make long jobs short, and leave their question as it is
    "10_planted": ["measures=[ilps_star]", "axes.templates={file: abc_templates, only: [one_of_them, quite, often, over_there, nearly_all]}"],
    "50_ratings": ["sampling.runs=1", "axes.rating_questions={file: scm_questions, only: [society_view, reputation]}"],
}
FEW_DRAWS = "statistics.inference={replicates: 300, draws: 3000}"
JOBS = sorted(path.stem for path in (runs.ROOT / "jobs").glob("*.yaml") if path.stem not in ELSEWHERE)
NUMBERS = r"-?[\d.]+(e-\d+)?( nat)?(, -?[\d.]+(e-\d+)? \.\. -?[\d.]+(e-\d+)?|, no interval)?, p [<\d.e+-]+(, adjusted [<\d.e+-]+)? \([\d,]+ \w+\)"
NONE = "This design cannot show|This design can hardly show|Nothing can be said of|No [a-z ]+ beyond chance"


def stats(*arguments):
    done = subprocess.run([runs.PROGRAM, "stats", *map(str, arguments)], capture_output=True, text=True, cwd=runs.ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def flat(text):
    return " ".join(text.split())


def sentences(path, name):
    """(measure, text) of an attribute of all findings of a file."""
    with h5py.File(path) as file:
        lines = [line for data in file.values() for line in str(data.attrs.get(name, "")).split("\n") if line]
    return [tuple(line.split("\t")) for line in lines]


@pytest.fixture(scope="module", params=JOBS)
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers") / request.param
    code, _, err = runs.run(runs.ROOT / "jobs" / f"{request.param}.yaml", folder, *FEWER.get(request.param, []))
    assert code == 0, err
    return folder


def test_the_answer_stands_in_the_first_lines_and_all_fits(folder):
    draws = [] if (folder / "contexts.h5").exists() else [FEW_DRAWS]
    text = stats(folder, *draws)
    lines = text.splitlines()
    first = flat("\n".join(lines[:12]))
    assert re.search(NUMBERS, first) or re.search(NONE, first), first
    assert max(map(len, lines[:-1])) <= 100 and len(lines) < 80
    assert not re.search(r"^(-{5,})\n(?:[^\n]+\n)+\n[^\n]*\n\1$", text, re.MULTILINE)  # no second table of more columns
    (path,) = folder.glob("*.stats.h5")
    told = flat(text)
    answers = sentences(path, "answers")
    assert answers and any(flat(answer) in told for _, answer in answers)
    said = " ".join(flat(answer) for _, answer in answers if flat(answer) in told)
    assert all(f"\n{entry.title}: " in text for entry in terms_in(said, "term"))
    assert not [text for _, text in answers if "_" in text or ", no interval, p" in text]
    clusters = [text for _, text in answers if re.search(r" clusters? by ", text)]
    assert all("fitted to these scores (no interval, no p);" in text for text in clusters)
    with h5py.File(path) as file:
        assert clusters or "cluster_centre" not in file
    check_contexts(path, answers)
    # nothing that a reader must know is left out, and what is left out otherwise is named
    everything = stats(folder, *draws, "--top", 5)
    warnings = set(re.findall(r"^WARNING:? (.*?)(?=\n\S|\n\n|\Z)", everything, re.MULTILINE | re.DOTALL))
    assert all(flat(warning) in told for warning in warnings)
    assert len(everything.splitlines()) == len(lines) or "More tables, printed with --all: " in told


def check_contexts(path, answers):
    """Tests over words answer what means over samples of contexts cannot; words without an interval say so; detections
    are counted."""
    with h5py.File(path) as file:
        assert not any(re.search(r"\b[XYAB] (are|to|than) ", text) for _, text in answers)  # a set without a name: its words
        if "wefat" in file:
            assert "mean_score" in file and "answers" not in file["mean_score"].attrs
            words = [text for _, text in answers if " is nearer to " in text]
            assert words and all("over other samples of contexts " in text or "(no interval: " in text for text in words)
            assert all(", no interval" not in text for text in words)
        if "detection" not in file:
            return
        flags, meanings = file["detection_of_word"], file["detection_of_word"].attrs["flag_meanings"].split()
        said = {}
        for _, text in answers:
            row = re.match(r"(.+), (EIBD|IBD): (\d+) of (\d+) words detected( as emergent)? at d > (-?\d\.\d\d), (\d+) of (\d+) "
                           r"validated ones, expected by chance (\S+)\.$", text)
            said |= {row.groups()[:2]: row.groups()[2:]} if row else {}
        beyond = {}
        for i, name in enumerate(file["detection"].asstr()[:]):
            for j, kind in enumerate(file["detection_kind"].asstr()[:]):
                states = [meanings[flag] for flag in flags[i, j]]
                found, tried = states.count("detected"), len(states) - states.count("not_scored")
                chance, rate = file["detection_chance"][i, j], file["detection_true_positive_rate"][i, j]
                assert file["detection_expected"][i, j] == pytest.approx(found * chance)
                validated = round(chance * tried)
                numbers = [found, tried, file["detection_threshold"][i, j], rate * validated, validated, found * chance]
                if found > 0:
                    beyond[name, kind] = numbers[3] - numbers[5]
                if (name, kind) in said:
                    words = said[name, kind]
                    assert bool(words[2]) == (kind == "EIBD")
                    assert [float(word) for word in words[:2] + words[3:]] == pytest.approx(numbers, rel=1e-3, abs=6e-4)
        assert len(said) == min(3, len(beyond)) and min(beyond[row] for row in said) >= sorted(beyond.values())[-len(said)] - 1e-9
        lists = f"Of {flags.shape[0] * flags.shape[1]} lists {len(beyond)} detect any word. No p and no interval: "
        assert any(text.startswith(lists) for _, text in answers)


def test_the_answer_of_planted_groups_names_them_with_direction_and_numbers(tmp_path):
    contrasts = ("statistics.contrasts=[{name: a, left: {subject: %s}, right: {subject: %s}}]")
    job = runs.ROOT / "jobs/10_planted.yaml"
    assert runs.run(job, tmp_path / "run", "axes.groups=[women, men]", "axes.templates=" + TEMPLATES)[0] == 0
    one = flat(stats(tmp_path / "run", contrasts % ("women", "men")))
    other = flat(stats(tmp_path / "run", contrasts % ("men", "women")))
    claim = re.match(r"(women|men) lean further to (\S+) than (women|men): (\S+) nat, \S+ \.\. \S+, p \S+, adjusted \S+ \(4 templates\)\.", one)
    turned = re.match(r"(women|men) lean further to (\S+) than (women|men): (\S+) nat", other)
    assert claim and claim[1] == "women" and turned and turned[1] == "men"
    assert float(claim[4]) == -float(turned[4]) and claim[2] != turned[2]
    with h5py.File(tmp_path / "run/association.stats.h5") as file:  # of "men - women"
        differences = dict(zip(file["contrast_item"].asstr()[:], file["contrast_difference"][:], strict=True))
        item = next(item for item in differences if turned[2] in item.split(" - "))
        chosen = [float(row) for name, measure, row in zip(file["contrast_item"].asstr()[:], file["contrast_measure"].asstr()[:],
                  file["contrast_difference"][:], strict=True) if (name, measure) == (item, "ilps_star prior_word")]  # fmt: skip
    assert chosen == [pytest.approx(float(turned[4]), abs=6e-4)]
    assert (turned[2] == item.split(" - ")[1]) == (chosen[0] > 0)


TEMPLATES = "['{group} are {trait}.', 'most {group} are {trait}.', 'people say {group} are {trait}.', 'all {group} are {trait}.']"


def test_where_nothing_differs_it_says_so(tmp_path):
    job = runs.ROOT / "jobs/10_planted.yaml"
    templates = "axes.templates=['{group} are {trait}.', 'everybody knows that {group} are {trait}.']"
    assert runs.run(job, tmp_path / "run", "axes.groups=[nurses, students]", templates, "statistics={}")[0] == 0
    asked = "statistics.contrasts=[{name: a, left: {subject: nurses}, right: {subject: students}}]"
    text = flat(stats(tmp_path / "run", asked))
    # two templates: signs flip in four ways, two of which are as far from zero
    assert text.startswith("This design can hardly show any difference: no p of shuffled labels or signs is below 0.500. "
                           "The nearest to it of 16 rows: nurses lean further to ")  # fmt: skip
