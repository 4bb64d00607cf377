"""Causal models against transformers: hidden states and log-probabilities of every token, on tiny random checkpoints of
every family and variant whose logits spread, however their files spell and store them."""
import copy
import json

import numpy
import pytest
import torch
import transformers
from causal_models import (GPT2, LLAMA, LLAMA3, VARIANTS, VOCABULARY, YARN, Program, ids_of, save, spread,
                           stored_tensors, theirs, tiny)


@pytest.fixture(scope="module")
def program():
    running = Program()
    yield running
    running.close()


def compare(program, model, directory, sequences=None):
    """The figures that the contract names: 1e-5 relative for hidden states, 1e-4 nat for log-probabilities."""
    sequences = sequences or ids_of()
    states, logprobs = program.numbers(directory, model.config, sequences)
    expected_states, expected = theirs(model, sequences)
    assert expected.std() > 1, "a flat distribution would hide errors"
    for layer, (mine, other) in enumerate(zip(states, expected_states)):
        assert numpy.abs(mine - other).max() <= 1e-5 * max(1, numpy.abs(other).max()), f"hidden state {layer}"
    assert numpy.abs(logprobs - expected).max() <= 1e-4


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [1, 2])
def test_variants(program, variant, seed, tmp_path):
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, seed, **settings)
    save(model, tmp_path)
    compare(program, model, tmp_path, ids_of(seed=seed))


FAMILIES = ["gpt2", "openai-gpt", "gpt_neox", "falcon 40b", "falcon rw", "llama", "mixtral", "qwen3", "gemma3", "phi3",
            "olmo2", "gptj", "opt", "cohere2", "glm4", "granite", "olmo3 yarn", "qwen3_moe", "smollm3", "gpt_oss", "bloom"]


@pytest.mark.parametrize("variant", FAMILIES)
def test_saved_by_transformers_itself(program, variant, tmp_path):
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, **settings)
    model.save_pretrained(tmp_path, max_shard_size="60kB" if variant in ("llama", "mixtral") else "1GB")
    compare(program, model, tmp_path)


@pytest.mark.parametrize("variant", FAMILIES)
def test_16_bits_are_as_near_as_theirs(program, variant, tmp_path):
    """Our 16 bits may be no further from float32 than transformers' own, with a third to spare. A token whose
    experts change at a near tie has another result, so with experts the usual token counts, not the mean."""
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, **settings)
    save(model, tmp_path)
    sequences = ids_of()
    _, expected = theirs(model, sequences)
    usual = numpy.median if model_type in ("mixtral", "qwen3_moe", "gpt_oss") else numpy.mean
    for dtype in ("float16", "bfloat16"):
        _, mine = program.numbers(tmp_path, model.config, sequences, dtype)
        _, other = theirs(copy.deepcopy(model).to(getattr(torch, dtype)), sequences)
        assert 0 < usual(numpy.abs(mine - expected)) < 1.33 * usual(numpy.abs(other - expected)), dtype


@pytest.mark.parametrize("variant", FAMILIES)
@pytest.mark.parametrize("stored", [torch.float16, torch.bfloat16])
def test_stored_types_and_shards(program, variant, stored, tmp_path):
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, **settings)
    for parameter in model.parameters():
        parameter.data = parameter.to(stored).float()  # not the buffers: frequencies stay float32
    save(model, tmp_path, {name: tensor.to(stored) for name, tensor in stored_tensors(model).items()}, shards=3)
    compare(program, model, tmp_path)


@pytest.mark.parametrize("variant", FAMILIES)
def test_body_without_prefix(program, variant, tmp_path):
    """As save_pretrained of the model without its head writes it: tied models keep their head, others lose it."""
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, **settings)
    prefix = model.base_model_prefix + "."
    save(model, tmp_path, {name.removeprefix(prefix): tensor for name, tensor in stored_tensors(model).items()
                           if name.startswith(prefix)})
    sequences = ids_of()
    states, logprobs = program.numbers(tmp_path, model.config, sequences)
    expected_states, expected = theirs(model, sequences)
    assert numpy.abs(states[-1] - expected_states[-1]).max() <= 1e-5 * numpy.abs(expected_states[-1]).max()
    if model.config.tie_word_embeddings:
        assert numpy.abs(logprobs - expected).max() <= 1e-4
    else:
        assert logprobs is None


OLD_SPELLINGS = {
    "llama default": ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=3000.0)),
                      dict(rope_theta=3000.0)),
    "llama null scaling": ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=3000.0)),
                           dict(rope_theta=3000, rope_scaling={})),
    "llama linear": ("llama", dict(rope_parameters=dict(rope_type="linear", rope_theta=3000.0, factor=2.0)),
                     dict(rope_theta=3000.0, rope_scaling=dict(type="linear", factor=2.0))),
    "llama3": ("llama", dict(rope_parameters=LLAMA3 | dict(rope_theta=3000.0)),
               dict(rope_theta=3000.0, rope_scaling={key: value for key, value in LLAMA3.items() if key != "rope_theta"})),
    "gpt_neox": ("gpt_neox", dict(rope_parameters=dict(rope_type="default", rope_theta=3000.0,
                                                       partial_rotary_factor=0.5)),
                 dict(rotary_emb_base=3000, rotary_pct=0.5)),
    "gpt_neox defaults": ("gpt_neox", {}, {}),
    "mixtral defaults": ("mixtral", {}, {}),
    "olmo3": ("olmo3", dict(rope_parameters=dict(
        full_attention=YARN | dict(rope_theta=3000.0), sliding_attention=dict(rope_type="default", rope_theta=500000.0))),
        dict(rope_theta=3000.0, rope_scaling={key: value for key, value in YARN.items() if key != "rope_theta"})),
    "gemma3": ("gemma3", dict(rope_parameters=dict(
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=3000.0),
        sliding_attention=dict(rope_type="default", rope_theta=50.0))),
        dict(rope_theta=3000.0, rope_local_base_freq=50.0, rope_scaling=dict(rope_type="linear", factor=8.0))),
    "phi3": ("phi3 longrope, window", {},
             dict(rope_theta=10000.0, rope_scaling=dict(
                 type="su", short_factor=[1.0, 1.1, 1.3, 1.7, 2.0, 2.5], long_factor=[1.0] * 6))),
}


@pytest.mark.parametrize("case", OLD_SPELLINGS)
def test_old_spelling_of_rope(program, case, tmp_path):
    variant, settings, spelling = OLD_SPELLINGS[case]
    model_type, others = VARIANTS[variant]
    model = tiny(model_type, **(others | settings))
    save(model, tmp_path, rope_parameters=None, dtype=None, torch_dtype="float32", **spelling)
    compare(program, model, tmp_path)


@pytest.mark.parametrize("variant", ["gpt2", "openai-gpt", "gpt_bigcode", "gpt_neox", "gptj", "falcon 40b", "falcon rw",
                                     "opt", "llama", "mixtral", "qwen2", "qwen3", "phi3", "olmo2", "starcoder2",
                                     "stablelm", "gemma", "gemma2", "gemma3", "cohere2", "glm4", "granite", "olmo3",
                                     "qwen3_moe", "smollm3", "gpt_oss usual rope", "bloom"])
def test_defaults_of_every_family(program, variant, tmp_path):
    """Only the keys that differ from what transformers assumes."""
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, **settings)
    save(model, tmp_path)
    usual = type(model.config)().to_dict()
    shorter = {key: value for key, value in model.config.to_dict().items()
               if key == "model_type" or key not in usual or value != usual[key]}
    assert len(shorter) < len(model.config.to_dict()) - 8
    (tmp_path / "config.json").write_text(json.dumps(shorter))
    compare(program, model, tmp_path)


def test_keys_that_are_null_or_left_out(program, tmp_path):
    """head_dim null, n_inner left out, settings of training and of other tools beside them."""
    llama = tiny("llama", **LLAMA)
    save(llama, tmp_path / "llama", architectures=None, attention_bias=None, mlp_bias=None, hidden_act=None,
         attention_dropout=None, unknown_setting=[1])
    config = json.loads((tmp_path / "llama" / "config.json").read_text())
    (tmp_path / "llama" / "config.json").write_text(json.dumps(config | {"head_dim": None, "num_key_value_heads": 2}))
    compare(program, llama, tmp_path / "llama")
    gpt2 = tiny("gpt2", **GPT2)
    save(gpt2, tmp_path / "gpt2", n_inner=None, activation_function=None, layer_norm_epsilon=None,
         scale_attn_weights=None, n_embd=None, hidden_size=48, n_head=None, num_attention_heads=4)
    compare(program, gpt2, tmp_path / "gpt2")
    mistral = tiny("mistral", **LLAMA)  # a window of 4096 where the key is left out
    save(mistral, tmp_path / "mistral", sliding_window=None)
    compare(program, mistral, tmp_path / "mistral")


@pytest.mark.parametrize("layout", ["hub", "stacked"])
def test_layouts_of_mixtral(program, layout, tmp_path):
    model_type, settings = VARIANTS["mixtral"]
    model = tiny(model_type, **settings)
    tensors = {}
    for name, tensor in stored_tensors(model).items():
        base = name.replace(".mlp.", ".block_sparse_moe.") if layout == "hub" else name
        if layout == "hub" and name.endswith("gate_up_proj"):
            for number, expert in enumerate(tensor):
                first, third = expert.chunk(2)
                tensors[base.replace("gate_up_proj", f"{number}.w1.weight")] = first.clone()
                tensors[base.replace("gate_up_proj", f"{number}.w3.weight")] = third.clone()
        elif layout == "hub" and name.endswith("down_proj"):
            for number, expert in enumerate(tensor):
                tensors[base.replace("down_proj", f"{number}.w2.weight")] = expert.clone()
        else:
            tensors[base] = tensor
    save(model, tmp_path, tensors)
    compare(program, model, tmp_path)


def test_buffers_of_old_files_are_ignored(program, tmp_path):
    for variant, buffers in {"gpt2": ["transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias"],
                             "gpt_neox": ["gpt_neox.layers.1.attention.bias", "gpt_neox.layers.1.attention.masked_bias",
                                          "gpt_neox.layers.1.attention.rotary_emb.inv_freq"],
                             "llama": ["model.layers.0.self_attn.rotary_emb.inv_freq"],
                             "gptj": ["transformer.h.0.attn.bias"]}.items():
        model_type, settings = VARIANTS[variant]
        model = tiny(model_type, **settings)
        save(model, tmp_path / variant, stored_tensors(model) | {name: torch.ones(3) for name in buffers})
        compare(program, model, tmp_path / variant)


def test_a_tied_head_that_is_stored_too(program, tmp_path):
    """Equal: used once. Different: the stored head counts, as in transformers. Only the head: it is the embeddings."""
    model = tiny("gpt2", **GPT2)
    tensors = stored_tensors(model)
    words = tensors["transformer.wte.weight"]
    save(model, tmp_path / "equal", tensors | {"lm_head.weight": words.clone()})
    compare(program, model, tmp_path / "equal")
    others = {name: tensor for name, tensor in tensors.items() if "wte" not in name}
    save(model, tmp_path / "only", others | {"lm_head.weight": words})
    compare(program, model, tmp_path / "only")
    untied = tiny("gpt2", **GPT2 | dict(tie_word_embeddings=False))
    save(untied, tmp_path / "different", stored_tensors(untied), tie_word_embeddings=True)
    compare(program, untied, tmp_path / "different")


def test_the_reading_part_of_gemma3(program, tmp_path):
    """A Gemma 3 that sees: both orders of the names, with tensors of the part that is left out."""
    model_type, settings = VARIANTS["gemma3"]
    model = tiny(model_type, **settings)
    config = {"model_type": "gemma3", "text_config": model.config.to_dict(), "vision_config": {"hidden_size": 8}}
    for number, (prefix, vision) in enumerate([("model.language_model.", "model.vision_tower.x"),
                                               ("language_model.model.", "vision_tower.x")]):
        folder = tmp_path / str(number)
        save(model, folder, {name.replace("model.", prefix, 1): tensor
                             for name, tensor in stored_tensors(model).items()} | {vision: torch.ones(2)})
        (folder / "config.json").write_text(json.dumps(config))
        compare(program, model, folder)


def test_a_whole_gemma3_that_sees(program, tmp_path):
    """Saved by transformers, vision tower included; asked about text alone."""
    model_type, settings = VARIANTS["gemma3"]
    text = transformers.AutoConfig.for_model(model_type, vocab_size=VOCABULARY, **settings).to_dict()
    vision = dict(model_type="siglip_vision_model", hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                  num_attention_heads=2, image_size=28, patch_size=14)
    model = spread(transformers.Gemma3ForConditionalGeneration(transformers.Gemma3Config(
        text_config=text, vision_config=vision, image_token_index=0, boi_token_index=1, eoi_token_index=2)), 1)
    model.save_pretrained(tmp_path)
    compare(program, model, tmp_path)


def test_longest_texts(program, tmp_path):
    """longrope's end at the first training's length: a longer text would turn each of its tokens otherwise."""
    for variant, longest in {"gpt2": 40, "llama3 scaling": 40, "mistral window": 40, "llama longrope": 32}.items():
        model_type, settings = VARIANTS[variant]
        model = tiny(model_type, **settings)
        save(model, tmp_path / variant.replace(" ", "_"))
        compare(program, model, tmp_path / variant.replace(" ", "_"), ids_of([longest, 2]))


REFUSED = {
    "a tensor too many": (lambda tensors: tensors | {"model.layers.3.x": torch.ones(1)}, '"model.layers.3.x" is not exp'),
    "a tensor missing": (lambda tensors: {name: tensor for name, tensor in tensors.items() if "1.mlp.up_proj" not in name},
                         '"model.layers.1.mlp.up_proj.weight" is missing'),
    "a wrong shape": (lambda tensors: tensors | {"model.norm.weight": torch.ones(47)}, "has shape [47]"),
    "not a number": (lambda tensors: tensors | {"model.norm.weight": torch.full((48,), float("nan"))}, "NaN or infinity"),
    "whole numbers": (lambda tensors: tensors | {"model.norm.weight": torch.ones(48, dtype=torch.int64)}, "stored as I64"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_weights(program, case, tmp_path):
    change, says = REFUSED[case]
    model = tiny("llama", **LLAMA)
    save(model, tmp_path, change(stored_tensors(model)))
    answer, _ = program.run(tmp_path, ids_of())
    assert says in answer["error"]


UNFIT = {
    "gpt2": [dict(n_positions=41), dict(n_inner=2**31 - 1), dict(n_layer=2), dict(n_layer=4), dict(vocab_size=2**31 - 1),
             dict(n_embd=2**30), dict(n_head=5), dict(tie_word_embeddings=7)],
    "llama": [dict(intermediate_size=2**31 - 1), dict(head_dim=65536), dict(num_attention_heads=4096, head_dim=65536),
              dict(num_key_value_heads=1), dict(num_key_value_heads=4), dict(attention_bias=True), dict(mlp_bias=True),
              dict(hidden_size=2**31 - 2), dict(rope_parameters=dict(rope_type="yarn", factor=-1))],
    "mixtral": [dict(num_local_experts=5), dict(num_local_experts=3), dict(num_local_experts=4096)],
    "falcon 40b": [dict(num_kv_heads=1), dict(multi_query=True, new_decoder_architecture=False), dict(alibi=True, bias=True),
                   dict(num_ln_in_parallel_attn=1), dict(ffn_hidden_size=2**31 - 1)],
}


@pytest.mark.parametrize("variant", UNFIT)
def test_settings_that_do_not_fit_the_weights(program, variant, tmp_path):
    """A key or a tensor is named, and no memory is taken for what is not there."""
    model_type, settings = VARIANTS[variant]
    model = tiny(model_type, **settings)
    for changes in UNFIT[variant]:
        save(model, tmp_path, **changes)
        answer, _ = program.run(tmp_path, ids_of())
        message = answer.get("error", "accepted")
        assert "config.json" in message or 'tensor "' in message, (changes, message)


def test_rows_of_the_vocabulary_without_tokens(program, tmp_path):
    """The softmax runs over all rows of the head."""
    model = tiny("llama", **LLAMA)
    save(model, tmp_path)
    _, logprobs = program.numbers(tmp_path, model.config, ids_of())
    assert logprobs.shape[1] == VOCABULARY
    assert numpy.abs(numpy.exp(logprobs.astype(numpy.float64)).sum(1) - 1).max() < 1e-5
