"""What a user would write with transformers, batched and on the same device: the peer of the checklist.

    python3 tests/gpu/peer.py --work association --model DIR --jobs FILE --device cuda --dtype bfloat16 --json REPORT

Distinct inputs sorted by length, padded batches of a token budget, sdpa attention, inference mode, the vocabulary
projection only at rows that are read. `--prefix` (continuations): the prompt's keys and values are computed once and
repeated over its endings.
"""
import argparse
import copy
import json
import time

import torch
import transformers


def token_batches(lengths, budget):
    """Lists of indices, longest first, each with at most `budget` padded tokens."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batch = []
    for index in order:
        if batch and (len(batch) + 1) * lengths[batch[0]] > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def padded(sequences, pad, device):
    width = max(map(len, sequences))
    ids = torch.tensor([list(one) + [pad] * (width - len(one)) for one in sequences])
    mask = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in sequences])
    return ids.to(device), None if mask.all() else mask.to(device)


def association(args, model, tokenizer, items):
    head = model.cls if hasattr(model, "cls") else model.lm_head
    wanted = {}
    for item in items:
        for text in (item["text"], item["prior_text"]):
            wanted.setdefault(text, {})[item["piece"]] = tokenizer.convert_tokens_to_ids(item["piece"])
    texts = list(wanted)
    sequences = tokenizer(texts)["input_ids"]
    found = {}
    for indices in token_batches(list(map(len, sequences)), args.budget):
        ids, mask = padded([sequences[i] for i in indices], tokenizer.pad_token_id, args.device)
        hidden = model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        places = [sequences[i].index(tokenizer.mask_token_id) for i in indices]
        logs = head(hidden[torch.arange(len(indices)), torch.tensor(places)]).float().log_softmax(-1)
        reads = [(row, piece, number) for row, i in enumerate(indices) for piece, number in wanted[texts[i]].items()]
        picked = logs[[row for row, _, _ in reads], [number for _, _, number in reads]].tolist()
        for (row, piece, _), value in zip(reads, picked):
            found[texts[indices[row]], piece] = value
    return [found[item["text"], item["piece"]] - found[item["prior_text"], item["piece"]] for item in items]


def encoded_pairs(tokenizer, items):
    prompts = tokenizer([item["prompt"] for item in items])["input_ids"]
    joint = tokenizer([item["prompt"] + item["continuation"] for item in items])["input_ids"]
    return [(ids[:len(prompt)], ids[len(prompt):]) for prompt, ids in zip(prompts, joint)]


def continuation(args, model, tokenizer, items):
    pairs = encoded_pairs(tokenizer, items)
    return cached(args, model, pairs) if args.prefix else recomputed(args, model, pairs)


def read(model, hidden, rows):
    """Sum of log-probabilities by item; rows of (row, column, item, token)."""
    logs = model.lm_head(hidden[[row[0] for row in rows], [row[1] for row in rows]]).float().log_softmax(-1)
    picked = logs[torch.arange(len(rows)), torch.tensor([row[3] for row in rows])].tolist()
    sums = {}
    for (_, _, item, _), value in zip(rows, picked):
        sums[item] = sums.get(item, 0.0) + value
    return sums


def recomputed(args, model, pairs):
    """Sequences that differ only in their last token share a row."""
    fed = {}
    for index, (context, target) in enumerate(pairs):
        fed.setdefault(tuple(context + target[:-1]), []).append(index)
    sequences, values = list(fed), {}
    for indices in token_batches(list(map(len, sequences)), args.budget):
        ids, mask = padded([sequences[i] for i in indices], 0, args.device)
        hidden = model.base_model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        values |= read(model, hidden, [(row, len(pairs[item][0]) - 1 + step, item, token) for row, i in enumerate(indices)
                                       for item in fed[sequences[i]] for step, token in enumerate(pairs[item][1])])
    return [values[i] for i in range(len(pairs))]


def cached(args, model, pairs):
    """Prompts once, in batches of equal lengths; endings on a copy of their keys and values."""
    users, values = {}, {}
    for index, (context, target) in enumerate(pairs):
        users.setdefault(tuple(context), []).append(index)
    prompts = list(users)
    by_length = {}
    for number, prompt in enumerate(prompts):
        by_length.setdefault(len(prompt), []).append(number)
    for length, numbers in by_length.items():
        for begin in range(0, len(numbers), max(1, args.budget // length)):
            some = numbers[begin:begin + max(1, args.budget // length)]
            ids = torch.tensor([prompts[i] for i in some], device=args.device)
            cache = transformers.DynamicCache(config=model.config)
            hidden = model.base_model(input_ids=ids, past_key_values=cache).last_hidden_state
            values |= read(model, hidden, [(row, length - 1, item, pairs[item][1][0]) for row, i in enumerate(some)
                                           for item in users[prompts[i]]])
            endings = [(row, item) for row, i in enumerate(some) for item in users[prompts[i]] if len(pairs[item][1]) > 1]
            if not endings:
                continue
            repeated = copy.deepcopy(cache)
            repeated.batch_select_indices(torch.tensor([row for row, _ in endings], device=args.device))
            ids, mask = padded([pairs[item][1][:-1] for _, item in endings], 0, args.device)
            seen = torch.ones(len(endings), length, dtype=torch.long, device=args.device)
            mask = torch.cat([seen, torch.ones_like(ids) if mask is None else mask], 1)
            hidden = model.base_model(input_ids=ids, attention_mask=mask, past_key_values=repeated).last_hidden_state
            more = read(model, hidden, [(row, step, item, token) for row, (_, item) in enumerate(endings)
                                        for step, token in enumerate(pairs[item][1][1:])])
            for item, value in more.items():
                values[item] += value
    return [values[i] for i in range(len(pairs))]


def embedding(args, model, tokenizer, items):
    """Last piece of the span, as bench_embedding takes it."""
    encoded = tokenizer([item["text"] for item in items], return_offsets_mapping=True)
    sequences, values = encoded["input_ids"], [None] * len(items)
    for indices in token_batches(list(map(len, sequences)), args.budget):
        ids, mask = padded([sequences[i] for i in indices], tokenizer.pad_token_id, args.device)
        hidden = model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        places = [max(k for k, (start, end) in enumerate(encoded["offset_mapping"][i])
                      if start < items[i]["span"][1] and end > items[i]["span"][0]) for i in indices]
        for i, vector in zip(indices, hidden[torch.arange(len(indices)), torch.tensor(places)].float().cpu().numpy()):
            values[i] = vector
    return [vector.tolist() for vector in values]


def generation(args, model, tokenizer, items):
    sequences = tokenizer([item["prompt"] for item in items])["input_ids"]
    width = max(map(len, sequences))
    ids = torch.tensor([[2] * (width - len(one)) + one for one in sequences], device=args.device)
    mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in sequences], device=args.device)
    out = model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=args.new_tokens, do_sample=False, pad_token_id=2)
    answers = [row[width:].tolist() for row in out]
    return [ids[:ids.index(2)] if 2 in ids else ids for ids in answers]


WORKS = dict(association=association, continuation=continuation, embedding=embedding, generation=generation)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", choices=WORKS, required=True)
    for name in ("model", "jobs", "json"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--results")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--budget", type=int, default=16384)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=1, help="the fastest counts")
    parser.add_argument("--prefix", action="store_true")
    args = parser.parse_args()
    items = [json.loads(line) for line in open(args.jobs)]
    start = time.perf_counter()
    masked = args.work in ("association", "embedding")
    family = transformers.AutoModelForMaskedLM if masked else transformers.AutoModelForCausalLM
    model = family.from_pretrained(args.model, dtype=getattr(torch, args.dtype), attn_implementation="sdpa").to(args.device)
    model.eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(args.model)
    wait = torch.cuda.synchronize if args.device == "cuda" else (lambda: None)
    with torch.inference_mode():
        WORKS[args.work](args, model, tokenizer, items[:8])  # warm
        wait()
        loaded = time.perf_counter()
        times = []
        for _ in range(args.repeat):
            begin = time.perf_counter()
            values = WORKS[args.work](args, model, tokenizer, items)
            wait()
            times.append(time.perf_counter() - begin)
    report = dict(items=len(items), load_s=loaded - start, wall_s=min(times))
    if args.device == "cuda":
        report["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
    if args.work == "generation":
        report["new_tokens"] = sum(map(len, values))
    with open(args.json, "w") as out:
        json.dump(report, out)
    if args.results:
        with open(args.results, "w") as out:
            out.writelines(json.dumps(dict(id=item["id"], value=value)) + "\n" for item, value in zip(items, values))


if __name__ == "__main__":
    main()
