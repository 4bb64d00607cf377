#!/usr/bin/env python3
"""Peak memory of a causal job with large batches and a large vocabulary, beside the size of the weights.

    $(bash env/setup.sh | tail -1) tests/bench/memory_test.py [--vocabulary 128000] [--batch-tokens 16384]

Makes a LLaMA checkpoint (seeded, untied head) around the bundled model's tokenizer, scores coreference prompts on one
rank and prints the peak resident memory of the process, the weights, and what is left. Fails above weights + 1 GiB.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLANTED = ROOT / "tests/models/planted_causal"
GIB = 2**30


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/stereosweep")
    parser.add_argument("--vocabulary", type=int, default=128_000)
    parser.add_argument("--batch-tokens", type=int, default=16_384)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--sentences", type=int, default=80, help="about 800 distinct tokens each")
    parser.add_argument("--sentence-files", type=Path, default=ROOT.parent / "shared/data/winobias")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        weights = make_model(model, args)
        sentences = some_sentences(args, Path(folder) / "sentences")
        before = run(args, model, sentences, Path(folder) / "small", 256)
        peak = run(args, model, sentences, Path(folder) / "large", args.batch_tokens)
    print(f"{args.layers} layers of {args.hidden}, vocabulary {args.vocabulary:,}, {args.dtype}: weights {weights / GIB:.2f} GiB")
    print(f"peak with batches of    256 tokens: {before / GIB:.2f} GiB, weights + {(before - weights) / GIB:.2f} GiB")
    print(f"peak with batches of {args.batch_tokens:6} tokens: {peak / GIB:.2f} GiB, weights + {(peak - weights) / GIB:.2f} GiB "
          "(goal: at most 1)")
    sys.exit(0 if peak <= weights + GIB else 1)


def make_model(folder, args):
    """Writes the checkpoint; bytes of its weights in the dtype of the run."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=args.vocabulary, hidden_size=args.hidden, intermediate_size=4 * args.hidden,
                         num_hidden_layers=args.layers, num_attention_heads=16, num_key_value_heads=4,
                         max_position_embeddings=512, tie_word_embeddings=False, bos_token_id=0, eos_token_id=0)
    model = LlamaForCausalLM(config).to(getattr(torch, args.dtype))
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(PLANTED / name, folder)
    return sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())


def some_sentences(args, folder):
    """A folder with the first sentences of every file."""
    folder.mkdir()
    files = sorted(args.sentence_files.rglob("*.txt*"))
    if not files:
        sys.exit(f"{args.sentence_files} holds no sentences: use --sentence-files")
    for file in files:
        lines = file.read_text().splitlines(keepends=True)[:max(1, args.sentences // len(files))]
        (folder / file.name).write_text("".join(lines))
    return folder


def run(args, model, sentences, output, batch_tokens):
    """Peak resident bytes of one rank; the largest child so far, so the small run goes first."""
    command = [args.program, "run", ROOT / "jobs/40_winoidentity.yaml", f"model={{path: {model}, dtype: {args.dtype}}}",
               f"axes.sentences={{files: [{sentences}]}}", f"execution.batch_tokens={batch_tokens}",
               "execution.contexts_per_block=2000", "--output", output]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    log = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(log)
    print("".join(line + "\n" for line in log.splitlines() if "work:" in line), end="", file=sys.stderr)
    return usage.ru_maxrss * 1024


if __name__ == "__main__":
    main()
