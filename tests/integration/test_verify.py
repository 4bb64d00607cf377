"""`verify`: blocks of a run scored again, and what is said where they are not the same."""

import hashlib
import re
import shutil

import context_jobs
import numpy
import pytest
import runs
import safetensors.numpy

JOB = runs.ROOT / "jobs/10_planted.yaml"
SMALL = ["axes.groups={file: abc_groups, only: [women, men, teenagers]}"]


def verify(directory, *arguments, code=0):
    status, out, err = runs.finish(runs.start_program("verify", directory, *arguments))
    assert status == code, out + err
    return out + err


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A run of the tiny masked model, and the model's own folder."""
    folder = tmp_path_factory.mktemp("verify")
    shutil.copytree(runs.ROOT / "tests/models/planted", folder / "model")
    code, _, err = runs.run(JOB, folder / "run", f"model.path={folder / 'model'}", *SMALL, ranks=2)
    assert code == 0, err
    return folder


def test_the_same_machine_gives_the_same_bits(planted):
    out = verify(planted / "run")
    assert re.search(r"^1 of \d+ blocks scored again \(seed 1\)$", out, re.M), out
    out = verify(planted / "run", "--sample", "1")
    total = runs.status(planted / "run")["blocks"]["total"]
    assert f"{total} of {total} blocks scored again" in out and re.search(r"numbers: [\d,]+ compared, all equal$", out, re.M)
    assert "level A: every number" in out and "differs from the run" not in out


def test_a_sample_follows_its_seed(planted):
    numbers = [re.search(r"numbers: ([\d,]+) compared", verify(planted / "run", "--sample", "0.2", "--seed", seed))[1]
               for seed in ("1", "1", "2", "3", "4", "5")]
    assert numbers[0] == numbers[1]


def test_other_settings_are_named(planted, tmp_path):
    """The journal is made that of a run with other batches, threads and software: its numbers stay."""
    shutil.copytree(planted / "run", tmp_path / "run")
    runs.rewrite_journal(tmp_path / "run", settings={"libtorch": "2.10.0", "execution.batch_tokens": "77"})
    out = verify(tmp_path / "run", "--sample", "1")
    assert "differs from the run: libtorch: 2.10.0, now 2.11.0" in out
    assert "differs from the run: execution.batch_tokens: 77, now " in out and "level A" in out


def test_a_journal_that_cannot_be_read_is_named_with_its_damage(planted, tmp_path):
    shutil.copytree(planted / "run", tmp_path / "run")
    journal, = (tmp_path / "run/journal").glob("*.log")
    journal.write_bytes(bytes(8) + journal.read_bytes()[8:])
    for command in ("verify", "export"):
        done = runs.program(command, tmp_path / "run")
        assert done.returncode == 2 and f"{journal}: ignored (its first bytes are no journal's)" in done.stderr, done.stderr


def test_a_model_with_other_weights_is_refused(planted):
    weights = planted / "model/model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    out = verify(planted / "run", code=2)
    weights.write_bytes(content)
    assert "the model is not the one that the run has read" in out and "model/model.safetensors: other content" in out


def with_other_numbers(planted, folder, factor, **settings):
    """A run whose journal says what this machine says, but for `settings`, and whose model was another: the weights of
    its word vectors are multiplied by `factor`."""
    shutil.copytree(planted / "model", folder / "model")
    weights = folder / "model/model.safetensors"
    original = weights.read_bytes()
    tensors = safetensors.numpy.load(original)
    name = "bert.embeddings.word_embeddings.weight"
    safetensors.numpy.save_file({**tensors, name: tensors[name] * numpy.float32(factor)}, weights)
    code, _, err = runs.run(JOB, folder / "run", f"model.path={folder / 'model'}", *SMALL)
    assert code == 0, err
    weights.write_bytes(original)
    runs.rewrite_journal(folder / "run", settings={"model/model.safetensors": hashlib.sha256(original).hexdigest(), **settings})
    return folder / "run"


def test_numbers_of_another_machine_agree_within_a_tolerance(planted, tmp_path):
    out = verify(with_other_numbers(planted, tmp_path, 1 + 2e-7, device="another processor"), "--sample", "1")
    assert "level C: machine or software differ, and the numbers agree within 0.0001" in out
    assert re.search(r"[1-9][\d,]* differ, by at most \S+ \(logprob of group ", out), out


def test_numbers_of_other_settings_agree_within_a_tolerance(planted, tmp_path):
    out = verify(with_other_numbers(planted, tmp_path, 1 + 2e-7, **{"execution.batch_tokens": "77"}), "--sample", "1")
    assert "level B: the settings differ, and the numbers agree within 0.0001" in out


def test_numbers_that_nothing_explains(planted, tmp_path):
    out = verify(with_other_numbers(planted, tmp_path, 1 + 2e-7), "--sample", "1", code=1)
    assert "NOT verified: nothing that is known to change a bit differs" in out


def test_numbers_that_are_too_far(planted, tmp_path):
    out = verify(with_other_numbers(planted, tmp_path, 1.5, device="another processor"), "--sample", "1", code=1)
    assert "NOT verified: the numbers differ by more than 0.0001" in out


def test_sampled_texts(tmp_path):
    code, _, err = runs.run(runs.ROOT / "jobs/04_example_interview.yaml", tmp_path / "run")
    assert code == 0, err
    out = verify(tmp_path / "run", "--sample", "0.5")
    assert "level A" in out and re.search(r"statuses and texts: [\d,]+ compared, all equal", out), out


def test_vectors_of_words_in_sentences(tmp_path):
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt")
    job = context_jobs.write_job(tmp_path / "job.yaml", runs.ROOT / "tests/models/letters", corpus)
    code, _, err = runs.run(job, tmp_path / "run")
    assert code == 0, err
    out = verify(tmp_path / "run", "--sample", "1")
    assert out.startswith("vectors: ") and "level A" in out


def test_what_cannot_be_verified(tmp_path):
    for sample in ("0", "1.5", "-1"):
        assert f"--sample {sample} is no share" in verify(tmp_path, f"--sample={sample}", code=2)
    assert "is a job" in verify(runs.SMOKE, code=2)
    assert "job.resolved.yaml" in verify(tmp_path, code=2)
