"""`validate` looks at the model a job names as a run would, without reading a number of its weights."""
import shutil
import subprocess

import context_jobs
import elmo_models
import pytest
import runs
import tiny_models
import torch
import transformers
from causal_models import VARIANTS, save, stored_tensors, tiny

ASSOCIATION = runs.ROOT / "jobs/10_planted.yaml"
COREFERENCE = runs.ROOT / "jobs/40_winoidentity.yaml"
TOKENIZER = runs.ROOT / "tests/models/planted_causal/tokenizer.json"


def validate(job, *arguments, code=0):
    done = subprocess.run([runs.PROGRAM, "validate", str(job), *map(str, arguments)], capture_output=True, text=True,
                          cwd=runs.ROOT, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_every_causal_family_is_known_by_its_headers(tmp_path):
    folders = []
    for number, (model_type, settings) in enumerate(VARIANTS.values()):
        folders.append(str(tmp_path / str(number)))
        save(tiny(model_type, **settings), tmp_path / str(number), shards=1 + number % 2)
        shutil.copy(TOKENIZER, folders[-1])
    said = validate(COREFERENCE, f"sweep={{model.path: [{', '.join(folders)}]}}")
    assert "note:" not in said and said.count("winoidentity") == len(VARIANTS)


@pytest.mark.parametrize("damage, message", [
    (lambda tensors: tensors.pop("model.layers.1.mlp.up_proj.weight"), 'up_proj.weight" is missing'),
    (lambda tensors: tensors.update({"model.norm.weight": torch.zeros(7)}), 'model.norm.weight" has shape [7]'),
    (lambda tensors: tensors.update({"model.other.weight": torch.zeros(7)}), 'model.other.weight" is not expected')])
def test_a_tensor_that_does_not_fit_is_named(tmp_path, damage, message):
    model = tiny(*VARIANTS["llama"][:1], **VARIANTS["llama"][1])
    tensors = stored_tensors(model)
    damage(tensors)
    save(model, tmp_path, tensors)
    shutil.copy(TOKENIZER, tmp_path)
    assert message in validate(COREFERENCE, f"model.path={tmp_path}", code=2)


def test_an_encoder_without_its_head_gives_vectors_alone(tmp_path):
    reference = tiny_models.make_bert(tmp_path / "whole")
    assert "note:" not in validate(ASSOCIATION, f"model.path={tmp_path / 'whole'}")
    reference.model.bert.save_pretrained(tmp_path / "headless")
    shutil.copy(tmp_path / "whole/tokenizer.json", tmp_path / "headless")
    shutil.copy(tmp_path / "whole/tokenizer_config.json", tmp_path / "headless")
    said = validate(ASSOCIATION, f"model.path={tmp_path / 'headless'}", code=2)
    assert "has no head that predicts words (the probe 'association' asks for probabilities of words)" in said
    job = context_jobs.write_job(tmp_path / "job.yaml", tmp_path / "headless",
                                 context_jobs.write_corpus(tmp_path / "corpus.txt"), engine="torch")
    assert "note:" not in validate(job)
    assert "has no layer 9 (its layers are 0 to 3" in validate(job, "vectors.layer=9", code=2)
    assert "the sum of its layers" in validate(job, "vectors.layer=sum", code=2)


def test_elmo_gives_vectors_alone(tmp_path):
    elmo_models.write(tmp_path / "elmo", elmo_models.TINY)
    job = context_jobs.write_job(tmp_path / "job.yaml", tmp_path / "elmo",
                                 context_jobs.write_corpus(tmp_path / "corpus.txt"), engine="torch")
    assert "note:" not in validate(job, "vectors.layer=sum")
    assert "is an ELMo model" in validate(ASSOCIATION, f"model.path={tmp_path / 'elmo'}", code=2)
    assert "is an ELMo model" in validate(COREFERENCE, f"model.path={tmp_path / 'elmo'}", code=2)


def test_a_sweep_names_each_bad_model_once(tmp_path):
    models = "[tests/models/planted, tests/models/planted_causal, nowhere]"
    said = validate(ASSOCIATION, f"sweep={{seed: [1, 2], model.path: {models}}}", code=2)
    assert said.count("is a causal model") == 1
    said = validate(ASSOCIATION, "sweep={model.path: [tests/models/planted, nowhere]}")
    assert said.count("'nowhere' is not on this machine; run will need config.json, the tokenizer and") == 1


def test_no_number_of_the_weights_is_read(tmp_path):
    """What loading finds in the numbers alone, here NaN, is not found: they were not touched."""
    model = tiny(*VARIANTS["gpt2"][:1], **VARIANTS["gpt2"][1])
    tensors = stored_tensors(model)
    tensors["transformer.wte.weight"][:] = float("nan")
    save(model, tmp_path, tensors)
    shutil.copy(TOKENIZER, tmp_path)
    validate(COREFERENCE, f"model.path={tmp_path}")



def test_t5_is_refused_with_the_families_that_are_read(tmp_path):
    transformers.T5Config().save_pretrained(tmp_path)
    said = validate(ASSOCIATION, f"model.path={tmp_path}", "statistics.human_ratings=nobody.tsv", code=2)
    for part in ('model_type: "t5" is not supported', "bert, roberta", "llama", "nobody.tsv: the table cannot be read"):
        assert part in said
