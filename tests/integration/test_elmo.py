"""ELMo directories through `query` and `tokenize`: every layer against the numpy version, and what is refused."""
import json
import os
import random
import subprocess
from pathlib import Path

import elmo_models
import h5py
import numpy
import pytest
from rounding import most_error

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep"))
WORDS = ("the nurse doctor said that most people in this town are kind and Warm , but old rivers never sleep . caf\u00e9 "
         "\u65e5\u672c\u8a9e \U0001f600 e\u0301tude \u0391\u03b8\u03ae\u03bd\u03b1 x I").split(" ")
LONG_WORDS = ["a" * 47, "b" * 48, "c" * 49, "d" * 300, "\u65e5" * 16, "\u65e5" * 17, "z" + "\u00e9" * 24]  # the last is cut inside a letter


def run(command, folder, lines, *options):
    """(answers, exit status, standard error)"""
    raw = "".join(line + "\n" for line in lines).encode()
    done = subprocess.run([PROGRAM, command, "--model", folder, *options], input=raw, capture_output=True, timeout=300)
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]], done.returncode, done.stderr.decode()


def sentences(count, seed):
    draw = random.Random(seed)
    return [[draw.choice(WORDS) for _ in range(draw.choice([1, 1, 2, 3, 7, 20, 41]))] for _ in range(count)]


def span_of(words, first, last):
    begin = len("".join(word + " " for word in words[:first]).encode())
    return [begin, begin + len(" ".join(words[first:last + 1]).encode())]


def embed(words, first, last=None, layer=-1, pool="mean"):
    return json.dumps({"kind": "embed", "text": " ".join(words), "layer": layer, "pool": pool,
                       "span": span_of(words, first, first if last is None else last)})


def largest_difference(answers, truths):
    """Relative to the largest number of a vector."""
    assert len(answers) == len(truths)
    return max(abs(numpy.array(answer["vector"]) - truth).max() / abs(truth).max()
               for answer, truth in zip(answers, truths))


@pytest.fixture(scope="session", params=["tiny", "larger", "tanh, no clips, three layers"])
def reference(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elmo")
    if request.param == "tiny":
        return elmo_models.write(folder, elmo_models.TINY)
    if request.param == "larger":
        return elmo_models.write(folder, elmo_models.LARGER, names=("elmo_2x300_options.json", "elmo_2x300_weights.hdf5"))
    shape = elmo_models.TINY | {"layers": 3, "highways": 1}
    options = elmo_models.options_of(shape, "tanh", cell_clip=None, projection_clip=None)
    return elmo_models.write(folder, shape, options, ("options.json", "lm_weights.hdf5"))


def test_every_layer_equals_the_published_algorithm(reference):
    layers = reference.options["lstm"]["n_layers"]
    lines, truths = [], []
    for words in sentences(12, 1) + [LONG_WORDS, ["d" * 300], ["\u65e5" * 17, "x"]]:
        hidden = reference.hidden(words)
        for place in {0, len(words) // 2, len(words) - 1}:
            for layer in range(layers + 1):
                lines.append(embed(words, place, layer=layer - random.Random(place).choice([0, layers + 1])))
                truths.append(hidden[layer][place])
    answers, status, _ = run("query", reference.folder, lines)
    assert status == 0
    assert largest_difference(answers, truths) < 1e-5
    if reference.options["lstm"]["cell_clip"]:
        assert min(reference.clipped.values()) > 0      # or the clips would not be tested


def test_the_sum_of_layers_and_words_alone(reference):
    words = "the old nurse said".split()
    hidden = reference.hidden(words)
    lines = [embed(words, 2, layer="sum"), embed(words, 1, 2, "sum"), embed(words, 2, layer="input"),
             embed(["nurse"], 0, layer="input")]
    answers, status, _ = run("query", reference.folder, lines)
    assert status == 0
    own = reference.word_vector("nurse")
    assert largest_difference(answers, [hidden.sum(0)[2], hidden.sum(0)[1:3].mean(0), own, own]) < 1e-5
    assert answers[2] == answers[3]


def test_words_over_48_bytes_are_cut(reference):
    answers, status, _ = run("query", reference.folder, [embed([word], 0) for word in ("a" * 47, "a" * 48, "a" * 49, "a" * 90)])
    assert status == 0
    assert answers[1] == answers[2] == answers[3] != answers[0]


def test_a_span_pools_its_words(reference):
    words = sentences(20, 2)[-1] + "and so it goes".split()
    hidden = reference.hidden(words)[1]
    lines = [embed(words, 1, 3, 1, pool) for pool in ("mean", "first", "last")]
    lines.append(json.dumps({"kind": "embed", "text": "So: nurse-led.", "span": [6, 11], "layer": 1}))
    answers, status, _ = run("query", reference.folder, lines)
    assert status == 0
    truths = [hidden[1:4].mean(0), hidden[1], hidden[3], reference.hidden(["So", ":", "nurse", "-", "led", "."])[1][2:5].mean(0)]
    assert largest_difference(answers, truths) < 1e-5


def test_an_answer_depends_on_its_own_line_alone(reference):
    lines = [embed(words, len(words) - 1) for words in sentences(15, 3)]
    first, _, _ = run("query", reference.folder, lines)
    order = list(range(15)) * 2
    random.Random(4).shuffle(order)
    second, status, _ = run("query", reference.folder, ["no query"] + [lines[i] for i in order])
    assert status == 1
    assert second[1:] == [first[i] for i in order]


def test_bfloat16_stays_near(reference):
    lines, truths = [], []
    for words in sentences(10, 5):
        lines += [embed(words, 0, layer=layer) for layer in (0, 1, 2)]
        truths += list(reference.hidden(words)[:3, 0])
    answers, status, _ = run("query", reference.folder, lines, "--dtype", "bfloat16")
    assert status == 0
    assert 1e-4 < largest_difference(answers, truths) < most_error("bfloat16", 3, 1)


def test_float16_is_refused_by_name(reference):
    _, status, said = run("query", reference.folder, [], "--dtype", "float16")
    assert status == 2
    assert "an ELMo model in float16" in said and "float32 or bfloat16" in said


def test_threads_change_the_last_bits_at_most(reference):
    lines = [embed(words, 0) for words in sentences(6, 6)]
    one, _, _ = run("query", reference.folder, lines)
    two, status, _ = run("query", reference.folder, lines, "--threads", "2")
    assert status == 0
    assert largest_difference(two, [numpy.array(answer["vector"]) for answer in one]) < 1e-5


def test_tokens_are_words_without_ids(reference):
    answers, status, _ = run("tokenize", reference.folder, ["The nurse's caf\u00e9.", "", "  "])
    assert status == 0
    assert answers[0] == {"ids": [], "offsets": [[0, 3], [4, 9], [9, 10], [10, 11], [12, 17], [17, 18]]}
    assert answers[1] == answers[2] == {"ids": [], "offsets": []}


def test_what_elmo_cannot_answer_is_an_error_of_the_line(reference):
    lines = ['{"kind":"fill","text":"a","ids":[]}', '{"kind":"continue","prompt":"a","continuations":["b"]}',
             embed(["a", "b"], 0, layer=9), '{"kind":"embed","text":"a  b","span":[1,3]}',
             '{"kind":"embed","text":"%s","span":[0,1]}' % ("a " * 4097), embed(["a", "b"], 0)]
    answers, status, _ = run("query", reference.folder, lines)
    assert status == 1
    for answer, words in zip(answers, ["'embed' alone", "'embed' alone", "layer 9", "no word overlaps", "too long"]):
        assert words in answer["error"]
    assert "vector" in answers[-1]


def refused(folder, *words):
    _, status, error = run("query", folder, [embed(["a"], 0)])
    assert status == 2, error
    for word in words:
        assert word in error, error


@pytest.fixture
def tiny(tmp_path):
    return elmo_models.write(tmp_path / "elmo", elmo_models.TINY).folder


def test_files_that_are_missing_or_double_are_named(tiny):
    (tiny / "weights.hdf5").rename(tiny / "my_weights.hdf5")
    (tiny / "other_weights.hdf5").write_bytes((tiny / "my_weights.hdf5").read_bytes())
    refused(tiny, "my_weights.hdf5", "other_weights.hdf5")
    for name in ("my_weights.hdf5", "other_weights.hdf5"):
        (tiny / name).unlink()
    refused(tiny, "weights.hdf5")


@pytest.mark.parametrize("change, words", [
    (lambda o: o["lstm"].pop("dim"), ["options.json", "lstm.dim"]),
    (lambda o: o["lstm"].update(use_skip_connections=False), ["lstm.use_skip_connections"]),
    (lambda o: o["lstm"].update(dim=17), ["weights.hdf5", "LSTMCell", "shape"]),
    (lambda o: o["lstm"].update(n_layers=3), ["Cell2", "missing"]),
    (lambda o: o["char_cnn"].update(activation="gelu"), ["char_cnn.activation"]),
    (lambda o: o["char_cnn"].update(n_characters=300), ["char_cnn.n_characters"]),
    (lambda o: o["char_cnn"].update(filters=[[51, 3]]), ["char_cnn.filters"]),
    (lambda o: o["char_cnn"].update(filters=[[50, 65536]]), ["char_cnn.filters"]),
    (lambda o: o.pop("char_cnn"), ["char_cnn"]),
])
def test_options_are_checked(tiny, change, words):
    options = json.loads((tiny / "options.json").read_text())
    change(options)
    (tiny / "options.json").write_text(json.dumps(options))
    refused(tiny, *words)


def put(folder, path, values):
    with h5py.File(folder / "weights.hdf5", "r+") as file:
        del file[path]
        if values is not None:
            file[path] = values


@pytest.mark.parametrize("values, words", [
    (None, ["missing"]), (numpy.zeros((32, 8), numpy.float32), ["shape [32, 8]"]), (numpy.zeros((124, 8)), ["float32"]),
    (numpy.full((124, 8), numpy.nan, numpy.float32), ["NaN"]), (h5py.SoftLink("/char_embed"), ["link"]),
    (h5py.ExternalLink("/etc/passwd", "/x"), ["link"])])
def test_data_sets_are_checked(tiny, values, words):
    put(tiny, "CNN_proj/W_proj", values)
    refused(tiny, "weights.hdf5", "CNN_proj/W_proj", *words)


def test_damaged_weights_never_hang_or_crash(tiny):
    """Cut off, overwritten and flipped files end with 2 and the file's name, or are read where only numbers changed."""
    whole = (tiny / "weights.hdf5").read_bytes()
    draw = random.Random(7)
    for number in range(36):
        damaged = bytearray(whole)
        if number % 3 == 0:
            del damaged[draw.randrange(len(damaged)):]
        elif number % 3 == 1:
            begin = draw.randrange(len(damaged))
            damaged[begin:begin + 400] = draw.randbytes(len(damaged[begin:begin + 400]))
        else:
            for _ in range(40):
                damaged[draw.randrange(4096)] = draw.randrange(256)
        (tiny / "weights.hdf5").write_bytes(damaged)
        answers, status, error = run("query", tiny, [embed(["a"], 0)])
        assert status in ((2,) if number % 3 == 0 else (0, 1, 2)), (number, status, error)
        assert "weights.hdf5" in error if status == 2 else answers, error
    (tiny / "weights.hdf5").write_bytes(b"")
    refused(tiny, "weights.hdf5")
