"""The command that prints definitions, and the papers to cite."""

import re
from pathlib import Path

from stereosweep_analysis.citations import citations, program_citation
from stereosweep_analysis.cli import main
from stereosweep_analysis.glossary import glossary
from stereosweep_analysis.reports.probes import PROBES

# Technical words of titles, columns, labels, notes and answers. Each is explained, by whatever kind of entry.
TERMS = [
    "nat", "bit", "log-probability", "prior", "marker", "cell", "subject", "group", "item", "pair", "template",
    "rephrasing", "replicate", "wording", "pole", "trait", "intersection", "dimension", "measure", "baseline", "aug1",
    "aug2", "aug3", "aug3a", "aug3b", "aug4", "referent", "placement", "pro", "anti", "privileged", "disadvantaged",
    "ABC", "SCM", "agency", "beliefs", "communion", "warmth", "competence", "ILPS", "SeT", "WEAT", "WEFAT", "CEAT",
    "context", "sample", "relabelling", "shuffled", "emergent", "dominance", "k-means", "elbow", "inertia", "cluster",
    "Rand", "interval", "n", "p", "tau-b", "P@3", "Holm", "max-T", "BH", "BY", "Welch", "coverage", "answers", "rounds",
    "conversation", "turn", "round", "run", "subword", "tokenizer", "token", "SHA-256", "Self-BLEU", "CV", "Phi",
    "least", "z", "sd",
]  # fmt: skip


def printed(capsys, *words):
    code = main(["glossary", *words])
    return code, capsys.readouterr()


def test_a_measure_of_two_parts_is_found_by_both(capsys):
    code, text = printed(capsys, "ilps_star prior_mask")
    assert code == 0
    assert [line for line in text.out.splitlines() if line[0] != " "] == [
        "ilps_star (ILPS*), measure", "prior_mask (prior: mask), measure",
    ]  # fmt: skip


def test_every_term_is_explained():
    known = {name for _, name in glossary()}
    assert len(TERMS) > 75 and [name for name in TERMS if name not in known] == []


def test_a_part_of_a_name_finds_all_that_hold_it(capsys):
    _, text = printed(capsys, "subword")
    heads = [line.rsplit(", ", 1) for line in text.out.splitlines() if line[0] != " "]
    assert heads == [["subword", "axis"]]
    _, text = printed(capsys, "subwor")
    names = {line.split()[0].strip(",") for line in text.out.splitlines() if line[0] != " "}
    expected = {name for (_, name), entry in glossary().items() if "subwor" in f"{name} {entry.title}".lower()}
    assert names == expected and len(expected) > 3


def test_without_a_word_all_are_printed(capsys):
    _, text = printed(capsys)
    assert sum(line[0] != " " for line in text.out.splitlines()) == len(glossary())
    assert max(map(len, text.out.splitlines())) <= 100


def test_what_is_not_there_is_refused(capsys):
    code, text = printed(capsys, "no_such_word")
    assert code == 1 and "no_such_word" in text.err and not text.out


def test_every_key_to_cite_has_its_entry_and_every_entry_is_cited():
    text = (Path(__file__).resolve().parents[1] / "citing.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE)
    keys = {key for cell in cells for key in re.findall(r"\b(?:[a-z]+-[a-z\d-]*\d{4}[\w-]*|stereosweep)\b", cell)}
    assert len(keys) == 10 and keys == set(citations())
    assert {key for probe in PROBES.values() for key in probe.citations} | {"stereosweep"} == keys


def test_entries_are_whole():
    for key, entry in citations().items():
        assert entry.startswith("@") and entry.count("{") == entry.count("}"), key
        assert {"title", "author"} <= set(re.findall(r"^  (\w+) = ", entry, re.MULTILINE)), key
    assert "version = {1.2}, note = {job SHA-256: ab}" in program_citation("1.2", "ab")
