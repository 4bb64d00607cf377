"""An example request of every statistic that all probes share. Every test that asks for all of them asks for these, of jobs
with groups and traits of the ABC model; test_statistic_requests.py compares the keys with those of the program."""

import functools
import itertools
import json

import runs
import yaml

GROUPS = ["women", "men", "teenagers", "Black people", "people with disabilities"]  # some of them must be in the job
PAIRS = ["powerless - powerful", "low-status - high-status", "traditional - modern", "religious - science-oriented"]
REQUESTS = {
    "contrasts": "[{name: gender, left: {subject: women}, right: {subject: men}}]",
    "decide": "{want: [sign, {equivalence: 0.5}]}",
    "means": "all",
    "variance_shares": "all",
    "intersections": "all",
    "people": "{ratings: FOLDER/answers.tsv}",
    "correlations": "[{name: all, rows: {item.dimension: [agency, beliefs]}}]",
    "extremes": "{most: 2, of: {item.dimension: [agency]}}",
    "clusters": "{number: 2, max_clusters: 5}",
    "variation": "{over: [wording, template]}",
}


def asked(folder, **others):
    """Settings that ask for all of them; `others`: requests in place of those of the table. Writes what they read."""
    rows = [f"{name}\t{group}\t{pair}\t{(7 * len(name + group) + 31 * len(pair) + 13 * place) % 101}\n"
            for place, name in enumerate(["ada", "ben", "cleo"]) for group in GROUPS for pair in PAIRS]  # fmt: skip
    (folder / "answers.tsv").write_text("annotator\tgroup\tpair\trating\n" + "".join(rows))
    requests = REQUESTS | others
    return tuple(f"statistics.{key}={request.replace('FOLDER', str(folder))}" for key, request in requests.items())


def of_measures(folder, measures):
    """{statistic: its measures} and the settings that ask each of them of two measures of its own, no two of the same."""
    chosen = dict(zip(REQUESTS, map(list, itertools.combinations(measures, 2)), strict=False))
    assert set(chosen) == set(REQUESTS), "too few measures"

    def named(key, request):
        if isinstance(request, list):
            return [named(key, entry) for entry in request]
        return (request if isinstance(request, dict) else {}) | {"measures": chosen[key]}

    return chosen, asked(folder, **{key: json.dumps(named(key, yaml.safe_load(text))) for key, text in REQUESTS.items()})


@functools.cache
def shared_statistics():
    """{key of `statistics` that every probe has: keys below it}, by the program's schema."""
    schema = json.loads(runs.program("schema").stdout)
    probes = [one["then"]["properties"]["statistics"]["properties"] for one in schema["allOf"]]
    return {key: keys_below(form) for key, form in probes[0].items() if all(key in probe for probe in probes)}


def keys_below(form):
    """Of a schema: those of a mapping, of any form that may stand there, or of what a list holds."""
    forms = [*form.get("anyOf", []), *([form["items"]] if "items" in form else [])]
    return set(form.get("properties", {})).union(*map(keys_below, forms))


def shared_keys():
    """Keys of `statistics` that every probe has."""
    return set(shared_statistics())
