"""GGUF files of tiny models, written with the `gguf` wheel as llama.cpp's converter lays them out, and the model of the
numbers that are then stored."""

import gguf
import numpy
import torch

TYPES = gguf.GGMLQuantizationType
PLAIN = ["F32", "F16", "BF16"]
SMALL = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"]
LARGE = ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]
HALVES = {"Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}  # where a block has its scales
ARCHITECTURES = {"mistral": "llama", "mixtral": "llama", "qwen3_moe": "qwen3moe", "gemma3_text": "gemma3"}


def stored(numbers, kind, draw):
    """(bytes as the file holds them, the numbers that they stand for)."""
    rows = numpy.ascontiguousarray(numbers, numpy.float32)
    if kind == "F32":
        return rows, rows
    if kind in LARGE:  # the wheel cannot write these: any bits stand for some numbers
        block, size = gguf.GGML_QUANT_SIZES[TYPES[kind]]
        raw = draw.integers(0, 256, (rows.size // block, size), dtype=numpy.uint8)
        for place in HALVES[kind]:
            scales = draw.uniform(0.2, 1, len(raw)) * {"Q2_K": 0.02, "Q3_K": 0.003, "Q6_K": 0.0002}.get(kind, 0.0005)
            raw[:, place:place + 2] = scales.astype(numpy.float16).view(numpy.uint8).reshape(-1, 2)
        raw = raw.reshape(*rows.shape[:-1], -1)
    else:
        raw = gguf.quants.quantize(rows, TYPES[kind])
    return raw, gguf.quants.dequantize(raw, TYPES[kind]).reshape(rows.shape)


def turned(rows, heads):
    """Half a head apart -> neighbours, as llama.cpp turns them."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def turned_back(rows, heads):
    return rows.reshape(heads, rows.shape[0] // heads // 2, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def write(model, path, kind="F32", seed=1, tokenizer=None, keys=None, tensors=None):
    """`kind`: of all matrices whose rows fit. The model gets the numbers that the file stands for."""
    config, draw = model.config.get_text_config(), numpy.random.default_rng(seed)
    family = config.model_type
    arch = ARCHITECTURES.get(family, family)
    names = gguf.get_tensor_name_map({name: key for key, name in gguf.MODEL_ARCH_NAMES.items()}[arch],
                                     config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, arch)
    write_settings(writer, config, arch, keys or {})
    if tokenizer is not None:
        tokenizer(writer)
    for name, numbers in (tensors or {}).items():
        writer.add_tensor(name, numbers)
    heads = {"q": config.num_attention_heads, "k": config.num_key_value_heads or config.num_attention_heads}
    parameters = dict(model.named_parameters())

    def put(name, numbers):
        kind_here = kind if numbers.ndim > 1 and "router" not in name and "gate_inp" not in name else "F32"
        raw, exact = stored(numbers, kind_here, draw)
        writer.add_tensor(name, raw, raw_dtype=TYPES[kind_here])
        return torch.from_numpy(exact.copy())

    with torch.no_grad():
        for name, parameter in parameters.items():
            numbers = parameter.numpy()
            if config.tie_word_embeddings and name == "lm_head.weight":
                continue
            if ".experts." in name:
                put_experts(name, parameter, put)
                continue
            other = names.get_name(name.replace("block_sparse_moe", "mlp"), try_suffixes=(".weight", ".bias"))
            assert other, name
            added = 1 if arch.startswith("gemma") and name.endswith("norm.weight") else 0
            part = name.split("_proj")[0][-1]
            turns = arch in ("llama", "granite", "smollm3") and ("q_proj" in name or "k_proj" in name)
            exact = put(other, turned(numbers, heads[part]) if turns else numbers + numpy.float32(added)).numpy()
            exact = turned_back(exact, heads[part]) if turns else exact - numpy.float32(added)
            parameter.copy_(torch.from_numpy(exact.copy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def put_experts(name, parameter, put):
    layer = name.split(".")[2]
    if name.endswith("down_proj"):
        parameter.copy_(put(f"blk.{layer}.ffn_down_exps.weight", parameter.numpy()))
        return
    inner = parameter.shape[1] // 2
    parameter[:, :inner].copy_(put(f"blk.{layer}.ffn_gate_exps.weight", parameter[:, :inner].numpy()))
    parameter[:, inner:].copy_(put(f"blk.{layer}.ffn_up_exps.weight", parameter[:, inner:].numpy()))


def write_settings(writer, config, arch, keys):
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads or config.num_attention_heads)
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if width * config.num_attention_heads != config.hidden_size:
        writer.add_key_length(width)
        writer.add_value_length(width)
    if arch == "starcoder2":
        writer.add_layer_norm_eps(config.norm_epsilon)
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    if arch in ("llama", "phi3"):
        writer.add_rope_dimension_count(int(width * rope.get("partial_rotary_factor", 1)))
    if getattr(config, "sliding_window", None) and arch in ("phi3", "gemma2", "gemma3", "starcoder2"):
        writer.add_sliding_window(config.sliding_window)
    experts = getattr(config, "num_local_experts", None) or getattr(config, "num_experts", None)
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
    if arch == "qwen3moe":
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if arch == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if arch == "granite":
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    for key, value in keys.items():
        key = key if "." in key and key.split(".")[0] in ("general", "tokenizer", "split") else f"{arch}.{key}"
        add = {str: writer.add_string, bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
        add[type(value)](key, value)


def byte_pairs(tokenizer, pre, first=None, chat=None, **flags):
    """Metadata of a byte-level tokenizer of the `tokenizers` wheel."""
    def add(writer):
        added = tokenizer.get_added_tokens_decoder()
        size = tokenizer.get_vocab_size()
        import json
        model = json.loads(tokenizer.to_str())["model"]
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list([tokenizer.id_to_token(i) for i in range(size)])
        writer.add_token_types([(3 if added[i].special else 4) if i in added else 1 for i in range(size)])
        writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in model["merges"]])
        if first is not None:
            writer.add_bos_token_id(tokenizer.token_to_id(first))
            writer.add_eos_token_id(tokenizer.token_to_id(first))
        if chat is not None:
            writer.add_chat_template(chat)
        for key, value in flags.items():
            writer.add_bool(f"tokenizer.ggml.{key}", value)
    return add


def pieces(processor, **flags):
    """Metadata of a SentencePiece model of pairs."""
    def add(writer):
        ids = range(processor.get_piece_size())
        kinds = [6 if processor.is_byte(i) else 2 if processor.is_unknown(i) else 3 if processor.is_control(i)
                 else 5 if processor.is_unused(i) else 1 for i in ids]
        writer.add_tokenizer_model("llama")
        writer.add_token_list([processor.id_to_piece(i) for i in ids])
        writer.add_token_scores([processor.get_score(i) for i in ids])
        writer.add_token_types(kinds)
        writer.add_bos_token_id(processor.bos_id())
        writer.add_eos_token_id(processor.eos_id())
        for key, value in flags.items():
            writer.add_bool(f"tokenizer.ggml.{key}", value)
    return add
