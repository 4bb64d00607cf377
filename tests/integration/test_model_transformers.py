"""Hidden states and log-probabilities against transformers, on random models whose logits spread.

Both families, tied or not, old names, with and without prefix, in shards, stored in two-byte numbers, every activation;
the real shapes of BERT-base and RoBERTa-base too. Sequences of mixed lengths are one packed batch for us and one
forward each for transformers.
"""
import json
import os
import subprocess
from pathlib import Path

import numpy
import pytest
import torch
import transformers
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release")) / "tests" / "dump_model"
LENGTHS = [7, 12, 12, 1, 30, 9, 9, 9]
FAMILIES = {
    "bert": (transformers.BertConfig, transformers.BertForMaskedLM, "bert."),
    "roberta": (transformers.RobertaConfig, transformers.RobertaForMaskedLM, "roberta."),
}


def tiny_model(family, **settings):
    """A tiny masked model with wide logits, uneven norms and nonzero biases."""
    config_type, model_type, _ = FAMILIES[family]
    settings = dict(vocab_size=301, hidden_size=48, num_hidden_layers=3, num_attention_heads=3, intermediate_size=112,
                    max_position_embeddings=40, type_vocab_size=2, layer_norm_eps=1e-5, pad_token_id=1) | settings
    return spread(model_type(config_type(**settings)), 0.25)


def spread(model, deviation, seed=20220710):
    """Redraws all parameters, so that no logit is close to uniform and no bias or scale is trivial."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim == 2:
                parameter.copy_(noise * deviation)
            else:
                parameter.copy_(noise * 0.1 + (1 if "norm.weight" in name.lower() else 0))
    return model.eval()


def ids_of(vocabulary, lengths):
    """Seeded sequences of token ids, padding token left out."""
    draw = numpy.random.default_rng(3)
    return [draw.integers(2, vocabulary, length).tolist() for length in lengths]


def save(model, directory, tensors=None, shards=1):
    """config.json and safetensors of a model, or of other tensors in its place."""
    if tensors is None:
        tensors = {name: tensor for name, tensor in model.state_dict().items()
                   if not (model.config.tie_word_embeddings and ".decoder." in name)}
    tensors = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    (directory / "config.json").write_text(json.dumps(model.config.to_dict()))
    if shards == 1:
        return save_file(tensors, directory / "model.safetensors")
    names, weight_map = sorted(tensors), {}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        mine = names[shard::shards]
        save_file({name: tensors[name] for name in mine}, directory / file)
        weight_map |= dict.fromkeys(mine, file)
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))


def ours(directory, sequences, layers, hidden, vocabulary, dtype="float32"):
    """(hidden states [layer, token, hidden], log-probabilities [token, vocabulary]) of our program."""
    output = directory / "numbers"
    text = "".join(" ".join(map(str, ids)) + "\n" for ids in sequences)
    subprocess.run([PROGRAM, directory, dtype, output], input=text, text=True, check=True)
    numbers, tokens = numpy.fromfile(output, numpy.float32), sum(map(len, sequences))
    cut = (layers + 1) * tokens * hidden
    return numbers[:cut].reshape(layers + 1, tokens, hidden), numbers[cut:].reshape(-1, vocabulary)


@torch.inference_mode()
def theirs(model, sequences):
    """The same of transformers, one sequence a forward."""
    answers = [model(torch.tensor([ids]), output_hidden_states=True) for ids in sequences]
    layers = [torch.cat([answer.hidden_states[i][0] for answer in answers]) for i in
              range(model.config.num_hidden_layers + 1)]
    logits = torch.cat([answer.logits[0].float() for answer in answers])
    return torch.stack(layers).float().numpy(), logits.log_softmax(-1).numpy()


def compare(model, directory, sequences):
    """The figures that the contract names: 1e-5 relative for hidden states, 1e-4 nat for log-probabilities."""
    config = model.config
    states, logprobs = ours(directory, sequences, config.num_hidden_layers, config.hidden_size, config.vocab_size)
    expected_states, expected = theirs(model, sequences)
    assert expected.std() > 1, "a flat distribution would hide errors"
    for layer, (mine, other) in enumerate(zip(states, expected_states)):
        assert numpy.abs(mine - other).max() <= 1e-5 * numpy.abs(other).max(), f"hidden state {layer}"
    assert numpy.abs(logprobs - expected).max() <= 1e-4


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "relu"])
def test_activations(family, activation, tmp_path):
    model = tiny_model(family, hidden_act=activation)
    save(model, tmp_path)
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("family", FAMILIES)
def test_untied_decoder(family, tmp_path):
    model = tiny_model(family, tie_word_embeddings=False)
    save(model, tmp_path)
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("family", FAMILIES)
def test_saved_by_transformers_itself(family, tmp_path):
    model = tiny_model(family)
    model.save_pretrained(tmp_path)
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("family", FAMILIES)
def test_shards_old_names_and_no_prefix(family, tmp_path):
    model = tiny_model(family)
    prefix = FAMILIES[family][2]

    def old(name):
        if "LayerNorm" in name:
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
        return name.removeprefix(prefix)

    save(model, tmp_path, {old(name): tensor for name, tensor in model.state_dict().items()
                           if ".decoder." not in name}, shards=3)
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("stored", [torch.float16, torch.bfloat16, torch.float64])
def test_stored_types(family, stored, tmp_path):
    model = tiny_model(family).to(stored).float()
    tensors = {name: tensor.to(stored) for name, tensor in model.state_dict().items() if ".decoder." not in name}
    save(model, tmp_path, tensors)
    compare(model, tmp_path, ids_of(301, LENGTHS))


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_tokens_inside_a_text(family, tmp_path):
    model = tiny_model(family)
    save(model, tmp_path)
    compare(model, tmp_path, [[5, 1, 7, 8, 1, 1, 9], [1], [1, 4]])


@pytest.mark.parametrize("family", FAMILIES)
def test_longest_sequence(family, tmp_path):
    model = tiny_model(family)
    save(model, tmp_path)
    compare(model, tmp_path, ids_of(301, [40 if family == "bert" else 38, 2]))


@pytest.mark.parametrize("family", FAMILIES)
def test_base_shapes(family, tmp_path):
    """Twelve layers of 768; real vocabularies. Weights as wide as trained ones'; the decoder makes the logits spread."""
    config_type, model_type, prefix = FAMILIES[family]
    settings = dict(layer_norm_eps=1e-5, type_vocab_size=1, max_position_embeddings=514) if family == "roberta" else {}
    model = spread(model_type(config_type(**settings)), 0.04)
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(2)
    save(model, tmp_path)
    compare(model, tmp_path, ids_of(model.config.vocab_size, [9, 10, 10, 12, 25]))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_16_bits_are_as_near_as_theirs(family, dtype, tmp_path):
    """Our 16 bits may be no further from float32 than transformers' own, with a third to spare."""
    model = tiny_model(family)
    save(model, tmp_path)
    sequences = ids_of(301, LENGTHS)
    _, expected = theirs(model, sequences)
    _, mine = ours(tmp_path, sequences, 3, 48, 301, dtype)
    _, other = theirs(model.to(getattr(torch, dtype)), sequences)
    assert numpy.abs(mine - expected).mean() < 1.33 * numpy.abs(other - expected).mean()
    assert numpy.abs(mine - expected).mean() > 0
