"""Adapters as PEFT saves them, against the models into which PEFT merges them; those that are refused; runs with them."""
import json
import shutil

import gguf_files
import h5py
import numpy
import peft
import pytest
import runs
import torch
import transformers
from causal_models import GPT2, LLAMA, Program, ids_of, save, spread, stored_tensors, theirs, tiny
from safetensors.torch import load_file, save_file

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# name -> (family, settings of the model, settings of the adapter)
ADAPTERS = {
    "two matrices": ("llama", LLAMA, dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"])),
    "all matrices, patterns": ("llama", LLAMA, dict(r=4, lora_alpha=6, target_modules=LINEAR, rank_pattern={
        "q_proj": 2, "model.layers.1.mlp.down_proj": 6}, alpha_pattern={"^model.layers.0.self_attn.k_proj": 3, "up_proj": 12})),
    "rank-stabilized": ("llama", LLAMA, dict(r=8, lora_alpha=4, use_rslora=True, target_modules=LINEAR)),
    "DoRA": ("llama", LLAMA, dict(r=4, lora_alpha=8, use_dora=True, target_modules=LINEAR)),
    "biases": ("qwen2", LLAMA, dict(r=4, lora_alpha=8, bias="all", target_modules=["q_proj", "o_proj"])),
    "biases of changed matrices": ("qwen2", LLAMA, dict(r=4, lora_alpha=8, bias="lora_only", target_modules=["q_proj"])),
    "a head of its own": ("llama", LLAMA, dict(r=4, lora_alpha=8, target_modules=["v_proj"], modules_to_save=["lm_head"])),
    "embeddings and head": ("llama", LLAMA, dict(r=4, lora_alpha=8, target_modules=["embed_tokens", "lm_head", "q_proj"])),
    "norms and embeddings replaced": ("llama", LLAMA, dict(r=4, lora_alpha=8, target_modules=["v_proj"], modules_to_save=[
        "embed_tokens", "input_layernorm"])),
    "biases, also of a replaced module": ("gpt2", GPT2, dict(
        r=4, lora_alpha=8, bias="all", fan_in_fan_out=True, target_modules=["c_attn"], modules_to_save=["ln_f"])),
    "matrices turned over": ("gpt2", GPT2, dict(r=4, lora_alpha=8, fan_in_fan_out=True, target_modules=["c_attn", "c_fc"])),
    "packed matrices": ("phi3", LLAMA, dict(r=4, lora_alpha=8, target_modules=["qkv_proj", "gate_up_proj"])),
    "all linear": ("smollm3", LLAMA, dict(r=4, lora_alpha=8, target_modules="all-linear")),
}


@pytest.fixture(scope="module")
def program():
    running = Program()
    yield running
    running.close()


def adapt(model, folder, seed=5, **settings):
    """Saves an adapter with drawn numbers; the model with it merged."""
    torch.manual_seed(seed)
    adapted = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **settings))
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(parameter + 0.3 * torch.randn_like(parameter) / parameter.shape[-1] ** 0.5)
    adapted.save_pretrained(folder, save_embedding_layers=False)
    return adapted.merge_and_unload().eval()


def difference(program, model, folder, sequences=None):
    sequences = sequences or ids_of()
    states, logprobs = program.numbers(folder, model.config, sequences)
    expected_states, expected = theirs(model, sequences)
    for mine, other in zip(states, expected_states):
        assert numpy.abs(mine - other).max() <= 1e-5 * max(1, numpy.abs(other).max())
    return numpy.abs(logprobs - expected).max()


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16])
def test_merged_as_peft_merges(program, name, stored, tmp_path):
    family, settings, adapter = ADAPTERS[name]
    model = tiny(family, **settings)
    for parameter in model.parameters():
        parameter.data = parameter.to(stored).float()
    save(model, tmp_path, {key: tensor.to(stored) for key, tensor in model.state_dict().items()
                           if key != "lm_head.weight" or not model.config.tie_word_embeddings})
    before = theirs(model, ids_of())[1]
    merged = adapt(model, tmp_path / "adapter", **adapter)
    assert numpy.abs(theirs(merged, ids_of())[1] - before).max() > 0.1, "the adapter must matter"
    assert difference(program, merged, tmp_path) <= 1e-4


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16])
def test_merged_weights_are_those_of_peft(program, name, stored, tmp_path):
    """The numbers themselves, before they are rounded to a model's type."""
    family, settings, adapter = ADAPTERS[name]
    model = tiny(family, **settings)
    for parameter in model.parameters():
        parameter.data = parameter.to(stored).float()
    save(model, tmp_path, {key: tensor.to(stored) for key, tensor in stored_tensors(model).items()})
    before = torch.cat([tensor.flatten() for _, tensor in sorted(stored_tensors(model).items())])
    merged = adapt(model, tmp_path / "adapter", **adapter)
    expected = torch.cat([tensor.flatten() for _, tensor in sorted(stored_tensors(merged).items())])
    assert (expected - before).abs().max() > 0.01, "the adapter must matter"
    answer, numbers = program.run(tmp_path, [], "weights")
    assert answer == {"logits": len(expected)}
    assert numpy.abs(numbers - expected.numpy()).max() <= 1e-6


def changed(folder, settings=None, tensors=None, drop=()):
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | (settings or {})))
    kept = {key: value for key, value in load_file(folder / "adapter_model.safetensors").items()
            if not any(part in key for part in drop)}
    save_file(kept | (tensors or {}), folder / "adapter_model.safetensors")


FIRST = "base_model.model.model.layers.0.self_attn.q_proj"
REFUSED = {
    "another kind": (dict(settings=dict(peft_type="IA3")), 'peft_type: "IA3" is not supported'),
    "weights that were changed first": (dict(settings=dict(init_lora_weights="pissa")), "init_lora_weights"),
    "a setting of tomorrow": (dict(settings=dict(use_more="yes")), 'use_more: "yes" is not supported'),
    "an expression": (dict(settings=dict(rank_pattern={"layers\\.[0-9]+\\.q_proj": 4})), "is an expression"),
    "another rank": (dict(settings=dict(r=5)), "its matrices have rank 4"),
    "half a pair": (dict(drop=["layers.0.self_attn.q_proj.lora_B"]), "stands alone"),
    "the other half": (dict(drop=["layers.0.self_attn.q_proj.lora_A"]), "is not supported"),
    "a layer that is not there": (dict(tensors={FIRST.replace("0", "7") + ".lora_A.weight": torch.zeros(4, 48),
                                                FIRST.replace("0", "7") + ".lora_B.weight": torch.zeros(48, 4)}),
                                  "the model has no such tensor"),
    "another width": (dict(tensors={FIRST + ".lora_A.weight": torch.zeros(4, 40)}), "was the adapter made for another model?"),
    "magnitudes alone": (dict(tensors={FIRST + ".lora_magnitude_vector": torch.ones(48)}), "DoRA"),
    "integers": (dict(tensors={FIRST + ".lora_A.weight": torch.zeros(4, 48, dtype=torch.int32)}), "is stored as I32"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_merged_is_refused_by_name(program, case, tmp_path):
    change, message = REFUSED[case]
    model = tiny("llama", **LLAMA)
    save(model, tmp_path)
    adapt(model, tmp_path / "adapter", r=4, lora_alpha=8, target_modules=["q_proj"])
    changed(tmp_path / "adapter", **change)
    answer, _ = program.run(tmp_path, ids_of())
    assert message in answer["error"]


@pytest.mark.parametrize("target", [dict(target_modules=["embed_tokens"]), dict(target_modules=["q_proj"],
                                                                                 modules_to_save=["embed_tokens"])])
def test_embeddings_that_are_the_head_are_refused(program, target, tmp_path):
    model = tiny("llama", **LLAMA | dict(tie_word_embeddings=True))
    save(model, tmp_path)
    adapt(spread(model, 1), tmp_path / "adapter", r=4, lora_alpha=8, **target)
    answer, _ = program.run(tmp_path, ids_of())
    assert "embed_tokens" in answer["error"] and "head" in answer["error"]


@pytest.mark.parametrize("family, target", [("llama", "q_proj"), ("gpt2", "attn.c_proj"), ("openai-gpt", "c_fc"), ("gpt2", "lm_head")])
def test_the_model_says_which_matrices_are_turned_over(program, family, target, tmp_path):
    """PEFT sets fan_in_fan_out by the module, in both directions: a file may say the other thing."""
    model = tiny(family, **(GPT2 | dict(tie_word_embeddings=False) if "gpt" in family else LLAMA))
    save(model, tmp_path)
    merged = adapt(model, tmp_path / "adapter", r=4, lora_alpha=8, target_modules=[target])
    said = json.loads((tmp_path / "adapter/adapter_config.json").read_text())["fan_in_fan_out"]
    for wrong in (said, not said):
        changed(tmp_path / "adapter", dict(fan_in_fan_out=wrong))
        assert difference(program, merged, tmp_path) <= 1e-4


def test_a_folder_without_an_adapter(program, tmp_path):
    save(tiny("llama", **LLAMA), tmp_path)
    (tmp_path / "adapter").mkdir()
    answer, _ = program.run(tmp_path, ids_of())
    assert "adapter_config.json is missing" in answer["error"]
    adapt(tiny("llama", **LLAMA), tmp_path / "adapter", r=4, target_modules=["q_proj"])
    shutil.move(tmp_path / "adapter" / "adapter_model.safetensors", tmp_path / "adapter" / "adapter_model.bin")
    answer, _ = program.run(tmp_path, ids_of())
    assert "a pickle file" in answer["error"] and "stereosweep_analysis convert" in answer["error"]


PLANTED = runs.ROOT / "tests/models/planted_causal"
JOB = runs.ROOT / "jobs/50_ratings.yaml"
SMALL = ["axes.identities={file: scm_identities, only: [old women, poor women, fat women]}", "axes.people=[women]", "axes.rated_traits={file: scm_traits, only: [warm, competitive]}",
         "sampling.runs=1", "statistics={}", "execution.contexts_per_block=4"]


@pytest.fixture(scope="module")
def adapters(tmp_path_factory):
    """Two adapters of the bundled model, and folders into which PEFT merged them."""
    folder = tmp_path_factory.mktemp("adapters")
    for name, seed in (("first", 1), ("second", 2)):
        model = transformers.AutoModelForCausalLM.from_pretrained(PLANTED, dtype=torch.float32)
        merged = adapt(model, folder / name, seed, r=4, lora_alpha=8, target_modules=LINEAR)
        shutil.copytree(PLANTED, folder / f"{name}_merged", ignore=shutil.ignore_patterns("*.py", "*.tsv"))
        merged.save_pretrained(folder / f"{name}_merged")
    return folder


def test_a_sweep_over_adapters_gives_the_numbers_of_merged_models(adapters, tmp_path):
    job = tmp_path / "job.yaml"
    text = JOB.read_text().replace("../tests/models", str(runs.ROOT / "tests/models"))
    job.write_text(text + f"sweep: {{model.adapter: [{adapters / 'first'}, {adapters / 'second'}]}}\n")
    code, _, err = runs.run(job, tmp_path / "sweep", *SMALL, ranks=2)
    assert code == 0, err
    results = sorted((tmp_path / "sweep").glob("**/rating.h5"))
    assert len(results) == 2
    seen = set()
    for result in results:
        with h5py.File(result) as file:
            name = file.attrs["adapter"]
            name = (name.decode() if isinstance(name, bytes) else name).rsplit("/", 1)[-1]
            seen.add(file.attrs["adapter_sha256"])
        code, _, err = runs.run(job, tmp_path / name, *SMALL, "sweep={}", f"model.path={adapters / (name + '_merged')}")
        assert code == 0, err
        with h5py.File(tmp_path / name / "rating.h5") as file:
            keys = [key for key, data in file.items() if isinstance(data, h5py.Dataset) and data.dtype.kind == "f" and data.ndim > 1]
            assert keys
            with h5py.File(result) as own:
                for key in keys:
                    assert numpy.nanmax(numpy.abs(own[key][:] - file[key][:])) <= 1e-4, key
    assert len(seen) == 2


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_sweep_over_adapters_reads_its_model_once(adapters, ranks, tmp_path):
    """The model's weights are taken away while the first job scores: what comes after it needs its adapter alone. The
    digests are those of runs of their own."""
    base, weights, alone = tmp_path / "base", tmp_path / "base" / "model.safetensors", []
    shutil.copytree(PLANTED, base, ignore=shutil.ignore_patterns("*.py", "*.tsv"))
    for name in ("first", "second"):
        code, _, err = runs.run(JOB, tmp_path / name, *SMALL, f"model.path={base}", f"model.adapter={adapters / name}")
        assert code == 0, err
        alone.append(runs.digest(tmp_path / name))
    assert alone[0] != alone[1]
    sweep = f"sweep={{model.adapter: [{adapters / 'first'}, {adapters / 'second'}]}}"
    process = runs.start(JOB, tmp_path / "sweep", *SMALL, f"model.path={base}", sweep, ranks=ranks,
                         inject=runs.hold(tmp_path / "sweep", 1))
    runs.wait_for(lambda: process.poll() is not None or any(
        runs.status(folder)["state"] == "running" for folder in (tmp_path / "sweep").glob("*")))
    weights.unlink()
    runs.release(tmp_path / "sweep")
    code, _, err = runs.finish(process)
    assert code == 0, err
    assert [runs.digest(folder) for folder in sorted((tmp_path / "sweep").glob("*"))] == alone
    assert err.count("the files that the job before has read") == 1


def test_adapters_are_not_mixed(adapters, tmp_path):
    base = [*SMALL, f"model.adapter={adapters / 'first'}"]
    assert runs.run(JOB, tmp_path / "run", *base, inject="block_start:2:throw")[0] == 1
    code, _, err = runs.run(JOB, tmp_path / "run", *SMALL, f"model.adapter={adapters / 'second'}")
    assert code == 2 and "model.adapter: " in err and "first, now " in err
    code, _, err = runs.run(JOB, tmp_path / "run", *SMALL)
    assert code == 2 and "first, now none" in err
    assert runs.run(JOB, tmp_path / "run", *base)[0] == 0
    code, _, err = runs.run(JOB, tmp_path / "other", *SMALL, "--reuse", tmp_path / "run")
    assert code == 0 and "reused 0 of" in err, err
    assert "the adapter " in runs.program("plan", JOB, *base).stdout
    said = runs.program("show", tmp_path / "run").stdout
    assert f"adapter: {adapters / 'first'}" in said
    assert runs.program("verify", tmp_path / "run").returncode == 0


@pytest.mark.parametrize("stored", ["F32", "Q8_0"])
def test_an_adapter_of_a_gguf_file(program, stored, tmp_path):
    model = tiny("llama", **LLAMA | dict(hidden_size=64, intermediate_size=96))
    gguf_files.write(model, tmp_path / "model.gguf", stored)
    merged = adapt(model, tmp_path / "adapter", r=4, lora_alpha=8, use_dora=True, target_modules=LINEAR)
    assert difference(program, merged, tmp_path) <= 1e-4


def test_slices_of_a_merged_model(tmp_path):
    model = tiny("llama", **LLAMA | dict(vocab_size=1255, max_position_embeddings=512))
    save(model, tmp_path / "base")
    save(adapt(model, tmp_path / "adapter", r=4, lora_alpha=8, use_dora=True, target_modules=LINEAR), tmp_path / "merged")
    values = {}
    for name, change in (("base", [f"model.adapter={tmp_path / 'adapter'}"]), ("merged", [])):
        shutil.copy(PLANTED / "tokenizer.json", tmp_path / name)
        code, _, err = runs.run(JOB, tmp_path / ("run_" + name), *SMALL, "execution.tensor_parallel=2", *change,
                                f"model.path={tmp_path / name}", ranks=2)
        assert code == 0, err
        with h5py.File(tmp_path / ("run_" + name) / "rating.h5") as file:
            values[name] = {key: data[:] for key, data in file.items() if isinstance(data, h5py.Dataset) and data.dtype.kind == "f"
                            and data.ndim > 1}
    for key, mine in values["base"].items():
        assert numpy.nanmax(numpy.abs(mine - values["merged"][key])) <= 1e-4, key
