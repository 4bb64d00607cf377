#!/usr/bin/env python3
"""Ids of seeded random strings from tokenizer.model: `stereosweep tokenize` against the `sentencepiece` wheel.

    fuzz_pieces.py --program build/release/bin/stereosweep --decoder .. [--count 100000] [--families llama,..]
Exit status 1 where one differs. Offsets are compared without white space, which the two give to different tokens.
"""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import sentencepiece

sys.path.insert(0, str(Path(__file__).parent))
from fuzz_against_wheel import Strings, decoded, ours  # noqa: E402
from wheel_training import pieces  # noqa: E402

CONTROLS = ["<blank>", "<start_of_turn>"]
RUNS = ["\n\n", "\n\n\n", "▁▁", "▁▁▁▁", "<table>", "é中"]
PLAIN = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
FAMILIES = {
    "llama": {"model_type": "bpe", "byte_fallback": True, "split_digits": True, **PLAIN},
    "gemma": {"model_type": "bpe", "byte_fallback": True, "add_dummy_prefix": False, "control_symbols": CONTROLS,
              "user_defined_symbols": RUNS, **PLAIN},
    "pairs-nfkc": {"model_type": "bpe", "normalization_rule_name": "nmt_nfkc"},
    "pairs-crossing": {"model_type": "bpe", "split_by_whitespace": False, "byte_fallback": True,
                       "user_defined_symbols": ["the cat", "a"], "normalization_rule_name": "nfkc"},
    "pairs-behind": {"model_type": "bpe", "treat_whitespace_as_suffix": True, "normalization_rule_name": "identity"},
    "unigram-nfkc": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc"},
    "unigram-folded": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf", "byte_fallback": True},
    "unigram-plain": {"model_type": "unigram", "control_symbols": CONTROLS, **PLAIN},
}


def train(name):
    """The bytes of a model of this family, and sentencepiece's reading of them."""
    content = pieces(**{k: tuple(v) if isinstance(v, list) else v for k, v in FAMILIES[name].items()})
    return content, sentencepiece.SentencePieceProcessor(model_proto=content)


def write_model(name, folder, settings=None):
    content, wheel = train(name)
    (Path(folder) / "tokenizer.model").write_bytes(content)
    (Path(folder) / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": False, **(settings or {})}))
    return wheel


def strings_for(name, seed, count):
    strings = Strings(seed, FAMILIES[name].get("user_defined_symbols", []) + ["  ", "\u3000"])
    made = (strings.next() for _ in range(2 * count))  # texts of control pieces are tokens here and texts there
    return [t for t in made if not any(c in t for c in (*CONTROLS, "<s>", "</s>", "<unk>"))][:count]


def differences(program, decoder, name, folder, wheel, texts):
    found = []
    answers = ours(program, folder, texts, special=False)
    wanted = wheel.encode(texts)
    found += [(t, a["ids"], w) for t, a, w in zip(texts, answers, wanted, strict=True) if a["ids"] != w]
    few = range(len(texts) // 10)
    if FAMILIES[name]["normalization_rule_name"] == "identity":
        for text, answer in ((texts[i], answers[i]) for i in few):
            if "▁" in text:  # half a user-defined piece: here it has the whole
                continue
            raw = text.encode()
            theirs = wheel.encode(text, return_type="offset_mapping", return_bytes=True)["offsets"]
            for id, (begin, end), (start, stop) in zip(answer["ids"], answer["offsets"], theirs, strict=True):
                if start == stop:
                    continue  # the added "▁", and bytes but a character's last: here they have the character
                if raw[begin:end].decode().split() != raw[start:stop].decode().split():
                    found.append((text, (id, begin, end), (start, stop)))
    whole = [i for i in few if wheel.unk_id() not in wanted[i] and "▁" not in texts[i]]
    texts_back = decoded(decoder, folder, [wanted[i] for i in whole], "skip")
    found += [(wanted[i], back, wheel.decode(wanted[i])) for i, back in zip(whole, texts_back, strict=True)
              if back != wheel.decode(wanted[i])]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--decoder", required=True)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20220710)
    parser.add_argument("--families", default=",".join(FAMILIES))
    arguments = parser.parse_args()
    bad = 0
    for name in arguments.families.split(","):
        with tempfile.TemporaryDirectory() as folder:
            wheel = write_model(name, folder)
            started = time.monotonic()
            texts = strings_for(name, arguments.seed, arguments.count)
            found = differences(arguments.program, arguments.decoder, name, folder, wheel, texts)
            print(f"{name}: {len(texts)} strings, {len(found)} differences, {time.monotonic() - started:.0f} s", flush=True)
            for source, answer, wanted in sorted(found, key=lambda f: len(f[0]))[:3]:
                print(f"  {ascii(source)}\n    ours  {ascii(answer)}\n    wheel {ascii(wanted)}")
            bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
