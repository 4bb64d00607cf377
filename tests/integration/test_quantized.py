"""Folders with quantized matrices: the model of what is stored, against transformers with the numbers that the published
format's own library, or a plain reading of the format, makes of the codes."""
import json

import compressed_tensors.compressors.pack_quantized.helpers as packing
import numpy
import pytest
import torch
from causal_models import GPT_OSS, LLAMA, Program, ids_of, save, stored_tensors, theirs, tiny
from safetensors.torch import load_file, save_file
from transformers.integrations.finegrained_fp8 import _dequantize_fp8_weight
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

WIDE = LLAMA | dict(hidden_size=64, intermediate_size=96)


@pytest.fixture(scope="module")
def program():
    running = Program()
    yield running
    running.close()


def matrices(model):
    return {name: tensor for name, tensor in stored_tensors(model).items() if name.endswith("_proj.weight")}


def write(model, folder, parts_of, quantization):
    """`parts_of(matrix)` -> ({ending: tensor}, the numbers that they stand for); the model gets these."""
    tensors = stored_tensors(model)
    for name, matrix in matrices(model).items():
        parts, exact = parts_of(matrix)
        del tensors[name]
        tensors |= {name.removesuffix(".weight") + ending: part.contiguous() for ending, part in parts.items()}
        model.get_parameter(name).data = exact.float()
    save(model, folder, tensors, quantization_config=quantization)


def check(program, model, folder):
    _, logprobs = program.numbers(folder, model.config, ids_of())
    _, expected = theirs(model, ids_of())
    assert expected.std() > 0.5
    assert numpy.abs(logprobs - expected).max() <= 1e-4


def words(codes, bits, order=None):
    """Codes of the last dimension -> int32, the lowest bits first, each word in this order."""
    count = 32 // bits
    order = order or range(count)
    codes = codes.long().reshape(*codes.shape[:-1], -1, count)[..., list(order)]
    packed = sum(codes[..., i] << bits * i for i in range(count))
    return torch.where(packed >= 1 << 31, packed - (1 << 32), packed).to(torch.int32)


def float8(numbers):
    """Beyond 448 torch makes NaN, which nobody stores."""
    return numbers.clamp(-448, 448).to(torch.float8_e4m3fn)


def draws(shape, bits):
    return torch.randint(0, 1 << bits, shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("block", [[32, 32], [40, 24], None])
def test_fp8(program, block, tmp_path):
    def parts(matrix):
        rows, columns = (1, 1) if block is None else (-(-matrix.shape[0] // block[0]), -(-matrix.shape[1] // block[1]))
        codes = float8(matrix * 100)
        scale = 0.01 * (0.5 + torch.rand(rows, columns)) if block else torch.tensor(0.01)
        name = ".weight_scale_inv"
        return {".weight": codes, name: scale, ".activation_scale": torch.ones(())}, _dequantize_fp8_weight(
            codes, scale, block, torch.float32)
    model = tiny("llama", **WIDE)
    write(model, tmp_path, parts, dict(quant_method="fp8", weight_block_size=block, activation_scheme="dynamic"))
    check(program, model, tmp_path)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("form", ["gptq", "gptq_v2"])
@pytest.mark.parametrize("ordered", [True, False])
def test_gptq(program, bits, form, ordered, tmp_path):
    def parts(matrix):
        out, inputs = matrix.shape
        groups = inputs // 16
        codes, zeros = draws((out, inputs), bits), draws((groups, out), bits).clamp(1 if form == "gptq" else 0)
        scales = ((0.5 + torch.rand(groups, out)) * matrix.std() * 2 / (1 << bits)).half()
        group = torch.arange(inputs) // 16
        if ordered:
            group = group[torch.randperm(inputs, generator=torch.Generator().manual_seed(1))]
        exact = (codes - zeros[group].t()) * scales.float()[group].t()
        stored_zeros = zeros - int(form == "gptq")
        return {".qweight": words(codes, bits).t(), ".qzeros": words(stored_zeros, bits), ".scales": scales,
                ".g_idx": group.int()}, exact
    model = tiny("llama", **WIDE)
    write(model, tmp_path, parts, dict(quant_method="gptq", bits=bits, group_size=16, checkpoint_format=form, desc_act=ordered))
    check(program, model, tmp_path)


def test_awq(program, tmp_path):
    def parts(matrix):
        out, inputs = matrix.shape
        codes, zeros = draws((inputs, out), 4), draws((inputs // 32, out), 4)
        scales = ((0.5 + torch.rand(inputs // 32, out)) * matrix.std() / 8).half()
        group = torch.arange(inputs) // 32
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        return {".qweight": words(codes, 4, order), ".qzeros": words(zeros, 4, order), ".scales": scales}, (
            (codes - zeros[group]) * scales.float()[group]).t()
    model = tiny("llama", **WIDE)
    write(model, tmp_path, parts, dict(quant_method="awq", bits=4, group_size=32, version="gemm", zero_point=True))
    check(program, model, tmp_path)


@pytest.mark.parametrize("size", [40, 64])
def test_groups_that_do_not_divide_the_inputs(program, size, tmp_path):
    """Without g_idx only config.json says which inputs are a group."""
    def parts(matrix):
        out, inputs = matrix.shape
        groups, group = -(-inputs // size), torch.arange(inputs) // size
        codes, zeros = draws((out, inputs), 4), draws((groups, out), 4).clamp(1)
        scales = ((0.5 + torch.rand(groups, out)) * matrix.std() / 8).half()
        return {".qweight": words(codes, 4).t(), ".qzeros": words(zeros - 1, 4), ".scales": scales}, (
            codes - zeros[group].t()) * scales.float()[group].t()
    model = tiny("llama", **WIDE)
    write(model, tmp_path, parts, dict(quant_method="gptq", bits=4, group_size=size))
    check(program, model, tmp_path)


@pytest.mark.parametrize("block", [[40, 24], [64, 64], [128, 128]])
def test_float8_blocks_that_do_not_divide_the_matrix(program, block, tmp_path):
    def parts(matrix):
        codes = float8(matrix * 100)
        scale = 0.01 * (0.5 + torch.rand(-(-matrix.shape[0] // block[0]), -(-matrix.shape[1] // block[1])))
        return {".weight": codes, ".weight_scale": scale}, _dequantize_fp8_weight(codes, scale, block, torch.float32)
    model = tiny("llama", **WIDE)
    weights = dict(num_bits=8, type="float", strategy="block", group_size=None, block_structure=block)
    write(model, tmp_path, parts, dict(quant_method="compressed-tensors", format="float-quantized",
                                       config_groups={"group_0": {"targets": ["Linear"], "weights": weights}}))
    check(program, model, tmp_path)


def test_what_changes_no_number_is_passed_over(program, tmp_path):
    """Scales of a server's keys and values, biases of zeros, a sparsity of none; two formats in one folder."""
    kinds = iter(range(99))

    def parts(matrix):
        out, inputs = matrix.shape
        bits = 8 if next(kinds) % 2 else 4
        codes = (draws((out, inputs), bits) - (1 << bits - 1)).to(torch.int8)
        scale = (0.5 + torch.rand(out, 1)) * matrix.std() * 4 / (1 << bits)
        made = {".weight": codes} if bits == 8 else {
            ".weight_packed": packing.pack_to_int32(codes, bits), ".weight_shape": torch.tensor([out, inputs])}
        return made | {".weight_scale": scale, ".bias": torch.zeros(out)}, codes.float() * scale
    model = tiny("llama", **WIDE)
    write(model, tmp_path, parts, dict(quant_method="compressed-tensors", format="mixed-precision",
                                       sparsity_config={"format": "dense"}))
    stored = load_file(tmp_path / "model.safetensors")
    save_file(stored | {f"model.layers.{i}.self_attn.{part}_scale": torch.ones(1) for i in range(3) for part in "kv"},
              tmp_path / "model.safetensors")
    check(program, model, tmp_path)


COMPRESSED = ["groups", "rows", "zeros", "order", "int8", "int8 zeros", "float8", "float8 whole"]


@pytest.mark.parametrize("form", COMPRESSED)
def test_compressed_tensors(program, form, tmp_path):
    bits = 8 if "8" in form else 4

    def parts(matrix):
        out, inputs = matrix.shape
        columns = inputs // 16 if form in ("groups", "zeros", "order") else 1
        rows = 1 if form == "float8 whole" else out
        scale = (0.5 + torch.rand(rows, columns)) * matrix.std() * 4 / (1 << bits)
        group = torch.arange(inputs) * columns // inputs
        if form == "order":
            group = group[torch.randperm(inputs, generator=torch.Generator().manual_seed(2))]
        if "float8" in form:
            codes = float8(matrix / scale.mean())
            return {".weight": codes, ".weight_scale": scale.reshape(-1) if rows == 1 else scale}, codes.float() * scale
        codes = (draws((out, inputs), bits) - (1 << bits - 1)).to(torch.int8)
        zeros = (draws((out, columns), bits) // 4 - (1 << bits - 3)).to(torch.int8) if "zeros" in form else torch.zeros(
            out, columns, dtype=torch.int8)
        exact = (codes.float() - zeros.float()[:, group]) * scale[:, group]
        if "int8" in form:
            made = {".weight": codes, ".weight_scale": scale}
            return made | ({".weight_zero_point": zeros} if "zeros" in form else {}), exact
        made = {".weight_packed": packing.pack_to_int32(codes, bits), ".weight_scale": scale,
                ".weight_shape": torch.tensor([out, inputs])}
        if "zeros" in form:
            made[".weight_zero_point"] = packing.pack_to_int32(zeros, bits, packed_dim=0)
        return made | ({".weight_g_idx": group.int()} if form == "order" else {}), exact
    model = tiny("llama", **WIDE)
    kind = "pack-quantized" if bits == 4 else "float-quantized" if "float" in form else "int-quantized"
    write(model, tmp_path, parts, dict(quant_method="compressed-tensors", format=kind))
    check(program, model, tmp_path)


@pytest.mark.parametrize("seed", [1, 2])
def test_mxfp4(program, seed, tmp_path):
    """The experts of GPT-OSS as they are published: every code, scales of many sizes."""
    settings = GPT_OSS | dict(hidden_size=64, intermediate_size=96)
    model = tiny("gpt_oss", **settings)
    tensors, draw = stored_tensors(model), torch.Generator().manual_seed(seed)
    for name, matrix in list(tensors.items()):
        if name.endswith(("gate_up_proj", "down_proj")):
            experts, inputs, out = matrix.shape
            blocks = torch.randint(0, 256, (experts, out, inputs // 32, 16), dtype=torch.uint8, generator=draw)
            scales = torch.randint(118, 125, (experts, out, inputs // 32), dtype=torch.uint8, generator=draw)
            exact = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)
            model.get_parameter(name).data = exact
            del tensors[name]
            tensors |= {name + "_blocks": blocks, name + "_scales": scales}
    save(model, tmp_path, tensors, quantization_config=dict(quant_method="mxfp4", modules_to_not_convert=["lm_head"]))
    check(program, model, tmp_path)


GOOD = dict(quant_method="gptq", bits=4, group_size=16)


@pytest.mark.parametrize(("settings", "change", "message"), [
    (dict(quant_method="bitsandbytes"), {}, 'quant_method: "bitsandbytes" is not supported'),
    (GOOD | dict(bits=3), {}, "bits: 3 is not supported"),
    (GOOD | dict(checkpoint_format="marlin"), {}, "marlin"),
    (GOOD | dict(dynamic={"+:.*": {}}), {}, "dynamic: is not supported"),
    (GOOD, {".scales": None}, "lacks scales"),
    (dict(quant_method="compressed-tensors", config_groups={"group_0": {"weights": {"symmetric": False}}}),
     {".qweight": None, ".qzeros": None, ".scales": None, ".weight_packed": torch.zeros(64, 8, dtype=torch.int32),
      ".weight_shape": torch.tensor([64, 64]), ".weight_scale": torch.ones(64, 1)}, "lacks weight_zero_point"),
    (GOOD | dict(group_size=128), {}, "config.json names no group_size or block that fits"),
    (GOOD, {".bias": torch.ones(64)}, 'q_proj.bias" is not expected'),
    (GOOD, {".g_idx": torch.full((64,), 9, dtype=torch.int32)}, "belongs to no group"),
    (GOOD, {".qzeros": torch.zeros(4, 3, dtype=torch.int32)}, "is needed"),
    (GOOD, {".qweight": torch.zeros(8, 64, dtype=torch.int64)}, "is needed"),
])
def test_what_does_not_fit_is_refused_by_name(program, settings, change, message, tmp_path):
    model = tiny("llama", **WIDE)
    good = {".qweight": torch.zeros(8, 64, dtype=torch.int32), ".qzeros": torch.zeros(4, 8, dtype=torch.int32),
            ".scales": torch.ones(4, 64).half()}
    tensors = stored_tensors(model)
    name = "model.layers.0.self_attn.q_proj"
    del tensors[name + ".weight"]
    tensors |= {name + ending: part for ending, part in (good | change).items() if part is not None}
    save(model, tmp_path, tensors, quantization_config=settings)
    answer, _ = program.run(tmp_path, ids_of())
    assert message in answer["error"], json.dumps(answer)
