"""Tiny causal checkpoints of every family, made by transformers from seeds, with widened weights so that logits spread
and mistakes show; and our program's answers for them."""
import json
import os
import subprocess
from pathlib import Path

import numpy
import torch
import transformers
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release")) / "tests" / "dump_causal"
LENGTHS = [7, 12, 1, 30, 9, 9, 2]
VOCABULARY = 131
torch.set_num_threads(1)  # tiny products: more threads only wait for each other

# Sizes of every tiny model, in the words of its family.
GPT2 = dict(n_embd=48, n_layer=3, n_head=4, n_positions=40, bos_token_id=1, eos_token_id=2)
LLAMA = dict(hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=40, bos_token_id=1, eos_token_id=2, pad_token_id=0)
NEOX = dict(hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4, max_position_embeddings=40,
            bos_token_id=1, eos_token_id=2)
FALCON = dict(hidden_size=48, num_hidden_layers=3, num_attention_heads=4, max_position_embeddings=40, bos_token_id=1,
              eos_token_id=2)
GEMMA = LLAMA | dict(head_dim=16)
WINDOWS = dict(sliding_window=5, head_dim=16, query_pre_attn_scalar=24)
LLAMA3 = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
LONGROPE = dict(rope_type="longrope", rope_theta=10000.0, short_factor=[1.0, 1.1, 1.3, 1.7, 2.0, 2.5],
                long_factor=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], original_max_position_embeddings=32)
YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=10)
BLOOM = dict(hidden_size=48, n_layer=3, n_head=4, seq_length=40, bos_token_id=1, eos_token_id=2)
GPT_OSS = LLAMA | dict(head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=5)

# name -> (model_type, settings)
VARIANTS = {
    "gpt2": ("gpt2", GPT2),
    "gpt2 untied, n_inner": ("gpt2", GPT2 | dict(tie_word_embeddings=False, n_inner=50)),
    "gpt2 layer scale": ("gpt2", GPT2 | dict(scale_attn_by_inverse_layer_idx=True, activation_function="relu")),
    "gpt2 unscaled": ("gpt2", GPT2 | dict(scale_attn_weights=False, activation_function="gelu")),
    "gpt2 odd widths": ("gpt2", GPT2 | dict(n_embd=33, n_head=3, n_layer=1)),
    "openai-gpt": ("openai-gpt", GPT2),
    "openai-gpt silu": ("openai-gpt", GPT2 | dict(afn="silu")),
    "gpt_bigcode": ("gpt_bigcode", GPT2),
    "gpt_bigcode, keys for all": ("gpt_bigcode", GPT2 | dict(multi_query=False)),
    "gpt_neox": ("gpt_neox", NEOX),
    "gpt_neox, odd part turns": ("gpt_neox", NEOX | dict(hidden_size=40, hidden_act="gelu_fast", rope_parameters=dict(
        rope_type="default", rope_theta=5000.0, partial_rotary_factor=0.3))),
    "gpt_neox sequential": ("gpt_neox", NEOX | dict(use_parallel_residual=False, attention_bias=False)),
    "gpt_neox linear, tied": ("gpt_neox", NEOX | dict(tie_word_embeddings=True, rope_parameters=dict(
        rope_type="linear", rope_theta=10000.0, factor=2.0, partial_rotary_factor=1.0))),
    "falcon 7b": ("falcon", FALCON),
    "falcon 40b": ("falcon", FALCON | dict(new_decoder_architecture=True, num_attention_heads=8, num_kv_heads=2)),
    "falcon 11b": ("falcon", FALCON | dict(new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1,
                                           ffn_hidden_size=100, tie_word_embeddings=False)),
    "falcon rw": ("falcon", FALCON | dict(alibi=True, multi_query=False, parallel_attn=False, bias=True)),
    "falcon rw, six heads": ("falcon", FALCON | dict(alibi=True, multi_query=False, parallel_attn=False, bias=True,
                                                     num_attention_heads=6)),
    "falcon, keys for all": ("falcon", FALCON | dict(multi_query=False)),
    "llama": ("llama", LLAMA),
    "llama one key head": ("llama", LLAMA | dict(num_key_value_heads=1)),
    "llama all key heads": ("llama", LLAMA | dict(num_key_value_heads=None, rope_parameters=dict(
        rope_type="default", rope_theta=500000.0))),
    "llama head_dim, biases": ("llama", LLAMA | dict(head_dim=18, attention_bias=True, mlp_bias=True)),
    "llama tied, relu": ("llama", LLAMA | dict(tie_word_embeddings=True, hidden_act="relu")),
    "llama3 scaling": ("llama", LLAMA | dict(rope_parameters=LLAMA3)),
    "llama linear": ("llama", LLAMA | dict(rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor=2.5))),
    "llama dynamic": ("llama", LLAMA | dict(rope_parameters=dict(rope_type="dynamic", rope_theta=1e4, factor=2.0))),
    "llama yarn": ("llama", LLAMA | dict(rope_parameters=YARN)),
    "llama longrope": ("llama", LLAMA | dict(rope_parameters=LONGROPE)),
    "mistral": ("mistral", LLAMA | dict(sliding_window=None)),
    "mistral window": ("mistral", LLAMA | dict(sliding_window=5)),
    "mixtral": ("mixtral", LLAMA | dict(num_local_experts=4)),
    "mixtral window, three of five": ("mixtral", LLAMA | dict(num_local_experts=5, num_experts_per_tok=3,
                                                              sliding_window=6, head_dim=14)),
    "qwen2": ("qwen2", LLAMA),
    "qwen2 windows": ("qwen2", LLAMA | dict(use_sliding_window=True, sliding_window=4, max_window_layers=1)),
    "qwen2 yarn": ("qwen2", LLAMA | dict(rope_parameters=YARN | dict(beta_fast=8.0, beta_slow=2.0))),
    "qwen3": ("qwen3", LLAMA | dict(head_dim=16)),
    "qwen3 layer_types": ("qwen3", LLAMA | dict(head_dim=16, attention_bias=True, tie_word_embeddings=True,
                                                use_sliding_window=True, sliding_window=3, layer_types=[
                                                    "sliding_attention", "full_attention", "sliding_attention"])),
    "gemma": ("gemma", GEMMA),
    "gemma2": ("gemma2", LLAMA | WINDOWS | dict(attn_logit_softcapping=4.0, final_logit_softcapping=9.0)),
    "gemma2 no caps": ("gemma2", LLAMA | WINDOWS | dict(attn_logit_softcapping=None, final_logit_softcapping=None)),
    "gemma3": ("gemma3_text", LLAMA | WINDOWS | dict(num_hidden_layers=4, layer_types=[
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention"])),
    "phi3": ("phi3", LLAMA | dict(sliding_window=None)),
    "phi3 longrope, window": ("phi3", LLAMA | dict(sliding_window=7, original_max_position_embeddings=32,
                                                   rope_parameters=LONGROPE)),
    "phi3 part turns": ("phi3", LLAMA | dict(rope_parameters=dict(rope_type="default", rope_theta=1e4,
                                                                  partial_rotary_factor=0.75))),
    "olmo2": ("olmo2", LLAMA),
    "cohere2": ("cohere2", LLAMA | dict(num_hidden_layers=4, sliding_window=5, logit_scale=1.3)),
    "cohere2 layer_types, biases": ("cohere2", LLAMA | dict(sliding_window=4, attention_bias=True, logit_scale=2.5, layer_types=[
        "full_attention", "sliding_attention", "full_attention"])),
    "glm4": ("glm4", LLAMA | dict(head_dim=16)),
    "glm4 no biases, tied": ("glm4", LLAMA | dict(head_dim=12, attention_bias=False, tie_word_embeddings=True)),
    "granite": ("granite", LLAMA | dict(embedding_multiplier=2.5, attention_multiplier=0.2, residual_multiplier=0.3,
                                        logits_scaling=1.7)),
    "granite biases, tied": ("granite", LLAMA | dict(attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
                                                     residual_multiplier=0.7)),
    "olmo3": ("olmo3", LLAMA | dict(num_hidden_layers=5, sliding_window=5)),
    "olmo3 yarn": ("olmo3", LLAMA | dict(sliding_window=4, layer_types=[
        "sliding_attention", "full_attention", "full_attention"], rope_parameters=dict(
            full_attention=YARN, sliding_attention=dict(rope_type="default", rope_theta=10000.0)))),
    "qwen3_moe": ("qwen3_moe", LLAMA | dict(head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=40,
                                            norm_topk_prob=True)),
    "qwen3_moe window, not normed": ("qwen3_moe", LLAMA | dict(num_experts=6, num_experts_per_tok=3, sliding_window=4,
                                                               moe_intermediate_size=24, use_sliding_window=True)),
    "smollm3": ("smollm3", LLAMA | dict(num_hidden_layers=5)),
    "smollm3 windows": ("smollm3", LLAMA | dict(no_rope_layers=[1, 0, 1], use_sliding_window=True, sliding_window=4,
                                                attention_bias=True, mlp_bias=True)),
    "gpt_oss": ("gpt_oss", GPT_OSS | dict(rope_parameters=YARN | dict(truncate=False))),
    "gpt_oss usual rope": ("gpt_oss", GPT_OSS | dict(num_hidden_layers=4)),
    "gpt_oss layer_types, no biases, tied": ("gpt_oss", GPT_OSS | dict(
        num_local_experts=5, num_experts_per_tok=3, attention_bias=False, tie_word_embeddings=True, num_key_value_heads=4,
        layer_types=["full_attention", "sliding_attention", "full_attention"])),
    "bloom": ("bloom", BLOOM),
    "bloom six heads, untied": ("bloom", BLOOM | dict(n_head=6, tie_word_embeddings=False)),
    "gptj": ("gptj", GPT2 | dict(rotary_dim=4)),
    "gptj all turns": ("gptj", GPT2 | dict(rotary_dim=12, n_inner=70)),
    "opt": ("opt", NEOX | dict(ffn_dim=80, word_embed_proj_dim=48, pad_token_id=1)),
    "opt norms after, no biases": ("opt", NEOX | dict(ffn_dim=80, word_embed_proj_dim=48, do_layer_norm_before=False,
                                                      enable_bias=False, pad_token_id=1)),
    "starcoder2": ("starcoder2", LLAMA | dict(sliding_window=6)),
    "stablelm": ("stablelm", LLAMA | dict(hidden_size=64, use_qkv_bias=True)),
    "stablelm parallel": ("stablelm", LLAMA | dict(hidden_size=64, use_parallel_residual=True)),
}


def tiny(model_type, seed=1, **settings):
    """A tiny causal model of a family in evaluation mode."""
    config = transformers.AutoConfig.for_model(model_type, **(dict(vocab_size=VOCABULARY) | settings))
    # Falcon's eager path counts alibi twice; only eager caps scores; OpenAI-GPT has no other path.
    eager = model_type in ("gemma2", "openai-gpt", "gptj", "gpt_oss", "bloom")
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager" if eager else "sdpa")
    return spread(model, seed)


def spread(model, seed):
    """Redraws all parameters: log-probabilities vary by several nat, and no norm, bias or scale is trivial."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for path, module in model.named_modules():
            kind = type(module).__name__
            for name, parameter in module.named_parameters(recurse=False):
                noise = torch.randn(parameter.shape, generator=generator)
                if "Norm" in kind and name == "weight":
                    parameter.copy_((0 if kind.startswith("Gemma") else 1) + 0.2 * noise)
                elif parameter.ndim == 1:
                    parameter.copy_((2 if name == "sinks" else 0.2) * noise)
                elif kind == "GptOssExperts" and "gate_up" in name:  # so large that gates are clipped
                    parameter.copy_(noise * 6 / parameter.shape[-1] ** 0.5)
                elif kind.endswith("Embedding") or "lm_head" in path:
                    parameter.copy_(noise * 3 / parameter.shape[-1] ** 0.5)
                else:
                    parameter.copy_(noise * 1.5 / parameter.shape[0 if kind == "Conv1D" else -1] ** 0.5)
    return model.eval().float()


def ids_of(lengths=LENGTHS, seed=3):
    """Seeded sequences of token ids; the special ones are left out."""
    draw = numpy.random.default_rng(seed)
    return [draw.integers(3, VOCABULARY, length).tolist() for length in lengths]


def stored_tensors(model):
    """The tensors as a file holds them: a tied head only once."""
    tied = model.config.get_text_config().tie_word_embeddings
    return {name: tensor.contiguous().clone() for name, tensor in model.state_dict().items()
            if not (tied and name == "lm_head.weight")}


def save(model, directory, tensors=None, shards=1, **changes):
    """config.json, with changed keys (None: without the key), and safetensors."""
    tensors = stored_tensors(model) if tensors is None else tensors
    config = model.config.to_dict() | changes
    for key in [key for key, value in changes.items() if value is None]:
        del config[key]
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    if shards == 1:
        return save_file(tensors, directory / "model.safetensors")
    names, weight_map = sorted(tensors), {}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        mine = names[shard::shards]
        save_file({name: tensors[name] for name in mine}, directory / file)
        weight_map |= dict.fromkeys(mine, file)
    (directory / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


class Program:
    """One process of dump_causal for many checkpoints: libtorch takes longer to start than a tiny model to run."""

    def __init__(self):
        self.process = None

    def start(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=300) == 0

    def run(self, directory, sequences, dtype="float32"):
        """(answer, numbers) of one checkpoint; an answer is {"logits": width} or {"error": message}."""
        (directory / "ids").write_text("".join(" ".join(map(str, ids)) + "\n" for ids in sequences))
        output = directory / "numbers"
        output.unlink(missing_ok=True)
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write(f"{directory} {dtype} {output} {directory / 'ids'}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"dump_causal died: {self.process.wait()}"
        answer = json.loads(line)
        return answer, numpy.fromfile(output, numpy.float32) if "logits" in answer else None

    def numbers(self, directory, config, sequences, dtype="float32"):
        """(hidden states [layer, token, hidden], log-probabilities [token, vocabulary]) of one checkpoint."""
        answer, numbers = self.run(directory, sequences, dtype)
        assert "error" not in answer, answer["error"]
        text, tokens = config.get_text_config(), sum(map(len, sequences))
        layers, hidden = text.num_hidden_layers, text.hidden_size
        cut = (layers + 1) * tokens * hidden
        states = numbers[:cut].reshape(layers + 1, tokens, hidden)
        return states, numbers[cut:].reshape(tokens, -1) if answer["logits"] else None


@torch.inference_mode()
def theirs(model, sequences):
    """The same of transformers, one sequence a forward."""
    answers = [model(torch.tensor([ids]), output_hidden_states=True) for ids in sequences]
    states = [torch.cat([answer.hidden_states[i][0] for answer in answers])
              for i in range(model.config.get_text_config().num_hidden_layers + 1)]
    logits = torch.cat([answer.logits[0].float() for answer in answers])
    return torch.stack(states).float().numpy(), logits.log_softmax(-1).numpy()
