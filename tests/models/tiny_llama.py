"""A LLaMA of half a million numbers with a tokenizer of its own texts: what the two planted causal models are made from."""

import json
import time

import numpy
import tokenizers
import torch
import transformers


def texts(dataset):
    """The labels of a result file as a flat list."""
    return [value.decode() if isinstance(value, bytes) else value for value in numpy.ravel(dataset[()])]


def byte_level(words, size, special):
    """Byte-level BPE over the texts: their words become tokens, anything else falls apart into bytes."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.train_from_iterator(words, tokenizers.trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def new_model(tokenizer, positions, end):
    torch.manual_seed(5)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=96, intermediate_size=256, num_hidden_layers=4, num_attention_heads=6,
        num_key_value_heads=3, max_position_embeddings=positions, rms_norm_eps=1e-5, tie_word_embeddings=True, bos_token_id=0,
        eos_token_id=end, initializer_range=0.05))


def fit(model, steps, rate, losses, names, keep, every):
    """`losses()` gives what is minimised and the numbers to print, called `names`; `keep` stores the model every so many
    steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate * min(1, (step + 1) / 100) * (
        0.02 + 0.98 * (0.5 + 0.5 * numpy.cos(numpy.pi * min(1, step / steps)))))
    began, recent = time.time(), []
    for step in range(1, steps + 1):
        total, numbers = losses()
        recent.append(numbers)
        optimizer.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            means = numpy.mean(recent[-100:], axis=0)
            print(f"step {step}  {time.time() - began:.0f} s  " +
                  ", ".join(f"{name} {mean:.4f}" for name, mean in zip(names, means, strict=True)) + " nat", flush=True)
        if step % every == 0:
            keep()
    return model.eval()


def write(folder, model, tokenizer, settings):
    """Weights in float16; `settings`: tokenizer_config.json."""
    model.save_pretrained(folder, safe_serialization=True, state_dict={
        name: value.to(torch.float16) for name, value in model.state_dict().items()})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
