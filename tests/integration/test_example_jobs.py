"""The jobs with every key (jobs/01 to 05): each has all keys that the program knows, and states true defaults."""

import re

import pytest
import runs
import yaml
from statistic_requests import shared_keys

# What the first job says for all probes, what only job.resolved.yaml holds, and the second names of axes.
ELSEWHERE = {"model": {"revision", "chat", "chat_name", "date", "system", "thinking"}, "execution": set()}
WRITTEN_BY_THE_PROGRAM = {"axes": {"omissions", "subjects"}}
OTHER_NAMES = {"sentences": "templates", "questions": "rephrasings", "rating_questions": "templates"}
JOBS = sorted((runs.ROOT / "jobs").glob("0[1-5]_example*.yaml"))


def known_keys(job, sections):
    """{section: keys} that the program lists where it is asked for one that it does not know."""
    asked = [f"{section}.no_such_key=1" if section else "no_such_key=1" for section in sections]
    text = runs.program("validate", job, *asked).stderr
    pattern = r"command line:(\S*?)\.?no_such_key: unknown key 'no_such_key' \(known here: ([^)]*)\)"
    return {section: set(filter(None, keys.split(", "))) for section, keys in re.findall(pattern, text)}


def written_keys(text, section):
    """Keys of the section, also those in comments."""
    uncommented = re.sub(r"^(\s*)# (?=\w+:)", r"\1", text, flags=re.MULTILINE)
    if not section:
        return set(re.findall(r"^(\w+):", uncommented, re.MULTILINE))
    line, block = re.search(rf"^{section}:(.*)\n((?:  .*\n|\n(?=  ))*)", uncommented, re.MULTILINE).groups()
    return set(re.findall(r"^  (\w+):", block, re.MULTILINE)) | set(re.findall(r"[{,] ?(\w+):", line.split("  #")[0]))


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.stem)
def test_every_key_is_there(job):
    text = job.read_text()
    root = yaml.safe_load(text)
    sections = ["", *(name for name in ("model", "axes", "corpus", "vectors", "priors", "sampling", "execution", "statistics")
                      if name in root)]  # fmt: skip
    known = known_keys(job, sections)
    assert set(known) == set(sections)
    is_first = job == JOBS[0]
    for section, keys in known.items():
        if section == "statistics":
            keys = keys | shared_keys() if is_first else keys - shared_keys()
        if not is_first and section in ELSEWHERE:
            keys = keys & {"path", "dtype", "batch_tokens", "contexts_per_block"}
        keys = {OTHER_NAMES.get(key, key) for key in keys - WRITTEN_BY_THE_PROGRAM.get(section, set())}
        assert keys <= written_keys(text, section), (section, keys - written_keys(text, section))
        assert keys or section == "statistics"


def without_defaults(text):
    """The job without the lines that say that they are the default, and without sections that are empty then; how many lines."""
    said = re.compile(r"^ *\w+: [^#\n]*  # default(;.*)?\n", re.MULTILINE)
    fewer = re.sub(r"^ *#.*\n", "", said.sub("", text), flags=re.MULTILINE)
    return re.sub(r"^\w+: *(#.*)?\n(?! )", "", fewer, flags=re.MULTILINE), len(said.findall(text))


@pytest.mark.parametrize("job", JOBS[1:], ids=lambda job: job.stem)
def test_stated_defaults_are_the_defaults(job, tmp_path):
    fewer, count = without_defaults(job.read_text())
    assert count >= (5 if job.stem == "03_example_coreference" else 6)  # it has fewer keys
    resolved = []
    for name, text in (("all", job.read_text()), ("fewer", fewer)):
        copy = tmp_path / f"{name}.yaml"
        copy.write_text(text.replace("../tests", str(runs.ROOT / "tests")))
        code, _, err = runs.run(copy, tmp_path / name, "execution.engine=fake")
        assert code == 0, err
        resolved.append(yaml.safe_load((tmp_path / name / "job.resolved.yaml").read_text()))
    assert resolved[0] == resolved[1]


def changed(text, path, value):
    """The job with another value at a key; None: without the key."""
    root = yaml.safe_load(text)
    place = root
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    if value is None:
        del place[path[-1]]
    return yaml.safe_dump(root, allow_unicode=True)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.stem)
def test_a_wrong_value_of_any_key_is_a_message(job, tmp_path):
    """Weights are looked at where keys of the model are changed; elsewhere the fake engine saves the time of opening them."""
    text = job.read_text().replace("../tests", str(runs.ROOT / "tests"))
    root = yaml.safe_load(text)
    paths = [(key,) for key in root] + [(key, name) for key, below in root.items() if isinstance(below, dict) for name in below]
    copy = tmp_path / "job.yaml"
    refused = 0
    for path in paths:
        for value in (None, "null", [], {}, [1], "x"):
            copy.write_text(changed(text, path, value).replace("'null'", "null"))
            done = runs.program("validate", copy, *([] if path[0] in ("model", "execution") else ["execution.engine=fake"]))
            assert done.returncode in (0, 2), (path, value, done.returncode, done.stderr)
            assert done.returncode == 0 or str(copy) in done.stderr, (path, value, done.stderr)
            refused += done.returncode == 2
    assert refused > 3 * len(paths)


def test_the_check_sees_a_missing_key():
    text = JOBS[2].read_text()
    assert "ties" in written_keys(text, "statistics") and "ties" not in written_keys(text.replace("ties", "tie"), "statistics")
