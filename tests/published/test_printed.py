"""The printed numbers that replication cards show, read again in the papers' texts; skipped where these are not at hand."""

import re

import claims
import pytest

from stereosweep_analysis.papers.printed import read_printed

TEXTS = {"cao2022": "cao2022-abc-set", "guo2021": "guo2021-ceat-appendix", "winoidentity": "winoidentity-scm", "stereomap": "stereomap"}
MEASURES = ["CEAT", "ILPS", "ILPS*", "SeT"]
ATTRIBUTES = {"pleasant": "P/U", "career": "Career/Family", "math": "Math/Arts", "science": "Science/Arts"}
DOMAINS = {"politics": "political stance", "socioeconomic": "socio"}


def lines_of(paper):
    try:
        return claims.lines_of(TEXTS[paper])
    except claims.Missing as error:
        pytest.skip(str(error))


def letters(text):
    return re.sub(r"[^a-z]", "", text.lower())


def part(lines, table):
    """The lines between the captions, whatever stands before a caption's first word."""
    end = next(i for i, line in enumerate(lines) if re.match(rf"(\d{{4}} )?Table {table}:", line))
    begin = max(i for i in range(end) if i == 0 or re.match(r"(\d{4} )?(Table|Figure) \w+:", lines[i]))
    return lines[begin:end]


def figures(line):
    """Numbers of a line, without those that stand in a word."""
    return [float(text) for text in re.findall(r"(?<![\w^{.])-?\d*\.\d+(?![\w])", line)]


def test_tables_of_cao2022():
    lines, seen = lines_of("cao2022"), 0
    for row in read_printed("cao2022"):
        values = [row.values.get(name) for name in ("RoBERTa", "BERT")]
        if row.table in ("A11", "A12", "A13"):
            (line,) = [line for line in part(lines, row.table) if letters(line.split("\t")[0]) == letters(row.row)]
            at = 1 + 2 * MEASURES.index(row.column.split(" ")[-1])
            cells = line.split("\t")[at : at + 2]
            assert [cell.rstrip("†") and float(cell.rstrip("†")) for cell in cells] == [value if value is not None else "" for value in values]
        elif row.table in ("6", "A19"):
            (line,) = [line for line in part(lines, row.table) if line.startswith("Kendall")]
            found = figures(line.replace("†", ""))
            pairs = list(zip(found[::2], found[1::2])) if row.table == "6" else [(value, None) for value in found]
            at = 2 * MEASURES.index(row.column.split(" ")[-1])
            assert [pair[row.column.startswith("P@3")] for pair in pairs[at : at + 2]] == values
        elif row.table == "5":
            (line,) = [line for line in part(lines, "5") if line.startswith(row.column.split(" ")[-1] + "\t")]
            assert figures(line)[:2] == values
        elif row.table == "A9":
            names = [DOMAINS.get(name, name) for name in row.row.split(" x ")]
            (line,) = [line for line in part(lines, "A9") if line.split("\t")[:2] == names]
            assert figures(line)["AB".index(row.column[-1])] == values[0]
        elif row.table == "text":
            assert re.search(rf"\b{values[0]:g}\b", next(line for line in lines if line.startswith("Q1: Identity Order")))
        seen += 1
    assert seen > 350


def test_tables_of_guo2021():
    lines, seen = lines_of("guo2021"), 0
    for row in read_printed("guo2021"):
        if row.table == "setup":
            continue
        pair, _, attribute = row.row.partition(" ")
        start = f"{pair}, {ATTRIBUTES[attribute]}" if attribute else f"{row.row}:"
        begin = next(i for i, line in enumerate(lines) if line.startswith(f"Table {row.table}:"))
        line = next(line for line in lines[begin:] if line.startswith(start))
        assert [float(cell) for cell in line.split("\t")[1:9:2]] == [row.values[name] for name in ("ELMo", "BERT", "GPT", "GPT-2")]
        seen += 1
    assert seen == 134


def test_tables_by_marker_of_winoidentity():
    lines, seen = lines_of("winoidentity"), 0
    models = ("llama3-70b", "mixtral-8x7B", "mistral-7B", "pythia-12B", "falcon-40B")
    for row in read_printed("winoidentity"):
        if row.column not in ("pro", "anti"):
            continue
        rows = [line for line in part(lines, row.table) if len(re.findall(r"\b[01]\.\d\d\b", line)) == 10]
        (line,) = [line for line in rows if letters(re.split(r"\| [01]\.", line)[0]) == letters(row.row)]
        found = [float(text) for text in re.findall(r"\b[01]\.\d\d\b", line)]
        assert found[row.column == "anti" :: 2] == [row.values[model] for model in models]
        seen += 1
    assert seen == 22 + 50 + 13 * 52 + 4 * 50


def test_other_tables_of_winoidentity():
    lines = lines_of("winoidentity")
    rows = [row for row in read_printed("winoidentity") if row.table in ("5", "13")]
    text = part(lines, "5")
    for row in rows:
        if row.table == "13":
            gender, kind = row.row.split(" / ")
            (line,) = [line for line in part(lines, "13") if f"{kind}-stereotyped" in line]
            assert list(row.values.values()) == figures(line)[gender == "female" :: 2]
        elif row.column == "sides":
            (line,) = [line for line in text if re.match(r"\| (low|high)-(low|high) ", line) and re.search(rf"[ |]{row.row}[,*+\[ ]", line)]
            assert line.startswith(f"| {row.values['people']} ")
            marks = re.search(rf"[ |]{row.row}([*+\[†\] ]*)", line)[1].strip("[] ")
            models = {"": 3, "**": 2, "+*": 2, "*+": 2, "*": 1, "+": 1, "†": 0}[marks]
            assert len(row.values) - 1 == models and ("llama3-70b" in row.values) == (models > 1 or marks == "*")
        else:
            (line,) = [line for line in text if line.startswith(f"| {row.row} ")]
            assert list(row.values.values())[-1:] + list(row.values.values())[:-1] == figures(line)[row.column == "warmth" :: 2]
    assert len(rows) == 4 + 48 + 6


def test_tables_of_stereomap():
    lines, seen = lines_of("stereomap"), 0
    text = "\n".join(lines)
    eighth = [line for line in lines if re.match(r"\w+ \|( -?\.?\d\S* \|){8}", line)]
    behaviours = ["active_facilitation", "active_harm", "passive_facilitation", "passive_harm"]
    for row in read_printed("stereomap"):
        if row.table == "8":
            first, second = [line for line in eighth if line.lower().startswith(row.row)]
            cells = [float(cell.strip(" *")) for line in (first, second) for cell in line.split("|")[1:9]]
            assert cells[behaviours.index(row.column) :: 4] == [row.values[name] for name in ("people", "DAVINCI", "GPT-3.5", "BARD")]
            seen += 4
        elif row.table == "9":
            block = re.split(r"Dimension \| ", text)[1:]
            (block,) = [one for one in block if letters(one.split("|")[0]) == letters(row.column)]
            names = {letters(row.row), letters(row.row.replace("Easterners", "easterns")), letters(row.row.removesuffix(" people").removesuffix(" workers")), letters(row.row.replace(" people", "s")),
                     letters(row.row.removesuffix("s"))}  # fmt: skip
            found = [float(value) for name, value in re.findall(r"([A-Z][A-Za-z -]*?) \| (\d\.?\d*)\(", block) if letters(name) in names]
            assert sorted(found) == sorted(row.values.values()), row
            seen += len(found)
        elif row.table == "2" and row.column == "competence":
            for value in row.values.values():
                assert re.search(rf"\({re.escape(str(value))}[<>=]", text)
            seen += len(row.values)
    assert seen == 96 + 240 + 94
