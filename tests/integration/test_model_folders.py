"""Folders and names that are no usable checkpoint: what they are is said before anything is scored."""
import json
import re

import pytest
import runs
import safetensors.torch
import tiny_models
from causal_models import VARIANTS, save, tiny
from test_association_transformers import JOB
from test_validate import ASSOCIATION, COREFERENCE, TOKENIZER, validate

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"


@pytest.fixture
def bert(tmp_path):
    tiny_models.make_bert(tmp_path / "bert")
    return tmp_path / "bert"


def change(path, edit):
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "config.json", "model.safetensors"])
def test_a_pointer_of_git_lfs_is_told_as_one(bert, name):
    (bert / name).write_text(POINTER)
    said = validate(ASSOCIATION, f"model.path={bert}", code=2)
    assert f"{name}: a Git LFS pointer stands in place of the file" in said and "git lfs pull" in said


@pytest.mark.parametrize("name", ["vocab.txt", "added_tokens.json"])
def test_a_pointer_in_place_of_an_older_tokenizer_file_is_told_as_one(bert, name):
    (bert / "tokenizer.json").unlink()
    (bert / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    (bert / name).write_text(POINTER)
    done = runs.program("tokenize", "--model", bert, input="a\n")
    assert done.returncode == 2 and f"{name}: a Git LFS pointer" in done.stderr


def test_a_pointer_in_place_of_the_index_is_told_as_one(tmp_path):
    save(tiny("llama", **VARIANTS["llama"][1]), tmp_path, shards=2)
    (tmp_path / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    (tmp_path / "model.safetensors.index.json").write_text(POINTER)
    assert "index.json: a Git LFS pointer" in validate(COREFERENCE, f"model.path={tmp_path}", code=2)


@pytest.mark.parametrize("name, refused", [("model.layers.0.self_attn.rotary_emb.inv_freq", False),
                                           ("model.layers.9.mlp.up_proj.weight", True), ("model.norm.weight", True)])
def test_a_tensor_that_only_the_index_has_is_missed_where_it_matters(tmp_path, name, refused):
    model = tiny("llama", **VARIANTS["llama"][1])
    save(model, tmp_path, shards=2)
    (tmp_path / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())["weight_map"]
    shard = index.get(name, sorted(set(index.values()))[0])
    if name in index:
        tensors = safetensors.torch.load_file(tmp_path / shard)
        del tensors[name]
        safetensors.torch.save_file(tensors, tmp_path / shard)
    change(tmp_path / "model.safetensors.index.json", lambda json: json["weight_map"].update({name: shard}))
    said = validate(COREFERENCE, f"model.path={tmp_path}", code=2 if refused else 0)
    assert (f'tensor "{name}" is missing' in said) == refused
    done = runs.program("query", "--model", tmp_path, input=json.dumps({"kind": "generate", "prompt": "a", "max_new_tokens": 1}) + "\n")
    assert (done.returncode == 2 and "is missing" in done.stderr) if refused else done.returncode == 0, done.stdout + done.stderr


def test_an_adapter_is_told_as_one(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "org/model"}')
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    said = validate(ASSOCIATION, f"model.path={tmp_path}", code=2)
    assert "holds an adapter" in said and "this folder as model.adapter" in said and "config.json is missing" not in said


def test_files_of_other_formats_and_urls_are_told_as_such(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGUF\3\0\0\0")
    for path in (tmp_path / "model.gguf", tmp_path):  # a folder with one such file is that file
        assert "model.gguf: is no GGUF file" in validate(ASSOCIATION, f"model.path={path}", code=2)
    for path in (tmp_path / "elsewhere.gguf", "org/model.gguf"):
        assert "is not on this machine" in validate(ASSOCIATION, f"model.path={path}")
    for url in ("https://huggingface.co/google-bert/bert-base-uncased", "hf://org/model", "s3://bucket/model"):
        assert "is a URL" in validate(ASSOCIATION, f"model.path={url}", code=2)
        done = runs.program("tokenize", "--model", url, input="a\n")
        assert done.returncode == 2 and "is a URL" in done.stderr


def forget_mask(bert):
    """The mask token stays in the vocabulary and is no added token; no file names it."""
    change(bert / "tokenizer.json", lambda json: json.update(
        added_tokens=[token for token in json["added_tokens"] if token["content"] != "[MASK]"]))
    change(bert / "tokenizer_config.json", lambda json: json.pop("mask_token"))


def test_a_mask_that_no_text_yields_is_refused_before_the_run(bert, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB.replace("MODEL", str(bert)))
    forget_mask(bert)
    said = validate(tmp_path / "job.yaml", code=2)
    assert '"[MASK]" does not give the mask token' in said and "mask_token" in said
    code, _, error = runs.run(tmp_path / "job.yaml", tmp_path / "out")
    assert code == 2 and '"[MASK]" does not give the mask token' in error, error
    # Named, it is an added token, as AutoTokenizer has it.
    change(bert / "tokenizer_config.json", lambda json: json.update(mask_token="[MASK]"))
    assert "WARNING" not in validate(tmp_path / "job.yaml")
    assert runs.run(tmp_path / "job.yaml", tmp_path / "out")[0] == 0


def test_a_run_without_a_number_ends_with_the_reason(tmp_path):
    tiny_models.make_bert(tmp_path / "bert", positions=6)
    (tmp_path / "job.yaml").write_text(JOB.replace("MODEL", str(tmp_path / "bert")))
    for _ in range(2):  # starting it again changes nothing
        code, out, error = runs.run(tmp_path / "job.yaml", tmp_path / "out")
        assert code == 1, error
        assert re.search(r"no cell of 'naive' has a number \(.*too_long: \d+ cells", error)
        assert runs.status(tmp_path / "out")["state"] == "failed"


def test_every_command_tells_where_files_of_the_tokenizer_disagree(bert, tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("MODEL", str(bert)))
    change(bert / "tokenizer_config.json", lambda json: json.update(do_lower_case=False))
    key = "tokenizer_config.json:do_lower_case: "
    assert key in re.sub(r"\s+(?=\S)", " ", validate(job))
    for arguments in (["plan", job], ["tokenize", "--model", bert], ["query", "--model", bert]):
        done = runs.program(*arguments, input="")
        assert done.returncode == 0 and done.stderr.count(key) == 1, done.stderr
    code, _, error = runs.run(job, tmp_path / "out", ranks=2)
    assert code == 0 and error.count(key) == 1, error
