"""`stereosweep schema`: what an editor knows of a job is what the program reads, by a validator of others' making."""
import copy
import functools
import json
import subprocess

import jsonschema
import pytest
import runs
import yaml

JOBS = sorted((runs.ROOT / "jobs").glob("*.yaml"))


@functools.cache
def validator():
    done = subprocess.run([runs.PROGRAM, "schema"], capture_output=True, text=True, check=True, timeout=60)
    schema = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(job):
    """Paths and keywords of what is wrong, also inside of forms that exclude each other."""
    found = []

    def collect(errors):
        for error in errors:
            found.append((".".join(map(str, error.absolute_path)), error.validator, error.message))
            collect(error.context)

    collect(validator().iter_errors(job))
    return found


def job(name):
    return yaml.safe_load((runs.ROOT / "jobs" / name).read_text(encoding="utf-8"))


def changed(name, path, value):
    """The job with another value at a dotted path; mappings on the way are made."""
    whole = copy.deepcopy(job(name))
    node = whole
    *parents, last = path.split(".")
    for key in parents:
        node = node.setdefault(key, {})
    node[last] = value
    return whole


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_every_job_that_comes_with_the_program_is_valid(path):
    assert faults(yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("name, path, value, keyword", [
    ("10_planted.yaml", "exection", {}, "additionalProperties"),
    ("10_planted.yaml", "axes.template", [], "additionalProperties"),
    ("10_planted.yaml", "execution.batch_token", 8, "additionalProperties"),
    ("10_planted.yaml", "model.dtyp", "float32", "additionalProperties"),
    ("10_planted.yaml", "samples", 3, "additionalProperties"),
    ("10_planted.yaml", "statistics.varation", {}, "additionalProperties"),
    ("10_planted.yaml", "statistics.contrasts", [{"name": "a", "lft": {"subject": "b"}}], "additionalProperties"),
    ("10_planted.yaml", "statistics.inference", {"confidence": 1.5}, "maximum"),
    ("10_planted.yaml", "statistics.means", {"measures": []}, "minItems"),
    ("10_planted.yaml", "statistics.people", {"scale": [1, 7]}, "required"),
    ("10_planted.yaml", "statistics.word_aggregate", "middle", "enum"),
    ("10_planted.yaml", "execution.batch_tokens", "many", "type"),
    ("10_planted.yaml", "execution.threads_per_rank", 0, "minimum"),
    ("10_planted.yaml", "execution.tensor_parallel", 65, "maximum"),
    ("10_planted.yaml", "seed", -1, "minimum"),
    ("10_planted.yaml", "measures", ["ilsp"], "enum"),
    ("10_planted.yaml", "measures", [], "minItems"),
    ("10_planted.yaml", "priors", {"word": ["only one"]}, "minItems"),
    ("10_planted.yaml", "axes.groups", [{"plurals": "women"}], "additionalProperties"),
    ("10_planted.yaml", "axes.traits", [{"left": "weak"}], "required"),
    ("10_planted.yaml", "probe", "asociation", "enum"),
    ("40_winoidentity.yaml", "axes.augmentations", ["aug5"], "enum"),
    ("40_winoidentity.yaml", "model.chat", "none", "additionalProperties"),
    ("50_ratings.yaml", "sampling", {"runs": 2, "temprature": 1}, "additionalProperties"),
    ("50_ratings.yaml", "sampling", {"runs": 5000}, "maximum"),
    ("50_ratings.yaml", "scale", {"from": 1}, "required"),
    ("50_ratings.yaml", "orders", "reversed", "type"),
    ("70_stereomap.yaml", "sampling.top_p", 2, "maximum"),
    ("70_stereomap.yaml", "axes.conversations", [{"label": "a", "turns": [{"label": "b"}]}], "required"),
    ("60_ceat.yaml", "corpus.boundary", "letters", "enum"),
    ("60_ceat.yaml", "samples", 0, "minimum"),
])
def test_what_the_program_refuses_is_refused(name, path, value, keyword):
    assert any(found == keyword for _, found, _ in faults(changed(name, path, value))), faults(changed(name, path, value))


def test_a_key_that_must_be_there_is_missed():
    whole = job("10_planted.yaml")
    del whole["axes"]
    assert ("", "required", "'axes' is a required property") in faults(whole)


def test_every_key_of_a_resolved_job_is_described(tmp_path):
    runs.run(runs.ROOT / "jobs/00_smoke.yaml", tmp_path / "run")
    resolved = next((tmp_path / "run").rglob("job.resolved.yaml"))
    assert faults(yaml.safe_load(resolved.read_text(encoding="utf-8"))) == []


def test_every_statistic_is_described():
    for one in validator().schema["allOf"]:
        statistics = one["then"]["properties"]["statistics"]["properties"]
        assert len(statistics) >= 10
        assert not [key for key, form in statistics.items() if not form.get("description", "").strip()], one["if"]


def test_defaults_and_ranges_stand_in_the_schema():
    branch = next(one["then"]["properties"] for one in validator().schema["allOf"]
                  if one["if"]["properties"]["probe"]["const"] == "rating")
    assert branch["execution"]["properties"]["batch_tokens"]["default"] == 4096
    assert branch["execution"]["properties"]["tensor_parallel"]["maximum"] == 64
    assert branch["name"]["description"] == "names the folder of the run"
