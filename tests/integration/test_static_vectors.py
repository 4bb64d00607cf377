"""Files of static vectors that numpy wrote, in the forms of word2vec and GloVe, are read bit by bit."""

import gzip
import os
import pathlib
import subprocess

import numpy
import pytest

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
