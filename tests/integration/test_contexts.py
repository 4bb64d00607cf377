"""A contexts job from its corpus to its effects: one digest on any number of ranks, killed and resumed, reused; numbers
against numpy."""

import json
import re
import os
import pathlib
import random
import shutil
import signal
import time

import context_jobs
import elmo_models
import h5py
import numpy
import philox
import pytest
import runs
import xarray

LETTERS = runs.ROOT / "tests/models/letters"
PLANTED = runs.ROOT / "tests/models/planted"
SLOW = "block_start:*:delay=25"


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    corpus = context_jobs.write_corpus(folder / "corpus.txt")
    return context_jobs.write_job(folder / "job.yaml", LETTERS, corpus)


@pytest.fixture(scope="module")
def reference(job):
    output = job.parent / "reference"
    code, out, err = runs.run(job, output)
    assert code == 0, err
    assert runs.digest(output) in out
    assert "words without a context: flea" in err and "poppy 2 (2)" in err
    assert "T3: x without flea (no vector); cannot be computed: set x has no word with a vector" in err
    return output


def journal_bytes(output, stage):
    return sum(path.stat().st_size for path in pathlib.Path(output).glob(f"journal/{stage}/*.log"))


def same_numbers(output, reference):
    vectors = [path / "contexts.vectors.h5" for path in (output, reference)]
    with h5py.File(vectors[0]) as one, h5py.File(vectors[1]) as other:
        assert numpy.array_equal(one["vector"], other["vector"], equal_nan=True)
    assert runs.digest(output) == runs.digest(reference)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_same_digest_on_any_number_of_ranks(job, reference, tmp_path, ranks):
    code, _, err = runs.run(job, tmp_path / "run", ranks=ranks)
    assert code == 0, err
    same_numbers(tmp_path / "run", reference)
    state = runs.status(tmp_path / "run")
    assert state["state"] == "done" and state["stage"] == "effects"
    assert state["work"] == runs.status(reference)["work"]
    names = ["contexts.sample", "contexts.words"]
    assert [(tmp_path / "run" / name).read_bytes() for name in names] == [(reference / name).read_bytes() for name in names]


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_random_moments_of_each_stage(job, reference, tmp_path, seed):
    chosen = random.Random(seed)
    output = tmp_path / "run"
    for stage in ("vectors", "effects"):
        ranks = chosen.randint(1, 4)
        before = journal_bytes(output, stage)
        process = runs.start(job, output, ranks=ranks, inject=SLOW)
        runs.wait_for(lambda: journal_bytes(output, stage) > before + 500 or process.poll() is not None)
        time.sleep(chosen.uniform(0, 0.3))
        runs.kill_tree(process)
        process.communicate()
    code, _, err = runs.run(job, output, ranks=chosen.randint(1, 4))
    assert code == 0, err
    same_numbers(output, reference)


@pytest.mark.parametrize("stage", ["vectors", "effects"])
def test_signal_stops_each_stage_cleanly(job, reference, tmp_path, stage):
    output = tmp_path / "run"
    if stage == "effects":  # only this stage is left
        shutil.copytree(reference, output)
        shutil.rmtree(output / "journal/effects")
        (output / "status.json").unlink()
    process = runs.start_held(job, output, ranks=2)
    os.kill(runs.rank_processes(process)[-1], signal.SIGUSR1)
    code, _, err = runs.finish(process)
    state = runs.status(output)
    assert code == 75 and state["state"] == "stopped" and state["stage"] == stage, err
    code, _, err = runs.run(job, output)
    assert code == 0, err
    same_numbers(output, reference)


def test_an_overtaken_attempt_writes_no_vectors(job, reference, tmp_path):
    output = tmp_path / "run"
    process = runs.start(job, output, inject=runs.hold(output, 1, "step:finish_stage"))
    whole = journal_bytes(reference, "vectors")
    runs.wait_for(lambda: journal_bytes(output, "vectors") == whole or process.poll() is not None)
    (output / "journal/epoch.2").touch()  # as a newer attempt on another node does
    runs.release(output)
    code, _, err = runs.finish(process)
    assert code == 1 and "newer attempt has taken over" in err, err
    assert not list(output.glob("contexts.vectors.h5*")) and not (output / "contexts.words").exists()


def test_failure_in_stage_effects_names_its_cause(job, reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    shutil.rmtree(tmp_path / "run/journal/effects")
    (tmp_path / "run/status.json").unlink()
    code, _, err = runs.run(job, tmp_path / "run", ranks=2, inject="block_done:1:throw:1")
    assert code == 1 and "injected fault" in err
    assert runs.status(tmp_path / "run")["stage"] == "effects"
    assert runs.run(job, tmp_path / "run")[0] == 0
    same_numbers(tmp_path / "run", reference)


def test_slow_rank_between_two_stages_is_waited_for(job, reference, tmp_path):
    steps = (("open_directory", 1), ("finish_stage", 0))
    slow = ",".join(f"step:{step}:1:delay=3000:{rank}" for step, rank in steps)
    code, _, err = runs.run(job, tmp_path / "run", ranks=2, inject=slow, environment={"STEREOSWEEP_RANK_TIMEOUT_S": "2"})
    assert code == 0, err
    same_numbers(tmp_path / "run", reference)


def test_killed_rank_between_two_stages_ends_all(job, reference, tmp_path):
    code, _, err = runs.run(job, tmp_path / "run", ranks=3, inject="step:finish_stage:1:kill:2",
                            environment=runs.PATIENT_LAUNCHER)
    assert code not in (0, 75), err
    state = runs.status(tmp_path / "run")
    assert state["state"] == "lost" and re.match(r"rank 2 on \S+ has died \((signal KILL|process)", state["cause"]), state
    assert runs.run(job, tmp_path / "run")[0] == 0
    same_numbers(tmp_path / "run", reference)


def test_rank_that_hangs_between_two_stages_ends_all(job, reference, tmp_path):
    limit = {"STEREOSWEEP_WAIT_TIMEOUT_S": "3"}
    code, _, err = runs.run(job, tmp_path / "run", ranks=3, inject="step:finish_stage:1:hang:1", environment=limit)
    assert code not in (0,), err
    assert "has not ended within 3 s (another rank hangs, was stopped, or its node is gone)" in err
    assert runs.run(job, tmp_path / "run")[0] == 0
    same_numbers(tmp_path / "run", reference)


def test_finished_run_is_left_alone(job, reference):
    files = sorted(path for path in reference.rglob("*") if path.is_file() and path.name not in ("log", "status.json"))
    files = [path for path in files if not path.name.startswith("epoch")]
    before = [(path, path.stat().st_mtime_ns) for path in files if path.name != "job.resolved.yaml"]
    code, _, err = runs.run(job, reference)
    assert code == 0 and "nothing to do" in err
    assert [(path, path.stat().st_mtime_ns) for path, _ in before] == before


def test_sentences_of_the_corpus_are_their_owners_alone(reference):
    with_sentences = [reference / "contexts.sample", reference / "contexts.vectors.h5"]
    with_sentences += (reference / "journal").glob("*/*.log")
    assert len(with_sentences) > 2
    assert {path.name: path.stat().st_mode & 0o077 for path in with_sentences if path.stat().st_mode & 0o077} == {}


def test_effects_are_what_numpy_makes_of_the_vectors(reference):
    vectors = xarray.open_dataset(reference / "contexts.vectors.h5", engine="netcdf4")
    effects = xarray.open_dataset(reference / "contexts.h5", engine="netcdf4")
    samples = effects.sizes["sample"]
    units = {}
    for word in vectors.word.values:
        rows = vectors.vector.sel(word=word).values[vectors.status.sel(word=word).values == 0].astype(numpy.float64)
        units[word] = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
    for label in effects.test.values[:2]:
        test = effects.sel(test=label)
        sets = [json.loads(str(test[f"test_{name}_words"].values)) for name in "xyab"]
        drawn = {
            word: units[word][philox.contexts_drawn(5, label, samples, word, len(units[word]))]
            for word in sum(sets, [])
        }
        x, y, a, b = ([drawn[word] for word in words] for words in sets)
        targets = x + y
        with_a = numpy.stack([numpy.stack([(t * c).sum(1) for c in a]) for t in targets])
        with_b = numpy.stack([numpy.stack([(t * c).sum(1) for c in b]) for t in targets])
        association = with_a.mean(1) - with_b.mean(1)
        ours = test.association.values.T
        assert numpy.isnan(ours[len(targets):]).all()
        numpy.testing.assert_allclose(ours[: len(targets)], association, rtol=1e-12, atol=1e-15)
        if len(y) > 0:
            deviation = association.std(0, ddof=1)
            size = (association[: len(x)].mean(0) - association[len(x):].mean(0)) / deviation
            numpy.testing.assert_allclose(test.effect_size.values, size, rtol=1e-12, atol=1e-14)
            numpy.testing.assert_allclose(test.association_variance.values, deviation**2, rtol=1e-12)
        else:
            cosines = numpy.concatenate([with_a, with_b], axis=1)  # [target, attribute, sample]
            deviation = cosines.std(1, ddof=1)
            ours = test.cosine.values[:, : len(targets), : len(a + b)].transpose(1, 2, 0)
            assert ours.dtype == numpy.float32
            numpy.testing.assert_allclose(ours, cosines, rtol=1e-6, atol=1e-7)
            numpy.testing.assert_allclose(test.association_deviation.values.T[: len(targets)], deviation, rtol=1e-12)
            assert numpy.isnan(test.effect_size.values).all()
        assert (test.status.values == 0).all()
    assert (effects.sel(test="T3").status.values == 1).all()


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_opens_both_files(reference, engine):
    with xarray.open_dataset(reference / "contexts.vectors.h5", engine=engine) as vectors:
        assert vectors.vector.dims == ("word", "context", "dimension") and vectors.vector.dtype == numpy.float32
        assert str(vectors.sentence.sel(word="poppy").values[0]).count("poppy") == 1
    with xarray.open_dataset(reference / "contexts.h5", engine=engine) as effects:
        assert effects.effect_size.dims == ("test", "sample") and effects.sizes["sample"] == 600
        assert json.loads(str(effects.test_missing.values[2])) == ["flea"]
        assert list(effects.word_found.sel(word=["flea", "poppy"]).values) == ["0", "2"]


def test_kept_as_float16(job, reference, tmp_path):
    code, _, err = runs.run(job, tmp_path / "run", "vectors.keep=float16")
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == runs.digest(reference)
    with h5py.File(tmp_path / "run/contexts.vectors.h5") as half, h5py.File(reference / "contexts.vectors.h5") as whole:
        expected = whole["vector"][()].astype(numpy.float16).astype(numpy.float32)
        assert numpy.array_equal(half["vector"][()], expected, equal_nan=True)
        assert half["vector"].id.get_storage_size() < 0.75 * whole["vector"].id.get_storage_size()
    code, _, err = runs.run(job, tmp_path / "run", "vectors.keep=float32")
    assert code == 0, err
    same_numbers(tmp_path / "run", reference)


def test_vectors_lie_in_the_journal_until_they_are_exported(job, reference, tmp_path):
    output = tmp_path / "run"
    code, _, err = runs.run(job, output, "vectors.keep=journal", ranks=2)
    assert code == 0, err
    assert runs.digest(output) == runs.digest(reference)
    assert not any((output / name).exists() for name in ("vectors.bin", "contexts.vectors.h5"))
    shutil.rmtree(output / "journal/effects")  # what needs the vectors again makes their store of the journal
    (output / "contexts.h5").unlink()
    (output / "vectors.bin").write_bytes(b"what an earlier start has left")
    code, _, err = runs.run(job, output, "vectors.keep=journal")
    assert code == 0, err
    assert runs.finish(runs.start_program("export", output))[0] == 0
    same_numbers(output, reference)
    code, _, err = runs.run(job, output, "vectors.keep=journal")
    assert code == 0 and "nothing to do" in err
    assert (output / "contexts.vectors.h5").exists() and not (output / "vectors.bin").exists()


@pytest.mark.parametrize("name, stage, commands", [("contexts.sample", "vectors", ("verify", "export")), ("contexts.words", "effects", ("export",))])
@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_bytes(b"x" + file.read_bytes()[1:])])
def test_a_file_that_is_gone_from_beside_a_journal(job, reference, tmp_path, name, stage, commands, damage):
    output = tmp_path / "run"
    shutil.copytree(reference, output)
    damage(output / name)
    for command in commands:
        done = runs.program(command, output)
        assert done.returncode == 2 and f"a file beside the journal of its {stage} is missing or damaged" in done.stderr, done
    assert runs.run(job, output)[0] == 0
    assert (output / name).read_bytes() == (reference / name).read_bytes()
    for command in commands:
        done = runs.program(command, output)
        assert done.returncode == 0 and "differs from the run" not in done.stdout, done


def test_nothing_kept_and_still_known_to_be_done(job, reference, tmp_path):
    output = tmp_path / "run"
    code, _, err = runs.run(job, output, "vectors.keep=none", ranks=2)
    assert code == 0, err
    assert runs.digest(output) == runs.digest(reference)
    assert not any((output / name).exists() for name in ("vectors.bin", "contexts.vectors.h5", "journal/vectors"))
    content = (output / "contexts.h5").read_bytes()
    code, _, err = runs.run(job, output, "vectors.keep=none")
    assert code == 0 and "nothing to do" in err
    (output / "contexts.h5").unlink()
    code, _, err = runs.run(job, output, "vectors.keep=none")
    assert code == 0 and "nothing to do" not in err
    assert (output / "contexts.h5").read_bytes() == content
    assert not (output / "journal/vectors").exists()
    code, _, err = runs.run(job, output, "vectors.keep=float32")  # wanted after all: computed again
    assert code == 0, err
    same_numbers(output, reference)


def test_added_word_is_all_that_is_computed_with_reuse(job, reference, tmp_path):
    sets = {**context_jobs.SETS, "x": [*context_jobs.SETS["x"][:2], "never", *context_jobs.SETS["x"][2:]]}
    new = context_jobs.write_job(tmp_path / "new.yaml", LETTERS, job.parent / "corpus.txt", sets)
    code, _, err = runs.run(new, tmp_path / "new", "--reuse", reference, ranks=2)
    assert code == 0, err
    per_word = 3  # 12 contexts in blocks of 4
    words = len(set(sum(context_jobs.SETS.values(), [])))
    assert f"reused {words * per_word} of {(words + 1) * per_word} blocks of stage vectors" in err
    assert runs.run(new, tmp_path / "fresh")[0] == 0
    same_numbers(tmp_path / "new", tmp_path / "fresh")


@pytest.mark.parametrize("name", ["contexts.sample", "contexts.words", "contexts.vectors.h5", "contexts.h5"])
def test_damaged_file_is_made_anew(job, reference, tmp_path, name):
    output = tmp_path / "run"
    shutil.copytree(reference, output)
    content = bytearray((output / name).read_bytes())
    content[len(content) // 2] ^= 1
    (output / name).write_bytes(content)
    code, _, err = runs.run(job, output)
    assert code == 0 and "anew" in err, err
    assert (output / name).read_bytes() == (reference / name).read_bytes()
    same_numbers(output, reference)


def test_other_sample_than_the_journal_was_made_from_is_refused(tmp_path):
    output = tmp_path / "run"
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt")
    own_job = context_jobs.write_job(tmp_path / "job.yaml", LETTERS, corpus)
    code, _, err = runs.run(own_job, output)
    assert code == 0, err
    sample = (output / "contexts.sample").read_bytes()
    (output / "contexts.sample").unlink()
    context_jobs.write_corpus(corpus, seed=2)
    code, _, err = runs.run(own_job, output)
    assert code == 2 and "contexts.sample" in err
    context_jobs.write_corpus(corpus)
    code, _, err = runs.run(own_job, output)  # the right corpus again: nothing was left of the other
    assert code == 0, err
    assert len((output / "contexts.sample").read_bytes()) == len(sample)


def test_changed_corpus_is_noticed(tmp_path):
    output = tmp_path / "run"
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt")
    own_job = context_jobs.write_job(tmp_path / "job.yaml", LETTERS, corpus)
    assert runs.run(own_job, output)[0] == 0
    digest = runs.digest(output)
    context_jobs.write_corpus(corpus)  # only its time is another one
    code, _, err = runs.run(own_job, output, ranks=2)
    assert code == 0 and "corpus.txt was written at another time" in err and "nothing to do" in err, err
    code, _, err = runs.run(own_job, output)
    assert code == 0 and "another time" not in err, err
    text = corpus.read_text()
    corpus.write_text(text + "a rose more\n")
    code, _, err = runs.run(own_job, output, ranks=3)
    assert code == 2 and f"corpus.txt: {len(text):,} bytes became {len(text) + 12:,}" in err, err
    assert runs.status(output)["state"] == "done"
    corpus.write_text(text + "nothing new\n")  # no word of the tests: the sample's counts differ all the same
    assert runs.run(own_job, output)[0] == 2
    corpus.unlink()
    code, _, err = runs.run(own_job, output)
    assert code == 0 and "used as it is" in err and "nothing to do" in err, err
    assert runs.digest(output) == digest


def test_corpus_of_the_same_name_elsewhere_is_another_job(job, reference, tmp_path):
    output = tmp_path / "run"
    shutil.copytree(reference, output)
    other = context_jobs.write_corpus(tmp_path / "corpus.txt", seed=2)
    code, _, err = runs.run(job, output, f"corpus.files=[{other}]")
    assert code == 2 and "corpus.files" in err


def test_export_of_a_run_that_is_not_finished(job, tmp_path):
    output = tmp_path / "run"
    process = runs.start_held(job, output)
    runs.kill_tree(process)
    process.communicate()
    code, out, err = runs.finish(runs.start_program("export", output))
    assert code == 0 and "contexts.vectors.h5" in out and "NOT complete" in out, err
    with h5py.File(output / "contexts.vectors.h5") as raw:
        assert b"not_scored" in raw["status"].attrs["flag_meanings"].encode()
        assert raw.attrs["complete"] == 0


def test_overwrite_removes_what_a_run_left(job, reference, tmp_path):
    shutil.copytree(reference, tmp_path / "run")
    (tmp_path / "run/notes.txt").write_text("mine")
    code, _, err = runs.run(job, tmp_path / "run", "seed=6", "--overwrite")
    assert code == 0, err
    assert runs.digest(tmp_path / "run") != runs.digest(reference)
    assert len(list((tmp_path / "run/journal/vectors").glob("*.log"))) == 1
    assert (tmp_path / "run/notes.txt").exists()


def test_corpus_without_any_word_is_an_error_of_the_job(job, tmp_path):
    (tmp_path / "empty.txt").write_text("nothing here\n")
    code, _, err = runs.run(job, tmp_path / "run", f"corpus.files=[{tmp_path / 'empty.txt'}]")
    assert code == 2 and "no word of the tests occurs" in err
    code, _, err = runs.run(job, tmp_path / "run")  # nothing was begun: the right corpus needs no --overwrite
    assert code == 0, err
    shutil.rmtree(tmp_path / "run/journal")  # a result is protected without its journals, too
    assert runs.run(job, tmp_path / "run", "seed=77")[0] == 2


def corpus_job(folder, content, sets=None, model=LETTERS, engine="fake", name="corpus.txt"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return context_jobs.write_job(folder / "job.yaml", model, folder / name, sets=sets, engine=engine)


def test_contexts_that_are_too_long_are_counted_in_log_file_and_statistics(job, tmp_path):
    text = (job.parent / "corpus.txt").read_text().replace("rose", "dahlia")
    lines = [f"the rose number {i}" + " of" * (3000 if i < 9 else 3) for i in range(12)]
    own = corpus_job(tmp_path / "job", (text + "\n".join(lines) + "\n").encode(), model=PLANTED, engine="torch")
    code, out, err = runs.finish(runs.start_program("plan", own))
    assert code == 0 and "contexts without a vector: rose 9 of 12 (" in out and "vectors.window: 50" in out, err
    code, _, err = runs.run(own, tmp_path / "run")
    assert code == 0, err
    assert re.search(r"warning: T1: .*contexts without a vector: rose 9 of 12 \(.*vectors.window: 50", err), err
    code, out, err = runs.finish(runs.start_program("stats", tmp_path / "run"))
    assert code == 0 and "rose 9 of 12" in " ".join(out.split()) and "vectors.window: 50" in " ".join(out.split()), err
    with xarray.open_dataset(tmp_path / "run/contexts.h5", engine="netcdf4") as effects:
        rose = effects.sel(word="rose")
        assert [str(rose[f"word_{name}"].values) for name in ("stored", "usable")] == ["12", "3"]
        assert "rose 9 of 12" in str(effects.sel(test="T1").test_consequence.values)
    code, _, err = runs.run(own, tmp_path / "cut", "vectors.window=5")
    assert code == 0 and "contexts without a vector" not in err, err


def test_carriage_returns_alone_end_lines(job, reference, tmp_path):
    text = (job.parent / "corpus.txt").read_bytes()
    code, _, err = runs.run(corpus_job(tmp_path / "job", text.replace(b"\n", b"\r")), tmp_path / "run", ranks=2)
    assert code == 0, err
    same_numbers(tmp_path / "run", reference)


@pytest.mark.parametrize("name, encode, cause", [
    ("corpus.txt", lambda text: text.encode("utf-16"), "corpus.txt looks like UTF-16"),
    ("corpus.txt", lambda text: text.encode("utf-16-be"), "iconv -f UTF-16BE -t UTF-8 corpus.txt"),
    ("corpus.txt", lambda text: text.replace("\n", " \u00e9\n").encode("cp1252"), "perhaps in CP1252: convert it with iconv"),
    ("corpus.jsonl", lambda text: "".join(json.dumps({"data": {"text": line}}) + "\n" for line in text.splitlines()).encode(),
     "field: data.text"),
])
def test_what_is_wrong_with_lines_that_are_left_out_comes_first(job, reference, tmp_path, name, encode, cause):
    text = (job.parent / "corpus.txt").read_text()
    own = corpus_job(tmp_path / "job", encode(text), name=name)
    code, _, err = runs.run(own, tmp_path / "run")
    assert code == 2 and re.search(r"lines? in 1 file were read; \d+ lines left out", err), err
    assert cause in err and "boundary and case" not in err, err
    code, out, _ = runs.finish(runs.start_program("plan", own))
    assert code == 0 and cause in out
    if name.endswith("jsonl"):
        code, _, err = runs.run(own, tmp_path / "run", "corpus.field=data.text")
        assert code == 0 and "left out" not in err, err


def test_a_word_is_found_in_either_unicode_form(tmp_path):
    sets = {"x": ["caf\u00e9", "nai\u0308ve"], "y": ["ant", "bee"], "a": ["love", "peace"], "b": ["pain", "war"]}
    words = ["cafe\u0301", "na\u00efve", "ca\u00adf\u00e9", "na\u200di\u0308ve", "ant", "bee", "love", "peace", "pain", "war"]
    text = "".join(f"the {word} is old.\n" for word in words) + "the cafe is old.\n"
    code, _, err = runs.run(corpus_job(tmp_path / "job", text.encode(), sets), tmp_path / "run")
    assert code == 0 and "caf\u00e9 2 (2)" in err and "nai\u0308ve 2 (2)" in err, err
    with h5py.File(tmp_path / "run/contexts.vectors.h5") as raw:
        sentences = {text.decode() if isinstance(text, bytes) else text for text in raw["sentence"][0].ravel()}
    assert {"the cafe\u0301 is old.", "the ca\u00adf\u00e9 is old."} <= sentences  # as they stand in the file


def test_a_word_in_targets_and_attributes_is_warned_of(job, tmp_path):
    sets = {**context_jobs.SETS, "a": ["love", "ROSE", "joy"]}
    own = context_jobs.write_job(tmp_path / "job.yaml", LETTERS, job.parent / "corpus.txt", sets=sets)
    code, _, err = runs.run(own, tmp_path / "exact")
    assert code == 0 and "attributes as well" not in err, err
    code, _, err = runs.run(own, tmp_path / "run", "corpus.case=ignore")
    assert code == 0 and re.search("warning: T1: .*targets that are attributes as well: rose", err), err
    code, out, _ = runs.finish(runs.start_program("validate", own, "corpus.case=ignore"))
    assert code == 0 and "the test 'T1' has targets that are attributes as well: rose" in out


def planned(job, *arguments):
    code, out, err = runs.finish(runs.start_program("plan", job, *arguments))
    assert code == 0, err
    rows = {row.split()[0]: row.split()[1] for row in out.splitlines() if len(row.split()) > 1}
    return out, [int(rows[name].replace(",", "")) for name in ("queries", "tokens")]


def test_real_model_works_as_planned_on_any_number_of_ranks(tmp_path):
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt", lines=60)
    corpus.write_text(corpus.read_text() + "the rose " + "of " * 3000 + "\n")
    job = context_jobs.write_job(tmp_path / "job.yaml", PLANTED, corpus, engine="torch")
    out, counts = planned(job)
    assert "words without a context: 1" in out and "cannot be computed" in out
    for ranks in (1, 2):
        code, _, err = runs.run(job, tmp_path / str(ranks), ranks=ranks)
        assert code == 0, err
        work = runs.status(tmp_path / str(ranks))["work"]
        assert [work["distinct_sequences"], work["distinct_tokens"]] == counts
    same_numbers(tmp_path / "1", tmp_path / "2")
    with h5py.File(tmp_path / "1/contexts.vectors.h5") as raw:
        meanings = raw["status"].attrs["flag_meanings"].split()
        assert (raw["status"][()] == meanings.index("too_long")).sum() == 1
    with h5py.File(tmp_path / "1/contexts.h5") as raw:
        assert raw.attrs["num_distinct_tokens"] == counts[1]


@pytest.fixture(scope="module")
def table(job):
    """Static vectors of all words but one, with another word of which two blanks make one name."""
    rng = numpy.random.default_rng(3)
    words = [word for word in dict.fromkeys(sum(context_jobs.SETS.values(), [])) if word != "flea"]
    vectors = {word: rng.standard_normal(20).astype(numpy.float32) for word in words}
    rows = [word.replace(" ", "_") + " " + " ".join(repr(float(x)) for x in vectors[word]) for word in words]
    path = job.parent / "vectors.txt"
    path.write_text(f"{len(rows) + 1} 20\nother " + " ".join(["1"] * 20) + "\n" + "\n".join(rows) + "\n")
    return path, vectors


def static_job(job, path, **changes):
    text = job.read_text()
    text = text.replace(text[text.index("corpus:"): text.index("axes:")], f"vectors: {changes['vectors']}\n")
    text = text.replace("samples: 600\n", "")
    if "model" not in changes:
        text = text.replace(text[text.index("model:"): text.index("probe:")], "")
    path.write_text(text)
    return path


def test_static_vectors_of_a_file_need_no_model(job, table, tmp_path):
    path, vectors = table
    small = static_job(job, tmp_path / "job.yaml", vectors=f"{{file: {path}, keep: float32}}")
    code, out, err = runs.finish(runs.start_program("plan", small))
    assert code == 0 and "words without a vector: 1" in out, err
    for ranks in (1, 3):
        code, _, err = runs.run(small, tmp_path / str(ranks), ranks=ranks)
        assert code == 0 and "words without a vector: flea" in err, err
    same_numbers(tmp_path / "1", tmp_path / "3")
    with xarray.open_dataset(tmp_path / "1/contexts.h5", engine="netcdf4") as effects:
        test = effects.sel(test="T1").isel(sample=0)
        sets = [json.loads(str(test[f"test_{name}_words"].values)) for name in "xyab"]
        units = {word: row / numpy.linalg.norm(row) for word, row in
                 ((word, row.astype(numpy.float64)) for word, row in vectors.items())}
        x, y, a, b = ([units[word] for word in words] for words in sets)
        scores = [numpy.mean([t @ c for c in a]) - numpy.mean([t @ c for c in b]) for t in x + y]
        size = (numpy.mean(scores[: len(x)]) - numpy.mean(scores[len(x):])) / numpy.std(scores, ddof=1)
        assert effects.sizes["sample"] == 1
        numpy.testing.assert_allclose(float(test.effect_size), size, rtol=1e-12)
    code, _, err = runs.run(small, tmp_path / "1")
    assert code == 0 and "nothing to do" in err
    assert runs.finish(runs.start_program("export", tmp_path / "1"))[0] == 0
    own = tmp_path / "own.txt"
    shutil.copy(path, own)
    small = static_job(job, tmp_path / "own.yaml", vectors=f"{{file: {own}}}")
    assert runs.run(small, tmp_path / "own")[0] == 0
    own.write_text(own.read_text().replace("\nrose ", "\nx ").replace("\nlily ", "\nrose ").replace("\nx ", "\nlily "))
    code, _, err = runs.run(small, tmp_path / "own", ranks=2)
    assert code == 2 and "own.txt was written at another time" in err, err


def test_static_vectors_of_a_models_embeddings(job, tmp_path):
    small = static_job(job, tmp_path / "job.yaml", vectors="{format: model, keep: float32}", model=True)
    small.write_text(small.read_text().replace(str(LETTERS), str(PLANTED)).replace("engine: fake", "engine: torch"))
    code, out, err = runs.finish(runs.start_program("plan", small))
    assert code == 0, err
    for ranks in (1, 2):
        code, _, err = runs.run(small, tmp_path / str(ranks), ranks=ranks)
        assert code == 0, err
    same_numbers(tmp_path / "1", tmp_path / "2")
    code, _, err = runs.run(small, tmp_path / "sweep", "sweep={unequal_sets: [keep, trim]}")
    assert code == 0, err


def test_elmo_works_as_planned(job, tmp_path):
    elmo_models.write(tmp_path / "elmo", elmo_models.TINY)
    small = tmp_path / "job.yaml"
    small.write_text(job.read_text().replace(str(LETTERS), str(tmp_path / "elmo")).replace("engine: fake", "engine: torch"))
    _, counts = planned(small)
    code, _, err = runs.run(small, tmp_path / "run", ranks=2)
    assert code == 0, err
    work = runs.status(tmp_path / "run")["work"]
    assert [work["distinct_sequences"], work["distinct_tokens"]] == counts
    with h5py.File(tmp_path / "run/contexts.vectors.h5") as raw:
        assert raw["vector"].shape[2] == 2 * elmo_models.TINY["projection"]


def test_sum_of_elmos_layers(job, tmp_path):
    truth = elmo_models.write(tmp_path / "elmo", elmo_models.TINY)
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt", lines=60)
    own = context_jobs.write_job(tmp_path / "job.yaml", truth.folder, corpus, engine="torch")
    for ranks in (1, 3):
        code, _, err = runs.run(own, tmp_path / str(ranks), "vectors.layer=sum", ranks=ranks)
        assert code == 0, err
    same_numbers(tmp_path / "1", tmp_path / "3")
    with xarray.open_dataset(tmp_path / "1/contexts.vectors.h5", engine="netcdf4") as raw:
        one = raw.sel(word="rose").isel(context=0)
        begin, end = (int(place) for place in one.span.values)
        sentence = str(one.sentence.values)
        words = sentence.replace(",", " ,").replace(".", " .").split()
        assert sentence[begin:end] == "rose"
        states = truth.hidden(words)
        expected = sum(layer[words.index("rose")] for layer in states)
        assert numpy.abs(one.vector.values - expected).max() <= 1e-5 * numpy.abs(expected).max()
    code, _, err = runs.run(job, tmp_path / "run", "vectors.layer=sum", f"model.path={PLANTED}", "execution.engine=torch")
    assert code == 2 and "cannot be asked for the sum of its layers" in err


def test_layer_that_the_model_lacks_is_refused_before_anything_is_scored(job, tmp_path):
    code, _, err = runs.run(job, tmp_path / "run", "vectors.layer=99", f"model.path={PLANTED}", "execution.engine=torch")
    assert code == 2 and "layer" in err, err


GENERATED = runs.ROOT / "jobs/61_generated_contexts.yaml"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    output = tmp_path_factory.mktemp("generated") / "1"
    code, out, err = runs.run(GENERATED, output)
    assert code == 0 and "sentences made of templates" in err, err
    assert not (output / "contexts.sample").exists() and not (output / "contexts.vectors.h5").exists()
    assert runs.finish(runs.start_program("export", output))[0] == 0
    assert runs.finish(runs.start_program("stats", output))[0] == 0
    return output


def test_generated_sentences_are_the_same_on_any_number_of_ranks(generated, tmp_path):
    code, _, err = runs.run(GENERATED, tmp_path / "3", ranks=3)
    assert code == 0, err
    assert runs.digest(tmp_path / "3") == runs.digest(generated)
    out, counts = planned(GENERATED)
    assert "sentences made of templates; contexts found" in out and "intersections left out" in out
    work = runs.status(generated)["work"]
    assert [work["distinct_sequences"], work["distinct_tokens"]] == counts
    code, _, err = runs.run(GENERATED, generated, "corpus.rephrasings=[{label: none, wrapper: '{prompt}'}]")
    assert code == 2 and "corpus.rephrasings" in err


def test_words_stand_where_the_templates_have_them(generated):
    with xarray.open_dataset(generated / "contexts.vectors.h5", engine="netcdf4") as vectors:
        words = list(vectors.word.values)
        assert {"women", "Black women", "female Black people", "warm"} <= set(words)
        for word in words:
            rows = vectors.sel(word=word)
            kept = rows.status.values == 0
            assert kept.sum() == min(40, int(rows.word_found.values))
            for sentence, (begin, end) in zip(rows.sentence.values[kept], rows.span.values[kept]):
                stands = str(sentence).encode()[begin:end].decode()
                assert stands in (word, word[0].upper() + word[1:]), (sentence, word)
            assert len(set(rows.sentence.values[kept])) == kept.sum()


def units_by_frame(vectors, word, everything):
    """{sentence without both words: unit vectors of the word in the sentences of that template and rephrasing}."""
    rows = vectors.sel(word=word)
    units = {}
    for context in numpy.flatnonzero(rows.status.values == 0):
        begin, end = map(int, rows.span.values[context])
        whole = str(rows.sentence.values[context]).encode()
        before, after = whole[:begin].decode(), whole[end:].decode()
        rest = f"{before}_{after}".lower()
        partner = next(other for other in everything if re.search(rf"\b{re.escape(other.lower())}\b", rest))
        vector = rows.vector.values[context].astype(numpy.float64)
        frame = re.sub(rf"\b{re.escape(partner.lower())}\b", "_", rest)
        units.setdefault(frame, []).append(vector / numpy.linalg.norm(vector))
    return {frame: numpy.array(found) for frame, found in units.items()}


def test_an_intersections_effect_is_what_numpy_makes_of_its_vectors(generated):
    vectors = xarray.open_dataset(generated / "contexts.vectors.h5", engine="netcdf4")
    table = xarray.open_dataset(generated / "contexts.stats.h5", engine="netcdf4")
    effects = xarray.open_dataset(generated / "contexts.h5", engine="netcdf4")
    assert table.score.dims == ("measure", "subject", "template", "rephrasing", "replicate", "item")
    subject = table.sel(subject="Black women", item="cold - warm")
    described = [str(subject["subject_" + name].values) for name in ("kind", "domain", "first", "second")]
    assert described == ["intersection", "race x gender", "Black people", "women"]
    assert [str(subject["item_" + name].values) for name in ("dimension", "left", "right")] == ["communion", "cold", "warm"]
    sets = [json.loads(str(effects.sel(test="cold - warm")[f"test_{name}_words"].values)) for name in "ab"]
    words = ["Black women", *sets[0], *sets[1]]
    everything = sorted(map(str, vectors.word.values), key=len, reverse=True)
    units = {word: units_by_frame(vectors, word, everything) for word in words}
    frames = sorted(units[words[0]])
    assert len(frames) == 21 and all(sorted(units[word]) == frames for word in words)
    found = []
    for place in range(21):  # samples are of every template and rephrasing in turn, and draw from their sentences alone
        samples = numpy.arange(place, 210, 21)
        cell = {axis: str(effects[f"sample_{axis}"].values[place]) for axis in ("template", "rephrasing")}
        ours = {measure: subject.score.sel(measure=measure, **cell).values for measure in ("effect_size", "association", "deviation")}
        for frame in frames:
            drawn = {word: units[word][frame][philox.contexts_drawn(2022, "cold - warm", 210, word, len(units[word][frame]))[samples]]
                     for word in words}  # fmt: skip
            cosines = [[(drawn[words[0]] * drawn[word]).sum(1) for word in side] for side in sets]
            association = numpy.mean(cosines[0], axis=0) - numpy.mean(cosines[1], axis=0)
            deviation = numpy.std(cosines[0] + cosines[1], axis=0, ddof=1)
            expected = {"effect_size": association / deviation, "association": association, "deviation": deviation}
            if all(numpy.allclose(ours[measure], expected[measure], rtol=1e-11, atol=1e-13) for measure in ours):
                found.append(frame)
    assert sorted(found) == frames
    assert set(numpy.unique(table.score_status)) == {0}


def test_a_vector_of_an_intersection_is_what_transformers_makes(generated):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    vectors = xarray.open_dataset(generated / "contexts.vectors.h5", engine="netcdf4")
    row = vectors.sel(word="Black women").isel(context=0)
    sentence = str(row.sentence.values)
    begin, end = (int(place) for place in row.span.values)
    tokenizer = transformers.AutoTokenizer.from_pretrained(PLANTED)
    model = transformers.AutoModel.from_pretrained(PLANTED, attn_implementation="eager").eval()
    encoded = tokenizer(sentence, return_tensors="pt", return_offsets_mapping=True)
    offsets = encoded.pop("offset_mapping")[0].tolist()
    hit = [i for i, (first, last) in enumerate(offsets) if first < end and last > begin and last > first]
    with torch.inference_mode():
        expected = model(**encoded).last_hidden_state[0, hit].mean(0).numpy()
    assert numpy.abs(row.vector.values - expected).max() <= 1e-5 * numpy.abs(expected).max()
