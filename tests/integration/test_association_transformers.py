"""`run` of an association job against the published way of scoring: one sentence a forward, word by word.

Everything but the prompts is done again here with tokenizers, transformers and numpy: subwords in context, filling from
left to right, class masses by the tokens' spelling, SeT by the published walk (Bittorf et al. 2012, algorithm 5).
"""
import os
import subprocess
from pathlib import Path

import h5py
import numpy
import pytest
import torch
from tiny_models import make_bert, make_roberta

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("STEREOSWEEP_PROGRAM", ROOT / "build/release/bin/stereosweep"))
torch.set_num_threads(1)       # tiny models: threads only wait for each other
PLACE = "{trait}"
CUBES = ["logprob", "log_mass_initial", "log_mass_continuation", "set_distance_bias", "set_distance_plain"]
JOB = """
schema: stereosweep/1
name: naive
model: {path: MODEL}
probe: association
axes:
  groups:
    - {label: nurses, domain: job, singular: nurse, plural: nurses}
    - {label: old farmers, domain: age, singular: old farmer, plural: old farmers}
  traits:
    - {label: cold - warm, dimension: communion, left: [cold, unfriendly], right: [warm, warm-hearted]}
    - {label: poor - rich, dimension: agency, left: [poor], right: [rich, wealthy]}
  templates:
    - {label: plain, kind: plural, text: "Most {group} are {trait}."}
    - {label: single, kind: singular, text: "{a group} is {trait}, they said."}
    - {label: first, kind: trait first, text: "{trait} is what all {group} are."}
    - {label: hyphen, kind: plural, text: "The {group} are never-{trait} people."}
  rephrasings:
    - {label: none, wrapper: "{prompt}"}
    - {label: think, wrapper: "People think: {prompt}"}
"""


@pytest.fixture(scope="module", params=["bert", "roberta"])
def scored(request, tmp_path_factory):
    """(reference model, result file) of a finished run."""
    folder = tmp_path_factory.mktemp(request.param)
    reference = (make_bert if request.param == "bert" else make_roberta)(folder / "model")
    (folder / "job.yaml").write_text(JOB.replace("MODEL", str(folder / "model")))
    done = subprocess.run([PROGRAM, "run", folder / "job.yaml", "--output", folder / "out"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return reference, next((folder / "out").rglob("association.h5"))


def pieces_of(reference, before, word, after):
    """Ids of the word in its text."""
    encoding = reference.tokenizer.encode(before + word + after, add_special_tokens=False)
    return [token for token, (start, end) in zip(encoding.ids, encoding.offsets)
            if start < len(before) + len(word) and end > len(before)]


@torch.inference_mode()
def read_row(reference, tokens, place):
    """(logits, vector that enters the decoder, the decoder's bias) at one place, in float64."""
    kept = []
    decoder = reference.model.get_output_embeddings()
    hook = decoder.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0]))
    logits = reference.model(torch.tensor([tokens])).logits[0, place]
    hook.remove()
    return logits.double().numpy(), kept[0][0, place].double().numpy(), decoder.bias.detach().double().numpy()


def set_distance(logits, square, target):
    """Frobenius norm of the least change of the decoder that makes `target` win by 1: the published walk."""
    gaps = (logits - logits[target] + 1) / square
    walked = numpy.sort(numpy.delete(gaps, target))[::-1]
    mean = 0.0
    for count, gap in enumerate(walked, start=1):
        if gap <= mean:
            break
        mean = (count * mean + gap) / (count + 1)
    change = numpy.minimum(0, mean - gaps)
    change[target] = mean
    return numpy.sqrt(square) * numpy.linalg.norm(change)


def naive_cell(reference, before, word, after):
    """Per subword: log-probability, both class masses, both SeT distances."""
    ids = pieces_of(reference, before, word, after)
    text = before + reference.mask_token * len(ids) + after
    tokens = reference.tokenizer.encode(text).ids
    first = before.count(reference.mask_token)
    places = [place for place, token in enumerate(tokens) if token == reference.mask_id][first:first + len(ids)]
    spelled = [reference.tokenizer.id_to_token(token) or "" for token in range(reference.width)]
    is_bert = reference.mask_token == "[MASK]"
    initial = numpy.array([not token.startswith("##") if is_bert else token.startswith("Ġ") for token in spelled])
    rows = []
    for number, (place, token) in enumerate(zip(places, ids)):
        for filled in range(number):
            tokens[places[filled]] = ids[filled]
        logits, hidden, bias = read_row(reference, tokens, place)
        logs = logits - numpy.logaddexp.reduce(logits)
        square = hidden @ hidden
        rows.append([logs[token], numpy.logaddexp.reduce(logs[initial]), numpy.logaddexp.reduce(logs[~initial]),
                     set_distance(logits, square + 1, token), set_distance(logits - bias, square, token)])
    return rows


def text_of(values):
    """Strings of an HDF5 dataset."""
    return [value.decode() if isinstance(value, bytes) else value for value in values]


def test_every_raw_number_equals_the_published_way(scored):
    reference, path = scored
    with h5py.File(path) as file:
        def whole(name, *shape):
            """Priors, then groups."""
            parts = [file[part].asstr()[...] if file[part].dtype == object else file[part][...]
                     for part in ("prior_" + name, name)]
            return numpy.concatenate(parts).reshape(-1, *shape)

        words = text_of(file["word"][...])
        axis = len(file["subword"])
        prompts = whole("prompt")
        counts, status = whole("num_subwords", len(words)), whole("status", len(words))
        cubes = [whole(name, len(words), axis) for name in CUBES]
    assert len(prompts) == 4 * 4 * 2
    assert max(counts.flat) == axis > 2
    largest = 0.0
    for context, prompt in enumerate(prompts):
        before, after = prompt.split(PLACE)
        for place, word in enumerate(words):
            rows = naive_cell(reference, before, word if before else word.capitalize(), after)
            assert counts[context, place] == len(rows)
            assert status[context, place] in (0, 1)
            got = numpy.array([cube[context, place] for cube in cubes]).T
            assert numpy.isnan(got[len(rows):]).all()
            largest = max(largest, abs(got[:len(rows)] - rows).max())
            reaches_one = got[:len(rows), 3:].max() >= 1
            assert status[context, place] == int(reaches_one)
    print(f"largest difference {largest:.2e}")
    assert largest < 1e-4
