"""Compares one real shape (GPT-2 small unless other settings are given) with transformers and prints how far apart the
two are: python tests/integration/causal_real_shape.py [MODEL_TYPE [JSON_SETTINGS]]

Random weights of transformers' own spread, whose embeddings are made wider so that the logits spread. Takes a minute and
2 GB, and is therefore no test.
"""
import json
import pathlib
import sys
import tempfile

import numpy
import torch
import transformers
from causal_models import Program, save, theirs

SMALL = {"n_positions": 1024}


def main():
    model_type = sys.argv[1] if len(sys.argv) > 1 else "gpt2"
    settings = json.loads(sys.argv[2]) if len(sys.argv) > 2 else SMALL if model_type == "gpt2" else {}
    torch.manual_seed(7)
    config = transformers.AutoConfig.for_model(model_type, **settings)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(6)
    draw = numpy.random.default_rng(5)
    sequences = [draw.integers(3, config.vocab_size, length).tolist() for length in (9, 25, 200)]
    program = Program()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        save(model, folder)
        states, logprobs = program.numbers(folder, config, sequences)
    program.close()
    expected_states, expected = theirs(model, sequences)
    print(f"{model_type}: {model.num_parameters():,} numbers, log-probabilities spread by {expected.std():.2f} nat")
    print(f"log-probabilities apart by at most {numpy.abs(logprobs - expected).max():.2e} nat")
    print(f"last hidden states apart by at most {numpy.abs(states[-1] - expected_states[-1]).max():.2e}, "
          f"the largest is {numpy.abs(expected_states[-1]).max():.1f}")


if __name__ == "__main__":
    main()
