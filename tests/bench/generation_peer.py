"""Samples texts with transformers or CTranslate2 for run_generation.py, which starts it with the peers' Python.

Reports processor seconds of the fastest call and new tokens; with `--who machine` what one thread reads from memory in
GB/s.
"""
import argparse
import json
import time
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", choices=["transformers", "ctranslate2", "machine"], required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--jobs", type=Path)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--new-tokens", type=int)
    parser.add_argument("--calls", type=int, default=1)
    parser.add_argument("--report", type=Path, required=True)
    args = parser.parse_args()
    report = {"transformers": transformers_texts, "ctranslate2": ctranslate2_texts, "machine": machine}[args.who](args)
    args.report.write_text(json.dumps(report))


def prompts_of(args):
    """The items' prompts, in file order."""
    return [json.loads(line)["prompt"] for line in args.jobs.read_text().splitlines()]


def timed(calls, work):
    """(what `work` returned, processor seconds of its fastest call)."""
    seconds = []
    for _ in range(calls):
        start = time.process_time()
        found = work()
        seconds.append(time.process_time() - start)
    return found, min(seconds)


def transformers_texts(args):
    """One padded batch, keys and values cached, plain sampling at temperature 1."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(args.model, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=getattr(torch, args.dtype)).eval()
    model.generation_config.eos_token_id = None

    def sample(prompts, count):
        batch = tokenizer(prompts, return_tensors="pt", padding=True)
        return model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], do_sample=True,
                              temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=count, use_cache=True,
                              pad_token_id=tokenizer.pad_token_id)[:, batch["input_ids"].shape[1]:]

    prompts = prompts_of(args)
    with torch.inference_mode():
        sample(prompts[:2], 2)
        new, seconds = timed(args.calls, lambda: sample(prompts, args.new_tokens))
    return {"items": len(prompts), "cpu_s": seconds, "new_tokens": new.numel()}


def ctranslate2_texts(args):
    """generate_batch with sampling from the whole distribution at temperature 1."""
    import ctranslate2
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    target = Path(f"{args.model}.ct2")
    if not (target / "model.bin").exists():
        ctranslate2.converters.TransformersConverter(str(args.model)).convert(str(target), force=True)
    model = ctranslate2.Generator(str(target), device="cpu", compute_type=args.dtype, intra_threads=1)

    def sample(prompts, count):
        tokens = [tokenizer.convert_ids_to_tokens(tokenizer(prompt)["input_ids"]) for prompt in prompts]
        found = model.generate_batch(tokens, max_length=count, min_length=count, sampling_topk=0,
                                     sampling_temperature=1.0, include_prompt_in_result=False, max_batch_size=0)
        return sum(len(one.sequences_ids[0]) for one in found)

    prompts = prompts_of(args)
    sample(prompts[:2], 2)
    new, seconds = timed(args.calls, lambda: sample(prompts, args.new_tokens))
    return {"items": len(prompts), "cpu_s": seconds, "new_tokens": new}


def machine(_):
    """What one thread reads from memory."""
    import torch
    torch.set_num_threads(1)
    block = torch.ones(1 << 28)
    return {"read_gb_per_s": block.nbytes / timed(5, block.sum)[1] / 1e9}


if __name__ == "__main__":
    main()
