"""Tiny causal models with widened weights and tokenizers of three kinds, and the same questions by transformers."""
import json
import sys
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizer"))
from causal_families import CAUSAL  # noqa: E402
from wheel_training import byte_level  # noqa: E402

torch.set_num_threads(1)       # texts are short: more threads only wait for each other


def make(kind, folder, positions=64):
    """"gpt2" puts nothing before a text, "llama2" and "llama3" put a first token there."""
    tokenizer = byte_level(["<|endoftext|>"]) if kind == "gpt2" else CAUSAL[kind]()
    size = tokenizer.get_vocab_size()
    torch.manual_seed(1)
    if kind == "gpt2":
        model = GPT2LMHeadModel(GPT2Config(vocab_size=size, n_positions=positions, n_embd=48, n_layer=3, n_head=4,
                                           bos_token_id=0, eos_token_id=0))
    else:
        model = LlamaForCausalLM(LlamaConfig(
            vocab_size=size + 7, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=positions, bos_token_id=1, eos_token_id=2))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data *= 8
    folder.mkdir(parents=True, exist_ok=True)
    model.eval().save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return Reference(folder, tokenizer, model, positions)


class Reference:
    """One text a forward."""

    def __init__(self, folder, tokenizer, model, positions):
        self.folder, self.tokenizer, self.model, self.max_tokens = folder, tokenizer, model, positions

    def ids(self, text):
        """With the tokens that the tokenizer puts around a text."""
        return self.tokenizer.encode(text).ids

    def joint(self, prompt, continuation):
        """Joint ids and the place where the continuation begins."""
        before, joint = self.ids(prompt.rstrip()), self.ids(prompt + continuation)
        return joint, next((i for i, pair in enumerate(zip(before, joint)) if pair[0] != pair[1]),
                           min(len(before), len(joint)))

    @torch.inference_mode()
    def logs(self, ids):
        """[position][id] log-probabilities of the next token; float64 softmax of float32 logits."""
        return self.model(torch.tensor([ids])).logits[0].double().log_softmax(-1)

    def tokens(self, prompt, continuation):
        """Log-probability of each token of the continuation."""
        ids, begin = self.joint(prompt, continuation)
        logs = self.logs(ids)
        return [logs[place - 1, ids[place]].item() for place in range(begin, len(ids))]

    @torch.inference_mode()
    def vector(self, text, span, layer):
        """Mean hidden state of the tokens that overlap a span of bytes."""
        encoding = self.tokenizer.encode(text)
        to_bytes = [len(text[:place].encode()) for place in range(len(text) + 1)]
        hit = [i for i, (start, end) in enumerate(encoding.offsets)
               if to_bytes[start] < span[1] and to_bytes[end] > span[0] and start < end]
        states = self.model(torch.tensor([encoding.ids]), output_hidden_states=True).hidden_states
        return states[layer][0][hit].double().mean(0).tolist()

    @torch.inference_mode()
    def greedy(self, prompt, count):
        """New ids up to the end token, without it."""
        ids = self.ids(prompt)
        start = len(ids)
        while len(ids) - start < count:
            token = self.model(torch.tensor([ids])).logits[0, -1].argmax().item()
            if token == self.model.generation_config.eos_token_id:
                break
            ids.append(token)
        return ids[start:]
