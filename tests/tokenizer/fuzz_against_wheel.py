#!/usr/bin/env python3
"""Ids and byte offsets of seeded random strings: `stereosweep tokenize` against the `tokenizers` wheel.

    fuzz_against_wheel.py --program build/release/bin/stereosweep [--count 100000] [--families bert-uncased,..]
    fuzz_against_wheel.py --program ... --folders DIR ...      (directories with a tokenizer.json of your own)
Exit status 1 if anything differs. `--decoder` also compares decoded texts (build target
tokenizer_decode_lines).
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent))
from wheel_families import FAMILIES, write_family  # noqa: E402
from wheel_training import corpus  # noqa: E402

MARKS = [chr(c) for c in range(0x110000) if unicodedata.combining(chr(c))]
SPACES = [chr(c) for c in range(0x3001) if chr(c).isspace()] + ["\u180e", "\u200b", "\u200d", "\ufeff", "\x85"]
CASED = "İıßΣΟΔΟΣςǅŸẞﬁﬀŉΐᾳſKÅéÉñü①²½ⅷ㎏ｆｕｌｌ〜…ﷺ豈\u212b\u0958\u0340\u0344\u0374\u1fee\u2126"
EMOJI = ["👩\u200d👩\u200d👧\u200d👦", "👍🏽", "🇩🇪", "❤\ufe0f", "1\ufe0f\u20e3", "🏴\U000e0067\U000e0062\U000e007f"]
SUFFIXES = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "''", "’s", "'x", "n't", " 's"]
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡§«»¿‐—‘’“”„†…‰′※⁂₠€™←∀■★、。「」〈〉・！？\u2e43\u166d\U000111c9"


class Strings:
    """Random strings; `specials` are texts of added tokens that get into them."""

    def __init__(self, seed, specials):
        self.rng = random.Random(seed)
        self.specials = specials or ["[MASK]"]
        self.words = sorted({w for line in corpus() for w in line.split()})
        self.kinds = [self.word, self.word, self.word, self.word, self.number, self.ascii, self.plane, self.any, self.marks, self.jamo,
                      self.chinese, self.emoji, self.space, self.space, self.special, self.control, self.run,
                      self.cased, self.suffix, self.punctuation]

    def word(self):
        word = self.rng.choice(self.words)
        return self.rng.choice([word, word, word.upper(), word.capitalize()])

    def number(self):
        return str(self.rng.randrange(10 ** self.rng.randint(1, 9))) + self.rng.choice(["", ".5", ",000", "٣", "½"])

    def ascii(self):
        return "".join(chr(self.rng.randrange(128)) for _ in range(self.rng.randint(1, 8)))

    def plane(self):
        base = self.rng.choice([0, 0, 0x10000, 0x20000, 0x30000, 0xE0000, 0xF0000, 0x100000])
        start = self.rng.randrange(0x10000)
        return "".join(self.valid(base + (start + self.rng.randrange(64)) % 0x10000) for _ in range(3))

    def any(self):
        return "".join(self.valid(self.rng.randrange(0x110000)) for _ in range(self.rng.randint(1, 4)))

    def valid(self, point):
        return "\ufffd" if 0xD800 <= point < 0xE000 else chr(point)

    def marks(self):
        base = self.rng.choice(["a", "e", "O", "か", "ह", "é", "ậ", "", " ", "中"])
        return base + "".join(self.rng.choice(MARKS) for _ in range(self.rng.choice([1, 1, 2, 3, 8])))

    def jamo(self):
        ranges = [(0x1100, 0x1112), (0x1161, 0x1175), (0x11A7, 0x11C2), (0xAC00, 0xD7A3)]
        return "".join(chr(self.rng.randint(*self.rng.choice(ranges))) for _ in range(self.rng.randint(1, 5)))

    def chinese(self):
        low, high = self.rng.choice([(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF),
                                     (0x2F800, 0x2FA1F), (0x3040, 0x30FF)])
        return "".join(chr(self.rng.randint(low, high)) for _ in range(self.rng.randint(1, 5)))

    def emoji(self):
        return self.rng.choice(EMOJI)

    def space(self):
        return "".join(self.rng.choice([" ", " ", self.rng.choice(SPACES)]) for _ in range(self.rng.randint(1, 4)))

    def special(self):
        text = self.rng.choice(self.specials)
        return self.rng.choice([text, text, text, " " + text, text + "  ", text.lower(), text[:-1], "x" + text, text * 2,
                                "\u3000" + text + "\xa0 ", unicodedata.normalize("NFD", text)])

    def control(self):
        return chr(self.rng.choice([0, 1, 7, 8, 9, 10, 11, 12, 13, 27, 127, 0x80, 0x9F, 0xAD, 0x200E, 0x2028, 0xFFFD, 0xE000]))

    def run(self):
        return self.rng.choice(["a", " ", "\n", "é", "中", "\u0301", "-", "7", "'", "#", "\t", "𝒜"]) * self.rng.choice([2, 5, 30, 120])

    def cased(self):
        return "".join(self.rng.choice(CASED) for _ in range(self.rng.randint(1, 4)))

    def suffix(self):
        return self.rng.choice(SUFFIXES)

    def punctuation(self):
        return "".join(self.rng.choice(PUNCTUATION) for _ in range(self.rng.randint(1, 3)))

    def next(self):
        if self.rng.random() < 0.2:
            return self.rng.choice(corpus())[:200]
        glue = self.rng.choice(["", " ", "", " ", "  "])
        return glue.join(self.rng.choice(self.kinds)() for _ in range(self.rng.choice([0, 1, 2, 3, 5, 8, 12])))


def byte_offsets(text, offsets):
    """The wheel counts code points, except where it counts bytes: tokens that begin behind the last character."""
    starts = [0]
    for character in text:
        starts.append(starts[-1] + len(character.encode()))
    return [[starts[b], starts[e]] if b < len(starts) and e < len(starts) else [b, e] for b, e in offsets]


def ours(program, folder, texts, special):
    lines = "".join(json.dumps(text) + "\n" for text in texts).encode()
    command = [str(program), "tokenize", "--model", str(folder), "--json-lines"] + ([] if special else ["--no-special"])
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]


def differences(program, folder, wheel, texts, special=True):
    """Texts whose ids or offsets differ, with both answers."""
    found = []
    answers = ours(program, folder, texts, special)
    assert len(answers) == len(texts), f"{len(answers)} answers to {len(texts)} lines"
    for text, answer, theirs in zip(texts, answers, wheel.encode_batch(texts, add_special_tokens=special)):
        wanted = {"ids": theirs.ids, "offsets": byte_offsets(text, theirs.offsets)}
        if answer != wanted:
            found.append((text, answer, wanted))
    return found


def decoded(decoder, folder, lists, mode):
    lines = "".join(json.dumps(ids) + "\n" for ids in lists).encode()
    done = subprocess.run([str(decoder), str(folder), mode], input=lines,
                          stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]
    assert len(answers) == len(lists)
    return answers


def decode_differences(decoder, folder, wheel, texts, seed):
    rng = random.Random(seed)
    size = wheel.get_vocab_size()
    whole = [e.ids for e in wheel.encode_batch(texts)]
    lists = [*whole, *(ids[rng.randint(0, 3):rng.randint(1, len(ids) + 1)] for ids in whole)]  # cut within characters
    few = [i for i in range(size) if (wheel.id_to_token(i) or "").startswith("<0x") or rng.random() < 0.02] or [0]
    for ids in (range(size), few):
        lists += [[rng.choice(ids) for _ in range(rng.randint(0, 12))] for _ in texts]
    found = []
    for skip in (False, True):
        answers = decoded(decoder, folder, lists, "skip" if skip else "keep")
        wanted = wheel.decode_batch(lists, skip_special_tokens=skip)
        found += [(ids, a, w) for ids, a, w in zip(lists, answers, wanted) if a != w]
    return found


def specials_of(wheel):
    return [t.content for t in wheel.get_added_tokens_decoder().values()]


def strings_for(wheel, seed, count):
    strings = Strings(seed, specials_of(wheel))
    return [strings.next() for _ in range(count)]


def compare(name, folder, wheel, arguments):
    """Prints the shortest differences; how many there are."""
    started = time.monotonic()
    texts = strings_for(wheel, arguments.seed, arguments.count)
    found = differences(arguments.program, folder, wheel, texts)
    few = texts[:len(texts) // 10]
    found += differences(arguments.program, folder, wheel, few, special=False)
    if arguments.decoder:
        found += decode_differences(arguments.decoder, folder, wheel, few, arguments.seed)
    print(f"{name}: {len(texts)} strings, {len(found)} differences, {time.monotonic() - started:.0f} s", flush=True)
    for text, answer, wanted in sorted(found, key=lambda f: len(f[0]))[:3]:
        print(f"  {ascii(text)}\n    ours  {ascii(answer)}\n    wheel {ascii(wanted)}")
    return len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--decoder")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20220710)
    parser.add_argument("--families", default=",".join(["minilm", *FAMILIES]))
    parser.add_argument("--folders", nargs="+", type=Path, default=[])
    arguments = parser.parse_args()
    bad = 0
    for folder in arguments.folders:
        bad += compare(folder.name, folder, Tokenizer.from_file(str(folder / "tokenizer.json")), arguments)
    for name in [] if arguments.folders else arguments.families.split(","):
        with tempfile.TemporaryDirectory() as folder:
            bad += compare(name, folder, write_family(name, folder), arguments)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
